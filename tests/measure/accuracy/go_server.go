// SPDX-License-Identifier: MIT

// A server with net/http: go_server PORT [CERTIFICATE PORT_TLS_1_2 PORT_TLS_1_3]. Each request is answered by a text
// that is made for it.
package main

import (
	"crypto/tls"
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

func serveTLS(certificate string, port string, version uint16) {
	server := http.Server{Addr: "127.0.0.1:" + port,
		TLSConfig: &tls.Config{MinVersion: version, MaxVersion: version}}

	log.Fatal(server.ListenAndServeTLS(certificate, certificate))
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 5 {
		log.Fatal("usage: go_server PORT [CERTIFICATE PORT_TLS_1_2 PORT_TLS_1_3]")
	}
	http.HandleFunc("/", answer)
	if len(os.Args) == 5 {
		go serveTLS(os.Args[2], os.Args[3], tls.VersionTLS12)
		go serveTLS(os.Args[2], os.Args[4], tls.VersionTLS13)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
