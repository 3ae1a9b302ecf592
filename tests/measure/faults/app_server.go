// SPDX-License-Identifier: MIT

// A service on Go's net/http.
//
// app_server PORT upstream PORT    each request asks the server at this port and waits for its response
// app_server PORT sleep SECONDS    sleeps
// app_server PORT mutex SECONDS    needs a mutex, which another goroutine computes with for so long, again and again
//
// A line "wait SECONDS" on its input changes that. Each line is answered with its figures so far: requests, and how many
// seconds their handlers have waited.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var requests, waited, slow int64
var mutex sync.Mutex
var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func setSlow(text string) {
	seconds, _ := time.ParseDuration(text + "s")
	atomic.StoreInt64(&slow, int64(seconds))
}

func compute() {
	for {
		duration := time.Duration(atomic.LoadInt64(&slow))
		mutex.Lock()
		for end := time.Now().Add(duration); time.Now().Before(end); {
		}
		mutex.Unlock()
		time.Sleep(duration/5 + time.Millisecond)
	}
}

func wait(what, port string) {
	switch what {
	case "upstream":
		if response, err := client.Get("http://127.0.0.1:" + port); err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	case "sleep":
		time.Sleep(time.Duration(atomic.LoadInt64(&slow)))
	case "mutex":
		mutex.Lock()
		mutex.Unlock()
	}
}

func main() {
	port, what, argument := os.Args[1], os.Args[2], os.Args[3]
	setSlow(argument)
	if what == "mutex" {
		go compute()
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		wait(what, argument)
		atomic.AddInt64(&waited, int64(time.Since(begin)))
		atomic.AddInt64(&requests, 1)
		w.Header().Set("Content-Length", "0")
	})
	go http.ListenAndServe("127.0.0.1:"+port, nil)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if words := strings.Fields(lines.Text()); words[0] == "wait" {
			setSlow(words[1])
		}
		fmt.Printf("{\"requests\": %d, \"waited\": %f}\n", atomic.LoadInt64(&requests), float64(atomic.LoadInt64(&waited))/1e9)
	}
}
