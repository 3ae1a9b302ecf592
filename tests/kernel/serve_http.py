#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server on asyncio: serve_http.py CERTIFICATE PORT PORT_TLS_1_2 PORT_TLS_1_3

Answers "GET /N" after N milliseconds, all else at once. TLS is between buffers here, not on a socket of the library's:
one receive has whatever has come, of several records.
"""

import asyncio
import re
import ssl
import sys

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + 2000 * b"x"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LAST = re.compile(rb" HTTP/1\.0\r\n|\r\nconnection: *close", re.IGNORECASE)


class Http(asyncio.Protocol):
    def __init__(self):
        self.transport = None
        self.received = bytearray()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while self._receive():
            pass

    def _receive(self):
        end = self.received.find(b"\r\n\r\n") + 2
        head = bytes(self.received[:end])
        length = LENGTH.search(head)
        whole = end + 2 + (int(length[1]) if length else 0)
        if end < 2 or len(self.received) < whole:
            return False
        del self.received[:whole]
        path = head.split(b" ", 2)[1][1:]
        asyncio.get_running_loop().call_later(int(path) / 1000 if path.isdigit() else 0, self._respond,
                                              LAST.search(head))
        return True

    def _respond(self, last):
        self.transport.write(RESPONSE)
        if last:
            self.transport.close()


def context(certificate, version):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = made.maximum_version = version
    made.load_cert_chain(certificate)
    return made


async def main(certificate, *ports):
    loop = asyncio.get_running_loop()
    contexts = None, context(certificate, ssl.TLSVersion.TLSv1_2), context(certificate, ssl.TLSVersion.TLSv1_3)
    for port, tls in zip(ports, contexts):
        await loop.create_server(Http, "127.0.0.1", int(port), ssl=tls, backlog=512)
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
