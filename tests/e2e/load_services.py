#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Services that do a little of everything that the probes count.

load_services.py db                       two processes that answer on the port that it says, but for every 50th request
load_services.py web PORT CLOSED FOLDER   an HTTP server, likewise, that asks the db at PORT and at times a port that is CLOSED
load_services.py ask PORT                 clients of it
load_services.py batch FOLDER             processes, signals, and more files than its memory has room for
load_services.py tls FOLDER               a server with TLS and its client

Each ends with its input.
"""

import contextlib
import ctypes
import itertools
import mmap
import os
import resource
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
import tls  # noqa: E402

LINE = b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
RESPONSE = b"HTTP/1.1 %s\r\nContent-Length: 1000\r\n\r\n" + 1000 * b"x"
THREADS, CONNECTIONS, PAUSE = 3, 5, 0.02
STATUSES = {0: b"503 Unavailable", 3: b"418 Teapot", 5: b"404 Not found"}
BLOCK = 1 << 16
LIBC = ctypes.CDLL("libc.so.6")
PR_SET_PDEATHSIG = 1


def in_background(function, *arguments, count=1):
    for _ in range(count):
        threading.Thread(target=function, args=arguments, daemon=True).start()


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def listen():
    listener = socket.create_server(("127.0.0.1", 0), backlog=50)
    print(listener.getsockname()[1], flush=True)
    return listener


def serve_db(listener, numbers):
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(ConnectionError):
            while connection.recv(100):
                if next(numbers) % 50 == 0:
                    break
                time.sleep(0.001)
                connection.sendall(bytes(200))


class Files:
    """Reads, writes and operations on files of a folder."""

    def __init__(self, folder):
        self.path = os.path.join(folder, f"file.{os.getpid()}.{threading.get_native_id()}")

    def write(self):
        with open(self.path, "wb") as file:
            file.write(4 * BLOCK * b"x")
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.path, self.path + ".done")

    def read(self):
        """From the disk."""
        buffer = mmap.mmap(-1, BLOCK)
        file = os.open(self.path + ".done", os.O_RDONLY | os.O_DIRECT)
        os.readv(file, [buffer])
        os.close(file)

    def read_cached(self):
        with open(self.path + ".done", "rb") as file:
            os.posix_fadvise(file.fileno(), 0, BLOCK, os.POSIX_FADV_DONTNEED)
            file.read()

    def remove(self):
        os.unlink(self.path + ".done")
        LIBC.unlink(self.path.encode())     # which fails

    def fill(self, count):
        """More pages than a cgroup may have, which are reclaimed."""
        with open(self.path, "wb") as file:
            for _ in range(count):
                file.write(BLOCK * b"x")
        os.unlink(self.path)

    def all(self):
        self.write()
        self.read()
        self.read_cached()
        self.remove()


class Web:
    """What a thread of the server does for a request, by its number."""
    lock = threading.Lock()
    numbers = itertools.count()

    def __init__(self, upstream, closed, folder):
        self.upstream, self.closed = upstream, closed
        self.connection = None
        self.files = Files(folder)
        self.work = ((3, self.ask), (4, self.contend), (7, self.files.all), (11, self.run), (13, self.wait), (5, self.sleep),
                     (6, self.pipe), (9, self.fill), (10, self.poll), (17, self.refused), (8, os.getloadavg))

    def ask(self):
        self.connection = self.connection or socket.create_connection(("127.0.0.1", self.upstream))
        self.connection.sendall(bytes(80))
        if not self.connection.recv(200):
            self.connection.close()
            self.connection = None

    def refused(self):
        with socket.socket() as other:
            other.connect_ex(("127.0.0.1", self.closed))

    def contend(self):
        with self.lock:
            time.sleep(0.002)

    @staticmethod
    def run():
        subprocess.run(["true"], check=True)

    @staticmethod
    def wait():
        threading.Event().wait(0.003)

    @staticmethod
    def sleep():
        time.sleep(0.002)

    @staticmethod
    def pipe():
        ends = os.pipe()
        in_background(lambda: (time.sleep(0.002), os.write(ends[1], b"x")))
        os.read(ends[0], 1)
        for end in ends:
            os.close(end)

    @staticmethod
    def fill():
        with mmap.mmap(-1, 1 << 20) as memory:
            memory.write(bytes(1 << 20))

    @staticmethod
    def poll():
        select.poll().poll(2)

    def request(self):
        number = next(self.numbers)
        spin(0.001)
        for every, work in self.work:
            if number % every == 0:
                work()
        return STATUSES.get(number % 10, b"200 OK")

    def serve(self, listener):
        while True:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(ConnectionError):
                while connection.recv(1000):
                    connection.sendall(RESPONSE % self.request())


def serve_web(listener, *arguments):
    Web(*arguments).serve(listener)


def ask(port):
    """A new connection for every 20 requests."""
    while True:
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)) as connection:
            for number in range(20):
                connection.sendall(LINE % number)
                connection.recv(4096)
                time.sleep(PAUSE)


def child(status):
    """A short process that exits so; None: that is killed."""
    process = subprocess.Popen(["sh", "-c", "exec sleep 10" if status is None else f"sleep 0.05; exit {status}"])
    if status is None:
        process.send_signal(signal.SIGTERM)
    process.wait()


def batch(folder):
    files = Files(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        files.all()
        spin(0.05)
        for status in (0, 1, None):
            child(status)
        files.fill(1000)
        time.sleep(0.1)


def serve_tls(listener, context):
    while True:
        with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
            while connection.recv(1000):
                connection.sendall(bytes(500))


def ask_tls(port, context):
    while True:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port))) as connection:
            for _ in range(20):
                connection.sendall(bytes(100))
                connection.recv(500)
                time.sleep(PAUSE)


def run_tls(folder):
    certificate = tls.make_certificate(os.path.join(folder, "tls"))
    listener = listen()
    in_background(serve_tls, listener, tls.server_context(certificate, ssl.TLSVersion.TLSv1_3))
    in_background(ask_tls, listener.getsockname()[1], tls.client_context(certificate, ssl.TLSVersion.TLSv1_3))


def main():
    mode, *words = sys.argv[1:]
    if mode == "db":
        listener = listen()
        if not os.fork():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        in_background(serve_db, listener, itertools.count(1), count=4)
    elif mode == "web":
        in_background(serve_web, listen(), int(words[0]), int(words[1]), words[2], count=THREADS)
    elif mode == "ask":
        in_background(ask, int(words[0]), count=CONNECTIONS)
    elif mode == "tls":
        run_tls(words[0])
    else:
        in_background(batch, words[0])
    sys.stdin.read()
    os._exit(0)


main()
