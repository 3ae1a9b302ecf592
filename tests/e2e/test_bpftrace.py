#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-bpftrace under a real collectd's exec plugin, by sudo, with the real bpftrace: one-liners become series,
hostile names stay names, a bpftrace that ends is started again, and none is left behind.

Truth: what the load did.
"""

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
INTERVAL = 2
BESIDE = True
MANY = 300          # names, of which 256 have series
STRANGE = {b'a"b': 'a"b', b"a\\b": "a\\b", b"a\nb": "a_b", b"a/c": "a_c", b"a\xffd": "a_d", b"..": "_.", b"-x": "_x",
           b"a,e": "a-e", b"\x1b[2J": "_[2J", "\u00e4".encode(): "\u00e4"}
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

    def __init__(self, test, names):
        self.test = test
        self.dir = os.path.join(test.disk, "bpftrace")
        os.makedirs(self.dir)
        os.chmod(test.disk, 0o755)
        self.commands = {name: [TOOL, *OPTIONS.get(name, []), self._script(name)] for name in names}

    def _script(self, name):
        text = PROGRAMS[name].replace("FILTER", self.test.own("kt_bt"))
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

    def value(self, metric, after):
        """At the second interval that ends after this moment: the first may have begun to be printed before."""
        return self.daemon.wait_rows(self.name, metric, 2, after, plugin="bpftrace")[1][1]

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
    reader, writer = os.pipe()
    name = test.own("kt_bt").encode()
    wait(in_child(test.own("kt_disk").encode(), one_liners.blocks, disk))
    for function, arguments in ((one_liners.calls, ()), (one_liners.seeks, ()), (one_liners.waits, ()),
                                (one_liners.getppids, (CALLS,))):
        wait(in_child(name, function, *arguments))
    wait(in_child(test.own("kt_fault").encode(), one_liners.faults, writer))
    return int(os.read(reader, 100))


def check_article(test, of, faulted, after):
    name = test.own("kt_bt")
    for program, count in (("opens", CALLS), ("execs", one_liners.EXECS), ("kills", CALLS)):
        got = of[program].value(f"derive-lines-{name}", after)
        # Opening its other files is the load's, too.
        test.within(f"{program}: lines of the load", got, count, count + 3)
    got = of["syscalls"].value(f"derive-{name}", after)
    test.within("syscalls of the load", got, 5 * CALLS, 10 * CALLS)
    test.within("reads: number", of["reads"].value("derive-usecs-count", after), 20, 1e7)
    test.true("reads: percentiles", any(value > 0 for value in of["reads"].values("gauge-usecs-percentile-99", 0)))
    test.true("reads: buckets", "bucket-usecs-16384_32768" in of["reads"].names("bucket-"))
    test.equal("reads: what the program has for itself", of["reads"].names("gauge-start"), set())
    octets = CALLS * one_liners.BLOCK
    test.equal("blockio: octets of the load", of["blockio"].value(f"derive-{test.own('kt_disk')}", after), octets)
    test.within("sizes: number of requests", of["sizes"].value("derive-bytes-count", after), CALLS, 1e6)
    rates = of["sizes"].values("bucket-bytes-4096_8192", 0)
    test.within("sizes: requests of a block", sum(rates) * INTERVAL, 0.8 * CALLS, 1e6)
    test.within("faults of the load", of["faults"].value(f"derive-{test.own('kt_fault')}", after),
                one_liners.PAGES, faulted + 20)


def check_stacks(test, stacks):
    """A process in its own code has no kernel stack."""
    before, began = stacks.value("derive-none", 0), time.time()
    reader, writer = os.pipe()
    wait(in_child(test.own("kt_spin").encode(), one_liners.spin, writer))
    ran = float(os.read(reader, 100))
    grown = stacks.value("derive-none", time.time()) - before
    test.within("stacks: samples in user code", grown, 0.85 * 99 * ran,
                1.1 * 99 * os.cpu_count() * (time.time() - began + 2 * INTERVAL))
    names = stacks.names("derive")
    test.true("stacks: names are functions", not any("+" in name or "\n" in name for name in names), len(names))


def check_kinds(test, of, after):
    kinds, name = of["kinds"], test.own("kt_bt")
    offsets = range(CALLS)
    for metric, want in ((f"derive-stats-{name}-count", CALLS), (f"derive-stats-{name}-total", sum(offsets)),
                         (f"derive-two-{name}-0", CALLS // 2), (f"derive-two-{name}-2", CALLS // 2),
                         ("derive-lin-count", CALLS), ("derive-n", CALLS), ("gauge-last", CALLS - 1)):
        test.equal(f"kinds: {metric}", kinds.value(metric, after), want)
    mean = sum(offsets) / CALLS
    for metric, want, slack in ((f"gauge-stats-{name}-average", mean, 0), ("gauge-avg-average", mean, 0),
                                ("gauge-max", CALLS - 1, 0), ("gauge-min", 0, 0), ("gauge-lin-percentile-50", mean, 10)):
        seen = [value for value in kinds.values(metric, 0) if value == value]
        # In one interval, or in two that share the calls.
        test.true(f"kinds: {metric} is {want}", any(abs(value - want) <= slack for value in seen), seen)
    test.equal("kinds: what is a comment", kinds.names("derive-none"), set())
    test.equal("a map that its program clears", of["cleared"].value(f"derive-seeks-{name}", after), CALLS)
    seen = [value for value in of["waits"].values("latency-usecs-percentile-50", 0) if value == value]
    test.true("waits: median, s", any(0.016 <= value <= 0.033 for value in seen), seen)
    test.equal("waits: number", of["waits"].value("derive-usecs-count", after), 20)
    test.equal("values: pairs", of["values"].value("gauge-first", after), 5)
    test.true("values: they are the last ones", of["values"].value("gauge-second", after) > 5)
    test.equal("values: no other lines", of["values"].names("gauge-another") | of["values"].names("derive-lines"), set())


def check_names(test, names):
    """Whatever a process calls itself."""
    for name in STRANGE:
        wait(in_child(name, one_liners.getppids, 7))
    after = time.time()
    for clean in STRANGE.values():
        test.equal(f"name {clean}", names.value("derive-" + clean, after), 7)
    before = names.daemon.rows("names", "derive-other", "bpftrace")
    for i in range(MANY):
        wait(in_child(test.own(f"kt_{i:03}").encode(), one_liners.getppids, 2))
    after = time.time()
    other = names.value("derive-other", after)
    mine = names.names("derive-" + test.own("kt_") + "0") | names.names("derive-" + test.own("kt_") + "1") | \
        names.names("derive-" + test.own("kt_") + "2")
    test.equal("no other at first", before, [])
    test.within("names with series", len(names.names("derive-")), 256, 257)
    test.within("the others count as other", other + 2 * len(mine), 2 * MANY, 2 * MANY + 40)


def check_restart(test, daemon, names):
    """A counter goes on."""
    name = "derive-" + test.own("kt_bt")
    before = names.value(name, 0)
    victim = next(pid for pid in processes("bpftrace") if script_of(pid) == "names")
    os.kill(victim, signal.SIGKILL)
    started = time.time()
    daemon.wait_rows("names", "total_events-starts", 3, started + 10, plugin="bpftrace", seconds=60)
    wait(in_child(test.own("kt_bt").encode(), one_liners.getppids, 5))
    test.equal("a counter goes on after the end of bpftrace", names.value(name, time.time()), before + 5)
    test.equal("starts", names.value("total_events-starts", started + 10), 2)
    test.contains("the log", "\n".join(daemon.log()),
                  "ebpf-bpftrace: names: bpftrace has ended: signal 9; starting it again in 10 s")


def script_of(pid):
    """Which program this bpftrace has: its parent's last word."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        parent = file.read().rpartition(")")[2].split()[1]
    with open(f"/proc/{parent}/cmdline", encoding="utf-8") as file:
        return os.path.basename(file.read().rstrip("\0").split("\0")[-1]).removesuffix(".bt")


def check_end(test, daemon):
    test.true("bpftrace runs", processes("bpftrace"))
    test.stop(daemon)
    give_up = time.monotonic() + 10 * lib.SLOWNESS
    while processes("bpftrace") and time.monotonic() < give_up:
        time.sleep(0.1)
    test.equal("bpftrace when collectd has ended", processes("bpftrace"), [])
    daemon.start()
    daemon.wait_rows("kinds", "total_events-starts", 1, time.time(), plugin="bpftrace", seconds=120)
    daemon.process.kill()
    daemon.process.wait()
    give_up = time.monotonic() + 10 * lib.SLOWNESS
    while processes("bpftrace") and time.monotonic() < give_up:
        time.sleep(0.1)
    test.equal("bpftrace when collectd was killed", processes("bpftrace"), [])


def main():
    with Test(limit=300) as test:
        for tool in ("bpftrace", "sudo"):
            if not shutil.which(tool):
                raise Skip(f"{tool} is not installed")
        if not os.stat(shutil.which("sudo")).st_mode & stat.S_ISUID:
            raise Skip("sudo is not set-user-ID")
        disk = disks.loop(test, disks.memory(test, "memory", 16 << 20), 8 << 20)
        names = list(PROGRAMS)
        site = Site(test, names)
        daemon = test.collectd(OFF, site.configuration(), interval=INTERVAL, wrap=site.wrap())
        of = {name: Series(daemon, name) for name in names}
        for name in names:
            if name != "connects" or KPROBES:
                of[name].wait_attached()
        faulted = run_load(test, disk.path)
        after = time.time()
        check_article(test, of, faulted, after)
        check_stacks(test, of["stacks"])
        check_kinds(test, of, after)
        if not KPROBES:
            test.contains("connects: why not here", "\n".join(daemon.log()), "ebpf-bpftrace: connects: bpftrace has ended: "
                          "ERROR: Error attaching probe: 'kprobe:tcp_connect'")
        check_names(test, of["names"])
        check_restart(test, daemon, of["names"])
        check_end(test, daemon)


if __name__ == "__main__":
    main()
