# SPDX-License-Identifier: MIT
"""Runs a private collectd with the plugin for some seconds: reads its log about each probe, and lists its series. It writes
only to a private directory, which has empty copies of the directories that are configured."""

import contextlib
import dataclasses
import math
import os
import re
import signal
import subprocess
import tempfile
import time

import directories
import live
import oom
import path_copy
from kernel import rates
from unixsock import Unixsock

HOST = "check"
BEGIN = f"{HOST}/ebpf-"
READS = "entering read-loop"
BEGINS = 180    # seconds to load the probes, at most
ENDS = 20       # seconds to end, at most
STEP = 0.1
LINE = re.compile(r"^\[[^]]*\] \[(\w+)\] ebpf plugin: (.*)$")
UNAVAILABLE = re.compile(r'(.* ebpf plugin: probe ([^ :]+):? (?:ignoring )?(?:is off|(hook set [0-9]+|Option "[^"]*")[^:]*): )(.*)')
OFF_BY_DEFAULT = "it is off by default"
SAID = 3        # lines that are shown of a collectd that ended
# A process gets these from others, or from the kernel for want of memory; the other signals are its own fault.
FROM_OUTSIDE = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGQUIT, signal.SIGTERM}


class Failed(Exception):
    """collectd did not run. The text says why. outside: the cause is neither the plugin nor its configuration"""

    def __init__(self, text, remedy, outside=False):
        super().__init__(text)
        self.remedy, self.outside = remedy, outside


@dataclasses.dataclass
class Probe:
    name: str
    hook_set: int = 0       # 0: the probe is off
    why: str = ""       # the reason why it is off
    lost: tuple = ()    # (number, reason) of each hook set that was tried before

    def by_default(self):
        """Whether it is off because it is not enabled."""
        return not self.hook_set and self.why.startswith(OFF_BY_DEFAULT)


class Result:
    """The result of a trial."""

    def __init__(self, log):
        self.probes = {}
        self.complaints = []    # (severity, text) of warnings and errors that are not about a whole probe
        self.off = ""           # the reason why the plugin is off
        self.identifiers = []   # SERVICE/SERIES of the ebpf plugin
        self.most = ""          # the highest number of series of a service, as text
        self.plugin = {}        # the plugin's own figures, by series
        self.rates = {}         # events per second during the trial
        for line in in_full(log):
            if match := LINE.match(line):
                self._add_message(*match.groups())

    def _probe(self, name):
        return self.probes.setdefault(name, Probe(name))

    def _add_message(self, severity, text):
        if match := re.match(r"probe (\S+) is on \(hook set ([0-9]+)\)", text):
            self._probe(match[1]).hook_set = int(match[2])
        elif match := re.match(r"probe (\S+) is off: (.*)", text):
            self._probe(match[1]).why = match[2]
            if severity == "warning" and self._probe(match[1]).by_default():
                self.complaints.append((severity, text))
        elif match := re.match(r"off by default: ([^;]*)", text):
            for name in match[1].split(", "):
                self._probe(name).why = OFF_BY_DEFAULT
        elif match := re.match(r"probe (\S+): hook set ([0-9]+) is unavailable, trying the next: (.*)", text):
            self._probe(match[1]).lost += ((int(match[2]), match[3]),)
        elif match := re.match(r"the plugin is off: (.*)", text):
            self.off = match[1]
        elif match := re.match(r"services: .* up to ([0-9]+) of each service", text):
            self.most = match[1]
        elif severity in ("warning", "error") or text.startswith("using "):
            self.complaints.append((severity, text))

    def share(self, probe):
        """The plugin's estimate of a probe's cost, in percent of all CPUs; NaN if unknown."""
        return self.plugin.get((f"percent-overhead_{probe}", "value"), math.nan)

    def services(self):
        """The series of each service, by name."""
        found = {}
        for identifier in self.identifiers:
            service, series = identifier.split("/", 1)
            found.setdefault(service, []).append(series)
        return found


def in_full(log):
    """Its lines; in place of "for the same reason as WHAT" the reason that was logged for that."""
    reasons = {}
    for line in log.splitlines():
        if match := UNAVAILABLE.match(line):
            begin, probe, part, why = match.groups()
            why = re.sub("^for the same reason as ([^;]*)", lambda same: reasons.get(same[1], same[0]), why)
            reasons[f"{part} of probe {probe}" if part else f"probe {probe}"] = why.partition('; Option "')[0]
            line = begin + why
        yield line


def brief(why):
    """(reason without libbpf's messages, remedy)"""
    reason, _, remedy = re.sub(r" \(libbpf: .*?\)(?=[;,]|$)", "", why).partition("; ")
    return reason, remedy


class Folder:
    """The private directory of a trial: its own files in `run`, and copies of the configured directories below `tree`."""

    def __init__(self, top, user):
        """user: that may write to `run`"""
        self.run, self.tree = os.path.join(top, "run"), os.path.join(top, "tree")
        os.mkdir(self.run, 0o700)
        os.chown(self.run, *user[:2])
        for path in (top, self.tree) if user[0] else (self.tree,):
            os.makedirs(path, exist_ok=True)
            os.chmod(path, 0o711)

    def path(self, name):
        return os.path.join(self.run, name)

    def copy(self, path):
        return path_copy.copy(path, self.tree) if path.startswith("/") else self.path(path)

    def text(self, name):
        """A file of the trial, with the configured paths in place of the copies."""
        return _text(self.path(name)).replace(self.tree + "/", "/")


def configuration(folder, found, extra):
    types = "".join(f'TypesDB "{path}"\n' for path in found.types)
    plugin_line = f'PluginDir "{found.plugin_dir}"\n' if found.plugin_dir else ""
    events = directories.event_file(found)
    return f"""\
Hostname "{HOST}"
FQDNLookup false
BaseDir "{folder.copy(directories.base(found))}"
PIDFile "{folder.path("pid")}"
{types}Interval 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "{folder.path("log")}"
  Timestamp true
  PrintSeverity true
</Plugin>
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile "{folder.path("socket")}"
  SocketGroup "root"
  SocketPerms "0600"
  DeleteSocket true
</Plugin>
{plugin_line}LoadPlugin ebpf
<Plugin ebpf>
{extra}
  EventFile "{folder.copy(events) if events else ""}"
  <Profiles>
    Directory "{folder.copy(directories.profiles(found))}"
  </Profiles>
</Plugin>
"""


def own(found):
    """The configured lines of the plugin, except where it keeps files."""
    text = "\n".join(line for block in found.blocks for line in block)
    return re.sub(r"^\s*(EventFile|Directory)\b.*$", "", text, flags=re.M | re.I)


def others(found, result):
    """Lines that enable only the probes that are off by default."""
    switched = "".join(f'  <Probe "{probe.name}">\n    Enable {str(probe.by_default()).lower()}\n  </Probe>\n'
                       for probe in result.probes.values())
    return "\n".join(found.lines("ObjectDirectory", "SymbolHelper")) + "\n" + switched


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 22)
    except OSError:
        return ""


def _check_alive(process, folder, when, kills):
    """Raises Failed if collectd has ended. kills: oom.kills() before its start"""
    ended = process.poll()
    if ended is None:
        return
    if ended >= 0:
        lines = (folder.text("words") + folder.text("log")).strip().splitlines()[-SAID:]
        raise Failed(f"collectd ended {when} (status {ended}): " + ("; ".join(lines) or "it printed nothing"),
                     "correct what it complains of", any(line.startswith("setpriv: ") for line in lines))
    name = signal.Signals(-ended).name if -ended in set(signal.Signals) else f"signal {-ended}"
    if -ended == signal.SIGKILL and oom.kills() > kills:
        raise Failed(f"collectd was killed by the kernel ({name}) {when}: {oom.reason()}", "run ebpf-check with more memory", True)
    if -ended in FROM_OUTSIDE:
        raise Failed(f"another process ended collectd ({name}) {when}", "run ebpf-check again", True)
    raise Failed(f"collectd was ended by {name} {when}", "report the fault, with the configuration")


def _wait(process, folder, kills):
    """Waits for the first reading."""
    give_up = time.monotonic() + BEGINS
    while READS not in folder.text("log"):
        _check_alive(process, folder, "at its start", kills)
        if time.monotonic() > give_up:
            raise Failed(f"collectd has not begun to read after {BEGINS} s", "try again when the machine is less busy", True)
        time.sleep(STEP)


def _stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(ENDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _list(socket, result):
    """Reads the series of the ebpf plugin, and the values of its own figures."""
    with contextlib.suppress(live.Trouble):
        found, result.plugin = Unixsock(socket).all_of(BEGIN, BEGIN + "self/")
        result.identifiers = [one.removeprefix(BEGIN) for one in found]


def _start(command, output):
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}", "install util-linux", True) from error
    # If memory is short, the kernel kills the trial first.
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    return process


def run(daemon, found, extra, privileges, seconds, kernel):
    """found: a Configuration; extra: lines in the plugin's block; privileges: of the trial; seconds: of readings. Raises Failed if
    collectd does not run."""
    with tempfile.TemporaryDirectory(prefix="ebpf-trial.") as top:
        try:
            folder = Folder(top, privileges.user)
            with open(folder.path("conf"), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(configuration(folder, found, extra))
            os.chown(file.name, *privileges.user[:2])
        except OSError as error:
            raise Failed(f"{error.filename}: {error.strerror}", "TMPDIR names another directory", True) from error
        kills = oom.kills()
        with open(folder.path("words"), "wb") as said:
            process = _start([*privileges.command(), "setpriv", "--pdeathsig", "TERM", daemon, "-f", "-C", file.name], said)
        try:
            _wait(process, folder, kills)
            begin, before = time.monotonic(), kernel.counts()
            time.sleep(seconds)
            result = Result(folder.text("log"))
            result.rates = rates(before, kernel.counts(), time.monotonic() - begin)
            _check_alive(process, folder, "while it was reading", kills)
            _list(folder.path("socket"), result)
        finally:
            _stop(process)
    return result
