#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three hosts send to a collectd that stores RRD files, signed or encrypted; it may hang, and be started again.

Hosts and collector are network namespaces, that nothing but the test's own processes keeps alive.
"""

import copy
import os
import subprocess

import archive
import receiver
from receiver import lib

COLLECTOR = "192.0.2.1"
# Host: what its line of the sample says, and its address.
HOSTS = {"web1": ("Encrypt", "192.0.2.11"), "web2": ("Sign", "192.0.2.12"), "db1": ("Encrypt", "192.0.2.13")}
FORGER = "192.0.2.14"
INTERVAL = 1


class Namespace:
    """A network with nothing in it but a loopback."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], preexec_fn=lib.die_with_test,
                                       start_new_session=True)
        own = os.readlink("/proc/self/ns/net")
        receiver.wait_until("a namespace", lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != own)
        self.enter = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        self.run("link", "set", "lo", "up")

    def run(self, *words):
        subprocess.run([*self.enter, "ip", *words], check=True)

    def connect(self, other, here, there, name):
        """A cable to another namespace."""
        self.run("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(other.holder.pid))
        for space, device, address, peer in ((self, name, here, there), (other, "eth0", there, here)):
            space.run("address", "add", address, "peer", peer, "dev", device)
            space.run("link", "set", device, "up")


class Plain(receiver.Receiver):
    """A collectd without the ebpf plugin."""

    def __init__(self, test, name, space, extra, ready):
        self.dir = test.mkdir(name)
        configuration = receiver.write(f"{self.dir}/conf", "\n".join((
            f'Hostname "{name}"', "FQDNLookup false", f'BaseDir "{self.dir}"', f'PIDFile "{self.dir}/pid"',
            f"Interval {INTERVAL}", "LoadPlugin logfile", "<Plugin logfile>", "File stdout", "</Plugin>", extra, "")))
        super().__init__(self.dir, [*space.enter, lib.COLLECTD, "-f", "-C", configuration], ready)

    def kill(self):
        """As an upgrade does it: the rrdtool plugin then writes what it has in memory."""
        self.process.terminate()
        self.process.wait()

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


class Collector(Plain):
    def __init__(self, test, space):
        self.tree, self.csv = test.mkdir("rrd"), test.mkdir("csv")
        passwords = receiver.write(os.path.join(test.mkdir("secret"), "passwords"),
                                   "".join(f"{host}: password of {host}\n" for host in HOSTS))
        network = receiver.sample("receiver-network-server.conf", {"/etc/collectd/passwords": passwords})
        storage = receiver.sample("receiver-rrdtool.conf", {"/var/lib/collectd/rrd": self.tree})
        # The rrdtool plugin has taken what the csv plugin has written.
        csv = f'LoadPlugin csv\n<Plugin csv>\nDataDir "{self.csv}"\nStoreRates false\n</Plugin>\n'
        super().__init__(test, "collector", space, network + storage + csv, self.listens)

    def listens(self):
        """On port 25826, as /proc writes it."""
        with open(f"/proc/{self.process.pid}/net/udp", encoding="ascii") as sockets:
            return ":64E2 " in sockets.read()

    def stored(self, daemon):
        """What has come from a daemon until now."""
        there = copy.copy(daemon)
        there.csv = self.csv
        return {name: rows for name, (_, rows) in receiver.dispatched(there).items()}


def sender(host, security, password):
    return receiver.sample("receiver-network.conf", {
        "web1": host, "change-me-1": password, "SecurityLevel Encrypt": f"SecurityLevel {security}"})


class Forger(Plain):
    """What it sends is not signed, or with a password of its own."""

    def __init__(self, test, space):
        attempts = (("Encrypt", "guessed"), ("Sign", "guessed"), ("None", ""))
        extra = "\n".join(sender("web1", *attempt) for attempt in attempts)
        super().__init__(test, "forger", space, "LoadPlugin uptime\n" + extra, self.sends)

    def sends(self):
        return "entering read-loop" in self.said()


def check_refused(test, collector, forger):
    """The little that it has to say is sent at its end."""
    forger.kill()
    for text in ("Verifying HMAC-SHA-256 signature failed", "Checksum mismatch", "Unsigned packet"):
        receiver.wait_until(f"the collector says '{text}'", lambda text=text: text in collector.said())
        test.true(f"the collector says '{text}'", True)


def main():
    with lib.Test(limit=120) as test:
        receiver.need("rrdtool", "unshare", "nsenter", "ip")
        space = Namespace()
        spaces = {host: Namespace() for host in (*HOSTS, "forger")}
        addresses = {host: address for host, (_, address) in HOSTS.items()} | {"forger": FORGER}
        for host, address in addresses.items():
            space.connect(spaces[host], COLLECTOR, address, host)
        collector = Collector(test, space)
        receiver.Traffic(test)
        forger = Forger(test, spaces["forger"])
        daemons = {host: test.collectd(receiver.SERVICE, sender(host, security, f"password of {host}"), host=host,
                                       interval=INTERVAL, wrap=spaces[host].enter)
                   for host, (security, _) in HOSTS.items()}
        stores = [receiver.Store(daemon, lambda daemon=daemon: collector.stored(daemon)) for daemon in daemons.values()]
        absence = receiver.Absence(daemons["db1"], collector, *stores)
        for daemon in daemons.values():
            absence.check_steady(test, daemon)
            test.stop(daemon)
        check_refused(test, collector, forger)
        collector.kill()
        span = absence.begin, absence.end
        for host, daemon in daemons.items():
            archive.compare(test, host, daemon, collector.tree, archive.WHOLE, span, absence.unheard)
            archive.check_growth(test, host, daemon, collector.tree, archive.WHOLE, span)
        test.equal("hosts that have files", sorted(os.listdir(collector.tree)), sorted(HOSTS))


if __name__ == "__main__":
    main()
