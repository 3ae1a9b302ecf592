# SPDX-License-Identifier: MIT
"""Runs a private collectd with the plugin for some seconds: reads its log about each probe, and lists its series. It writes
only to a private directory."""

import contextlib
import dataclasses
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import live
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


class Failed(Exception):
    """collectd did not run. The text says why."""


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
        self.complaints = []    # warnings and errors that are not about a whole probe
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
                self.complaints.append(text)
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
            self.complaints.append(text)

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


def _wait(process, log, seconds):
    """Waits for the first reading."""
    give_up = time.monotonic() + seconds
    while READS not in _text(log):
        if process.poll() is not None:
            raise Failed(f"collectd ended at once (status {process.returncode}): " + (_text(log).strip() or "it printed nothing"))
        if time.monotonic() > give_up:
            raise Failed(f"collectd has not begun to read after {seconds} s")
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


def run(daemon, found, extra, lacking, seconds, kernel):
    """found: a Configuration; extra: lines in the plugin's block; lacking: capabilities, see wrapped(); seconds: of readings.
    Raises Failed if collectd does not run."""
    directory = tempfile.mkdtemp(prefix="ebpf-trial.")
    log, words = os.path.join(directory, "log"), os.path.join(directory, "words")
    conf = os.path.join(directory, "conf")
    with open(conf, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(configuration(directory, found, extra))
    try:
        with open(words, "wb") as said:
            process = subprocess.Popen([*wrapped(lacking), "setpriv", "--pdeathsig", "TERM", daemon, "-f", "-C", conf],
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        try:
            _wait(process, log, BEGINS)
            begin, before = time.monotonic(), kernel.counts()
            time.sleep(seconds)
            result = Result(_text(log))
            result.rates = rates(before, kernel.counts(), time.monotonic() - begin)
            if process.poll() is not None:
                raise Failed(f"collectd ended (status {process.returncode}) while it was reading")
            _list(os.path.join(directory, "socket"), result)
        except Failed as failed:
            raise Failed(f"{failed} {_text(words).strip()[-500:]}".strip()) from None
        finally:
            _stop(process)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return result
