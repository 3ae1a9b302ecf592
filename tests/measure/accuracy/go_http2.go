// SPDX-License-Identifier: MIT

// A server that speaks HTTP/2 in clear: go_http2 PORT. It reads the head of a frame and the rest one after the other,
// and nothing of what is posted.
package main

import (
	"log"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

var page = strings.Repeat("x", 2000)

func answer(out http.ResponseWriter, _ *http.Request) {
	_, _ = out.Write([]byte(page))
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go_http2 PORT")
	}
	both := h2c.NewHandler(http.HandlerFunc(answer), &http2.Server{})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], both))
}
