# SPDX-License-Identifier: MIT
"""Runs a private collectd with the plugin for some seconds: reads its log about each probe, and lists its series. It writes
only to a private directory."""

import contextlib
import dataclasses
import functools
import math
import os
import re
import signal
import subprocess
import tempfile
import time

import live
import oom
from kernel import rates
from unixsock import Unixsock

HOST = "check"
BEGIN = f"{HOST}/ebpf-"
READS = "entering read-loop"
BEGINS = 180    # seconds to load the probes, at most
ENDS = 20       # seconds to end, at most
STEP = 0.1
LINE = re.compile(r"^\[[^]]*\] \[(\w+)\] ebpf plugin: (.*)$")
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
        for line in log.splitlines():
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


def brief(why):
    """(reason without libbpf's messages, remedy)"""
    reason, _, remedy = re.sub(r" \(libbpf: .*?\)(?=[;,]|$)", "", why).partition("; ")
    return reason, remedy


def configuration(directory, found, extra):
    types = "".join(f'TypesDB "{path}"\n' for path in found.types)
    plugin_line = f'PluginDir "{found.plugin_dir}"\n' if found.plugin_dir else ""
    return f"""\
Hostname "{HOST}"
FQDNLookup false
BaseDir "{directory}"
PIDFile "{directory}/pid"
{types}Interval 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "{directory}/log"
  Timestamp true
  PrintSeverity true
</Plugin>
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile "{directory}/socket"
  SocketGroup "root"
  SocketPerms "0600"
  DeleteSocket true
</Plugin>
{plugin_line}LoadPlugin ebpf
<Plugin ebpf>
{extra}
  EventFile ""
  <Profiles>
    Directory "{directory}/profiles"
  </Profiles>
</Plugin>
"""


def own(found):
    """The configured lines of the plugin, except where it keeps files."""
    return re.sub(r"^\s*EventFile\b.*$", "", found.without("Profiles"), flags=re.M | re.I)


def others(found, result):
    """Lines that enable only the probes that are off by default."""
    switched = "".join(f'  <Probe "{probe.name}">\n    Enable {str(probe.by_default()).lower()}\n  </Probe>\n'
                       for probe in result.probes.values())
    return "\n".join(found.lines("ObjectDirectory", "SymbolHelper")) + "\n" + switched


def wrapped(lacking):
    """The command prefix that drops capabilities. lacking: in setpriv's syntax; "": none"""
    return ["setpriv", "--bounding-set", lacking, "--inh-caps", lacking] if lacking else []


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 22)
    except OSError:
        return ""


def _check_alive(process, path, when, kills):
    """Raises Failed if collectd has ended. path: of a file of the trial, by its name; kills: oom.kills() before its start"""
    ended = process.poll()
    if ended is None:
        return
    if ended >= 0:
        lines = (_text(path("words")) + _text(path("log"))).strip().splitlines()[-SAID:]
        raise Failed(f"collectd ended {when} (status {ended}): " + ("; ".join(lines) or "it printed nothing"),
                     "correct what it complains of", any(line.startswith("setpriv: ") for line in lines))
    name = signal.Signals(-ended).name if -ended in set(signal.Signals) else f"signal {-ended}"
    if -ended == signal.SIGKILL and oom.kills() > kills:
        raise Failed(f"collectd was killed by the kernel ({name}) {when}: {oom.reason()}", "run ebpf-check with more memory", True)
    if -ended in FROM_OUTSIDE:
        raise Failed(f"another process ended collectd ({name}) {when}", "run ebpf-check again", True)
    raise Failed(f"collectd was ended by {name} {when}", "report the fault, with the configuration")


def _wait(process, path, kills):
    """Waits for the first reading."""
    give_up = time.monotonic() + BEGINS
    while READS not in _text(path("log")):
        _check_alive(process, path, "at its start", kills)
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


def run(daemon, found, extra, lacking, seconds, kernel):
    """found: a Configuration; extra: lines in the plugin's block; lacking: capabilities, see wrapped(); seconds: of readings.
    Raises Failed if collectd does not run."""
    with tempfile.TemporaryDirectory(prefix="ebpf-trial.") as directory:
        path = functools.partial(os.path.join, directory)
        with open(path("conf"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(configuration(directory, found, extra))
        kills = oom.kills()
        with open(path("words"), "wb") as said:
            process = _start([*wrapped(lacking), "setpriv", "--pdeathsig", "TERM", daemon, "-f", "-C", path("conf")], said)
        try:
            _wait(process, path, kills)
            begin, before = time.monotonic(), kernel.counts()
            time.sleep(seconds)
            result = Result(_text(path("log")))
            result.rates = rates(before, kernel.counts(), time.monotonic() - begin)
            _check_alive(process, path, "while it was reading", kills)
            _list(path("socket"), result)
        finally:
            _stop(process)
    return result
