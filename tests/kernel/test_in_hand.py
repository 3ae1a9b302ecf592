#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a thread has in hand ends with the connection, whoever closes it: slack of pools of threads whose last message has no
response, and in which parts the time of their requests is. A thread that waits for events between the pieces of a response
is not blocked there.

Truth: what the servers do (load_quit.c, load_push.c).
"""

import time

from delays import probe
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts, without
from request_hook_sets import HOOK_SETS

POOLS = {f"{family}_{closer}": f"kt_q_{family[0]}{closer[:2]}" for family in ("tcp", "unix") for closer in ("own", "other")}
SERVICES = POOLS | {"push": "kt_q_push"}
INTERVAL = 0.2 if SLOWNESS < 2 else 2
CONF = "".join(f'<Service "{name}">\n Process "{command}"\n</Service>\n' for name, command in SERVICES.items()) + """
  <Probe "request">
    HookSet {}
    Option "syscalls"
    Parameter "stream_after" 3600
  </Probe>
"""
FREQUENCY, BUDGET = 200, 50
IDLE_S = 1  # between the end of a connection and the next request
METRIC = "percent-slack_threads"
ROUNDS = 3
MANY = 50  # requests before the message without a response
READINGS = 20  # in which a thread is seen to sleep between two sends
# These shares are 0 or 100 but for what the machine has to do otherwise.
IDLE, BLOCKED = (60, 100), (0, 40)


def check(test, daemons, names, what, want, readings=1):
    """Of an interval that begins from now on, and is one of so many."""
    moment = time.time()
    for hook_set, daemon in daemons.items():
        for name in names:
            for reading in range(1, readings + 1):
                got = daemon.wait_rows(name, METRIC, 1 + reading, moment)[reading][1]
                if want[0] <= got <= want[1]:
                    break
            test.within(f"hook set {hook_set}: {name}: {what}: slack of threads, %", got, *want)


def order(loads, line):
    for load in loads:
        load.say(line)
    for load in loads:
        load.hear()


def check_pools(test, daemons, loads):
    order(loads, f"quit {MANY}")
    check(test, daemons, POOLS, "idle after a message without a response", IDLE)
    for _ in range(ROUNDS):
        order(loads, "quit 1")
    order(loads, "block")
    check(test, daemons, POOLS, "asleep with requests", BLOCKED)
    order(loads, "abandon")
    check(test, daemons, POOLS, "asleep with requests whose clients have gone", BLOCKED)
    order(loads, "free")
    check(test, daemons, POOLS, "idle after that", IDLE)
    for line in ("block", "abandon", "free") * ROUNDS + ("block",):
        order(loads, line)
    check(test, daemons, POOLS, "asleep with requests after others whose clients have gone", BLOCKED)
    order(loads, "abandon")
    order(loads, "free")


def check_parts(test, daemon, loads):
    """The time for which the threads wait in the pool is in no request."""
    order(loads, "quit 1")
    time.sleep(IDLE_S * SLOWNESS)
    begin = time.time()
    order(loads, "block")
    for name in POOLS:
        parts = {}
        while not parts.get("sleep"):
            daemon.row_after(name, METRIC, time.time())
            parts = {part: row[1] for part in ("sleep", "lock") for row in daemon.rows(name, f"latency-in_{part}")
                     if row[0] > begin and row[1] == row[1]}
        test.true(f"{name}: requests sleep, and wait for no lock", parts["lock"] < 0.1 * parts["sleep"], parts)
    order(loads, "abandon")
    order(loads, "free")


def check_push(test, daemons, load):
    for how, want in (("sleep", BLOCKED), ("events", IDLE), ("upstream", BLOCKED)):
        order([load], how)
        check(test, daemons, ["push"], f"{how} between the pieces of a response", want, READINGS)


def main():
    with Test(limit=60) as test:
        sampled = test.collectd(CONF.replace("HookSet {}", "") + probe(FREQUENCY, BUDGET), interval=INTERVAL)
        daemons = {hook_set: test.collectd(CONF.format(hook_set) + without("delay"), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                                           collect=("request",))
                   for hook_set in HOOK_SETS}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets: {set(daemons)}", daemons)
        loads = [test.load("quit", *name.split("_"), name=command) for name, command in POOLS.items()]
        push = test.load("push", name=SERVICES["push"])
        check_pools(test, daemons, loads)
        check_parts(test, sampled, loads)
        check_push(test, daemons | {"any, sampled": sampled}, push)


if __name__ == "__main__":
    main()
