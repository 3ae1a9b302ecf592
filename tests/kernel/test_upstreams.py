#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a service asks of each upstream: of TCP, UDP and UNIX sockets, of any name, of upstreams that hang, reset, close or
take no connection, and of more than there is room for.

Truth: the client's own log of each request, and what the upstreams were told to do.
"""

import collections
import json
import os
import socket
import struct
import threading
import time

from lib import SLOWNESS, Test, die_with_test, without
from request_hook_sets import IN_SOCKET
from test_request_roles import rename

SHORT, WHOLE = 0.2 if SLOWNESS < 2 else 1, 1  # intervals: figures are of whole seconds
ROWS = 16
MANY, SOME = 5000, 1500  # more than there is room for in the map
HANG = 4.5  # seconds, for figures
GIVEN_UP_S = 0.05  # as the probe has it
BUCKET = 1 / 16
SLACK = 100e-6 * SLOWNESS  # between the kernel's clock and the client's
MTU = 1500
RESTARTS = 6
NAME_MAX = 55  # bytes, as the probe has it
SUN_PATH_MAX = 108
FIRST = '"total_requests-client" "latency-client_first"'
FIRST_S = 0.1
CONF = """
  # What others ask counts for none.
  ServicesFrom "none"
  <Service "client">
    Process "kt_c_up"
  </Service>
""" + without("poll") + """
  <Probe "request">
    HookSet {}
    Rows {}
    Option "clients"
  </Probe>"""


# --- upstreams ---

def reset(sock):
    """What is closed so sends no end, but a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def serve(sock):
    """Each request says what is done of it."""
    while what := sock.recv(MTU).decode():
        verb, _, seconds = what.partition(" ")
        if verb == "reset":
            return reset(sock)
        if verb in ("close", "bye"):
            break
        if verb == "hang":
            continue
        time.sleep(float(seconds))
        sock.send(b"x")
        if verb == "twice":
            time.sleep(float(seconds))
            sock.send(b"x")
    return sock.close()


def serve_all(listener):
    while True:
        sock, _ = listener.accept()
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


def serve_datagrams(sock):
    while True:
        what, peer = sock.recvfrom(MTU)
        time.sleep(float(what.split()[1]))
        sock.sendto(b"x", peer)


class Upstream:
    def __init__(self, test, kind):
        self.kind = kind
        self.family = {"unix": socket.AF_UNIX, "tcp6": socket.AF_INET6}.get(kind, socket.AF_INET)
        self.type = socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM
        listener = socket.socket(self.family, self.type)
        listener.bind({"unix": os.path.join(test.dir, "unix"), "tcp6": ("::1", 0)}.get(kind, ("127.0.0.1", 0))
                      if kind != "many" else ("0.0.0.0", 0))
        if self.type == socket.SOCK_STREAM and kind != "closed":
            listener.listen(256)
        self.where = listener.getsockname()
        self.bound = listener if kind == "closed" else None  # else the port may be another's
        if self.bound:
            return
        if os.fork() == 0:
            die_with_test()
            rename(test, "kt_upstream")
            (serve_datagrams if kind == "udp" else serve_all)(listener)
        listener.close()

    @property
    def name(self):
        """As series have it."""
        if self.kind == "unix":
            return self.where.replace("/", "_").replace("-", "_")
        return f"_::1_:{self.where[1]}" if self.kind == "tcp6" else f"127.0.0.1:{self.where[1]}"

    def connect(self):
        sock = socket.socket(self.family, self.type)
        sock.connect(self.where)
        return sock


def listen_at(test, where):
    """Of a relative path in the test's directory."""
    before = os.getcwd()
    listener = socket.socket(socket.AF_UNIX)
    os.chdir(test.dir)
    listener.bind(where)
    os.chdir(before)
    listener.listen(1)
    return listener


def respond_once(listener):
    sock, _ = listener.accept()
    sock.send(sock.recv(MTU))
    sock.recv(MTU)  # the client's end
    sock.close()
    listener.close()


# --- the client ---

def ask(sock, what, responses=1):
    """How long it took, s; None: there was no answer."""
    begin, got = time.monotonic(), 0
    try:
        sock.send(what.encode())
        while got < responses:    # of a byte each, that may come together
            byte_count = len(sock.recv(responses - got))
            if not byte_count:
                return None
            got += byte_count
    except OSError:
        return None
    return time.monotonic() - begin


class Client:
    """A process that does as it is told, by the name of a method and its arguments."""

    def __init__(self, test, upstreams):
        self.upstreams = upstreams
        orders, self.orders = os.pipe()
        said, self.said = os.pipe()
        if os.fork() == 0:
            die_with_test()
            rename(test, "kt_c_up")
            for line in os.fdopen(orders):
                name, *arguments = json.loads(line)
                os.write(self.said, json.dumps(getattr(self, "do_" + name)(*arguments)).encode() + b"\n")
            os._exit(0)
        self.hear = os.fdopen(said)

    def order(self, *words):
        os.write(self.orders, json.dumps(words).encode() + b"\n")
        return json.loads(self.hear.readline())

    def do_ask(self, kind, count, what, responses=1):
        with self.upstreams[kind].connect() as sock:
            return [ask(sock, what, responses) for _ in range(count)]

    def do_first(self, kind, count, what):
        """The seconds to the first of the two bytes of each response."""
        found = []
        with self.upstreams[kind].connect() as sock:
            for _ in range(count):
                found.append(ask(sock, what))
                sock.recv(1)
        return found

    def do_mapped(self, kind, count, what):
        """By a socket of IPv6, as of programs that know one kind."""
        with socket.socket(socket.AF_INET6) as sock:
            sock.connect(("::ffff:127.0.0.1", self.upstreams[kind].where[1]))
            return [ask(sock, what) for _ in range(count)]

    def do_each(self, kind, count, what):
        """A connection for each request."""
        return [self.do_ask(kind, 1, what)[0] for _ in range(count)]

    def do_leave(self, kind, count, what, seconds):
        """Goes without an answer. How many may have waited for one."""
        late = 0
        for _ in range(count):
            with self.upstreams[kind].connect() as sock:
                ask(sock, "answer 0")
                begin = time.monotonic()
                sock.send(what.encode())
                time.sleep(seconds)
            late += time.monotonic() - begin >= GIVEN_UP_S
        return late

    def do_refused(self, kind, count):
        refused = 0
        for _ in range(count):
            try:
                self.upstreams[kind].connect().close()
            except ConnectionRefusedError:
                refused += 1
        return refused

    def do_name(self, where):
        """Of a UNIX socket; JSON has no bytes."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(where.encode("latin-1"))
            return ask(sock, "x") is not None

    def do_many(self, kind, count):
        port = self.upstreams[kind].where[1]
        answered = 0
        for i in range(count):
            with socket.create_connection((f"127.1.{i // 250}.{i % 250 + 1}", port)) as sock:
                answered += ask(sock, "answer 0") is not None
        return answered


# --- what was dispatched ---

def series(daemon, metric):
    """{upstream: rows}"""
    prefix = metric + "-upstream-"
    return {name[len(prefix):]: daemon.rows("client", name) for name in daemon.metrics("client")
            if name.startswith(prefix)}


def grown(rows, begin=0.0, end=1e12):
    """Of a counter, which begins at 0, and again when its name was forgotten."""
    values = [(stamp, value) for stamp, value, *_ in rows if stamp <= end]
    return sum(max(0, now - before) if now >= before else now
               for (_, before), (stamp, now) in zip([(0, 0), *values], values) if stamp > begin)


class Window:
    """From a reading before something until one after."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.begin = self.reading()
        self.end = None

    def reading(self):
        stamp = self.daemon.row_after("client", "total_requests-client", time.time())[0]
        # All series of a reading are there when the next begins.
        self.daemon.wait_rows("client", "total_requests-client", 1, stamp + 0.001)
        return stamp

    def close(self):
        self.end = self.reading()
        return self

    def count(self, metric, name):
        return grown(self.daemon.rows("client", f"{metric}-upstream-{name}"), self.begin, self.end)

    def all(self, metric):
        return sum(grown(rows, self.begin, self.end) for rows in series(self.daemon, metric).values())

    def values(self, metric, name, statistic=""):
        return [row[1] for row in self.daemon.rows("client", f"{metric}-upstream-{name}{statistic}")
                if self.begin < row[0] <= self.end]

    def seconds(self, name):
        """Of all requests."""
        rows = self.daemon.rows("client", f"gauge-requests_in_progress-upstream-{name}")
        return sum(row[1] * (row[0] - before[0]) for before, row in zip(rows, rows[1:])
                   if self.begin < row[0] <= self.end)


# --- checks ---

def warm_up(daemon, client, upstreams):
    """Makes the series."""
    for kind in ("tcp", "tcp6", "unix", "udp"):
        client.order("ask", kind, 1, "answer 0")
    for kind in ("tcp", "tcp6", "unix", "udp"):
        daemon.wait_rows("client", f"total_requests-upstream-{upstreams[kind].name}", 2)


def check_responses(test, what, daemon, client, upstreams):
    window = Window(daemon)
    least = {"tcp": 0.002, "tcp6": 0.005, "unix": 0.010, "udp": 0.003}
    durations = {"tcp": client.order("ask", "tcp", 100, "answer 0.002") + client.order("mapped", "tcp", 20, "answer 0.002")
            + client.order("each", "tcp", 30, "answer 0.002"),
            "tcp6": client.order("ask", "tcp6", 60, "twice 0.005", 2),
            "unix": client.order("ask", "unix", 50, "answer 0.010"),
            "udp": client.order("ask", "udp", 40, "answer 0.003")}
    window.close()
    for kind, times in durations.items():
        name = upstreams[kind].name
        test.equal(f"{what}: requests to {kind}", window.count("total_requests", name), len(times))
        test.equal(f"{what}: errors of {kind}", window.count("errors", name), 0)
        seconds = window.seconds(name)
        test.true(f"{what}: time of requests to {kind}", seconds > 0, seconds)
        test.figures.close(f"{what}: time of requests to {kind}, s", seconds, sum(times), rel=0.02,
                           slack=len(times) * SLACK)
        medians = window.values("latency", name, "-percentile-50")
        median = max((value for value in medians if value == value), default=-1)
        test.within(f"{what}: median of {kind}, s", median, least[kind] * (1 - BUCKET), max(times) * (1 + BUCKET))
        test.figures.within(f"{what}: median of {kind}, s", median, min(times) * (1 - BUCKET) - SLACK,
                            max(times) * (1 + BUCKET))
    test.equal(f"{what}: requests to all upstreams", window.all("total_requests"), sum(map(len, durations.values())))


def check_errors(test, what, daemon, client, upstreams):
    tcp, unix, closed = (upstreams[kind].name for kind in ("tcp", "unix", "closed"))
    window = Window(daemon)
    responses = client.order("each", "tcp", 5, "reset") + client.order("each", "tcp", 6, "close")
    test.equal(f"{what}: the client got no answer", responses, [None] * 11)
    client.order("leave", "tcp", 3, "hang", 0.2)  # it gives up
    late = client.order("leave", "tcp", 20, "bye", 0)
    client.order("each", "unix", 7, "close")
    refused = client.order("refused", "closed", 4)
    window.close()
    test.within(f"{what}: errors of reset, close, and what is given up", window.count("errors", tcp), 5 + 6 + 3,
                5 + 6 + 3 + late)
    test.equal(f"{what}: requests answered before", window.count("total_requests", tcp), 23)
    test.equal(f"{what}: errors of a UNIX socket", window.count("errors", unix), 7)
    test.equal(f"{what}: errors of one that takes no connection", window.count("errors", closed), refused)


def check_first(test, hook_set, client, upstreams):
    """The time to the first byte of each exchange: at least what the upstream waits, at most what the client's clock says."""
    conf = "Buckets true\n" + CONF.format(hook_set, ROWS).replace("    Option", f"    Collect {FIRST}\n    Option")
    daemon = test.collectd(conf, interval=min(SHORT, 0.5))  # see Daemon.samples()
    daemon.wait_rows("self", "duration-read_request")
    client.order("first", "tcp6", 1, "twice 0")
    daemon.wait_rows("client", "latency-client_first-average")
    window = Window(daemon)
    times = client.order("first", "tcp6", 6, f"twice {FIRST_S}")
    window.close()
    requests = [row[1] for row in daemon.rows("client", "total_requests-client") if window.begin <= row[0] <= window.end]
    test.equal("first bytes: exchanges", requests[-1] - requests[0], len(times))
    samples = daemon.samples("client", "latency-client_first", window.begin, window.end)
    test.equal("first bytes: samples", sum(samples.values()), len(times))
    for low in samples:
        test.within(f"first bytes: samples from {low:g} s on", sum(samples[one] for one in samples if one >= low), 1,
                    sum(taken >= low for taken in times))
    test.true("first bytes: none comes before the upstream has waited", min(samples, default=0) > FIRST_S / 2, samples)
    test.stop(daemon)


def check_hang(test, what, daemon, client, upstreams):
    """An open request counts while it is open."""
    name = upstreams["tcp6"].name
    window = Window(daemon)
    client.order("leave", "tcp6", 1, "hang", HANG if test.measures else 5 * SHORT)
    window.close()
    shown = sorted(window.values("gauge-requests_in_progress", name))
    test.true(f"{what}: one that hangs: requests in progress", shown[-1] > 0, shown)
    if test.measures:
        for value in shown[-int(HANG / WHOLE) + 1:]:
            test.figures.close(f"{what}: one that hangs: requests in progress", value, 1, rel=0.02)
        test.figures.close(f"{what}: one that hangs, s", window.seconds(name), HANG, rel=0.02, slack=0.01)
    test.equal(f"{what}: one that hangs: errors", window.count("errors", name), 1)


def shown(name):
    """As series have it."""
    return "".join("_" if byte in b"/- " or byte < 32 or byte > 126 else chr(byte) for byte in name)


def ask_by_name(test, client, where):
    """Where the upstream was, which is gone then."""
    listener = listen_at(test, where)
    responses = threading.Thread(target=respond_once, args=(listener,), daemon=True)
    responses.start()
    where = listener.getsockname()
    absolute = where if isinstance(where, bytes) else os.path.join(test.dir, where).encode("latin-1")
    test.true(f"an answer of {absolute}", client.order("name", absolute.decode("latin-1")))
    responses.join()
    if absolute[0]:
        os.unlink(absolute)
    return where if isinstance(where, bytes) else where.encode("latin-1")


def check_names(test, what, daemon, client, _):
    """Of UNIX sockets: as long as they may be, with any byte, and each time with other things of the kernel behind them."""
    before, window = set(series(daemon, "total_requests")), Window(daemon)
    wanted = collections.Counter()
    full = b"\0kt_restarted".ljust(54, b"r")  # fills its piece of memory, so that what follows is another's
    for _ in range(RESTARTS):
        for name in (b"\0kt_short", full):
            ask_by_name(test, client, name)
            wanted["@" + shown(name[1:])] += 1
    for name in (b"\0kt_nuls\0\0in\0", b"\0kt_bytes\x01\xff", b"\0"):
        ask_by_name(test, client, name)
        wanted["@" + shown(name[1:].replace(b"\0", b"@"))] += 1
    longest = b"\0" + bytes(ord("a") + i % 26 for i in range(SUN_PATH_MAX - 1))
    ask_by_name(test, client, longest)
    wanted["@..." + shown(longest[4 - NAME_MAX:])] += 1
    given = ask_by_name(test, client, b"")  # the kernel names it
    test.equal(f"{what}: bytes of the name that the kernel gives", len(given), 6)
    wanted["@" + shown(given[1:])] += 1
    deep = os.path.join(test.dir, "d").encode().ljust(SUN_PATH_MAX - 4, b"d")
    os.makedirs(deep, exist_ok=True)
    for name in (b"/a", b"/b"):
        ask_by_name(test, client, deep + name)
        wanted["..." + shown((deep + name)[3 - NAME_MAX:])] += 1
    ask_by_name(test, client, b"\4no_endpoint")
    wanted["_no_endpoint"] += 1
    window.close()
    found = set(series(daemon, "total_requests")) - before
    test.equal(f"{what}: requests by name", {name: window.count("total_requests", name) for name in found}, dict(wanted))


def check_many(test, what, daemon, client, upstreams):
    """More than there is room for, in series and in the map."""
    client.order("ask", "unix", 10, "answer 0.020")  # what it has counted keeps its series
    window = Window(daemon)
    many = MANY if test.measures else SOME
    answered = client.order("many", "many", many)
    durations = client.order("ask", "unix", 10, "answer 0.002")
    window.close()
    found = series(daemon, "total_requests")
    at_once = collections.Counter(row[0] for rows in found.values() for row in rows)
    test.within(f"{what}: upstreams with series of {many}", len(found), 5, many)
    test.within(f"{what}: and at a reading, at most", max(at_once.values()), 1, ROWS + 1)
    test.true(f"{what}: and of the rest", "other" in found)
    test.equal(f"{what}: requests to all", window.all("total_requests"), answered + len(durations))
    test.equal(f"{what}: of one that was there", window.count("total_requests", upstreams["unix"].name), len(durations))
    refused = [row[1] for row in daemon.rows("self", "total_events-refused_request")]
    test.equal(f"{what}: refused", max(refused, default=0), 0)
    longest = max(row[1] for row in daemon.rows("self", "duration-read_request"))
    test.figures.within(f"{what}: s of a reading", longest, 0, 0.2 * SLOWNESS)


def main():
    with Test(limit=180) as test:
        kinds = ("tcp", "tcp6", "unix", "udp", "many", "closed")
        upstreams = {kind: Upstream(test, kind) for kind in kinds}
        client = Client(test, upstreams)
        offered = []
        for hook_set in IN_SOCKET:
            daemon = test.collectd(CONF.format(hook_set, ROWS), interval=WHOLE if test.measures else SHORT,
                                   collect=("request",))
            if daemon.wait_rows("self", "count-tier_request", 1)[-1][1]:
                offered.append(hook_set)
                warm_up(daemon, client, upstreams)
                for check in (check_responses, check_errors, check_hang, check_names, check_many):
                    check(test, f"hook set {hook_set}", daemon, client, upstreams)
            test.stop(daemon)
        if test.true("hook sets", offered, offered):
            check_first(test, offered[0], client, upstreams)


if __name__ == "__main__":
    main()
