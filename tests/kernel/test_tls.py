#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of connections with TLS the handshakes and alerts are no requests, and each request counts once, whatever the version,
however both ends divide their bytes, and however the connection ends.

Truth: the server's own count.
"""

import ctypes
import fcntl
import os
import shutil
import socket
import ssl
import struct
import subprocess
import termios
import threading
import time
from dataclasses import dataclass

from connections import free_port
from lib import SLOWNESS, WITH_TRACEFS, Skip, Test, die_with_test, in_mounts, without
from request_hook_sets import HOOK_SETS, gets
from tls import (Chunks, Kernel, KernelReads, Records, client_context, kernel_has_tls, make_certificate,
                 server_context)

PR_SET_NAME = 15
REQUEST, RESPONSE = 36, 60  # of that length is Finished, too
WORK, PAUSE = 0.002, 0.002  # seconds
IDLE = 1.5 * SLOWNESS       # before a server closes a connection without requests
CONNECTIONS = 3 if SLOWNESS < 2 else 2
INTERVAL = 0.5 if SLOWNESS < 2 else 2
CLIENT_CONNECTIONS, CLIENT_REQUESTS = 3, 4
COUNT = struct.Struct("=Q")
VERSIONS = {"12": ssl.TLSVersion.TLSv1_2, "13": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True)
class Case:
    """What each connection of a service does."""
    version: str
    chunks: bool = False       # the server receives all that is there
    requests: int = 5
    connections: int = CONNECTIONS
    server_closes: bool = False
    stays: bool = False        # open until the end
    notify: bool = True        # the client says that it closes
    certificate: bool = False  # of the client
    wanted: bool = False       # it is asked for
    resumes: bool = False
    retry: bool = False        # the server wants another key than the client guessed
    joined: bool = False         # the first request comes with the end of the handshake
    piece: int = None
    records: int = 1           # of a request
    clear: bytes = b""         # what is said before TLS, as PostgreSQL's SSLRequest; one byte answers


def cases_of(version):
    return {
        "keep": Case(version),
        "chunks": Case(version, chunks=True),
        "short": Case(version, requests=1, server_closes=True),
        "silent": Case(version, requests=1, notify=False, chunks=True),
        "idle": Case(version, requests=2, connections=3, stays=True),
        "hello": Case(version, requests=0, stays=True),
        "ended": Case(version, requests=0),
        "resume": Case(version, resumes=True, requests=2),
        "cert": Case(version, certificate=True, wanted=True),
        "certch": Case(version, certificate=True, wanted=True, chunks=True, joined=True),
        "refuse": Case(version, wanted=True, requests=0),
        "held": Case(version, joined=True, chunks=True),
        "drip": Case(version, piece=1, requests=2, connections=2),
        "pieces": Case(version, records=4, chunks=True),
        "clear": Case(version, clear=b"\0\0\0\x08\x04\xd2\x16\x2f"),
    }


CASES = {name + version: case for version in VERSIONS for name, case in cases_of(version).items()}
CASES["retry13"] = Case("13", retry=True)
CASES["retryh13"] = Case("13", retry=True, joined=True, chunks=True)
CASES["resumeh12"] = Case("12", resumes=True, joined=True, chunks=True, requests=2)
CASES["resumeh13"] = Case("13", resumes=True, joined=True, chunks=True, requests=2)
# Others' programs, what only looks so, and TLS in the kernel.
OTHERS = ("again", "openssl", "looks", "kernelds", "kerneldr")
CLIENTS = {"client12": Records, "client13": Records, "clientch12": Chunks, "clientch13": Chunks}
CONF = "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
  </Service>""" for name in (*CASES, *OTHERS, *CLIENTS)) + without("delay", "poll", "process") + """
  <Probe "request">
    Collect "default" "latency-service" "latency-client"
    HookSet {}
    Option "syscalls"
    Option "clients"
  </Probe>"""


# Servers

class Server:
    """A process, with a thread for each connection; asked over a pipe what it has served."""

    def __init__(self, test, name, serve):
        self.name = name
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.where = self.listener.getsockname()
        self.pipe, theirs = socket.socketpair()
        self.served, self.lock = 0, threading.Lock()
        if os.fork() == 0:
            die_with_test()
            ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_" + name).encode(), 0, 0, 0)
            self.pipe.close()
            threading.Thread(target=self.report, args=(theirs,), daemon=True).start()
            while True:
                threading.Thread(target=self.begin, args=(serve, self.listener.accept()[0]), daemon=True).start()
        theirs.close()
        self.listener.close()

    def report(self, pipe):
        while pipe.recv(1):
            pipe.send(COUNT.pack(self.served))

    def begin(self, serve, sock):
        try:
            serve(self, sock)
        except OSError:  # ssl.SSLError, too
            pass
        sock.close()

    def count(self):
        """In the server: one more."""
        with self.lock:
            self.served += 1

    def ask(self):
        self.pipe.send(b"?")
        return COUNT.unpack(self.pipe.recv(COUNT.size))[0]


def read_all(end, size):
    """b"": it has ended."""
    data = b""
    while len(data) < size:
        more = end.read(size - len(data))
        if not more:
            return b""
        data += more
    return data


def serve_tls(case, context):
    def serve(server, sock):
        if case.clear:
            sock.recv(len(case.clear))
            server.count()
            sock.send(b"S")
        end = (Chunks if case.chunks else Records)(sock, context, server_side=True)
        if case.stays and case.requests:
            end.sock.settimeout(IDLE)
        try:
            while read_all(end, REQUEST):
                server.count()
                time.sleep(WORK)
                end.write(b"a" * RESPONSE)
                time.sleep(PAUSE)
                end.write(b"b" * RESPONSE)
                if case.server_closes:
                    break
        except TimeoutError:
            pass
        end.close()
    return serve


def serve_kernel(kind):
    def serve(server, sock):
        end = kind(sock, server_side=True)
        while end.read(REQUEST):
            server.count()
            time.sleep(WORK)
            end.write(b"x" * RESPONSE)
        end.close()
    return serve


def serve_lookalike(server, sock):
    """No TLS, though its first bytes might be."""
    while sock.recv(REQUEST):
        server.count()
        time.sleep(WORK)
        sock.send(b"x")


# Clients

def connect(case, server, context, session):
    sock = socket.create_connection(server.where)
    if case.clear:
        sock.send(case.clear)
        sock.recv(1)
    return Chunks(sock, context, joined=case.joined, piece=case.piece, session=session)


def split(data, count):
    size = -(-len(data) // count)
    return [data[i:i + size] for i in range(0, len(data), size)]


def converse(case, server, context, session=None):
    """One connection, which is returned with its session."""
    end = connect(case, server, context, session)
    for _ in range(case.requests):
        end.write(*split(b"r" * REQUEST, case.records))
        read_all(end, 2 * RESPONSE)
    if case.wanted and not case.certificate:
        try:
            end.read(1)  # the alert
        except OSError:
            pass
    return end, end.tls.session


def talk(case, server, context, finished):
    session = None
    for _ in range(case.connections):
        try:
            end, session = converse(case, server, context, session if case.resumes else None)
        except OSError:
            if not case.wanted or case.certificate:
                raise
            continue
        if case.stays:
            finished.append((end, case))
            continue
        try:
            end.close(case.notify)
        except OSError:  # the server was first
            pass


def start_client(test, name, end_of, server, context):
    """A service as the client of one that closes its connections when they are idle. Returns its process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_" + name).encode(), 0, 0, 0)
        for connection in range(CLIENT_CONNECTIONS):
            end = end_of(socket.create_connection(server.where), context)
            for _ in range(CLIENT_REQUESTS):
                end.write(b"r" * REQUEST)
                read_all(end, 2 * RESPONSE)
            if connection == 0:
                end.read(1)
            end.close()
        os._exit(0)
    finally:
        os._exit(1)


def talk_again(server):
    """A client that negotiates again between requests."""
    client = subprocess.Popen(["openssl", "s_client", "-quiet", "-no_ign_eof", "-tls1_2", "-connect",
                               "{}:{}".format(*server.where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, preexec_fn=die_with_test)
    for line, response in ((b"r" * REQUEST, 2 * RESPONSE), (b"R\n", 0), (b"r" * REQUEST, 2 * RESPONSE), (b"Q\n", 0)):
        client.stdin.write(line)
        client.stdin.flush()
        # It takes all that it reads at once for one line.
        while client.poll() is None and int.from_bytes(fcntl.ioctl(client.stdin, termios.FIONREAD, bytes(4)), "little"):
            time.sleep(0.01)
        client.stdout.read(response)
    client.wait()


def talk_lookalike(server):
    with socket.create_connection(server.where) as sock:
        for request in (b"\x16\x03\x01\xff\xff\x01".ljust(REQUEST), b"\x16\x03\x07", b"\x16\x03\x01\x00\x05", b"x"):
            sock.send(request)
            sock.recv(1)


def talk_kernel(server, notify):
    for _ in range(3):
        end = Kernel(socket.create_connection(server.where))
        for _ in range(4):
            end.write(b"r" * REQUEST)
            end.read(RESPONSE)
        end.close(notify)


# What others wrote

class OpenSSL:
    """Its own server, which answers each connection once."""

    def __init__(self, test, certificate):
        copy = os.path.join(test.disk, test.own("kt_openssl"))
        shutil.copy(shutil.which("openssl"), copy)
        self.port = free_port()
        subprocess.Popen([copy, "s_server", "-www", "-quiet", "-accept", f"127.0.0.1:{self.port}", "-cert",
                          certificate[0], "-key", certificate[1]], cwd=test.disk, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_test)

    def get(self, *options):
        return subprocess.run(["curl", "-sSk", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "-o",
                               os.devnull, *options, f"https://127.0.0.1:{self.port}/"], check=False).returncode == 0


def check(test, hook_set, daemon, want, moment):
    for service, served in want.items():
        test.equal(f"hook set {hook_set}: {service}: requests", gets(daemon, service, "total_requests", served, moment), served)
    for client in CLIENTS:
        requested = CLIENT_CONNECTIONS * CLIENT_REQUESTS
        test.equal(f"hook set {hook_set}: {client}: requests", gets(daemon, client, "total_requests-client", requested, moment),
                   requested)
    for service, metric in (*[("idle" + version, "latency-service") for version in VERSIONS],
                            *[(client, "latency-client") for client in CLIENTS]):
        metric += "-percentile-99"
        daemon.row_after(service, metric, moment)
        greatest = max((row[1] for row in daemon.rows(service, metric) if row[1] == row[1]), default=0)
        what = f"hook set {hook_set}: {service}: the greatest {metric}, s"
        test.within(what, greatest, 0.97 * (WORK + PAUSE), 0.97 * IDLE)
        test.figures.within(what, greatest, WORK + PAUSE, IDLE / 2)
    for service in (name + version for version in VERSIONS for name in ("idle", "hello", "refuse", "ended")):
        for metric in ("gauge-requests_in_progress", "gauge-requests_oldest"):
            test.equal(f"hook set {hook_set}: {service}: {metric}", gets(daemon, service, metric, 0, moment), 0)


def start_daemons(test):
    daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
            test.stop(daemons.pop(hook_set))
    test.true(f"hook sets: {set(daemons)}", daemons)
    return daemons


def run_cases(test, certificate):
    """Returns what each service has served."""
    servers, clients, finished = {}, [], []
    for name, case in CASES.items():
        context = server_context(certificate, VERSIONS[case.version], case.wanted, "secp384r1" if case.retry else None)
        servers[name] = Server(test, name, serve_tls(case, context))
    again = server_context(certificate, VERSIONS["12"])
    servers["again"] = Server(test, "again", serve_tls(Case("12"), again))
    servers["looks"] = Server(test, "looks", serve_lookalike)
    if kernel_has_tls():
        servers["kernelds"] = Server(test, "kernelds", serve_kernel(Kernel))
        servers["kerneldr"] = Server(test, "kerneldr", serve_kernel(KernelReads))
    else:
        test.left_out("TLS in the kernel", "this one has none")
    openssl = OpenSSL(test, certificate)
    daemons = start_daemons(test)
    children = [start_client(test, name, end_of, servers["idle" + name[-2:]],
                             client_context(certificate, VERSIONS[name[-2:]])) for name, end_of in CLIENTS.items()]
    for name, case in CASES.items():
        context = client_context(certificate, VERSIONS[case.version], case.certificate)
        clients.append(threading.Thread(target=talk, args=(case, servers[name], context, finished)))
        clients[-1].start()
    answered = sum(openssl.get(*options) for options in (["--tls-max", "1.2"], ["--tlsv1.3"]) * 5)
    talk_again(servers["again"])
    talk_lookalike(servers["looks"])
    for name in {"kernelds", "kerneldr"} & servers.keys():
        talk_kernel(servers[name], name == "kernelds")
    for client in clients:
        client.join()
    for child in children:
        test.equal("a client's status", os.waitpid(child, 0)[1], 0)
    want = {name: server.ask() for name, server in servers.items()}
    requested = {"idle" + version: CLIENT_CONNECTIONS * CLIENT_REQUESTS * len(CLIENTS) // 2 for version in VERSIONS}
    for name, case in CASES.items():
        test.equal(f"{name}: the server has served", want[name],
                   case.connections * (case.requests + bool(case.clear)) + requested.get(name, 0))
    test.equal("again: the server has served", want["again"], 2)
    test.equal("openssl: answers", answered, 10)
    for end, case in finished:
        if case.requests:
            end.sock.recv(1)  # the server closes it
    return daemons, {**want, "openssl": answered}, finished


def main():
    with Test(limit=150) as test:
        if not shutil.which("openssl"):
            raise Skip("openssl is not installed")
        certificate = make_certificate(os.path.join(test.dir, "certificate"))
        daemons, want, finished = run_cases(test, certificate)
        moment = time.time()
        for hook_set, daemon in daemons.items():
            check(test, hook_set, daemon, want, moment)
        for end, _ in finished:
            end.close()


if __name__ == "__main__":
    main()
