#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that Debian's systemd runs, and the plugin as it is without configuration: each unit, user and container is
a service under the name that its operator knows, with the processes, CPU time and requests that are its own, and
nothing that comes and goes without end makes series.

Truth: systemctl and podman; /proc and the cgroups' own files; what curl and pgbench count, and nginx's log. TEST_LONG in
the environment: more that comes and goes.
"""

import os
import re
import subprocess
import sys
import time

from lib import HERE, Skip, Test

sys.path.append(os.path.join(HERE, "..", "vm"))
import server  # noqa: E402
import units  # noqa: E402
from rrd_files import RRD, check_files  # noqa: E402

SYSTEMD = "unified"
INTERVAL = 1
BOOTED = {
    "init.scope": "init",
    "dbus.service": "dbus",
    "systemd-journald.service": "systemd-journald",
    "systemd-logind.service": "systemd-logind",
    "cron.service": "cron",
    "nginx.service": "nginx",
    "postgresql@15-main.service": "postgresql@15-main",
    "job@south.service": "job@south",
    r"job@north\x2dwest.service": "job@north-west",
    "job@10-20.service": "job@10-20",
    "job@2026-11-27.service": "job@2026-11-27",
}
PATHS = {service: units.BOOTED[unit] for unit, service in BOOTED.items()}
NAMED = {"io": "io.service", "run-billing": "run-billing.service", "my-app": r"my\x2dapp.service"}
OWN = "vm"  # the unit of this test
STARTED = "total_events-processes_started"
USER = f"user-{server.USER}"
SHORT_LIVES = 50
ENDLESS = 100 if os.environ.get("TEST_LONG") else 30  # what has no end stops here
REQUESTS = 200
LOG = "/var/log/nginx/access.log"
CONNECTING = 2  # exchanges: pgbench connects once more than it has clients


def few(*plugins):
    """The first of these plugins writes of all series those that are looked at: an emulated CPU has enough to do."""
    others = "".join(f'  <Target "write">\n    Plugin "{plugin}"\n  </Target>\n' for plugin in plugins[1:])
    return f"""
LoadPlugin match_regex
PostCacheChain "few"
<Chain "few">
  <Rule "looked_at">
    <Match "regex">
      Type "^(ps_count|ps_cputime|total_events|total_requests)$"
    </Match>
    <Target "write">
      Plugin "{plugins[0]}"
    </Target>
  </Rule>
{others}</Chain>
"""


def require_systemd(hierarchies):
    if os.environ.get("VM_SYSTEMD") != hierarchies:
        raise Skip(f"this is no machine of tests/vm/run --systemd {hierarchies}")


def libpod(identity, prefix=""):
    return f"/machine.slice/libpod-{prefix}{identity}.scope"


def system(unit):
    return f"/system.slice/{unit}"


def services(*identities):
    """{service: [path of a cgroup]}, with these containers of whatever name."""
    return {service: [path] for service, path in PATHS.items()} | {
        OWN: [system("vm.service")],
        "echo": [system("system-echo.slice"), system("echo.socket")],
        "run": [server.show(unit, "ControlGroup")[0] for unit in server.units("run-r*.service")],
        **{service: [units.NAMED[unit]] for service, unit in NAMED.items()},
        "batch": [system(units.BATCH)],
        "job": [system(units.JOB)],
        USER: [units.HOME],
        "conmon": [libpod(identity, "conmon-") for identity in identities],
    }


def counts(wanted):
    """{service: [processes, threads]} by /proc."""
    placed = server.placed()
    found = {}
    for service, paths in wanted.items():
        threads = [count for path, count in placed.values() if any(server.is_below(path, own) for own in paths)]
        found[service] = [len(threads), sum(threads)]
    return found


def check_counts(test, daemon, what, wanted):
    """wanted: {service: [path of a cgroup]}, of each all that is below."""
    for _ in range(8):
        before = counts(wanted)
        moment = time.time()
        got = {service: list(daemon.row_after(service, "ps_count", moment)[1:]) for service in wanted}
        if counts(wanted) == before == got:
            break
    for service, want in before.items():
        test.equal(f"{what}: {service}: processes and threads", got[service], want)


def series(daemon):
    """Services that have series. The kernel starts modprobe outside of all units."""
    found = {subject for subject in daemon.subjects() if "ps_count" in daemon.metrics(subject)}
    return found - {"other", "kernel", "modprobe"}


def value(daemon, service, metric):
    """Of the first reading from now on: the sum of its data sources."""
    return sum(daemon.row_after(service, metric, time.time())[1:])


def cpu_us(path):
    """Of a cgroup and those below, by the kernel."""
    base = "/sys/fs/cgroup" if server.is_unified() else "/sys/fs/cgroup/unified"
    with open(f"{base}{path}/cpu.stat", encoding="ascii") as stat:
        return int(re.search(r"usage_usec (\d+)", stat.read()).group(1))


def lives(daemon, service):
    """How many processes have started, and how many of these ended, by one reading from now on."""
    moment = time.time()
    started, there = (daemon.row_after(service, metric, moment)[1] for metric in (STARTED, "ps_count"))
    return [started, started - there]


class Growth:
    """with Growth(test, daemon, what, service, path): a load; its CPU time is that of the cgroup."""

    def __init__(self, test, daemon, what, service, path):
        self.test, self.daemon, self.service, self.path = test, daemon, service, path
        self.what = f"{what}: CPU time of {service} in us"

    def __enter__(self):
        self.want = -cpu_us(self.path)
        self.got = -value(self.daemon, self.service, "ps_cputime")

    def __exit__(self, kind, _error, _trace):
        if kind is None:
            self.got += value(self.daemon, self.service, "ps_cputime")
            self.want += cpu_us(self.path)
            self.test.close(self.what, self.got, self.want, rel=0.02, slack=5000)


def curl(count):
    """How many requests were answered."""
    said = server.command("curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}\n",
                          f"http://127.0.0.1/?[1-{count}]")
    return said.split().count("200")


def pgbench(script, count):
    """How many statements were answered."""
    said = server.command("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "pgbench", "--no-vacuum",
                          f"--file={script}", f"--transactions={count}", cwd="/")
    return int(re.search(r"actually processed: (\d+)/", said).group(1))


def logged():
    with open(LOG, "rb") as log:
        return log.read().count(b"\n")


def check_requests(test, daemon):
    script = os.path.join(test.disk, "select")
    with open(script, "w", encoding="ascii") as file:
        file.write("SELECT 1;\n")
    os.chmod(test.disk, 0o755)
    clients = {"nginx": (curl, 0), "postgresql@15-main": (lambda count: pgbench(script, count), CONNECTING)}
    for service, (ask, connecting) in clients.items():
        ask(1)
        before, log = value(daemon, service, "total_requests"), logged()
        with Growth(test, daemon, "requests", service, PATHS[service]):
            responses = ask(REQUESTS)
        test.equal(f"{service}: answers that its client had", responses, REQUESTS)
        test.equal(f"{service}: requests", value(daemon, service, "total_requests") - before, responses + connecting)
        if service == "nginx":
            test.equal("nginx: requests in its log", logged() - log, responses)


def check_short_lives(test, daemon, what, service, pid, count=SHORT_LIVES):
    begin = lives(daemon, service)
    server.spawn(pid, count)
    end = lives(daemon, service)
    test.equal(f"{what}: processes that started, and that ended", [b - a for a, b in zip(begin, end)], [count] * 2)
    return begin


def check_paused(test, daemon, service, pid):
    """It makes processes as fast as it can, but for that time."""
    server.spawn_on(pid, 1000000)
    server.podman("pause", units.CONTAINER)
    state = server.podman("inspect", "--format", "{{.State.Status}}", units.CONTAINER)
    test.equal("paused: its state", state, "paused")
    paused = lives(daemon, service), value(daemon, service, "ps_cputime")
    test.true("paused: its processes are there", value(daemon, service, "ps_count") > 0)
    later = lives(daemon, service), value(daemon, service, "ps_cputime")
    test.equal("paused: lives and CPU time stand still", later, paused)
    server.podman("unpause", units.CONTAINER)
    test.true("goes on: processes start", value(daemon, service, STARTED) > paused[0][0])


def check_container(test, daemon, service, identity, pid):
    """One that is called web: it works, is paused, and is recreated; its id and PID then."""
    with Growth(test, daemon, "container", service, libpod(identity)):
        check_short_lives(test, daemon, "container", service, pid)
    check_paused(test, daemon, service, pid)
    last = lives(daemon, service)
    again, pid = server.container(units.CONTAINER)
    test.true("recreated under another id", again != identity, again)
    begin = check_short_lives(test, daemon, "container recreated", service, pid)
    test.true("container recreated: its counters go on", all(a <= b for a, b in zip(last, begin)), (last, begin))
    return again


def hashed(text):
    """The name of a service whose text is the name of another one: a hash follows, FNV-1a and 1 for the first attempt."""
    number = 0xcbf29ce484222325
    for byte in text.encode():
        number = (number ^ byte) * 0x100000001b3 % 2 ** 64
    return f"{text}+{(number + 1) % 2 ** 32:08x}"


def check_podman(test, identity, namesake):
    lines = server.podman("ps", "--no-trunc", "--format", "{{.Names}} {{.ID}}").splitlines()
    test.equal("podman's containers", dict(map(str.split, lines)), {units.CONTAINER: identity, "nginx": namesake})


def check_bounded(test, daemon, count, connections="echo"):
    """Connections and transient units, which anybody makes as many of as he likes."""
    begin = {service: lives(daemon, service) for service in (connections, "run")}
    before = server.active()
    for _ in range(count):
        server.echo()
    subprocess.run(["sh", "-ec", 'for i in $(seq "$1"); do systemd-run --quiet --collect true; done', "sh",
                    str(count)], check=True)
    server.wait_for("end of all", lambda: server.active() == before)
    # Of a connection one is the socket's, echo.socket, and one the service's.
    for (service, was), each in zip(begin.items(), (2, 1)):
        grown = [now - then for now, then in zip(lives(daemon, service), was)]
        test.equal(f"{service}: processes that started, and that ended", grown, [each * count] * 2)


def check_series(test, daemon, wanted):
    """Of services there are those of the server, and no others."""
    got = series(daemon)
    test.equal("services beside those wanted", sorted(got - set(wanted)), [])
    test.equal("services that are missing", sorted(set(wanted) - got), [])
    test.equal("messages", daemon.complaints(), [])


def start_server(test):
    """The id of a container and the PID of its first process."""
    test.at_end(lambda: test.failed and server.undo())
    server.add_user()
    for part in (units.check_hierarchies, units.check_booted, units.check_connections, units.check_transient,
                 units.check_user):
        part(test)
    return units.check_container(test)


def check_names(test, daemon):
    identity, pid = start_server(test)
    check_counts(test, daemon, "started", {**services(identity), units.CONTAINER: [libpod(identity)]})
    check_requests(test, daemon)
    identity = check_container(test, daemon, units.CONTAINER, identity, pid)
    namesake, pid = server.container("nginx")
    check_podman(test, identity, namesake)
    running = {units.CONTAINER: [libpod(identity)], hashed("nginx"): [libpod(namesake)]}
    check_short_lives(test, daemon, "container called like a unit", hashed("nginx"), pid)
    wanted = {**services(identity, namesake), **running}
    check_counts(test, daemon, "containers", wanted)
    check_bounded(test, daemon, ENDLESS)
    check_series(test, daemon, wanted)


def main():
    with Test(limit=170) as test:
        require_systemd(SYSTEMD)
        rrd = os.path.join(test.disk, "rrd")
        daemon = test.collectd(None, interval=INTERVAL, extra=RRD.format(rrd) + few("csv", "rrdtool"))
        check_names(test, daemon)
        test.stop(daemon)
        check_files(test, os.path.join(rrd, daemon.host), series(daemon))


if __name__ == "__main__":
    main()
