#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-bpftrace under a real collectd's exec plugin, by sudo, with the real bpftrace: one-liners become series,
hostile names stay names, a bpftrace that ends is started again, and none is left behind.

Truth: what the load did.
"""

import math
import os
import shutil
import signal
import stat
import time

import one_liners
import receiver
from e2e import TOP, Skip
from one_liners import CALLS, PROGRAMS, in_child, wait

import disks
import lib
from lib import Test

TOOL = os.path.join(TOP, "contrib", "ebpf-bpftrace")
KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")
USER = "nobody"
INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
PATIENCE = 20       # s
MANY = 300          # names, of which 256 have series
OWNER = 60000 + os.getpid() % 5000  # a user that nobody else is
STRANGE = {b'a"q': "a_q", b"a\\w": "a_w", b"a\nb": "a_b", b"a/c": "a_c", b"a\xffd": "a_d", b"..": "_.", b"-x": "_x",
           b"a,e": "a-e", b"\x1b[2J": "__2J", "\u00e4".encode(): "_"}
OPTIONS = {"reads": ["--buckets"], "sizes": ["--buckets"], "waits": ["--type", "@usecs=latency", "--scale", "@usecs=1e-6"],
           "values": ["--lines", "values"], "kinds": ["--percentile", "50"]}
SAMPLE = "blockio"  # the program of conf/bpftrace.conf
# The probes of the plugin are for other tests.
OFF = "".join(f'<Probe "{name}">\n Enable false\n</Probe>\n'
              for name in ("process", "request", "delay", "disk", "oom", "limits"))


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class Site:
    """Programs in files, and who may run them: seen by the daemon alone."""

    def __init__(self, test, name, names):
        self.test = test
        self.dir = os.path.join(test.disk, name)
        os.makedirs(self.dir)
        os.chmod(test.disk, 0o755)
        self.commands = {name: [TOOL, *OPTIONS.get(name, []), self._script(name)] for name in names}

    def _script(self, name):
        text = PROGRAMS[name].replace("FILTER", self.test.own("kt_bt")).replace("OWNER", str(OWNER))
        return write(os.path.join(self.dir, name + ".bt"), text + "\n")

    def wrap(self):
        lines = [f'Defaults!{TOOL} env_keep += "COLLECTD_INTERVAL COLLECTD_HOSTNAME"', "Defaults env_reset,use_pty",
                 f'Defaults secure_path="{os.environ["PATH"]}:/usr/sbin:/sbin"']
        for command in self.commands.values():
            lines.append(f"{USER} ALL=(root) NOPASSWD: " + " ".join(word.replace("=", "\\=") for word in command))
        rules = write(os.path.join(self.dir, "sudoers"), "\n".join(lines) + "\n", 0o440)
        return lib.in_mounts(f"mount --bind {rules} /etc/sudoers", lib.WITH_TRACEFS,
                             "mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug")

    def configuration(self):
        """The sample, and the same for the other programs."""
        sample = receiver.sample("bpftrace.conf", {
            'Exec "ebpf-bpftrace" ': f'Exec "{USER}" ', "/usr/bin/ebpf-bpftrace": TOOL,
            "/etc/collectd/blockio.bt": self.commands[SAMPLE][-1]})
        lines = [" ".join(f'"{word}"' for word in [USER, shutil.which("sudo"), "-n", *command])
                 for name, command in self.commands.items() if name != SAMPLE]
        return sample + "<Plugin exec>\n" + "".join(f"  Exec {line}\n" for line in lines) + "</Plugin>\n"


class Series:
    """Of one program: what the daemon has of it."""

    def __init__(self, daemon, name):
        self.daemon, self.name = daemon, name

    def wait_attached(self):
        self.daemon.wait_rows(self.name, "total_events-starts", 1, seconds=120, plugin="bpftrace")

    def value(self, metric, after, least=0):
        """At the second interval that ends after this moment: the first may have begun to be printed before.

        least: what is waited for, in vain if it does not come.
        """
        give_up = time.monotonic() + PATIENCE
        rows = self.daemon.wait_rows(self.name, metric, 2, after, plugin="bpftrace")[1:]
        while rows[-1][1] < least and time.monotonic() < give_up:
            time.sleep(0.1)
            rows = self.daemon.rows(self.name, metric, "bpftrace")
        return rows[-1][1]

    def lost(self):
        """Events that bpftrace had no room for."""
        return sum(row[1] for row in self.daemon.rows(self.name, "total_events-lost", "bpftrace")[-1:])

    def names(self, prefix):
        return {name for name in self.daemon.metrics(self.name, "bpftrace") if name.startswith(prefix)}

    def values(self, metric, after):
        return [row[1] for row in self.daemon.rows(self.name, metric, "bpftrace") if row[0] > after]


def processes(word):
    """Who has it as the first word of his command line."""
    found = []
    for pid in lib.descendants():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += [pid] if os.path.basename(file.read().split(b"\0")[0]) == word.encode() else []
        except OSError:
            pass
    return found


def run_load(test, disk):
    """Returns the page faults of one process."""
    read_end, writer = os.pipe()
    name = test.own("kt_bt").encode()
    wait(in_child(test.own("kt_disk").encode(), one_liners.blocks, disk))
    for function, arguments in ((one_liners.calls, ()), (one_liners.seeks, ()), (one_liners.waits, ()),
                                (one_liners.getppids, (CALLS, OWNER))):
        wait(in_child(name, function, *arguments))
    wait(in_child(test.own("kt_fault").encode(), one_liners.faults, writer))
    return int(os.read(read_end, 100))


def check_article(test, of, faulted, after):
    name = test.own("kt_bt")
    for program, count in (("opens", CALLS), ("execs", one_liners.EXECS), ("kills", CALLS)):
        got = of[program].value(f"derive-lines-{name}", after, count)
        # Opening its other files is the load's, too. Of lines some may be lost.
        test.within(f"{program}: lines of the load", got, 1 if of[program].lost() else count, count + 3)
    got = of["syscalls"].value(f"derive-{name}", after, 5 * CALLS)
    test.within("syscalls of the load", got, 5 * CALLS, 10 * CALLS)
    test.within("reads: number", of["reads"].value("derive-usecs-count", after, 20), 20, math.inf)
    test.true("reads: percentiles", any(value > 0 for value in of["reads"].values("gauge-usecs-percentile-99", 0)))
    test.true("reads: buckets", "bucket-usecs-16384_32768" in of["reads"].names("bucket-"))
    test.equal("reads: what the program has for itself", of["reads"].names("gauge-start"), set())
    byte_count = CALLS * one_liners.BLOCK
    got = of["blockio"].value(f"derive-{test.own('kt_disk')}", after, byte_count)
    test.equal("blockio: bytes of the load", got, byte_count)
    got = of["sizes"].value("derive-bytes-count", after, CALLS)
    test.within("sizes: number of requests", got, CALLS, math.inf)
    rates = of["sizes"].values("bucket-bytes-4096_8192", 0)
    test.true("sizes: there are requests of a block", sum(rates) > 0)
    test.figures.within("sizes: requests of a block", sum(rates) * INTERVAL, 0.8 * CALLS, math.inf)
    got = of["faults"].value(f"derive-{test.own('kt_fault')}", after, one_liners.PAGES)
    test.within("faults of the load", got, one_liners.PAGES, faulted + 20)


def check_stacks(test, stacks):
    """A process in its own code has no kernel stack."""
    before, began = stacks.value("derive-none", 0), time.time()
    read_end, writer = os.pipe()
    wait(in_child(test.own("kt_spin").encode(), one_liners.spin, writer, 3 if test.measures else 0.5))
    ran = float(os.read(read_end, 100))
    grown = stacks.value("derive-none", time.time(), before + 1) - before
    test.true("stacks: samples in user code", grown > 0, grown)
    test.figures.within("stacks: samples in user code", grown, 0.85 * 99 * ran,
                        1.1 * 99 * os.cpu_count() * (time.time() - began + 2 * INTERVAL))
    names = stacks.names("derive")
    test.true("stacks: names are functions", not any("+" in name or "\n" in name for name in names), len(names))


def check_kinds(test, of, after):
    kinds, name = of["kinds"], test.own("kt_bt")
    offsets = range(CALLS)
    for metric, want in ((f"derive-stats-{name}-count", CALLS), (f"derive-stats-{name}-total", sum(offsets)),
                         (f"derive-two-{name}-0", CALLS // 2), (f"derive-two-{name}-2", CALLS // 2),
                         ("derive-lin-count", CALLS), ("derive-n", CALLS), ("gauge-last", CALLS - 1)):
        test.equal(f"kinds: {metric}", kinds.value(metric, after, want), want)
    mean = sum(offsets) / CALLS
    for metric, want, slack in ((f"gauge-stats-{name}-average", mean, 0), ("gauge-avg-average", mean, 0),
                                ("gauge-max", CALLS - 1, 0), ("gauge-min", 0, 0), ("gauge-lin-percentile-50", mean, 10)):
        seen = [value for value in kinds.values(metric, 0) if value == value]
        # In one interval, or in several that share the calls: from one to the next they grow.
        test.between(f"kinds: {metric}", want, (min(seen), max(seen)), slack=slack)
    test.equal("kinds: what is a comment", kinds.names("derive-none"), set())
    test.equal("a map that its program clears", of["cleared"].value(f"derive-seeks-{name}", after, CALLS), CALLS)
    test.equal("waits: number", of["waits"].value("derive-usecs-count", after, 20), 20)
    seen = [value for value in of["waits"].values("latency-usecs-percentile-50", 0) if value == value]
    test.true("waits: there is a median", any(seen), seen)
    test.figures.true("waits: median, s", any(0.016 <= value <= 0.033 for value in seen), seen)
    test.equal("values: pairs", of["values"].value("gauge-first", after), 5)
    test.true("values: they are the last ones", of["values"].value("gauge-second", after, 6) > 5)
    test.equal("values: no other lines", of["values"].names("gauge-another") | of["values"].names("derive-lines"), set())


def check_names(test, names):
    """Whatever a process calls itself."""
    for name in STRANGE:
        wait(in_child(name, one_liners.getppids, 7, OWNER))
    after = time.time()
    for clean in STRANGE.values():
        test.equal(f"name {clean}", names.value("derive-" + clean, after, 7), 7)
    before = names.daemon.rows("names", "derive-other", "bpftrace")
    for i in range(MANY):
        wait(in_child(test.own(f"kt_{i:03}").encode(), one_liners.getppids, 2, OWNER))
    after = time.time()
    other = names.value("derive-other", after, 2 * (MANY - 256))
    mine = names.names("derive-" + test.own("kt_") + "0") | names.names("derive-" + test.own("kt_") + "1") | \
        names.names("derive-" + test.own("kt_") + "2")
    test.equal("no other at first", before, [])
    test.within("names with series", len(names.names("derive-")), 256, 257)
    test.equal("the others count as other", other + 2 * len(mine), 2 * MANY)


def kill_program(name):
    """It is started again in 10 s."""
    os.kill(next(pid for pid in processes("bpftrace") if script_of(pid) == name), signal.SIGKILL)
    return time.time()


def check_restart(test, daemon, kills, killed):
    """A counter goes on."""
    name = "derive-lines-" + test.own("kt_bt")
    before = kills.value(name, 0)
    starts = kills.value("total_events-starts", killed, 2)
    # When it is attached the first interval begins.
    daemon.wait_rows("kills", "total_events-starts", 3, time.time(), plugin="bpftrace")
    wait(in_child(test.own("kt_bt").encode(), one_liners.kills))
    test.equal("starts", starts, 2)
    after = kills.value(name, time.time(), before + CALLS)
    test.equal("a counter goes on after the end of bpftrace", after, before + CALLS)
    test.contains("the log", "\n".join(daemon.log()),
                  "ebpf-bpftrace: kills: bpftrace has ended: signal 9; starting it again in 10 s")


def script_of(pid):
    """Which program this bpftrace has: its parent's last word."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        parent = file.read().rpartition(")")[2].split()[1]
    with open(f"/proc/{parent}/cmdline", encoding="utf-8") as file:
        return os.path.basename(file.read().rstrip("\0").split("\0")[-1]).removesuffix(".bt")


def wait_none():
    """Which are left all the same."""
    give_up = time.monotonic() + PATIENCE * lib.SLOWNESS
    while processes("bpftrace") and time.monotonic() < give_up:
        time.sleep(0.1)
    return processes("bpftrace")


def check_end(test, daemon):
    test.true("bpftrace runs", processes("bpftrace"))
    test.stop(daemon)
    test.equal("bpftrace when collectd has ended", wait_none(), [])
    site = Site(test, "killed", [SAMPLE])
    daemon = test.collectd(OFF, site.configuration(), interval=INTERVAL, wrap=site.wrap())
    Series(daemon, SAMPLE).wait_attached()
    daemon.process.kill()
    daemon.process.wait()
    test.equal("bpftrace when collectd was killed", wait_none(), [])


def main():
    with Test(limit=300) as test:
        for tool in ("bpftrace", "sudo"):
            if not shutil.which(tool):
                raise Skip(f"{tool} is not installed")
        if not os.stat(shutil.which("sudo")).st_mode & stat.S_ISUID:
            raise Skip("sudo is not set-user-ID")
        disk = disks.loop(test, disks.memory(test, "memory", 16 << 20), 8 << 20)
        names = list(PROGRAMS)
        site = Site(test, "bpftrace", names)
        daemon = test.collectd(OFF, site.configuration(), interval=INTERVAL, wrap=site.wrap())
        of = {name: Series(daemon, name) for name in names}
        for name in names:
            if name != "connects" or KPROBES:
                of[name].wait_attached()
        faulted = run_load(test, disk.path)
        after = time.time()
        check_article(test, of, faulted, after)
        killed = kill_program("kills")
        check_stacks(test, of["stacks"])
        check_kinds(test, of, after)
        if not KPROBES:
            test.contains("connects: why not here", "\n".join(daemon.log()), "ebpf-bpftrace: connects: bpftrace has ended: "
                          "ERROR: Error attaching probe: ")
        check_names(test, of["names"])
        check_restart(test, daemon, of["kills"], killed)
        check_end(test, daemon)


if __name__ == "__main__":
    main()
