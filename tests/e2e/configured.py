# SPDX-License-Identifier: MIT
"""A collectd that reads a configuration, for its messages about it.

Up to 5.12.0, collectd -t does not read the configuration of plugins. There, BaseDir is a directory that does not exist:
collectd changes to it after it has read the configuration, fails, and ends.
"""

import os
import re
import subprocess
import time

import collectd
import lib

SAID = re.compile(r"^\[(\w+)\] (.*)$", re.M | re.A)
LOGGED = "notice", "warning", "error"
OURS = "ebpf plugin: "
# Messages about other processes, containers and devices of the machine, and about its kernel.
OTHERS = re.compile("all rows for services or processes are in use|more new services than MaxNewServices|"
                    'series of the (command|user|container|unit) "|containers are named by their ids|'
                    "in the user's home has the container|containers of one user|some of its events are not counted|"
                    "hook set [0-9]+ is unavailable, trying the next")
INTERVAL = 0.1  # s
READS = "Initialization complete"
NOWHERE = "/nonexistent/collectd"


class Workspace:
    """A directory in which configurations are tried."""

    def __init__(self, test, name):
        self.dir = test.mkdir(name)
        self.objects = os.path.join(self.dir, "objects")
        self.log = os.path.join(self.dir, "log")
        os.makedirs(self.objects)
        os.makedirs(os.path.join(self.dir, "conf.d"))

    def link_objects(self, names):
        for name in names:
            os.symlink(os.path.join(os.path.abspath(lib.BUILD), "bpf", name + ".bpf.o"),
                       os.path.join(self.objects, name + ".bpf.o"))

    def include(self, name, content):
        self._write(os.path.join("conf.d", name), content.replace(b"@DIR@", self.dir.encode()))

    def _write(self, name, content):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def _logfile(self):
        return f"""\
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "{self.log}"
  Timestamp false
  PrintSeverity true
</Plugin>
"""

    def _main(self, base, log):
        return f"""\
Hostname "{collectd.HOST}"
FQDNLookup false
BaseDir "{base}"
PIDFile "{self.dir}/pid"
TypesDB "{collectd.TYPES}"
Interval {INTERVAL}
PluginDir "{collectd.PLUGINS}"
{self._logfile() if log else ""}
PluginDir "{os.path.abspath(lib.BUILD)}"
LoadPlugin ebpf
<Plugin ebpf>
  ObjectDirectory "{self.objects}"
  SymbolHelper "{os.path.abspath(lib.BUILD)}/ebpf-symbols"
</Plugin>
PluginDir "{collectd.PLUGINS}"
Include "{self.dir}/conf.d/*.conf"
"""

    def _configure(self, base=None, log=True):
        return self._write("conf", self._main(base or self.dir, log).encode())

    def run(self, arguments, base=None, log=True):
        """Runs collectd until it ends. Returns the completed process."""
        conf = self._configure(base, log)
        return subprocess.run([lib.COLLECTD, *arguments, "-C", conf], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False, timeout=60 * lib.SLOWNESS, preexec_fn=lib.die_with_test)

    def _reads(self):
        return READS in self._logged()

    def run_until(self, condition):
        """Runs collectd until it reads and that is so, or a minute has passed, and for some readings more. Returns its exit
        status."""
        give_up = time.monotonic() + 60 * lib.SLOWNESS
        with subprocess.Popen([lib.COLLECTD, "-f", "-C", self._configure()], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lib.die_with_test) as daemon:
            while not (self._reads() and condition()) and daemon.poll() is None and time.monotonic() < give_up:
                time.sleep(0.05)
            time.sleep(3 * INTERVAL)
            daemon.terminate()
        return daemon.returncode

    def said(self):
        """The plugin's messages: [SEVERITY: TEXT, ...]"""
        return [f"{severity}: {text.removeprefix(OURS)}" for severity, text in self.log_lines()
                if text.startswith(OURS) and not OTHERS.search(text)]

    def log_lines(self):
        """The messages of all plugins: [(severity, text), ...]"""
        return [(severity, text.replace(self.dir, "@DIR@")) for severity, text in SAID.findall(self._logged())
                if severity in LOGGED]

    def _logged(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


class Parser:
    """Makes collectd read a configuration and end."""

    def __init__(self, test):
        workspace = Workspace(test, "broken")
        workspace.include("broken.conf", b"<Plugin\n")
        self.has_t = workspace.run(["-t"]).returncode != 0

    def run(self, workspace, **options):
        return workspace.run(["-t"], **options) if self.has_t else workspace.run(["-B", "-f"], base=NOWHERE, **options)

    def read(self, workspace):
        """Whether collectd accepts it."""
        done = self.run(workspace)
        return done.returncode == (0 if self.has_t else 1) and "Parsing" not in done.stderr
