// SPDX-License-Identifier: MIT

// A server with net/http: go_server PORT. Each request is answered by a text that is made for it.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

const lines = 100

func answer(out http.ResponseWriter, request *http.Request) {
	var page strings.Builder

	for line := 0; line < lines; line++ {
		fmt.Fprintf(&page, "%d %s %s\n", line, request.Host, request.URL.Path)
	}
	out.Header().Set("Content-Length", fmt.Sprint(page.Len()))
	fmt.Fprint(out, page.String())
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go_server PORT")
	}
	http.HandleFunc("/", answer)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
