#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service of one thread that answers one request after the other, and its clients.

load_queue.py server                              says its port
load_queue.py client PORT CONNECTIONS WORK PAUSE  asks on each connection, again PAUSE s after the answer, for WORK ms
of the thread's time, in which it sleeps: others may have all CPUs

Both end with their input.
"""

import os
import selectors
import socket
import sys
import threading
import time

SIZE = 4


def accept_all(listener, selector):
    try:
        while True:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
    except BlockingIOError:
        pass


def receive(connection):
    """b"": its client is gone."""
    try:
        return connection.recv(SIZE)
    except ConnectionResetError:
        return b""


def response(connection):
    try:
        connection.sendall(bytes(SIZE))
    except (ConnectionResetError, BrokenPipeError):
        pass    # its client is gone, which receive() tells then


def serve():
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    print(listener.getsockname()[1], flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                accept_all(listener, selector)
            elif work := receive(key.fileobj):
                time.sleep(int.from_bytes(work, "big") / 1000)
                response(key.fileobj)
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()


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
