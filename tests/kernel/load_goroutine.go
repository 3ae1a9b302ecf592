// SPDX-License-Identifier: MIT

// Calls functions on stacks that the Go runtime moves: on each line "N", N rounds of
//
//	grown()       which calls itself until the stack is too small, once and again
//	moved()       during which the stack moves
//	parked()      during which goroutines wait and go on, on other threads, too
//	recovered()   which a panic leaves
//	saved()       which recovers from one itself
//	left()        in which the goroutine ends
//
// It says of each how often it was called, has returned and has failed, and how many panics there
// were, in all.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	goroutines = 16
	depth      = 500
)

type counted struct{ calls, returns, failed int64 }

var ofGrown, ofMoved, ofParked, ofRecovered, ofSaved, ofLeft counted

func (c *counted) begin() { atomic.AddInt64(&c.calls, 1) }

func (c *counted) end(returned int) int {
	atomic.AddInt64(&c.returns, 1)
	if returned < 0 {
		atomic.AddInt64(&c.failed, 1)
	}
	return returned
}

func (c *counted) String() string { return fmt.Sprintf("[%d, %d, %d]", c.calls, c.returns, c.failed) }

//go:noinline
func grown(depth int) int {
	var frame [128]byte
	below := 0
	if depth > 1 {
		ofGrown.begin()
		below = ofGrown.end(grown(depth - 1))
	}
	frame[depth%128] = byte(below)
	if depth%100 == 0 {
		return -1
	}
	return below + int(frame[depth%128]) - int(frame[depth%128])
}

//go:noinline
func grow(depth int) int {
	var frame [128]byte
	if depth > 1 {
		frame[depth%128] = byte(grow(depth - 1))
	} else if depth == 1 {
		runtime.GC()
	}
	return int(frame[depth%128]) + 1
}

// Has no check of the stack itself.
//
//go:noinline
//go:nosplit
func moved(number int) int {
	grow(depth + number%2)
	if number%3 == 0 {
		return -1
	}
	return number
}

//go:noinline
func parked(number int, from <-chan int) int {
	runtime.Gosched()
	got := <-from
	time.Sleep(time.Duration(number%3) * 20 * time.Microsecond)
	runtime.Gosched()
	if number%3 == 0 {
		return -1
	}
	return got
}

func refuse(number int) int {
	switch number % 3 {
	case 0:
		panic("refused")
	case 1:
		return -1
	}
	return number
}

//go:noinline
func recovered(number int) int { return refuse(number) + 0 }

//go:noinline
func saved(number int) (returned int) {
	defer func() {
		if recover() != nil {
			returned = -1
		}
	}()
	return refuse(number)
}

//go:noinline
func left(number int) int {
	if number%3 == 0 {
		runtime.Goexit()
	}
	return number%3 - 2
}

var panics int64

func catch(call func()) {
	defer func() {
		if recover() != nil {
			panics++
		}
	}()
	call()
}

// On a new stack.
func apart(call func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		call()
	}()
	<-done
}

func park(round int) {
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		pass := make(chan int)
		all.Add(2)
		go func() { defer all.Done(); pass <- round }()
		go func(number int) {
			defer all.Done()
			ofParked.begin()
			ofParked.end(parked(number, pass))
		}(i)
	}
	all.Wait()
}

func callAll(round int) {
	apart(func() { ofGrown.begin(); ofGrown.end(grown(depth)) })
	if round%8 == 0 {
		apart(func() { ofMoved.begin(); ofMoved.end(moved(round)) })
	}
	park(round)
	catch(func() { ofRecovered.begin(); ofRecovered.end(recovered(round)) })
	catch(func() { ofSaved.begin(); ofSaved.end(saved(round)) })
	apart(func() { ofLeft.begin(); ofLeft.end(left(round)) })
}

func main() {
	runtime.GOMAXPROCS(4)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		rounds, _ := strconv.Atoi(lines.Text())
		for round := 0; round < rounds; round++ {
			callAll(round)
		}
		fmt.Printf("{\"grown\": %v, \"moved\": %v, \"parked\": %v, \"recovered\": %v, \"saved\": %v, \"left\": %v, \"panics\": %d}\n",
			&ofGrown, &ofMoved, &ofParked, &ofRecovered, &ofSaved, &ofLeft, panics)
	}
}
