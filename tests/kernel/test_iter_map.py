#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Iterators over a map, and parameters: an administrator's object, for a process that a Parameter selects, iterates over
a socket storage, a hash, and an array of the engine.

Truth: this process, which opens and closes the sockets.
"""

import os
import socket
import subprocess
import time

import lib
from lib import Test, without

INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
SOCKETS, CLOSED = 50, 20
CONF = without("poll", "request", "process", "delay")


def probe(name, source, lines):
    path = os.path.join(lib.BUILD, "tests", "bpf", source + ".bpf.o")
    return f'<Probe "{name}">\n Object "{path}"\n {lines}\n</Probe>\n'


def listener():
    it = socket.socket()
    it.bind(("127.0.0.1", 0))
    it.listen()
    return it


def reading(daemon, moment, *metrics):
    """The values of these metrics at the first reading after this moment, each with the time of that reading."""
    return [daemon.row_after("over", metric, moment)[:2] for metric in metrics]


def gauges(daemon, *names):
    return [value for _, value in reading(daemon, time.time(), *("gauge-" + name for name in names))]


def gauges_become(daemon, want, *names):
    """Waits until the gauges are as wanted, for up to 100 s; returns them. The kernel frees a listening socket, and its
    storage, some time after it is closed: after an RCU grace period."""
    give_up = time.monotonic() + 100 * lib.SLOWNESS
    while (got := gauges(daemon, *names)) != want and time.monotonic() < give_up:
        pass
    return got


def moves(daemon):
    """(count that the iterator has seen, count that the same program has looked up then) of one reading."""
    while True:
        (when, seen), (then, found) = reading(daemon, time.time(), "derive-moves_seen", "derive-moves")
        if when == then:
            return seen, found


def main():
    with Test(limit=180) as test:
        daemon = test.collectd(CONF +
                               probe("over", "iter_map", f'Parameter "listener" {os.getpid()}\n Parameter "listner" 1') +
                               probe("beyond", "iter_map_mistakes", 'Option "beyond"') +
                               probe("no_tag", "iter_map_mistakes", 'Option "no_tag"') +
                               probe("parameters", "parameters", "\n ".join([
                                   'Parameter "on" false', 'Parameter "u8_most" 200', 'Parameter "u16_most" 65535',
                                   'Parameter "u32_most" 4294967295', 'Parameter "color" 1',
                                   'Parameter "s8_least" -128', 'Parameter "s16_least" -32768',
                                   'Parameter "s32_least" -2147483648', 'Parameter "u64_most" "18446744073709551615"',
                                   'Parameter "s64_least" 0'])),
                               interval=INTERVAL)
        daemon.wait_rows("self", "count-tier_over")
        refused = next((line for line in daemon.complaints() if "probe over is off: cannot load" in line), None)
        if refused:
            test.contains("messages", refused, "Operation not permitted")
            raise lib.Skip("this kernel permits no iterators over maps")
        daemon.wait_rows("over", "gauge-sockets")
        before = gauges(daemon, "sockets", "keys")
        test.equal("sockets and keys before there are any", before, [0, 0])
        sockets = [listener() for _ in range(SOCKETS)]
        ports = [it.getsockname()[1] for it in sockets]
        other = os.fork()
        if other == 0:
            listener()
            os._exit(0)
        os.waitpid(other, 0)
        for it in sockets[:CLOSED]:
            it.close()
        left = [SOCKETS - CLOSED, sum(ports[CLOSED:])]
        test.equal("socket storage: sockets and the sum of their ports",
                   gauges_become(daemon, left, "sockets", "socket_ports"), left)
        test.equal("hash: keys, their sum and that of their values", gauges(daemon, "keys", "key_ports", "times"),
                   [len(set(ports)), sum(set(ports)), SOCKETS])
        subprocess.run(["/bin/true"], check=True)  # becomes a process of another service by its name
        seen, found = moves(daemon)
        test.within("array of the engine's: as the walk has met it, just before it is looked up", seen, 1, found)
        with open("/proc/self/comm", "w", encoding="ascii") as comm:
            comm.write("kt_renamed")
        now = time.time()
        test.equal("parameters: off", daemon.row_after("parameters", "derive-renames", now)[1], 0)
        gauge = {name: daemon.row_after("parameters", "gauge-" + name, now)[1] for name in ("sum", "least", "most")}
        # Variables that cannot be parameters keep their values: written, many, pair, huge, badly, wide and service_rows.
        test.close("parameters: unsigned", gauge["sum"], 200 + 65535 + 4294967295 + 1, slack=5000)
        test.equal("parameters: signed", gauge["least"], -128 - 32768 - 2147483648)
        test.close("parameters: of 8 bytes", gauge["most"], 2.0**64, rel=1e-9)
        ignored = [line for line in daemon.complaints() if "ignoring" in line]
        said = "\n".join(ignored)
        for text in ('probe over: ignoring Parameter "listner" 1: it has "listener"',
                     "probe beyond: ignoring Option \"beyond\": cannot attach to iter/bpf_map_elem: the program beyond reads more of a key",
                     "no_tag: ignoring Option \"no_tag\": ", "program no_tag: it does not say which map it walks over"):
            test.contains("messages", said, text)
        test.equal(f"messages: {said}", len(ignored), 3)


if __name__ == "__main__":
    main()
