#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replicas: pods of a Deployment at the same time are one service, while one goes and another comes; those of a StatefulSet
are apart.

Truth: what the processes were told to do, and the files of their cgroups. The state of docker is written by hand, as
cri-dockerd has it.
"""

import json
import os
import time

import lib
from lib import SLOWNESS, Test
from test_limits import PERCENT, Reading, Tree, burn, is_silent, row

INTERVAL = 0.25 if SLOWNESS < 2 else 2
CONF = """
  # Those of the tests beside this one are services, too.
  MaxServices 4096
  MaxNewServices 10000
  ServicesFrom "containers"
"""
WEB = "shop_web_app"


class Pods:
    """Containers of pods in docker, each with a process in its cgroup."""

    def __init__(self, test, state, tree):
        self.test, self.state, self.tree = test, state, tree

    def _write(self, name, labels):
        identity = os.urandom(32).hex()
        directory = os.path.join(self.state, "docker", "containers", identity)
        os.makedirs(directory)
        with open(os.path.join(directory, "config.v2.json"), "w", encoding="ascii") as file:
            json.dump({"ID": identity, "Name": "/" + name, "Config": {"Labels": labels}}, file)
        return identity

    def start(self, pod, labels):
        """Returns the cgroup of its container and the process."""
        sandbox = self._write(f"k8s_POD_{pod}_shop_0d1c2b3a_0", {"io.kubernetes.pod.name": pod, **labels})
        identity = self._write(f"k8s_app_{pod}_shop_0d1c2b3a_0", {"io.kubernetes.sandbox.id": sandbox})
        group = self.tree.make(f"docker-{identity}.scope")
        group.limit_cpu(PERCENT)
        load = self.test.load("task", name="kt_pod")
        group.enter(load.pid)
        return group, load

    def web(self, template_hash, word):
        return self.start(f"web-{template_hash}-{word}", {"pod-template-hash": template_hash, "app": "web"})

    def end(self, group, load):
        load.end()
        self.tree.remove(group)


def count(daemon, service):
    """Processes and threads, when all are resolved."""
    return list(daemon.wait_rows(service, "ps_count", 3, time.time())[2][1:])


def rolling_update(test, daemon, pods):
    old = pods.web("7d9f8b6c5d", "x2x4z")
    old[1].ask("threads 3")
    test.equal("the old pod: ps_count", count(daemon, WEB), [1, 4])
    test.equal("the old pod: CPU limit", row(daemon, WEB, "gauge-cpu_limit_percent"), PERCENT)
    new = pods.web("5f6d7c8b9", "q7v9k")
    test.equal("both: ps_count", count(daemon, WEB), [2, 5])
    test.true("both: no limit of the service", is_silent(daemon, WEB, "gauge-cpu_limit_percent"))
    start = Reading(daemon, WEB, old[0], new[0])
    for _, load in old, new:
        burn(load, 30)
    end = Reading(daemon, WEB, old[0], new[0])
    test.between("both: CPU periods", end.got[0] - start.got[0],
                 (end.low[0] - start.high[0], end.high[0] - start.low[0]))
    pods.end(*old)
    test.equal("the new pod: ps_count", count(daemon, WEB), [1, 1])
    test.equal("the new pod: CPU limit", row(daemon, WEB, "gauge-cpu_limit_percent"), PERCENT)
    third = pods.web("5f6d7c8b9", "b2c4d")
    test.equal("another pod comes: ps_count", count(daemon, WEB), [2, 2])
    test.equal("services of the Deployment", [name for name in daemon.subjects() if name.startswith(WEB)], [WEB])
    return new, third


def stateful(test, daemon, pods):
    found = [pods.start(f"db-{number}", {"controller-revision-hash": "db-6b8c",
                                         "statefulset.kubernetes.io/pod-name": f"db-{number}"}) for number in range(2)]
    for number in range(2):
        test.equal(f"pod {number} of a StatefulSet: ps_count", count(daemon, f"shop_db-{number}_app"), [1, 1])
    return found


def main():
    with Test(limit=100) as test:
        state = test.mkdir("state")
        pods = Pods(test, state, Tree(test))
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process", "limits"),
                               wrap=lib.in_mounts(f"mount --bind {state} /var/lib"))
        daemon.wait_rows("other", "ps_count", 2)
        left = [*rolling_update(test, daemon, pods), *stateful(test, daemon, pods)]
        test.equal("services of pods", sorted(name for name in daemon.subjects() if name.startswith("shop_")),
                   ["shop_db-0_app", "shop_db-1_app", WEB])
        test.equal("complaints", daemon.complaints(), [])
        test.equal("counters that fell", daemon.fallen(), [])
        for pod in left:
            pods.end(*pod)


if __name__ == "__main__":
    main()
