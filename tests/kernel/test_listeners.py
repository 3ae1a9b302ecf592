#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections that listening sockets drop because a queue is full, by service, with each set of hooks that the kernel
offers, all of them at once.

Truth: ListenDrops of a network namespace in which there is nothing else, not even collectd.
"""

import os
import socket
import time

from connections import IPV4, WHERE, Peer, kernel, own_network
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts, without
from request_hook_sets import HOOK_SETS, no_readings

INTERVAL = 0.2 if SLOWNESS < 2 else 2
DROPS = "total_events-listen_drops"
SEES_CLOSE = (1, 2, 3, 4)  # hook sets that count what is dropped between the last reading and the close
NAMES = ("early", "full", "accepts", "first", "second", "heir", "new", "closes", "aborts", "client")
CONF = without("process") + """
  <Probe "request">
    HookSet {}
    Option "syscalls"
  </Probe>""" + "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
  </Service>""" for name in NAMES)
COUNT = 10
WAIT = 10 * SLOWNESS


def set_kernel(name, value):
    """A limit of this network namespace."""
    with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


def truth():
    return kernel()["ListenDrops"]


def counted(daemon, name):
    """As of a reading after now; 0: it has no series yet."""
    daemon.row_after("self", "duration-read_request", time.time())
    time.sleep(INTERVAL / 2)  # until all rows of that reading are written
    rows = daemon.rows(name, DROPS)
    return rows[-1][1] if rows else 0


class Overflow:
    """What is dropped from here on, for one service. Clients try again, so the kernel's count may still grow."""

    def __init__(self, daemons, name):
        self.daemons, self.name = daemons, name
        self.before = {hook_set: counted(daemon, name) for hook_set, daemon in daemons.items()}
        self.kernel = truth()

    def got(self, hook_set):
        """(ours, the kernel's), of a moment at which nothing is dropped, and the same if there is one."""
        give_up = time.monotonic() + WAIT
        while True:
            want = truth() - self.kernel
            ours = counted(self.daemons[hook_set], self.name) - self.before[hook_set]
            if (ours == want and truth() - self.kernel == want) or time.monotonic() > give_up:
                return ours, want

    def check(self, test, what, least=1, hook_sets=None):
        for hook_set in hook_sets or self.daemons:
            ours, want = self.got(hook_set)
            test.equal(f"hook set {hook_set}: {what}", ours, want)
            test.true(f"hook set {hook_set}: {what}: {want} of at least {least}", want >= least)


def fill(client, port, count=COUNT):
    """Nobody accepts: a backlog of 0 leaves room for one."""
    client.ask("start", port, count)
    time.sleep(0.05)


def listen(name, test):
    server = Peer(test, "kt_" + name)
    return server, server.ask("listen", 0)


def overflow(test, daemons, client, name, port, what, least=COUNT - 1):
    before = Overflow(daemons, name)
    fill(client, port)
    client.ask("give_up")
    before.check(test, what, least)


def accepts(test, daemons, client):
    server = Peer(test, "kt_accepts")
    port = server.ask("listen", 2 * COUNT)
    client.ask("connect", port, COUNT)
    server.ask("accept", COUNT)
    for hook_set, daemon in daemons.items():
        daemon.wait_rows("accepts", DROPS)
        test.equal(f"hook set {hook_set}: a server that accepts", counted(daemon, "accepts"), 0)


def shared_port(test, daemons, client):
    """Two services listen on one port; each drops its part."""
    peers, where = [], (WHERE[IPV4], 0)
    for name in ("first", "second"):
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(where)
            sock.listen(0)
            where = sock.getsockname()
            peers.append(Peer(test, "kt_" + name, sock))
    both = [Overflow(daemons, name) for name in ("first", "second")]
    fill(client, where[1], 8 * COUNT)
    client.ask("give_up")
    for hook_set in daemons:
        give_up = time.monotonic() + WAIT
        while True:
            want = truth() - both[0].kernel
            parts = [counted(daemons[hook_set], side.name) - side.before[hook_set] for side in both]
            if sum(parts) == want == truth() - both[0].kernel or time.monotonic() > give_up:
                break
        test.equal(f"hook set {hook_set}: two services on one port", sum(parts), want)
        test.true(f"hook set {hook_set}: each drops some: {parts}", all(parts))


def inherited(test, daemons, client):
    """A socket on which another service has listened, as a supervisor does; and one that takes a new name, as by exec."""
    listener = socket.socket()
    listener.bind((WHERE[IPV4], 0))
    listener.listen(0)
    port = listener.getsockname()[1]
    heir = Peer(test, "kt_heir", listener)
    listener.close()
    overflow(test, daemons, client, "heir", port, "an inherited socket")
    heir.ask("rename", test.own("kt_new"))
    overflow(test, daemons, client, "new", port, "the service has another name")


def closes(test, daemons, client):
    """Dropped and closed within one interval."""
    server = Peer(test, "kt_closes")
    server.ask("listen", 0)
    before = Overflow(daemons, "closes")
    with no_readings(list(daemons.values())):
        fill(client, server.ask("listen", 0))
        client.ask("give_up")
        server.ask("stop")
    before.check(test, "closed before a reading", COUNT - 1, [hook_set for hook_set in daemons if hook_set in SEES_CLOSE])


def cases(test, daemons, early):
    client = Peer(test, "kt_client")
    overflow(test, daemons, client, "early", early, "a socket that is older than the probe")
    full, port = listen("full", test)
    overflow(test, daemons, client, "full", port, "a new socket")
    overflow(test, daemons, client, "full", full.ask("listen", 0), "another socket of the service")
    accepts(test, daemons, client)
    inherited(test, daemons, client)
    shared_port(test, daemons, client)
    closes(test, daemons, client)
    set_kernel("tcp_abort_on_overflow", 1)
    _, port = listen("aborts", test)
    overflow(test, daemons, client, "aborts", port, "the kernel resets what it drops")
    for hook_set, daemon in daemons.items():
        test.equal(f"hook set {hook_set}: what only connects", daemon.rows("client", DROPS), [])


def main():
    with Test(limit=120) as test:
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        at_home = ["nsenter", f"--net=/proc/{os.getpid()}/fd/{home}"]
        own_network()
        set_kernel("tcp_synack_retries", 0)
        early, port = listen("early", test)
        client = Peer(test, "kt_client")
        fill(client, port)
        client.ask("give_up")
        daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL,
                                           wrap=at_home + in_mounts(WITH_TRACEFS))
                   for hook_set in HOOK_SETS}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets {list(daemons)}", daemons)
        cases(test, daemons, port)
        early.ask("stop")


if __name__ == "__main__":
    main()
