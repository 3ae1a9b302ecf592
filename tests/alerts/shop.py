#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service that speaks HTTP/1.1 and can be broken: a pool of threads answers whatever connection has a request.

shop.py NAME PORT

Its command name is NAME. Lines on its input say how it behaves from then on; each is answered by a line "ok":

healthy           answers at once, and releases what it has
sleep SECONDS     each answer takes so long,
compute SECONDS   or so much CPU time
errors SHARE      this share of the responses has status 500
hang              requests get no answer until it is healthy
leak              connections that clients have closed stay open here
fill MIB          uses so much memory
kill MIB          a child takes so much memory, and another one each 2 s, as a worker that is started again
upstream PORT     asks there for each request
files DIRECTORY   writes 16 kB there for each request, and waits for the disk
"""

import http.client
import os
import random
import select
import socket
import sys
import tempfile
import threading
import time

WORKERS = 8
BODY = 1000 * b"x"
WRITTEN = 16384 * b"x"
CHILDREN_S = 2
local = threading.local()


def call_process(name):
    """Before there are other threads, which inherit it."""
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write(name)


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def ask_upstream(port):
    if not hasattr(local, "upstream"):
        local.upstream = http.client.HTTPConnection("127.0.0.1", port)
    local.upstream.request("GET", "/")
    local.upstream.getresponse().read()


def write_and_wait(directory):
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        file.write(WRITTEN)
        os.fsync(file.fileno())


class Behaviour:
    """What the lines have said; work(): what a request needs before its answer."""

    def __init__(self):
        self.health = threading.Event()     # is set while requests are answered
        self.unclosed, self.memory = [], None    # sockets; bytes
        self.work, self.error_share, self.leaks, self.child_mib = lambda: None, 0.0, False, 0
        self.healthy()
        threading.Thread(target=self._start_children, daemon=True).start()

    def healthy(self):
        self.work, self.error_share, self.leaks, self.child_mib = lambda: None, 0.0, False, 0
        self.memory = None
        while self.unclosed:
            self.unclosed.pop().close()
        self.health.set()

    def sleep(self, seconds):
        self.work = lambda: time.sleep(float(seconds))

    def compute(self, seconds):
        self.work = lambda: compute(float(seconds))

    def errors(self, share):
        self.error_share = float(share)

    def hang(self):
        self.health.clear()

    def leak(self):
        self.leaks = True

    def fill(self, mib):
        self.memory = bytearray(os.urandom(1 << 20)) * int(mib)

    def kill(self, mib):
        self.child_mib = int(mib)

    def upstream(self, port):
        self.work = lambda: ask_upstream(int(port))

    def files(self, directory):
        self.work = lambda: write_and_wait(directory)

    def close(self, connection):
        if self.leaks:
            self.unclosed.append(connection)
        else:
            connection.close()

    def _start_children(self):
        """Each is killed, or has had its memory."""
        while True:
            if self.child_mib:
                child = os.fork()
                if not child:
                    _ = b"x" * (self.child_mib << 20)
                    os._exit(0)
                os.waitpid(child, 0)
            time.sleep(CHILDREN_S)


class Shop:
    """Threads that wait for the same descriptors: each connection is one thread's at a time."""

    def __init__(self, port, behaviour):
        self.behaviour = behaviour
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.listener.setblocking(False)
        self.connections, self.poller = {}, select.epoll()
        self.poller.register(self.listener, select.EPOLLIN)
        for _ in range(WORKERS):
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            for descriptor, _ in self.poller.poll(maxevents=1):
                if descriptor == self.listener.fileno():
                    self._accept()
                else:
                    self._respond(descriptor)

    def _accept(self):
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return  # another thread has it
        connection.setblocking(True)
        self.connections[connection.fileno()] = connection
        self.poller.register(connection, select.EPOLLIN | select.EPOLLONESHOT)

    def _respond(self, descriptor):
        """One request. A descriptor may be that of a new connection once it is closed."""
        connection = self.connections[descriptor]
        try:
            request = connection.recv(4096)
            if request:
                connection.sendall(self._response())
                self.poller.modify(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
                return
        except ConnectionError:
            pass    # its client is gone
        self.poller.unregister(descriptor)
        del self.connections[descriptor]
        self.behaviour.close(connection)

    def _response(self):
        self.behaviour.work()
        self.behaviour.health.wait()
        status = b"500 Internal Server Error" if random.random() < self.behaviour.error_share else b"200 OK"
        return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(BODY), BODY)


def main(name, port):
    call_process(name)
    behaviour = Behaviour()
    Shop(int(port), behaviour)
    print("ready", flush=True)
    for line in sys.stdin:
        word, *words = line.split()
        getattr(behaviour, word)(*words)
        print("ok", flush=True)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
