#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of a service that speaks HTTP/1.1.

customers.py PORT

A line "CLIENTS PAUSE keep|close" on its input says how many ask from then on: each again PAUSE s on average after the answer,
on the same connection or on a new one. It is answered by a line "ok".
"""

import contextlib
import os
import random
import socket
import sys
import threading
import time

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Customers:
    def __init__(self, port):
        self.port, self.count, self.pause, self.keeps = port, 0, 1.0, True
        self.threads = []

    def change(self, count, pause, way):
        self.count, self.pause, self.keeps = int(count), float(pause), way == "keep"
        for number in range(len(self.threads), self.count):
            self.threads.append(threading.Thread(target=self._ask_always, args=(number,), daemon=True))
            self.threads[-1].start()

    def _ask_always(self, number):
        while True:
            # A server that ends, or has been stopped, may come again.
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as connection:
                while self._ask(connection) and self.keeps and number < self.count:
                    self._wait()
            self._wait()
            while number >= self.count:
                time.sleep(0.1)

    def _wait(self):
        time.sleep(random.expovariate(1 / self.pause) if self.pause else 0)

    @staticmethod
    def _ask(connection):
        """Has it been answered?"""
        connection.sendall(REQUEST)
        response = more = connection.recv(65536)
        while more and b"\r\n\r\n" not in response:
            response += (more := connection.recv(65536))
        head, _, body = response.partition(b"\r\n\r\n")
        missing = int(head.partition(b"Content-Length: ")[2].split()[0]) - len(body) if more else 0
        while missing > 0 and (more := connection.recv(65536)):
            missing -= len(more)
        return bool(more)


def main(port):
    customers = Customers(int(port))
    print("ready", flush=True)
    for line in sys.stdin:
        customers.change(*line.split())
        print("ok", flush=True)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
