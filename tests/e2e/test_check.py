#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-check: what it says of a kernel, of capabilities and of programs that the test makes, and of a collectd with
the same configuration.

Truth: the compiler's flags, capsh(1), ps(1), and what the csv plugin of another collectd has written.
"""

import json
import os
import re
import shutil
import subprocess
import sys

from e2e import TOP, Skip

import collectd
import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import collectd_conf  # noqa: E402
import kernel  # noqa: E402
import privileges  # noqa: E402
import programs  # noqa: E402
import trial  # noqa: E402

TOOL = os.path.join(TOP, "contrib", "ebpf-check")
PROBES = "process", "limits", "lifecycle"
ENOUGH = (1 << privileges.NUMBERS["BPF"]) | (1 << privileges.NUMBERS["PERFMON"])


def run(*arguments, wrap=(), **environment):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment}
    return subprocess.run([*wrap, TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=environment, timeout=300)


def states(document, section):
    """{name: (state, text)}"""
    return {one["name"]: (one["state"], one["text"]) for one in document["sections"][section]["findings"]}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def test_kernels(test):
    """Kernels that are files of the test's own."""
    for what, files, mask, want in (
            ("all there", {}, ENOUGH, {}),
            ("old", {"proc/sys/kernel/osrelease": "5.10.0-28-amd64"}, ENOUGH, {"version": "missing"}),
            ("other BTF", {"sys/kernel/btf/vmlinux": b"\x7fELF"}, ENOUGH, {"BTF": "missing"}),
            ("locked", {"sys/kernel/security/lockdown": "none integrity [confidentiality]"}, ENOUGH, {"lockdown": "missing"}),
            ("integrity", {"sys/kernel/security/lockdown": "none [integrity] confidentiality"}, ENOUGH, {}),
            ("paranoid", {"proc/sys/kernel/perf_event_paranoid": "3"}, ENOUGH, {"perf_event_paranoid": "limit"}),
            ("paranoid, root", {"proc/sys/kernel/perf_event_paranoid": "3"}, -1, {}),
            ("hidden", {"proc/sys/kernel/kptr_restrict": "1"}, ENOUGH, {"kernel symbols": "note"}),
            ("hidden from all", {"proc/sys/kernel/kptr_restrict": "2"}, -1, {"kernel symbols": "note"}),
            ("cgroup v1", {"sys/fs/cgroup/cgroup.controllers": None, "sys/fs/cgroup/memory/tasks": ""}, ENOUGH,
             {"cgroups": "note"}),
            ("no cgroups", {"sys/fs/cgroup/cgroup.controllers": None}, ENOUGH, {"cgroups": "limit"}),
            ("interpreted", {"proc/sys/net/core/bpf_jit_enable": "0"}, ENOUGH, {"BPF compiler": "note"})):
        root = os.path.join(test.dir, "kernel", what.replace(" ", "_"))
        here = {"proc/sys/kernel/osrelease": "6.1.0-18-amd64", "proc/sys/kernel/perf_event_paranoid": "2",
                "proc/sys/kernel/kptr_restrict": "0", "proc/sys/net/core/bpf_jit_enable": "1",
                "sys/kernel/btf/vmlinux": b"\x9f\xeb\x01\x00", "sys/kernel/security/lockdown": "[none] integrity confidentiality",
                "sys/kernel/tracing/events/enable": "0", "sys/fs/cgroup/cgroup.controllers": "cpu io memory", **files}
        for path, text in here.items():
            if text is not None:
                write(os.path.join(root, path), text)
        os.makedirs(os.path.join(root, "proc/self/ns"))
        os.symlink(kernel.INITIAL_NAMESPACE, os.path.join(root, "proc/self/ns/pid"))
        found = kernel.Kernel(os.path.join(root, "proc"), os.path.join(root, "sys")).findings(
            privileges.Privileges(mask, "test"))
        test.equal(f"kernel, {what}: what is not fine", {one.name: one.state for one in found if one.state != "fine"}, want)
        test.equal(f"kernel, {what}: without a remedy", [one.name for one in found if one.state != "fine" and not one.remedy], [])
    none = kernel.Kernel("/nonexistent", "/nonexistent").findings(privileges.Privileges(0, "test"))
    test.true("kernel: nothing there", {"version", "BTF"} <= {one.name for one in none if one.state == "missing"})


SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
"""
FUNCTION = """
int work{0}(int a, char **b);
int __attribute__((noinline)) work{0}(int a, char **b) {{ int c = atoi(b[0]); for (int i = 0; i < a; i++) c += printf("%d", c + i); return c * a + {0}; }}
"""


def test_programs(test):
    """As they were compiled."""
    calls = " + ".join(f"work{number}(n, v)" for number in range(50))
    source = SOURCE + "".join(map(FUNCTION.format, range(50))) + f"int main(int n, char **v) {{ pause(); return {calls}; }}\n"
    path = os.path.join(test.dir, "program.c")
    write(path, source)
    running, want = [], {}
    for name, flags, frames, symbols in (("framed", "-fno-omit-frame-pointer", "yes", "all"), ("bare", "-fomit-frame-pointer", "no", "all"),
                                         ("stripped", "-fno-omit-frame-pointer -s", "yes", "exported"),
                                         ("static", "-static -s", "unknown", "none")):
        # Elsewhere than in /tmp, programs may run for sure.
        made = os.path.join(test.disk, test.own("kt_" + name))
        done = subprocess.run(["cc", "-O2", *flags.split(), "-o", made, path], check=False, capture_output=True, text=True)
        if done.returncode:
            test.left_out(f"a program compiled with {flags}", done.stderr.strip()[:200])
            continue
        running.append(subprocess.Popen([made], stdout=subprocess.DEVNULL, preexec_fn=lib.die_with_test))
        want[made] = (frames, symbols)
    found = [one for one in programs.running() if one.path in want]
    programs.inspect(found)
    test.equal("programs: frame pointers and symbols", {one.path: (one.frames, one.symbols) for one in found}, want)
    test.equal("programs: processes of each", {one.processes for one in found}, {1})
    for one in running:
        one.kill()
        one.wait()
    test_broken_programs(test, next(iter(want)))


def test_broken_programs(test, path):
    """Whatever is in a file, there is an answer, or one of the refusals that are expected."""
    with open(path, "rb") as file:
        good = file.read()
    broken, cases = os.path.join(test.dir, "broken"), [good[:size] for size in (0, 4, 63, 64, 200, 4000, len(good) // 2)]
    # Each byte of the heads of file and segments, and of every 97th after that.
    for position in [*range(4, 64), *range(64, 800, 7), *range(800, len(good), 997)]:
        cases.append(good[:position] + bytes([good[position] ^ 0xFF]) + good[position + 1:])
    unexpected = []
    for case in cases:
        write(broken, case)
        with open(broken, "rb") as file:
            try:
                programs.examine(file.fileno())
            except (programs.Strange, OSError, OverflowError):
                pass
            except Exception as error:  # pylint: disable=broad-except
                unexpected.append(repr(error))
    test.equal(f"programs: {len(cases)} broken ones", unexpected[:3], [])


def test_configuration(test):
    top = os.path.join(test.dir, "etc")
    write(os.path.join(top, "collectd.conf"), f"""
Interval 30
TypesDB "{top}/types.db" # "one" of them
LoadPlugin "unixsock"
PIDFile /run/first.pid
pidfile "/run/last.pid"
<Plugin other>
  Interval 1
  <Nested "ebpf">
  </Nested>
</Plugin>
<Include "{top}/d">
  Filter "*.conf"
</Include>
""")
    write(os.path.join(top, "d", "a.conf"), 'PluginDir "/opt/x"\n<LoadPlugin ebpf>\n  Interval 20\n</LoadPlugin>\n')
    write(os.path.join(top, "d", "b.conf"), """<Plugin "ebpf">
  ObjectDirectory "/opt/objects"
  <Probe "process">
    Enable false
  </Probe>
  MaxOverhead 3 # percent
</Plugin>
""")
    write(os.path.join(top, "d", "c.bak"), "LoadPlugin nothing\n")
    found = collectd_conf.load(os.path.join(top, "collectd.conf"))
    test.equal("configuration: plugins", found.plugins, ["unixsock", "ebpf"])
    test.equal("configuration: of the plugin", (found.interval, found.types, found.plugin_dir),
               (20.0, [top + "/types.db"], "/opt/x"))
    test.equal("configuration: options", (found.value("MaxOverhead"), found.value("ObjectDirectory"), found.value("Enable")),
               ("3", "/opt/objects", ""))
    test.equal("configuration: of collectd and of other plugins", [found.settings.get(of) for of in (
        ("", "pidfile"), ("other", "interval"), ("", "basedir"))], ["/run/last.pid", "1", None])


def test_off_by_default(test):
    """A probe with a block is wrong, one without is as nobody wants it; both may be tried."""
    remedy = "Enable true in its Probe block switches"
    lines = (f"off by default: cpufreq, hardirq; {remedy} a probe on",
             f"probe tcp is off: it is off by default; {remedy} it on; until then it ignores Collect")
    found = trial.Result("".join(f"[12:00] [{severity}] ebpf plugin: {line}\n"
                                 for severity, line in zip(("info", "warning"), lines)))
    test.equal("off by default: which", [name for name, probe in found.probes.items() if probe.by_default()],
               ["cpufreq", "hardirq", "tcp"])
    test.equal("off by default: what is wrong", found.complaints, [("warning", lines[1])])


def test_same_reason(test):
    """A reason that the log has once is that of each probe."""
    reason, next_one = "cannot load: no; do this", "is unavailable, trying the next: "
    lines = (f"probe delay: hook set 1 {next_one}{reason}", f"probe delay: hook set 2 {next_one}for the same reason as hook set 1 of probe delay",
             "probe poll is off: for the same reason as hook set 1 of probe delay; Option \"poll\" would use others",
             "probe tcp is off: for the same reason as probe poll", "probe tcp: ignoring Option \"x\": lacks y",
             "probe disk: ignoring Option \"x\": for the same reason as Option \"x\" of probe tcp")
    found = trial.Result("".join(f"[12:00] [error] ebpf plugin: {line}\n" for line in lines))
    test.equal("the same reason: of hook sets", found.probes["delay"].lost, ((1, reason), (2, reason)))
    test.equal("the same reason: of probes", [found.probes[name].why for name in ("poll", "tcp")],
               [reason + '; Option "poll" would use others', reason])
    test.true("the same reason: of an Option", 'disk: ignoring Option "x": lacks y' in str(found.complaints[-1]))


def test_privileges(test):
    if not shutil.which("capsh"):
        test.left_out("capabilities by capsh", "it is not installed")
        return
    decoded = subprocess.run(["capsh", f"--decode={privileges.of_process('self'):016x}"], capture_output=True, text=True,
                             check=True).stdout.strip().partition("=")[2].split(",")
    test.equal("capabilities, as capsh decodes them", [f"cap_{name.lower()}" for name, number in privileges.NUMBERS.items()
                                                       if privileges.of_process("self") >> number & 1], decoded)
    shutil.copy("/bin/true", os.path.join(test.mkdir("sbin"), "collectd"))
    done = run("--no-trial", "--json", wrap=("capsh", "--drop=cap_sys_admin,cap_bpf", "--", "-c", 'exec "$0" "$@"'),
               PATH=os.path.join(test.dir, "sbin") + os.pathsep + os.environ["PATH"])
    found = states(json.loads(done.stdout), "privileges")
    test.equal("without two capabilities", (found["CAP_BPF, CAP_PERFMON"][0], found["CAP_SYS_ADMIN"][0], done.returncode),
               ("missing", "note", 2))


def test_dropin(test):
    """It has a set for each capability that ebpf-check tells of, and no other names."""
    with open(os.path.join(TOP, "conf", "systemd", "ebpf.conf"), encoding="utf-8") as file:
        lines = [line.strip().partition("=")[::2] for line in file if "=CAP_" in line]
    sets = [[names.split() for option, names in lines if option.lstrip("#") == wanted]
            for wanted in ("CapabilityBoundingSet", "AmbientCapabilities")]
    test.equal("drop-in: the same in both lines of a set", sets[0], sets[1])
    named = {name.removeprefix("CAP_") for names in sets[0] for name in names}
    test.equal("drop-in: what are no capabilities", named - set(privileges.NUMBERS), set())
    test.equal("drop-in: lacks", {"BPF", "PERFMON", *privileges.OPTIONAL} - named, set())
    test.equal("drop-in: on as it stands", [names for option, names in lines if not option.startswith("#")], 2 * ["CAP_BPF CAP_PERFMON"])


def test_usage(test):
    for arguments in (["--seconds", "0"], ["--capabilities", "cap_nonsense"], ["--config", "/nonexistent"], ["stray"]):
        done = run(*arguments)
        test.equal(f"{arguments}: exit status", (done.returncode, done.stdout), (3, ""))
        test.true(f"{arguments}: says what", arguments[-1] in done.stderr or "'" + arguments[-1] in done.stderr, done.stderr.splitlines()[-1:])


def sayings(document):
    return [one["text"] for one in document["sections"]["probes"]["findings"] if one["name"] == "message"]


def test_trials(test):
    spin = test.load("spin", test.mkdir("log"), 1, 600, 0, name="kt_check")
    objects = test.mkdir("objects")
    for probe in PROBES:
        os.symlink(os.path.join(lib.BUILD, "bpf", probe + ".bpf.o"), os.path.join(objects, probe + ".bpf.o"))
    block = test.own('<Service "kt_check">\n Process "kt_check"\n</Service>\n')
    daemon = test.collectd(block, objects=objects, interval=0.5 if lib.SLOWNESS < 2 else 1)
    daemon.wait_rows(test.own("kt_check"), "ps_cputime", 2)
    test.stop(daemon)
    conf = os.path.join(test.dir, "check.conf")
    write(conf, f"""
PluginDir "{os.path.dirname(os.path.abspath(collectd.plugin_path(lib.BUILD)))}"
LoadPlugin ebpf
<Plugin ebpf>
  ObjectDirectory "{objects}"
  # The command names of other tests are services, too.
  MaxServices 1024
  MaxNewServices 10000
  Percentil 99
  Percentile 0.99
  {block}
</Plugin>
""")
    temporary = test.mkdir("tmp")
    write(os.path.join(objects, "broken.bpf.o"), b"no object")
    done = run("--config", conf, "--json", "--seconds", "3", TMPDIR=temporary)
    document = json.loads(done.stdout)
    test.equal("trial: exit status, complaints", (done.returncode, done.stderr, document["status"], document["missing"]),
               (1, "", 1, False))
    probes = {name: found for name, found in states(document, "probes").items() if not collectd.OTHERS.search(found[1])}
    test.equal("trial: states of probes", {name: state for name, (state, _) in probes.items()},
               {"broken": "limit", **dict.fromkeys(PROBES, "fine"), "message": "note"})
    test.equal("trial: what the log says of the configuration", sayings(document),
               ["ignoring Percentil 99 in <Plugin ebpf>: unknown option",
                "using Percentile 0.99 in <Plugin ebpf>: it takes percent, and nothing here is above 1"])
    log = "\n".join(daemon.log())
    for name in PROBES[:2]:
        test.contains(f"trial: the hook set of {name}, as another collectd has it", log,
                      f"probe {name} is on ({probes[name][1].partition(',')[0]})")
    series = document["sections"]["series"]["series"]
    test.equal("trial: series of a service, as the other collectd has them", series.get(test.own("kt_check")),
               len(daemon.metrics(test.own("kt_check"))))
    names = [name for name in series if name not in ("self", "other", "kernel")]
    test.contains("trial: how many services, and of blocks", states(document, "services")["services"][1],
                  f"{len(names)}, 1 of Service blocks: ")
    test.contains("trial: how many series", states(document, "series")["series"][1],
                  f"{sum(series.values())}; each service has up to ")
    test.true("trial: its name is on the page", test.own("kt_check") in states(document, "services")["services"][1])
    done = run("--config", conf, "--seconds", "1", "--capabilities", "cap_syslog", TMPDIR=temporary)
    test.equal("without capabilities: exit status", done.returncode, 2)
    for part in ("!!  plugin", "collectd needs CAP_BPF and CAP_PERFMON", "It does not work: CAP_BPF, CAP_PERFMON, plugin"):
        test.contains("without capabilities: the page", " ".join(done.stdout.split()), " ".join(part.split()))
    test.true("without capabilities: one page", done.stdout.count("\n") <= 66, done.stdout.count("\n"))
    os.unlink(os.path.join(objects, "broken.bpf.o"))
    with open(conf, encoding="utf-8") as file:
        text = file.read()
    write(conf, text.replace("Percentil 99\n", ""))
    done = run("--config", conf, "--seconds", "1", TMPDIR=temporary)
    test.equal("nothing is missing: exit status", done.returncode, 0)
    heading, page = re.search(r'"([^"]+)" in (\S+)$|$', done.stdout.rstrip()).groups()
    test.true("nothing is missing: the page to go on with", page, done.stdout.splitlines()[-1:])
    if page:
        with open(page, encoding="utf-8") as file:
            test.contains("nothing is missing: the section of that page", file.read().splitlines(), f"## {heading}")
    test.equal("what trials leave", os.listdir(temporary), [])
    spin.kill()


with lib.Test(200) as the_test:
    if not shutil.which("setpriv"):
        raise Skip("not installed: setpriv")
    test_kernels(the_test)
    test_programs(the_test)
    test_configuration(the_test)
    test_off_by_default(the_test)
    test_same_reason(the_test)
    test_privileges(the_test)
    test_dropin(the_test)
    test_usage(the_test)
    test_trials(the_test)
