#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prometheus: what it has scraped from write_prometheus is what was dispatched; it may hang, and be gone."""

import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request

import receiver
from e2e import TOP
from receiver import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import relabel  # noqa: E402

# What command names may end with, and what is shown of it.
ODD = {b"\\n": "_n", b'"q"': "_q_", b"{}=,#": "_____", b"'$(x)`": "___x__", b"%s<>&;|": "_s_____", b"\x7f\n/ ": "____",
       b"\xe9t\xe9": "_t_", b"\xe2\x82": "__", b"\xe2\x82\xac": "_"}
CALL = """
import sys, time
with open("/proc/self/comm", "wb") as comm:
    comm.write(bytes.fromhex(sys.argv[1]))
time.sleep(1000)
"""


class Prometheus(receiver.Receiver):
    def __init__(self, test, *targets, every="250ms"):
        directory = test.mkdir("prometheus")
        self.port, = receiver.free_ports(1)
        configuration = receiver.write(f"{directory}/prometheus.yml", receiver.sample(
            "receiver-prometheus-server.yml",
            {'"127.0.0.1:9103"': ", ".join(f'"127.0.0.1:{target}"' for target in targets), "10s": every}))
        super().__init__(directory, [
            "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={directory}/data",
            f"--web.listen-address=127.0.0.1:{self.port}"], self.responses)

    def responses(self):
        """Some seconds after its start it knows whom to ask."""
        try:
            return json.loads(self.get("/api/v1/targets"))["data"]["activeTargets"]
        except OSError:
            return False

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as response:
            return response.read()

    def query(self, text):
        return json.loads(self.get("/api/v1/query?" + urllib.parse.urlencode({"query": text})))["data"]["result"]


def stored(server, daemon):
    """Names are those that the sample's rules make."""
    names = {}
    for subject, metric, source in receiver.dispatched(daemon):
        name, labels = relabel.renamed(metric, source, subject)
        names[name, *sorted(labels.items())] = (subject, metric, source)
    found = {}
    for series in server.query('{__name__=~"(collectd_)?ebpf_.+", instance="testhost"}[10m]'):
        labels = {label: value for label, value in series["metric"].items() if label not in ("__name__", "instance", "job")}
        name = series["metric"]["__name__"], *sorted(labels.items())
        found[names.get(name, name)] = [(stamp, float(value)) for stamp, value in series["values"] if value != "NaN"]
    return found


def page(port):
    return receiver.sample("receiver-prometheus.conf", {'"9103"': f'"{port}"'})


class Names:
    """One name that Prometheus refuses would cost all series of the machine."""

    def __init__(self, test, port):
        self.test, self.port, self.own = test, port, test.own("kt_")
        for name in ODD:
            subprocess.Popen([sys.executable, "-c", CALL, (self.own.encode() + name).hex()],
                             preexec_fn=lib.die_with_test)
        self.daemon = test.collectd("", page(port), host="odd", interval=1)

    def check(self, server):
        wanted = {self.own + shown for shown in ODD.values()}

        def missing():
            found = server.query('ebpf_resident_bytes{instance="odd"}')
            return wanted - {series["metric"]["service"] for series in found}

        receiver.wait_until("odd names are scraped", lambda: not missing())
        self.test.equal("odd names that are missing", missing(), set())
        targets = json.loads(server.get("/api/v1/targets"))["data"]["activeTargets"]
        self.test.equal("the last scrape", [(target["health"], target["lastError"]) for target in targets
                                            if target["scrapeUrl"].endswith(f":{self.port}/metrics")], [("up", "")])
        self.test.stop(self.daemon)


def main():
    with lib.Test(limit=240) as test:
        receiver.need("prometheus")
        ports = receiver.free_ports(2)
        receiver.Traffic(test)
        daemon = test.collectd(receiver.SERVICE, page(ports[0]), interval=1)
        names = Names(test, ports[1])
        server = Prometheus(test, *ports)
        names.check(server)
        store = receiver.Store(daemon, lambda: stored(server, daemon), pulls=True)
        absence = receiver.Absence(daemon, server, store)
        absence.check_steady(test, daemon)
        test.stop(daemon)
        receiver.compare(test, daemon, store, absence)


if __name__ == "__main__":
    main()
