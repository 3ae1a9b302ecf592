#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parameter "payload" false of the probe request: no program reads memory of processes. Requests of HTTP/2 then count by turns,
and Response lines are refused by one message; without the parameter they count by stream, and by class.

Truth: the turns and streams of the client, and the instructions that the kernel has left of the programs.
"""

import socket
import time

import bpf_objects
import http2
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts, without
from request_hook_sets import HOOK_SETS, gets
from responses import finish, serve_each, start

NAME = "kt_payload"
INTERVAL = 0.3 if SLOWNESS < 2 else 3
EXCHANGES, STREAMS = 5, 7  # of a connection, and of each of these
REQUEST = http2.headers(1, http2.END_STREAM)
SERVICE = without("delay", "disk", "limits", "oom", "process") + f'<Service "web">\n Process "{NAME}"\n Response "2xx" "HTTP/2 2"\n</Service>\n'
PROBE = '<Probe "request">\n HookSet {}\n Option "syscalls"\n Collect "default" "total_connections-unread"\n {}\n</Probe>\n'
MESSAGE = 'ignoring Response in <Service "web">: Parameter "payload" false in <Probe "request"> forbids reading responses'
READS = "call bpf_probe_read_user#"


def receive(sock, size):
    return sock.recv(size, socket.MSG_WAITALL)


def streams(number):
    return range(1 + 2 * STREAMS * number, 1 + 2 * STREAMS * (number + 1), 2)


def respond(sock):
    """To all requests of a turn at once."""
    receive(sock, len(http2.PREFACE))
    for number in range(EXCHANGES):
        receive(sock, STREAMS * len(REQUEST))
        sock.sendall(b"".join(http2.headers(stream, http2.END_STREAM) for stream in streams(number)))


def ask(where):
    with socket.create_connection(where) as sock:
        sock.sendall(http2.PREFACE)
        for number in range(EXCHANGES):
            sock.sendall(b"".join(http2.headers(stream, http2.END_STREAM) for stream in streams(number)))
            receive(sock, STREAMS * len(REQUEST))
        finish(sock)


def user_reads(daemon):
    """The programs of the probe that read memory of processes."""
    found = bpf_objects.instructions(daemon.process.pid, "request_")
    return sorted(name for name, text in found.items() if READS in text)


def start_daemon(test, hook_set, parameter):
    """None: the kernel does not offer this hook set."""
    daemon = test.collectd(SERVICE + PROBE.format(hook_set, parameter), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                           collect=("request",))
    if daemon.wait_rows("self", "count-tier_request")[-1][1]:
        return daemon
    test.stop(daemon)
    return None


def main():
    with Test(limit=120) as test:
        where = start(test, NAME, serve_each(respond))
        blind = {hook_set: start_daemon(test, hook_set, 'Parameter "payload" false') for hook_set in HOOK_SETS}
        blind = {hook_set: daemon for hook_set, daemon in blind.items() if daemon}
        test.true(f"hook sets: {set(blind)}", blind)
        seeing = start_daemon(test, max(blind.keys() - {5} or blind), "")
        moment = time.time()
        ask(where)
        for hook_set, daemon in blind.items():
            test.equal(f"hook set {hook_set}: turns", gets(daemon, "web", "total_requests", EXCHANGES, moment), EXCHANGES)
            test.equal(f"hook set {hook_set}: series of classes",
                       sorted(daemon.metrics("web") & {"total_requests-2xx", "total_requests-unknown"}), [])
            test.equal(f"hook set {hook_set}: complaints", [line for line in daemon.complaints() if MESSAGE in line],
                       daemon.complaints())
            test.equal(f"hook set {hook_set}: how often it is said", len(daemon.complaints()), 1)
            if hook_set != 5:  # that one reads from the arguments of a call how many bytes it has moved
                test.equal(f"hook set {hook_set}: programs that read memory of processes", user_reads(daemon), [])
        test.equal("with payload: streams", gets(seeing, "web", "total_requests", EXCHANGES * STREAMS, moment), EXCHANGES * STREAMS)
        test.equal("with payload: of class 2xx", gets(seeing, "web", "total_requests-2xx", EXCHANGES * STREAMS, moment),
                   EXCHANGES * STREAMS)
        test.true("with payload: programs that read memory of processes", user_reads(seeing))


if __name__ == "__main__":
    main()
