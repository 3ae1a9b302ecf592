#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of web servers by HTTP/2, where many are on a connection at once, and by TLS, whose handshakes are none.

    test_protocols.py [SERVER...]

Truth: what their clients count, and, as figures, the servers' own logs. HTTP/2: within 0.1 %, and percentiles, rate and requests
in progress beside the client's log; TLS: within 1 %. TEST_LONG in the environment: ten times as many requests, and servers
that are compiled first.
"""

import dataclasses
import functools
import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

from lib import SLOWNESS, Test, without

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path += [os.path.join(TOP, "tests", "measure", where) for where in ("cost", "accuracy")]

import web_clients  # noqa: E402
import web_servers  # noqa: E402
from check import Skip  # noqa: E402
from need import Missing  # noqa: E402
from request_hook_sets import gets  # noqa: E402

LONG = bool(os.environ.get("TEST_LONG")) and SLOWNESS == 1
SIZE = (10 if LONG else 0.5) / SLOWNESS
CONF = without("poll")
INTERVAL = 1 if LONG or SLOWNESS >= 2 or os.environ.get("TEST_FIGURES") else 0.25
HTTP2, TLS = 0.001, 0.01
# A connection that is older than the probe is one with HTTP/2 when so many receives have looked like it.
RECEIVES = 3
# Of h2load: connections, streams at once on each, requests.
SHAPES = ((16, 1, 4000), (10, 10, 5000), (4, 100, 8000), (200, 1, 200), (100, 5, 500))
LATE = 4, 10  # connections, streams at once on each
LATE_GRPC = 4, 8
SHORT = 20  # programs that ask with gRPC for a moment
MOMENT = 0.02  # seconds
DELAYS = range(5, 55, 5)  # ms
APART = "-r", 1, "--rate-period", "5ms"  # connections, which shall not ask all at the same time
WATCHED = 3  # intervals
RANKS = {"50": (0.45, 0.55), "90": (0.86, 0.94), "99": (0.96, 1.0)}
BUCKET = 1 / 32  # half a bucket of the histogram, by its lower bound
ON_THE_WAY = 0.002 * SLOWNESS  # seconds between the client's clock and the server's sockets


@dataclasses.dataclass
class Case:
    """run: asks the server, and returns how many answers there were. also: services that it hands requests on to."""
    what: str
    run: Callable[[], int]
    rel: float
    slack: float = 0
    also: tuple = ()


def count(requests, at_once=1):
    return at_once * max(1, round(requests * SIZE / at_once))


class Late:
    """Connections with HTTP/2 that are older than collectd."""

    def __init__(self, server):
        connections, self.streams = LATE
        self.connections = [web_clients.Http2(server.ports["http2"]) for _ in range(connections)]
        self.warm_up()

    def warm_up(self):
        for connection in self.connections:
            connection.ask(1)

    def ask(self):
        return sum(connection.ask(self.streams, count(100)) for connection in self.connections)


class LateGrpc:
    def __init__(self, server):
        self.client = web_clients.Grpc(server.client, server.ports["grpc"], *LATE_GRPC)
        self.warm_up()

    def warm_up(self):
        self.client.ask(MOMENT)

    def ask(self):
        return self.client.ask(SIZE)


def late_case(late, shape, also=()):
    connections, streams = shape
    return Case(f"{connections} connections older than collectd, {streams} streams", late.ask, HTTP2,
                RECEIVES * streams * connections, also)


def http2_cases(server, late):
    url = f"http://127.0.0.1:{server.ports['http2']}/page"
    also = ("python",) if server.name == "haproxy" else ()
    case = functools.partial(Case, rel=HTTP2, also=also)
    # First: Apache closes connections that wait when it has many others.
    yield late_case(late, LATE, also)
    for connections, streams, requests in SHAPES:
        yield case(f"{connections} connections, {streams} streams", functools.partial(
            web_clients.h2load, url, count(requests, connections * streams), connections, streams))
    if server.name == "nginx":  # which wants more than a file for uploads
        yield case("sendfile, 10 streams", functools.partial(
            web_clients.h2load, url.replace("/page", "/sendfile/page"), count(5000, 100), 10, 10))
    else:
        yield case("uploads, 10 streams", functools.partial(
            web_clients.h2load, url, count(500, 50), 5, 10, "-d", os.path.join(server.home, "page")))
    yield case("small windows, 10 streams", functools.partial(web_clients.h2load, url, count(500, 50), 5, 10, "-w", 12))
    yield case("nghttp", functools.partial(web_clients.nghttp, url, 1, 50))
    if server.name in ("apache", "go_http2"):
        # Apache closes the connection then.
        yield case("upgrade from HTTP/1.1", functools.partial(web_clients.nghttp, url, 10, 1, "-u"))
    if "http2_on" in server.ports:
        url = f"http://127.0.0.1:{server.ports['http2_on']}/page"
        yield Case("to HTTP/2, 10 streams", functools.partial(web_clients.h2load, url, count(5000, 100), 10, 10), HTTP2,
                   also=("nghttpd",))


def ask_shortly(server):
    """Each program has connections of its own."""
    responses = 0
    for _ in range(SHORT):
        client = web_clients.Grpc(server.client, server.ports["grpc"], 2, 1)
        responses += client.ask(MOMENT)
        client.close()
    return responses


def grpc_cases(server, late):
    yield late_case(late, LATE_GRPC)
    yield Case("short connections, a stream", functools.partial(ask_shortly, server), HTTP2)
    for connections, streams in ((1, 1), (4, 10), (2, 100)):
        client = web_clients.Grpc(server.client, server.ports["grpc"], connections, streams)
        yield Case(f"{connections} connections, {streams} streams", functools.partial(client.ask, SIZE), HTTP2)


def tls_cases(server):
    for version in web_clients.VERSIONS:
        port = server.ports[version]
        url = f"https://127.0.0.1:{port}/page"
        ask = functools.partial(web_clients.python, port, version)
        runs = {
            "keep-alive": functools.partial(ask, 2, count(100)),
            "a connection each": functools.partial(ask, count(100), 1),
            "sessions resumed": functools.partial(ask, count(100), 1, True),
            "5 requests on each": functools.partial(ask, count(20), 5),
            "h2load, keep-alive": functools.partial(web_clients.h2load, url, count(1000, 10), 10, 1, "--h1"),
            "h2load, a connection each": functools.partial(web_clients.h2load, url, 100, 100, 1, "--h1"),
            "s_time, sessions resumed": functools.partial(web_clients.s_time, port, version, "-reuse"),
            "curl": functools.partial(web_clients.curl, url, count(50), "--http1.1"),
        }
        if LONG:
            ab = functools.partial(web_clients.ab, url, 500, 10, version.upper())
            runs |= {"ab": ab, "ab, keep-alive": functools.partial(ab, "-k"),
                     "s_time": functools.partial(web_clients.s_time, port, version, "-new")}
        for what, run in runs.items():
            yield Case(f"{version}, {what}", run, TLS)


def run_case(test, case):
    """None: what it needs is missing."""
    try:
        return case.run()
    except Missing as missing:
        test.left_out(case.what, missing)
        return None


class Watch:
    """Counts of the services between moments at which nothing goes on."""

    def __init__(self, test, daemon, servers):
        self.test, self.daemon, self.servers = test, daemon, servers
        self.counted = self._read()
        self.logged = {name: server.has_logged() for name, server in servers.items() if server.keeps_log}

    def _read(self):
        moment = time.time()
        return {name: self.daemon.row_after(name, "total_requests", moment)[1] for name in self.servers}

    def _wait(self, name, least, moment):
        """Its count, when it has come so far: a client may have an answer before the call that sent it is over."""
        give_up = time.monotonic() + 10 * SLOWNESS
        while (got := self.daemon.row_after(name, "total_requests", moment)[1]) < least and time.monotonic() < give_up:
            moment = time.time()
        return got

    def _check_log(self, name, what, want):
        logged = self.servers[name].has_logged(self.logged[name] + want)
        # Apache leaves some out, the more so where it is slow: what the client has counts.
        self.test.figures.close(f"{what}: in its own log", logged - self.logged[name], want, rel=HTTP2)
        self.logged[name] = logged

    def check(self, cases):
        """cases: {server: case}, all at once."""
        before = dict(self.counted)
        with ThreadPoolExecutor() as pool:
            answered = dict(zip(cases, pool.map(functools.partial(run_case, self.test), cases.values())))
        moment = time.time()
        for name in self.servers:
            requested = [(case, answered[at]) for at, case in cases.items()
                     if answered[at] is not None and (at == name or name in case.also)]
            if not requested:
                continue
            want = sum(responses for _, responses in requested)
            what = f"{name}: {'; and '.join(case.what for case, _ in requested)}"
            if name in self.logged:
                self._check_log(name, what, want)
            slack = sum(case.rel * responses + case.slack for case, responses in requested)
            self.counted[name] = self._wait(name, before[name] + want - slack, moment)
            self.test.close(what, self.counted[name] - before[name], want, slack=slack)


def check_idle(test, daemon, servers):
    """Nobody waits for anything, on connections that stay and on those that are gone."""
    moment = time.time()
    for name in servers:
        for metric in ("gauge-requests_in_progress", "gauge-requests_oldest"):
            test.equal(f"{name}: {metric} when all is answered", gets(daemon, name, metric, 0, moment), 0)


def integral(rows, begin, end):
    """How many of them were open on average."""
    return sum(max(0, min(last, end) - max(first, begin)) for first, last in rows) / (end - begin)


def check_rate(test, daemon, what, moments, rows):
    """Over all intervals between these readings: each may be a little late."""
    service, (begin, *_, end) = what.split()[0], moments
    values = {row[0]: row[1:] for row in daemon.rows(service, "total_requests")}
    test.figures.close(f"{what}: requests", values[end][0] - values[begin][0],
                       sum(begin < last <= end for _, last in rows), rel=0.02)
    gauges = {row[0]: row[1] for row in daemon.rows(service, "gauge-requests_in_progress")}
    test.figures.close(f"{what}: requests in progress", statistics.fmean(gauges[moment] for moment in moments[1:]),
                       integral(rows, begin, end), rel=0.05, slack=0.5)


def check_percentiles(test, daemon, what, begin, end, rows):
    """Of an interval, against the client's log, by rank."""
    ended = sorted(last - first for first, last in rows if begin < last <= end)
    top = len(ended) - 1
    for at, (low, high) in RANKS.items():
        metric = f"latency-response-percentile-{at}"
        got = {row[0]: row[1] for row in daemon.rows(what.split()[0], metric)}[end]
        test.figures.within(f"{what}: {metric}, s", got,
                            ended[int(low * top)] * (1 - BUCKET) - ON_THE_WAY, ended[int(high * top)] * (1 + BUCKET))


def check_figures(test, daemon, what, url, shape, *more):
    """Of a service whose answers take their time. what: begins with its name. shape: connections, requests at once and
    per second on each."""
    connections, streams, rate = shape
    seconds = (WATCHED + 1.5) * INTERVAL
    rate = max(1, round(rate / SLOWNESS))
    log = os.path.join(test.dir, what.replace("/", ""))  # to which h2load appends
    urls = [f"{url}/{delay}" for delay in DELAYS]
    web_clients.h2load(urls[0], round(rate * seconds) * connections, connections, streams, "--rps", rate,
                       *APART, "--log-file", log, *more, *urls[1:])
    rows = web_clients.h2load_log(log)
    begin, end = min(first for first, _ in rows), max(last for _, last in rows)
    service = what.split()[0]
    daemon.row_after(service, "total_requests", end)
    moments = [row[0] for row in daemon.rows(service, "total_requests") if begin < row[0] < end]
    if test.figures.true(f"{what}: intervals that lie within it", len(moments) >= WATCHED, len(moments) - 1):
        check_rate(test, daemon, what, moments, rows)
    for first, last in zip(moments, moments[1:]):
        check_percentiles(test, daemon, what, first, last, rows)


def check_all_figures(test, daemon, servers):
    try:
        if "haproxy" in servers:
            check_figures(test, daemon, "haproxy by HTTP/2", f"http://127.0.0.1:{servers['haproxy'].ports['http2']}",
                          (4, 50, 250))
        if "python" in servers:
            check_figures(test, daemon, "python by TLS", f"https://127.0.0.1:{servers['python'].ports['tls1.3']}",
                          (50, 1, 15), "--h1")
    except Missing as missing:
        test.left_out("percentiles", missing)


def make_home(test):
    """Other users may read it: servers that are started by root become one of these."""
    home = tempfile.mkdtemp(prefix="ebpf-test.", dir="/var/tmp")
    os.chmod(home, 0o755)
    test.at_end(lambda: shutil.rmtree(home, ignore_errors=True))
    return home


def start_late(server):
    """None: it does not speak HTTP/2 in clear."""
    kinds = {"http2": Late, "grpc": LateGrpc}
    return next((kinds[what](server) for what in kinds if what in server.ports), None)


def cases_of(server, late):
    if "http2" in server.ports:
        yield from http2_cases(server, late)
    if "grpc" in server.ports:
        yield from grpc_cases(server, late)
    if "tls1.2" in server.ports:
        yield from tls_cases(server)


def warm_up(servers, late):
    """A request of each makes its series."""
    for name, server in servers.items():
        if late[name]:
            late[name].warm_up()
        else:
            web_clients.curl(f"http://127.0.0.1:{server.ports['http']}/page", 1)


def main(*names):
    with Test(limit=400 if LONG else 180) as test:
        kinds = web_servers.SERVERS + (web_servers.COMPILED if LONG else ())
        try:
            servers = web_servers.start_all(make_home(test), names or [kind.name for kind in kinds])
        except Missing as missing:
            raise Skip(missing) from missing
        late = {name: start_late(server) for name, server in servers.items()}
        daemon = test.collectd("".join(server.block() for server in servers.values()) + CONF, interval=INTERVAL,
                               collect=("request",))
        if not test.true("the probe is on", daemon.wait_rows("self", "count-tier_request")[-1][1]):
            return
        warm_up(servers, late)
        watch = Watch(test, daemon, servers)
        cases = {name: list(cases_of(server, late[name])) for name, server in servers.items()}
        for at_once in itertools.zip_longest(*cases.values()):
            watch.check({name: case for name, case in zip(cases, at_once) if case})
        if test.measures:
            check_all_figures(test, daemon, servers)
        check_idle(test, daemon, servers)


if __name__ == "__main__":
    main(*sys.argv[1:])
