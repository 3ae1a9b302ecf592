#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections of TCP, by service: opened, accepted, refused, given up, reset, dropped, left open.

Truth: what the programs at both ends did, by their own clock; TCP_INFO; and what the kernel counts of a
network namespace in which there is nothing else (/proc/net/snmp and netstat). Packets are lost where a socket has a
filter that takes none.
"""

import errno
import math
import resource
import socket
import struct
import time

from connections import IPV4, IPV6, WHERE, Peer, kernel, own_network
from lib import SLOWNESS, Test, without
from tracing import Trace

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = """
  <Service "client">
    Process "kt_client"
  </Service>
  <Service "server">
    Process "kt_server"
  </Service>
  <Service "first">
    Process "kt_first"
  </Service>
  <Service "early">
    Process "kt_early"
  </Service>
  <Service "heir">
    Process "kt_heir"
  </Service>
  <Probe "tcp">
    Enable true
    Collect "*"
  </Probe>
""" + without("request", "process")
ETH_P_IP, ETH_HLEN = 0x800, 14
HOST_UNREACHABLE = 3, 1  # type and code of ICMP
PORT_OF_NOBODY = 9
STATE = "sock/inet_sock_set_state"

OPENED, LEAKED = 500, 100
REQUESTED, ANSWERED = 1000, 7000  # bytes, sizes of which each connection carries one
SILENT_S = 0.5  # for which nothing comes through
GIVEN_UP_S = 0.2
AT_ONCE_S = 0.05  # as the probe has it
LIFE_S = 1
STEP = 0.07  # of a histogram: two buckets


# The truth

class Growth:
    """Of the kernel's counters and of ours, since a moment at which nothing goes on."""

    def __init__(self, daemon, *pairs):
        self.daemon = daemon
        self.snapshot()
        self.kernel = kernel()
        self.begun = {pair: self.value(*pair) for pair in pairs}

    def snapshot(self):
        """What counts from here on is a reading later than now."""
        self.moment = time.time()

    def value(self, service, metric):
        values = self.daemon.row_after(service, metric, self.moment)[1:]
        return values if len(values) > 1 else values[0]

    def of(self, service, metric):
        return self.value(service, metric) - self.begun[service, metric]

    def true(self, name):
        return kernel()[name] - self.kernel[name]


def wait_for(daemon, service, metric, want, seconds=30):
    """What it is in the end: the sockets of others may be found out by a later look."""
    give_up = time.monotonic() + seconds * SLOWNESS
    while True:
        got = daemon.row_after(service, metric, time.time())[1]
        if got == want or time.monotonic() > give_up:
            return got


def next_reading(daemon):
    """Waits for it, and returns its time. What has come before is in it. The one of before may have begun, but not have read."""
    return daemon.row_after("tcp", "tcp_connections-established", time.time())[0]


def measured(daemon, service, metric, reading):
    """The figures of the readings after that one, of those in which there was something to measure."""
    found, give_up = [], time.monotonic() + 30 * SLOWNESS
    while not found and time.monotonic() < give_up:
        daemon.row_after("self", "duration-read_tcp", time.time())
        found = [row[1] for row in daemon.rows(service, metric) if row[0] > reading and not math.isnan(row[1])]
    return found or [math.nan]


# The cases

def before_the_probe(test):
    """Three connections, and a listening socket that an heir gets."""
    early, first = Peer(test, "kt_early"), Peer(test, "kt_first")
    port = early.ask("listen", 10)
    first.ask("connect", port, 3)
    early.ask("accept", 3)
    return early, first, port


def older_than_the_probe(test, daemon, early, first, port):
    """Found by a look at the open files; what comes on a socket that listens since before counts."""
    test.equal("older: held by the server", wait_for(daemon, "early", "current_connections", 3), 3)
    test.equal("older: held by the client", wait_for(daemon, "first", "current_connections", 3), 3)
    accepted = daemon.row_after("early", "total_connections-accepted", time.time())[1]
    test.equal("older: not counted as accepted", accepted, 0)
    first.ask("connect", port, 4)
    early.ask("accept", 4)
    test.equal("new on an old listener: accepted", wait_for(daemon, "early", "total_connections-accepted", 4), 4)
    first.ask("close", 7)
    early.ask("close", 7)
    test.equal("older and new: ended", wait_for(daemon, "early", "total_connections-closed", 7), 7)
    test.equal("older and new: left", wait_for(daemon, "early", "current_connections", 0), 0)


def open_all(client, server):
    """By either protocol, waiting for them or not; returns how many there are."""
    port = server.ask("listen", 2 * OPENED)
    client.ask("connect", port, OPENED)
    client.ask("start", port, 20)
    client.ask("finish")
    server.ask("accept", OPENED + 20)
    port = server.ask("listen", 50, IPV6)
    client.ask("connect", port, 30, IPV6)
    server.ask("accept", 30)
    return OPENED + 50


def counts_of_open(test, now, total):
    now.snapshot()
    test.equal("opened", now.value("client", "total_connections-connected"), total)
    test.equal("accepted", now.value("server", "total_connections-accepted"), total)
    test.equal("opened, the kernel says", now.true("ActiveOpens"), total)
    test.equal("accepted, the kernel says", now.true("PassiveOpens"), total)
    for service, received, sent in (("client", ANSWERED, REQUESTED), ("server", REQUESTED, ANSWERED)):
        test.equal(f"open: {service}", now.value(service, "current_connections"), total)
        test.equal(f"bytes: {service}", now.value(service, "if_octets-tcp"), (total * received, total * sent))


def half_closed(test, now, total, closed):
    now.snapshot()
    test.equal("ended: client", now.value("client", "total_connections-closed"), closed)
    test.equal("ended by the other side alone", now.value("server", "current_connections-close_wait"), closed)
    test.equal("and held still", now.value("server", "current_connections"), total)
    test.equal("not ended: server", now.value("server", "total_connections-closed"), 0)


def leaked(test, now, total, closed):
    now.snapshot()
    test.equal("ended: server", now.value("server", "total_connections-closed"), closed)
    test.equal("none half-closed", now.value("server", "current_connections-close_wait"), 0)
    for service, received, sent in (("client", ANSWERED, REQUESTED), ("server", REQUESTED, ANSWERED)):
        test.equal(f"left: {service}", now.value(service, "current_connections"), total - closed)
        test.equal(f"bytes after the end: {service}", now.value(service, "if_octets-tcp"),
                   (total * received, total * sent))


def sizes(test, daemon, reading):
    for service, received, sent in (("client", ANSWERED, REQUESTED), ("server", REQUESTED, ANSWERED)):
        for what, want in (("received", received), ("sent", sent)):
            got = measured(daemon, service, f"bytes-connection_{what}-percentile-50", reading)
            test.close(f"bytes of a connection, {what}: {service}", got[0], want, rel=STEP)


def counts(test, daemon, client, server):
    now = Growth(daemon)
    total = open_all(client, server)
    client.ask("send", REQUESTED)
    server.ask("receive", REQUESTED)
    server.ask("send", ANSWERED)
    client.ask("receive", ANSWERED)
    counts_of_open(test, now, total)
    reading = next_reading(daemon)
    client.ask("close", total - LEAKED)
    server.ask("acknowledge")
    wait_for(daemon, "server", "current_connections-close_wait", total - LEAKED)
    half_closed(test, now, total, total - LEAKED)
    server.ask("close", total - LEAKED)
    wait_for(daemon, "server", "total_connections-closed", total - LEAKED)
    leaked(test, now, total, total - LEAKED)
    sizes(test, daemon, reading)
    client.ask("close", LEAKED)
    server.ask("close", LEAKED)


def checksum(message):
    """Of the internet's protocols."""
    total = sum(struct.unpack(f"!{len(message) // 2}H", message))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def no_way(client, port):
    """To the first packet of a connect comes the answer that there is no way to that host."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP)) as wire, \
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as response:
        wire.bind(("lo", ETH_P_IP))
        client.ask("start", port, 1)
        packet = b""
        while packet[9:10] != bytes([socket.IPPROTO_TCP]) or packet[22:24] != struct.pack("!H", port):
            packet = wire.recv(2048)[ETH_HLEN:]
        message = struct.pack("!BBHI", *HOST_UNREACHABLE, 0, 0) + packet[:28]
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        response.sendto(message, (WHERE[IPV4], 0))
    return client.ask("finish")


def failures(test, daemon, client, server):
    """Refused, without an answer, and given up: after a while, and at once, as by one that has lost a race."""
    names = ("errors-connect", "errors-connect_refused", "errors-connect_timeout", "errors-connect_unreachable",
             "errors-connect_abandoned", "total_connections-connected", "total_events-retransmits")
    before = Growth(daemon, *(("client", name) for name in names))
    client.ask("connect", PORT_OF_NOBODY, 30)
    test.equal("refused, the kernel says", before.true("AttemptFails"), 30)
    port = server.ask("listen", 10)
    server.ask("drop_packets")
    with Trace(test, STATE, kib=8192) as seen:
        client.ask("start", port, 3, 1)
        test.equal("no answer: what the program gets", client.ask("finish"), 3 * [errno.ETIMEDOUT])
    unseen = states_unseen(test, seen, port)
    test.within("no answer: the kernel has tried again", before.true("RetransSegs"), 3, 9)
    test.equal("no way: what the program gets", no_way(client, port), [errno.EHOSTUNREACH])
    client.ask("start", port, 4)
    time.sleep(GIVEN_UP_S)
    client.ask("give_up")
    begin = time.monotonic()
    client.ask("start", port, 5)
    client.ask("give_up")
    late = 5 if time.monotonic() - begin >= AT_ONCE_S else 0
    before.snapshot()
    got = {name: before.of("client", name) for name in names}
    test.equal("connects that were refused", got["errors-connect_refused"], 30)
    test.within("connects without an answer", got["errors-connect_timeout"], 3 - unseen, 3)
    test.equal("connects without a way", got["errors-connect_unreachable"], 1)
    test.within("connects that were given up", got["errors-connect_abandoned"], 4, 4 + late)
    test.equal("connects that failed", got["errors-connect"], sum(got[name] for name in names[1:5]))
    test.equal("connects that did not fail", got["total_connections-connected"], 0)
    again = before.true("RetransSegs")
    test.within("sent again", got["total_events-retransmits"], again - unseen, again)


def states_unseen(test, seen, port):
    """Of connections to this port, those that a timer has ended in the context of init's threads."""
    test.equal("events that the trace has lost", seen.lost, 0)
    return sum(event.fields()["dport"] == str(port) for event in seen.unseen)


def slow_connect(test, daemon, client, server):
    """Its first packet is lost."""
    port = server.ask("listen", 10)
    server.ask("drop_packets")
    with Trace(test, STATE, kib=8192) as seen:
        moment = time.time()
        client.ask("start", port, 1)
        time.sleep(SILENT_S)
        reading = next_reading(daemon)
        server.ask("stop_dropping")
        client.ask("finish")
        taken = time.time() - moment
    if states_unseen(test, seen, port):
        test.left_out("time to connect: a packet lost", "the kernel shows no program what happens while its init runs")
    else:
        got = max(measured(daemon, "client", "latency-connect-average", reading))
        test.within("time to connect: a packet lost", got, SILENT_S * (1 - STEP), taken * (1 + STEP))
        test.figures.close("time to connect: a packet lost", got, taken, rel=STEP, slack=0.02 * SLOWNESS)
    server.ask("accept", 1)
    client.ask("close", 1)
    server.ask("close", 1)


def quick_connects(test, daemon, client, server):
    """Not longer than the call, and of the same order."""
    port = server.ask("listen", 300)
    reading = next_reading(daemon)
    taken = sorted(client.ask("connect", port, 200))
    got = measured(daemon, "client", "latency-connect-percentile-50", reading)
    test.within("time to connect", max(got), 1e-6, taken[-1] * (1 + STEP))
    test.figures.within("time to connect: median", max(got), taken[0] / 5, taken[100] * (1 + STEP))
    server.ask("accept", 200)
    client.ask("close", 200)
    server.ask("close", 200)


def lifetime(test, daemon, client, server):
    """From the connection until both have closed it."""
    port = server.ask("listen", 10)
    client.ask("connect", port, 1)
    begin = time.monotonic()
    server.ask("accept", 1)
    time.sleep(LIFE_S)
    reading = next_reading(daemon)
    client.ask("close", 1)
    server.ask("close", 1)
    lived = time.monotonic() - begin
    for service in ("client", "server"):
        got = measured(daemon, service, "duration-connection-average", reading)
        test.within(f"lifetime: {service}, at least", got[0], LIFE_S * (1 - STEP), float("inf"))
        test.figures.close(f"lifetime: {service}", got[0], lived, rel=STEP, slack=0.05 * SLOWNESS)


def resets(test, daemon, client, server):
    names = [(service, f"total_events-resets_{what}")
             for service in ("client", "server") for what in ("sent", "received")]
    before = Growth(daemon, *names)
    port = server.ask("listen", 50)
    client.ask("connect", port, 15)
    server.ask("accept", 15)
    client.ask("send", 1)
    server.ask("reset", 10)
    server.ask("close", 5)  # with what they have not received
    before.snapshot()
    test.equal("reset: sent and received by each", [before.of(*name) for name in names], [0, 15, 15, 0])
    test.equal("reset: sent, the kernel says", before.true("OutRsts"), 15)
    client.ask("close", 15)


def overflow(test, daemon, client, server):
    """Nobody accepts."""
    before = kernel()["ListenDrops"]
    port = server.ask("listen", 1)
    client.ask("start", port, 10)
    test.equal("overflow: queue, percent", wait_for(daemon, "server", "percent-accept_queue", 100), 100)
    test.equal("overflow: waiting", wait_for(daemon, "server", "current_connections-unaccepted", 2), 2)
    client.ask("give_up")
    test.within("overflow: dropped, the kernel says", kernel()["ListenDrops"] - before, 8, 1000)
    server.ask("listen", 1)
    test.equal("overflow: queue of another listener", wait_for(daemon, "server", "percent-accept_queue", 0), 0)


def losses(test, daemon, client, server):
    """What is sent to a socket that takes nothing is sent again and again."""
    before = Growth(daemon, ("client", "total_events-retransmits"), ("server", "total_events-retransmits"))
    port = server.ask("listen", 10)
    client.ask("connect", port, 1)
    server.ask("accept", 1)
    server.ask("be_deaf")
    reading = next_reading(daemon)
    client.ask("send", REQUESTED)
    while not client.ask("sent_again"):
        time.sleep(0.05)
    server.ask("hear_again")
    server.ask("receive", REQUESTED)
    again = client.ask("sent_again")
    before.snapshot()
    got, other = (before.of(service, "total_events-retransmits") for service in ("client", "server"))
    bounds = again, client.ask("sent_again")
    test.within("lost: sent again, TCP_INFO says", again, 1, 20)
    test.between("lost: sent again", got, bounds)
    test.equal("lost: by the other side", other, 0)
    test.within("lost: sent again, the kernel says", before.true("RetransSegs"), again, client.ask("sent_again"))
    share = measured(daemon, "client", "percent-retransmitted", reading)
    test.within("lost: share of what was sent, percent", max(share), 1, 100)
    client.ask("close", 1)
    server.ask("close", 1)


def round_trips(test, daemon, client, server):
    """A figure for each time that the connection has sent: what TCP_INFO says, before the acknowledgement or after it."""
    port = server.ask("listen", 10)
    client.ask("connect", port, 1)
    server.ask("accept", 1)
    server.ask("acknowledge_late")
    begin = next_reading(daemon)
    for i in range(3):
        reading = next_reading(daemon)
        bounds = sorted(microseconds / 1e6 for microseconds in client.ask("send_acknowledged", 1))
        got = measured(daemon, "client", "latency-rtt-average", reading)
        test.between(f"round-trip time {i}", got[0], bounds, rel=STEP, slack=1e-6)
    daemon.row_after("client", "latency-rtt-average", time.time())
    for service, want in (("client", 3), ("server", 0)):
        times = [row for row in daemon.rows(service, "latency-rtt-average") if row[0] > begin and not math.isnan(row[1])]
        test.equal(f"round-trip time: readings with one, {service}", len(times), want)
    client.ask("close", 1)
    server.ask("close", 1)


def timed_out(test, daemon, client, server):
    """What was sent is never acknowledged."""
    before = Growth(daemon, *((service, "total_events-connection_timeouts") for service in ("client", "server")),
                    ("client", "total_connections-closed"))
    port = server.ask("listen", 10)
    client.ask("connect", port, 2)
    server.ask("accept", 2)
    with Trace(test, STATE, kib=8192) as seen:
        for _ in range(2):
            server.ask("be_deaf")
            test.equal("timed out: what the program gets", client.ask("time_out", 300), errno.ETIMEDOUT)
            server.ask("reset", 1)
    unseen = states_unseen(test, seen, port)
    before.snapshot()
    test.equal("timed out, the kernel says", before.true("TCPAbortOnTimeout"), 2)
    got = before.of("client", "total_events-connection_timeouts")
    test.within("connections that timed out", got, 2 - unseen, 2)
    test.within("and were closed by that", before.of("client", "total_connections-closed"), got, 2)
    test.equal("timed out: on the other side", before.of("server", "total_events-connection_timeouts"), 0)


def inherited(test, daemon, client):
    """A socket on which another has listened for it, as systemd does."""
    listener = socket.socket()
    listener.bind((WHERE[IPV4], 0))
    listener.listen(10)
    port = listener.getsockname()[1]
    heir = Peer(test, "kt_heir", listener)
    listener.close()
    client.ask("connect", port, 1)
    heir.ask("accept", 1)
    test.equal("inherited: found out", wait_for(daemon, "heir", "current_connections", 1), 1)
    want = daemon.row_after("heir", "total_connections-accepted", time.time())[1] + 5
    client.ask("connect", port, 5)
    heir.ask("accept", 5)
    test.equal("inherited: accepted", wait_for(daemon, "heir", "total_connections-accepted", want), want)


def machine(test, daemon, before):
    """The same growth since before the daemon, now that nothing goes on."""
    low, moment = kernel(), time.time()
    for name in ("ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets", "OutRsts", "RetransSegs", "OutSegs",
                 "ListenOverflows", "ListenDrops", "TCPTimeouts"):
        got = daemon.row_after("tcp", f"protocol_counter-{name}", moment)[1] + before[name]
        test.within(f"machine: {name}", got, low[name], kernel()[name])
    established = kernel()["CurrEstab"]
    test.equal("machine: established", wait_for(daemon, "tcp", "tcp_connections-established", established), established)


def main():
    limit = 4 * OPENED
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, max(limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with Test(limit=150) as test:
        own_network()
        older = before_the_probe(test)
        client, server, before = Peer(test, "kt_client"), Peer(test, "kt_server"), kernel()
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_tcp", 2)
        older_than_the_probe(test, daemon, *older)
        counts(test, daemon, client, server)
        failures(test, daemon, client, server)
        slow_connect(test, daemon, client, server)
        quick_connects(test, daemon, client, server)
        lifetime(test, daemon, client, server)
        resets(test, daemon, client, server)
        overflow(test, daemon, client, server)
        losses(test, daemon, client, server)
        round_trips(test, daemon, client, server)
        timed_out(test, daemon, client, server)
        inherited(test, daemon, client)
        machine(test, daemon, before)
        # With those of everybody on the machine.
        test.figures.equal("events that no program saw", daemon.rows("self", "total_events-missed_tcp")[-1][1], 0)
        test.equal("refused", daemon.rows("self", "total_events-refused_tcp")[-1][1], 0)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()
