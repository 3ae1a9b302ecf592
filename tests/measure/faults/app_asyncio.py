#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service on Python's asyncio.

app_asyncio.py PORT upstream PORT     each request asks the server at this port, waits for its response, and responds
app_asyncio.py PORT sleep SECONDS     sleeps
app_asyncio.py PORT pool SECONDS      has one of two threads of a pool sleep

A line "wait SECONDS" on its input changes that. Each line is answered with its figures so far: requests, and how many
seconds they have waited; with a pool, until a thread was free.
"""

import asyncio
import concurrent.futures
import json
import os
import sys
import threading
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Server:
    def __init__(self, what, argument):
        self.wait = getattr(self, what)
        self.port = argument
        self.slow = float(argument)
        self.requests, self.waited = 0, 0.0
        self.threads = concurrent.futures.ThreadPoolExecutor(2)

    async def upstream(self):
        source, sink = await asyncio.open_connection("127.0.0.1", self.port)
        sink.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        await source.read()
        sink.close()

    async def sleep(self):
        await asyncio.sleep(self.slow)

    async def pool(self):
        await asyncio.get_running_loop().run_in_executor(self.threads, time.sleep, self.slow)
        self.waited -= self.slow

    async def serve(self, source, sink):
        try:
            while await source.readuntil(b"\r\n\r\n"):
                begin = time.monotonic()
                await self.wait()
                self.waited += time.monotonic() - begin
                self.requests += 1
                sink.write(RESPONSE)
        except (asyncio.IncompleteReadError, ConnectionError):
            sink.close()

    def talk(self):
        for line in sys.stdin:
            if line.startswith("wait "):
                self.slow = float(line.split()[1])
            print(json.dumps({"requests": self.requests, "waited": self.waited}), flush=True)
        os._exit(0)


async def main(port, *what):
    server = Server(*what)
    threading.Thread(target=server.talk, daemon=True).start()
    async with await asyncio.start_server(server.serve, "127.0.0.1", int(port)) as listener:
        await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
