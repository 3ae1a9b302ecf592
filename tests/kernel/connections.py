# SPDX-License-Identifier: MIT
"""TCP clients and servers that carry out a test's orders, each in its own process."""

import ctypes
import errno
import fcntl
import itertools
import json
import os
import select
import socket
import struct
import time

from lib import LIBC, Skip, die_with_test

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
PR_SET_NAME = 15
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
RTT, TOTAL_RETRANS = 68, 100  # their offsets in struct tcp_info
UNACKED = 24
TCP_USER_TIMEOUT = 18
IPV4, IPV6 = socket.AF_INET, socket.AF_INET6
WHERE = {IPV4: "127.0.0.1", IPV6: "::1"}
# Ports outside of the range from which the kernel assigns them.
PORTS = itertools.count(10000 + os.getpid() * 37 % 20000)


def own_network():
    """Of this process and what it starts."""
    if LIBC.unshare(CLONE_NEWNET):
        raise Skip("no network namespace of its own: unshare is not permitted")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def kernel():
    """{name: count} of TCP in this namespace."""
    found = {}
    for name in ("snmp", "netstat"):
        with open(f"/proc/self/net/{name}", encoding="ascii") as file:
            lines = [line.split() for line in file]
        for names, values in zip(lines[::2], lines[1::2]):
            if names[0] in ("Tcp:", "TcpExt:"):
                found |= dict(zip(names[1:], map(int, values[1:])))
    return found


def free_port(kind=socket.SOCK_STREAM):
    """A port that a server can bind."""
    for port in PORTS:
        with socket.socket(IPV4, kind) as sock:
            try:
                sock.bind((WHERE[IPV4], port))
                return port
            except OSError:
                continue


def drop_all(sock):
    """Attaches a filter that drops all packets, so that the other end retransmits."""
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0))  # BPF_RET, no byte
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("@HP", 1, ctypes.addressof(code)))


def drop_none(sock):
    sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


class Worker:
    """Carries out, in the child, the orders of its Peer in the test."""

    def __init__(self, listener=None):
        self.listener, self.open, self.trying = listener, [], []

    def listen(self, backlog, family=IPV4):
        if self.listener:
            self.listener.close()
        self.listener = socket.socket(family)
        self.listener.bind((WHERE[family], 0))
        self.listener.listen(backlog)
        return self.port()

    def port(self):
        return self.listener.getsockname()[1]

    def stop(self):
        self.listener.close()
        self.listener = None

    @staticmethod
    def rename(name):
        LIBC.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)

    def accept(self, count):
        self.open += [self.listener.accept()[0] for _ in range(count)]

    def connect(self, port, count, family=IPV4):
        """The durations of the connects, which include the system calls themselves."""
        taken = []
        for _ in range(count):
            sock = socket.socket(family)
            begin = time.monotonic()
            error = sock.connect_ex((WHERE[family], port))
            taken.append(time.monotonic() - begin)
            if error == 0:
                self.open.append(sock)
        return taken

    def start(self, port, count, tries=None):
        """Starts connects without waiting for them."""
        for _ in range(count):
            sock = socket.socket()
            sock.setblocking(False)
            if tries is not None:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, tries)
            if sock.connect_ex((WHERE[IPV4], port)) not in (0, errno.EINPROGRESS):
                raise RuntimeError("connect")
            self.trying.append(sock)

    def finish(self):
        """Waits for all connects and returns their errors."""
        errors = []
        for sock in self.trying:
            select.select([], [sock], [])
            errors.append(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
            sock.setblocking(True)
            if errors[-1] == 0:
                self.open.append(sock)
            else:
                sock.close()
        self.trying = []
        return errors

    def give_up(self):
        for sock in self.trying:
            sock.close()
        self.trying = []

    def send(self, byte_count):
        for sock in self.open:
            sock.sendall(b"x" * byte_count)

    def receive(self, byte_count):
        for sock in self.open:
            remaining = byte_count
            while remaining:
                remaining -= len(sock.recv(remaining))

    def close(self, count):
        """Closes the youngest connections."""
        for sock in self.open[-count:]:
            sock.close()
        del self.open[-count:]

    def acknowledge(self):
        """Sends pending acknowledgements now and in this process, not from a timer in another context."""
        for sock in self.open:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def reset(self, count):
        for sock in self.open[-count:]:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close(count)

    def drop_packets(self):
        drop_all(self.listener)

    def stop_dropping(self):
        drop_none(self.listener)

    def be_deaf(self):
        drop_all(self.open[-1])

    def hear_again(self):
        drop_none(self.open[-1])

    def info(self, offset):
        """A number of TCP_INFO of the youngest connection."""
        return struct.unpack_from("=I", self.open[-1].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, offset + 4), offset)[0]

    def sent_again(self):
        return self.info(TOTAL_RETRANS)

    def send_acknowledged(self, byte_count):
        """Sends on the youngest connection, and returns its round-trip times in us before and after the acknowledgement."""
        before = self.info(RTT)
        self.open[-1].sendall(b"x" * byte_count)
        while self.info(UNACKED):
            time.sleep(0.001)
        return before, self.info(RTT)

    def acknowledge_late(self):
        """From here on the kernel waits some 40 ms before it acknowledges."""
        self.open[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)

    def time_out(self, ms):
        """Sends on the youngest connection what nobody acknowledges; returns the error after this time."""
        sock = self.open.pop()
        sock.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, ms)
        sock.send(b"x")
        select.select([sock], [], [])
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        sock.close()
        return error


class Peer:
    """A Worker in a process with its own command name."""

    def __init__(self, test, name, listener=None):
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            die_with_test()
            LIBC.prctl(PR_SET_NAME, test.own(name).encode(), 0, 0, 0)
            os.close(self.to)
            self._work(Worker(listener), os.fdopen(down), up)
        os.close(down)
        os.close(up)
        self.responses = os.fdopen(self.back)

    @staticmethod
    def _work(worker, orders, up):
        for line in orders:
            what, arguments = json.loads(line)
            os.write(up, (json.dumps(getattr(worker, what)(*arguments)) + "\n").encode())
        os._exit(0)

    def ask(self, what, *arguments):
        os.write(self.to, (json.dumps([what, arguments]) + "\n").encode())
        line = self.responses.readline()
        if not line:
            raise RuntimeError(f"{what}: no answer")
        return json.loads(line)
