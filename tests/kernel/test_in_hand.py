#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a thread has in hand ends with the connection, whoever closes it: slack of pools of threads whose last message has no
response. And a thread that waits for events between the pieces of a response is not blocked there.

Truth: what the servers do (load_quit.c, load_push.c).
"""

import time

from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts
from request_hook_sets import HOOK_SETS

POOLS = {f"{family}_{closer}": f"kt_q_{family[0]}{closer[:2]}" for family in ("tcp", "unix") for closer in ("own", "other")}
SERVICES = POOLS | {"push": "kt_q_push"}
INTERVAL = 0.2 if SLOWNESS < 2 else 2
CONF = "".join(f'<Service "{name}">\n Process "{command}"\n</Service>\n' for name, command in SERVICES.items()) + """
  <Probe "delay">
    Enable false
  </Probe>
  <Probe "request">
    HookSet {}
    Option "syscalls"
    Parameter "stream_after" 3600
  </Probe>"""
METRIC = "percent-slack_threads"
ROUNDS = 3
MANY = 50  # requests before the message without a response
# These shares are 0 or 100 but for what the machine has to do otherwise.
IDLE, BLOCKED = (60, 100), (0, 40)


def check(test, daemons, names, what, want, settled=1):
    """In the reading after so many others that have begun by now."""
    moment = time.time()
    for hook_set, daemon in daemons.items():
        for name in names:
            got = daemon.wait_rows(name, METRIC, 1 + settled, moment)[settled][1]
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


def check_push(test, daemons, load):
    for how, want in (("sleep", BLOCKED), ("events", IDLE), ("upstream", BLOCKED)):
        order([load], how)
        check(test, daemons, ["push"], f"{how} between the pieces of a response", want, settled=3)


def main():
    with Test(limit=60) as test:
        daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                                           collect=("request",))
                   for hook_set in HOOK_SETS}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets: {set(daemons)}", daemons)
        loads = [test.load("quit", *name.split("_"), name=command) for name, command in POOLS.items()]
        push = test.load("push", name=SERVICES["push"])
        check_pools(test, daemons, loads)
        check_push(test, daemons, push)


if __name__ == "__main__":
    main()
