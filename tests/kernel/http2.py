# SPDX-License-Identifier: MIT
"""An HTTP/2 server and client that send exactly the frames and pieces that a test wants.

A block of headers is not HPACK but an order for the server: when the request was sent, the kind of response, and the delay
in seconds. The server logs, for each request, the two times between which it was received, first responded to, and ended.
"""

import ctypes
import functools
import heapq
import json
import os
import select
import socket
import struct
import tempfile
import threading
import time

from lib import die_with_test

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PROXY1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n"
PROXY2 = b"\r\n\r\n\0\r\nQUIT\n" + b"\x21\x11\0\x0c" + bytes(12)
UPGRADE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION) = range(10)
UNKNOWN = 0x0b
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
PR_SET_NAME = 15
NEVER = 1000  # seconds
SENT = b"0000000000.000000"  # replaced by the time when the request is sent
EVENTS = 20


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def headers(stream, flags=0, block=b"\x88"):
    return frame(HEADERS, END_HEADERS | flags, stream, block)


def data(stream, flags=0, size=100):
    return frame(DATA, flags, stream, b"\0" * size)


def reset(stream):
    return frame(RST_STREAM, 0, stream, bytes(4))


def other():
    """Frames that are no requests, one of them of an unknown type."""
    return frame(PING, 1, 0, bytes(8)) + frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1") + frame(UNKNOWN, 0xff, 3, b"\1" * 11)


def continued(stream):
    return frame(HEADERS, 0, stream, b"\x88") + frame(CONTINUATION, END_HEADERS, stream, b"\1" * 20)


def large(stream):
    return headers(stream) + data(stream, 0, 16384) * 6 + data(stream, END_STREAM, 16000)


# Kind of response: its steps, each (seconds before it, frames, parts of the response that these are).
RESPONSES = {
    "plain": lambda s, delay: [(delay, headers(s) + data(s, END_STREAM), ("first", "end"))],
    "only": lambda s, delay: [(delay, headers(s, END_STREAM), ("first", "end"))],
    "split": lambda s, delay: [(delay, headers(s), ("first",)), (delay, other() + data(s, END_STREAM), ("end",))],
    "trailers": lambda s, delay: [(delay, headers(s) + data(s), ("first",)), (delay, headers(s, END_STREAM), ("end",))],
    "continued": lambda s, delay: [(delay, continued(s), ("first",)), (delay, data(s, END_STREAM), ("end",))],
    "padded": lambda s, delay: [(delay, frame(HEADERS, END_HEADERS | PADDED, s, b"\x05\x88" + bytes(5)), ("first",)),
                               (delay, frame(DATA, END_STREAM | PADDED, s, b"\xff" + bytes(300)), ("end",))],
    "large": lambda s, delay: [(delay, large(s), ("first", "end"))],
    "cut": lambda s, delay: [(delay, headers(s) + data(s), ("first",)), (delay, reset(s), ("end",))],
    "refused": lambda s, delay: [(delay, reset(s), ("end",))],
    "silent": lambda s, delay: [(NEVER, b"", ())],
    "events": lambda s, delay: [(0, headers(s), ("first",)), *[(delay, data(s), ())] * EVENTS,
                               (delay, data(s, END_STREAM), ("end",))],
}


def pieces(byte_count, *sizes):
    """The bytes in pieces of these sizes, which are repeated."""
    at, found = 0, []
    while at < len(byte_count):
        found.append(byte_count[at:at + sizes[len(found) % len(sizes)]])
        at += len(found[-1])
    return found


# How the server receives and sends.
RECEIVES = {
    "recv": lambda sock: sock.recv(65536),
    "read": lambda sock: os.read(sock.fileno(), 65536),
    "vectors": lambda sock: receive_vectors(lambda into: os.readv(sock.fileno(), into)),
    "message": lambda sock: receive_vectors(lambda into: sock.recvmsg_into(into)[0]),
    "preadv2": lambda sock: receive_vectors(functools.partial(preadv2, sock)),
    "small": lambda sock: sock.recv(7),
    "several": lambda sock: receive_vectors(functools.partial(recvmmsg, sock)),
    "apart": lambda sock: receive_apart(sock),
}
GIVES = {
    "send": lambda sock, byte_count: sock.sendall(byte_count),
    "write": lambda sock, byte_count: [os.write(sock.fileno(), piece) for piece in pieces(byte_count, 16384)],
    "bytes": lambda sock, byte_count: [sock.send(piece) for piece in pieces(byte_count, 1)],
    "vectors": lambda sock, byte_count: [os.writev(sock.fileno(), pieces(part, 5, 1, 300))
                                     for part in pieces(byte_count, 4000)],
    "message": lambda sock, byte_count: [sock.sendmsg(pieces(part, 3, 1, 900)) for part in pieces(byte_count, 4000)],
    "file": lambda sock, byte_count: send_file(sock, byte_count),
}


def receive_vectors(call):
    into = [bytearray(4), bytearray(1), bytearray(0), bytearray(9), bytearray(65536)]
    size = call(into)
    return b"".join(into)[:size]


def receive_apart(sock):
    """Receives the header of a frame and its payload by two calls."""
    head = sock.recv(9, socket.MSG_WAITALL)
    length = len(PREFACE) - 9 if PREFACE.startswith(head) else int.from_bytes(head[:3], "big")
    return head + (sock.recv(length, socket.MSG_WAITALL) if length else b"")


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint), ("vectors", ctypes.c_void_p),
                ("count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("unused", ctypes.c_int), ("size", ctypes.c_uint)]


def iovecs(into):
    return (Iovec * len(into))(*((ctypes.addressof(ctypes.c_char.from_buffer(one)) if one else 0, len(one))
                                 for one in into))


def preadv2(sock, into):
    """preadv2 with offset -1: at the file position, which a socket does not have."""
    return ctypes.CDLL(None).preadv2(sock.fileno(), iovecs(into), len(into), ctypes.c_long(-1), 0)


def recvmmsg(sock, into):
    vectors = iovecs(into)
    message = Message(vectors=ctypes.addressof(vectors), count=len(into))
    ctypes.CDLL(None).recvmmsg(sock.fileno(), ctypes.byref(message), 1, 0, None)
    return message.size


def send_file(sock, byte_count):
    """Sends the headers of frames by send and their payloads by sendfile."""
    with tempfile.TemporaryFile() as file:
        file.write(bytes(1 << 16))
        file.flush()
        while byte_count:
            length = int.from_bytes(byte_count[:3], "big")
            if byte_count[3] == DATA:
                sock.sendall(byte_count[:9])
                os.sendfile(sock.fileno(), file.fileno(), 0, length)
            else:
                sock.sendall(byte_count[:9 + length])
            byte_count = byte_count[9 + length:]


class Connection:
    """The server's end of a connection."""

    def __init__(self, server, sock):
        self.server, self.sock = server, sock
        self.receive, self.give = RECEIVES[server.receive], GIVES[server.give]
        self.byte_count, self.due, self.log, self.speaks = b"", [], {}, False
        self.lock = threading.Lock()

    def serve(self):
        try:
            while self.once():
                pass
        except (OSError, ValueError):  # ValueError: a malformed request
            pass
        self.sock.close()

    def once(self):
        timeout = max(0, self.due[0][0] - time.time()) if self.due else None
        if select.select([self.sock], [], [], timeout)[0]:
            begin = time.time()
            byte_count = self.receive(self.sock)
            self.received = begin, time.time()
            if not byte_count:
                return False
            self.byte_count += byte_count
            while self.step():
                pass
        while self.due and self.due[0][0] <= time.time():
            self.respond(*heapq.heappop(self.due)[2:])
        return True

    def step(self):
        return self.frame() if self.speaks else self.prologue()

    def skip(self, count):
        self.byte_count = self.byte_count[count:]
        return True

    def prologue(self):
        if self.byte_count.startswith(PROXY2):
            return self.skip(len(PROXY2))
        if self.byte_count.startswith(b"PROXY ") and b"\n" in self.byte_count:
            return self.skip(self.byte_count.index(b"\n") + 1)
        if self.byte_count.startswith(UPGRADE):
            self.send(SWITCHING)
            return self.skip(len(UPGRADE))
        if self.byte_count.startswith(PREFACE):
            self.speaks = True
            self.send(frame(SETTINGS, 0, 0, bytes(6)))
            return self.skip(len(PREFACE))
        return False

    def frame(self):
        if len(self.byte_count) < 9 or len(self.byte_count) < 9 + int.from_bytes(self.byte_count[:3], "big"):
            return False
        length, kind, flags = int.from_bytes(self.byte_count[:3], "big"), self.byte_count[3], self.byte_count[4]
        stream, payload = int.from_bytes(self.byte_count[5:9], "big"), self.byte_count[9:9 + length]
        if kind == HEADERS and stream not in self.log:
            self.ask(stream, payload[1:] if flags & PADDED else payload)
        elif kind == RST_STREAM:
            self.due = [one for one in self.due if one[2] != stream]
            heapq.heapify(self.due)
            self.note(stream, end=(time.time(), time.time()))
        return self.skip(9 + length)

    def ask(self, stream, block):
        sent, how, delay = block.split(b"\0")[0].decode().split()
        self.log[stream] = None
        self.note(stream, sent=float(sent), received=self.received)
        self.plan(stream, RESPONSES[how](stream, float(delay)))

    def plan(self, stream, steps):
        if steps:
            heapq.heappush(self.due, (time.time() + steps[0][0], stream, stream, steps))

    def respond(self, stream, steps):
        if self.server.threads and len(steps[0][2]) == 2:
            threading.Thread(target=self.give_step, args=(stream, steps), daemon=True).start()
        else:
            self.give_step(stream, steps)
        self.plan(stream, steps[1:])

    def give_step(self, stream, steps):
        begin = time.time()
        self.send(steps[0][1])
        when = begin, time.time()
        self.note(stream, **{what: when for what in steps[0][2]})

    def send(self, byte_count):
        with self.lock:
            self.give(self.sock, byte_count)

    def note(self, stream, **when):
        self.server.note(f"{id(self)} {stream}", **when)


class Server:
    """A process with a thread for each connection."""

    def __init__(self, test, name, receive="recv", give="send", family=socket.AF_INET, threads=False):
        self.name, self.receive, self.give, self.threads = name, receive, give, threads
        self.path = os.path.join(test.dir, "log-" + name)
        self.sent = {}  # time before a client's send -> time after it
        listener = socket.socket(family)
        listener.bind(os.path.join(test.dir, name) if family == socket.AF_UNIX else ("127.0.0.1", 0))
        listener.listen(16)
        self.family, self.where = family, listener.getsockname()
        self.pid = os.fork()
        if self.pid == 0:
            die_with_test()
            ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_h_" + name).encode(), 0, 0, 0)
            with open(self.path, "a", encoding="ascii", buffering=1) as self.log:
                try:
                    self.serve(listener)
                finally:
                    os._exit(1)
        listener.close()

    def serve(self, listener):
        while True:
            sock = listener.accept()[0]
            if self.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=Connection(self, sock).serve, daemon=True).start()

    def note(self, name, **when):
        self.log.write(json.dumps({"name": name, **when}) + "\n")

    def requests(self):
        """Each request as {"sent", "received", "first", "end"}, without the keys that are not reached yet."""
        found = {}
        with open(self.path, encoding="ascii") as log:
            for line in map(json.loads, log):
                found.setdefault(line.pop("name"), {}).update(line)
        return [{**one, "sent": (one["sent"], self.sent.get(one["sent"], one["received"][1]))}
                for one in found.values()]

    def settled(self, begin=0.0):
        """Waits until all requests that were sent since `begin` have ended, and returns them. A client may have a response before
        the server's call that sent it returns."""
        while True:
            requests = [one for one in self.requests() if one["sent"][0] >= begin]
            if all("end" in one for one in requests):
                return requests
            time.sleep(0.02)


class Client:
    """A client with one connection."""

    def __init__(self, server, begin=(PREFACE,), pause=0.05):
        """begin: the pieces that are sent before the first frame"""
        self.server = server
        self.sock = socket.socket(server.family)
        self.sock.connect(server.where)
        if server.family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.last, self.byte_count, self.ended = -1, b"", set()
        for piece in begin:
            self.sock.sendall(piece)
            if piece == UPGRADE:
                self.receive(len(SWITCHING))
                self.last = 1
            time.sleep(pause)
        self.sock.sendall(frame(SETTINGS, 0, 0, bytes(12)))
        time.sleep(pause)

    def receive(self, count):
        while len(self.byte_count) < count:
            # Hook set 4 may miss calls that block.
            select.select([self.sock], [], [])
            more = self.sock.recv(65536)
            if not more:
                raise ConnectionError("the server has closed the connection")
            self.byte_count += more
        taken, self.byte_count = self.byte_count[:count], self.byte_count[count:]
        return taken

    def request(self, how, delay, padded=False):
        """The frames of a request, for send()."""
        self.last += 2
        block = SENT + f" {how} {delay}".encode()
        if padded:
            return frame(HEADERS, END_HEADERS | END_STREAM | PADDED, self.last, b"\x09" + block + bytes(9))
        return headers(self.last, END_STREAM, block)

    def send(self, byte_count, *sizes):
        """Sends in pieces of these sizes."""
        begin = f"{time.time() - 1e-6:.6f}"
        byte_count = byte_count.replace(SENT, begin.encode())
        for piece in pieces(byte_count, *(sizes or [1 << 20])):
            self.sock.send(piece)
        self.server.sent[float(begin)] = time.time()

    def wait(self, *streams):
        """Waits until the server has ended these streams."""
        while not self.ended.issuperset(streams):
            head = self.receive(9)
            length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
            self.receive(length)
            if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                self.ended.add(int.from_bytes(head[5:], "big"))

    def rounds(self, count, at_once, how, delay, sizes=(1 << 20,), **options):
        """Sends `count` times `at_once` requests, in pieces of these sizes, and waits for the responses."""
        for _ in range(count):
            first = self.last + 2
            self.send(b"".join(self.request(how, delay, **options) for _ in range(at_once)), *sizes)
            self.wait(*range(first, self.last + 2, 2))

    def close(self):
        self.sock.close()

    def finish(self):
        """Closes the connection and waits until the server has closed it, too."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
            while self.sock.recv(65536):
                pass
        except OSError:
            pass
        self.sock.close()
