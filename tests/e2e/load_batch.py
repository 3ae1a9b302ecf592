#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service of one thread that answers together what has arrived together, as event loops do, and its clients.

load_batch.py server                              says its port
load_batch.py client PORT CONNECTIONS WORK PAUSE  asks on each connection, again PAUSE s after the answer, for WORK ms
of CPU time

Both end with their input.
"""

import os
import selectors
import socket
import sys
import threading
import time

SIZE = 4


def burn(milliseconds):
    end = time.thread_time() + milliseconds / 1000
    while time.thread_time() < end:
        pass


def accept_all(listener, selector):
    try:
        while True:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
    except BlockingIOError:
        pass


def serve():
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    print(listener.getsockname()[1], flush=True)
    while True:
        answers = []
        for key, _ in selector.select():
            if key.fileobj is listener:
                accept_all(listener, selector)
            elif work := key.fileobj.recv(SIZE):
                burn(int.from_bytes(work, "big"))
                answers.append(key.fileobj)
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
        for connection in answers:
            connection.sendall(bytes(SIZE))


def ask(port, work, pause):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while True:
            connection.sendall(work.to_bytes(SIZE, "big"))
            connection.recv(SIZE)
            time.sleep(pause)


def main():
    mode, *words = sys.argv[1:]
    if mode == "server":
        threading.Thread(target=serve, daemon=True).start()
    else:
        port, connections, work, pause = int(words[0]), int(words[1]), int(words[2]), float(words[3])
        for _ in range(connections):
            threading.Thread(target=ask, args=(port, work, pause), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
