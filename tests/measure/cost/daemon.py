# SPDX-License-Identifier: MIT
"""A collectd with one plugin and nothing else, and what it uses of the machine.

What is measured is reading and dispatching: values go as far as the daemon's cache and end there. (Without any write
plugin and without that end, collectd 5.12 loses the memory of every value.) The log comes through a pipe, so that the
moment when initialisation is complete is known.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from process import prepare, threads_cpu_ns

FILE_MIB = 64
STOP_S = 20
READY = b"Initialization complete"
# Not the default, by which what is started from a login is one service.
BY_COMMAND, BLOCKS_ALONE = 'ServicesFrom "commands"', 'ServicesFrom "none"'

CONFIGURATION = """\
Hostname "bench"
FQDNLookup false
BaseDir "{dir}"
PIDFile "{dir}/pid"
PluginDir "{plugins}"
Interval {interval}
PostCacheChain "end"
<Chain "end">
  Target "stop"
</Chain>
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "stdout"
  Timestamp false
</Plugin>
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile "{dir}/socket"
</Plugin>
{block}
"""


class Site:
    """The programs that are measured, and a directory for what they need; it goes when the bench does."""

    def __init__(self, collectd, build, before=None):
        """before: the build tree of another version, to compare with."""
        self.collectd = collectd
        self.build = build
        self.before = before
        self.version = None
        self._file = None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="ebpf-bench.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        text = subprocess.run([self.collectd, "-h"], capture_output=True, text=True, check=True).stdout
        self.version = re.search(r"^collectd ([\d.]*\d)", text, re.M).group(1)
        self.plugins = re.search(r"Plugin directory +(\S+)", text).group(1)
        return self

    def __exit__(self, *_error):
        shutil.rmtree(self.dir, ignore_errors=True)
        if self._file:
            self._file.close()

    def file(self):
        """A file on a disk, made by the first call."""
        if not self._file:
            self._file = tempfile.NamedTemporaryFile(prefix="ebpf-bench.", dir="/var/tmp")
            self._file.write(os.urandom(FILE_MIB << 20))
            self._file.flush()
            os.fsync(self._file.fileno())
        return self._file.name

    def probes(self):
        """Names of all that were built."""
        return sorted(name.removesuffix(".bpf.o") for name in os.listdir(os.path.join(self.build, "bpf"))
                      if name.endswith(".bpf.o"))

    def program(self, name):
        return os.path.join(self.build, "tests", "measure", "cost", name)

    def load(self):
        return os.path.join(self.build, "tests", "measure", "accuracy", "load")

    def ebpf(self, text="", build=None):
        """The plugin's block, with this text. What is measured is on, whatever it costs."""
        build = build or self.build
        services = f"  {BLOCKS_ALONE if '<Service' in text else BY_COMMAND}\n"
        limit = "" if "MaxOverhead" in text else "  MaxOverhead 100\n"
        return (f'PluginDir "{build}"\nLoadPlugin ebpf\n'
                f'<Plugin ebpf>\n  ObjectDirectory "{build}/bpf"\n{services}{limit}{text}</Plugin>')


class Daemon:
    def __init__(self, site, block="", interval=10, wrap=(), probe=None):
        """block: the configuration of the plugin that is measured; wrap: what to run collectd under; probe: that must
        be on."""
        self.site = site
        self.interval = interval
        self.block = block
        self.wrap = list(wrap)
        self.failures = [b"[error]"] + ([f"probe {probe} is off".encode()] if probe else [])
        self.process = None
        self.log = b""  # until it was ready

    def __enter__(self):
        self.dir = tempfile.mkdtemp(dir=self.site.dir)
        conf = os.path.join(self.dir, "conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(dir=self.dir, plugins=self.site.plugins, interval=self.interval,
                                            block=self.block))
        begin = time.monotonic()
        self.process = subprocess.Popen(self.wrap + [self.site.collectd, "-f", "-C", conf], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=prepare())
        try:
            self._wait_ready()
        except BaseException:
            self.stop()
            raise
        self.ready = time.monotonic()
        self.start_s = self.ready - begin
        return self

    def __exit__(self, *_error):
        self.stop()

    def _wait_ready(self):
        while READY not in self.log:
            line = self.process.stdout.readline()
            if not line or any(failure in line for failure in self.failures):
                raise RuntimeError(f"collectd does not start as it should: {(line or self.log).decode()}")
            self.log += line

    def stop(self):
        for _ in range(STOP_S):
            self.process.terminate()  # again: it sleeps for an interval if one has come just before that
            try:
                self.process.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            self.process.kill()
            self.process.communicate()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _proc(self, name):
        with open(f"/proc/{self.process.pid}/{name}", encoding="ascii") as file:
            return file.read()

    def cpu_ns(self):
        """CPU time of all its threads."""
        return threads_cpu_ns(self.process.pid)

    def memory_kib(self):
        """(resident, of which its own share)"""
        resident = re.search(r"^VmRSS:\s+(\d+)", self._proc("status"), re.M)
        share = re.search(r"^Pss:\s+(\d+)", self._proc("smaps_rollup"), re.M)
        return int(resident.group(1)), int(share.group(1))

    def _ask(self, request):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(os.path.join(self.dir, "socket"))
            with connection.makefile("rw") as file:
                file.write(request + "\n")
                file.flush()
                count = int(file.readline().split()[0])
                return [file.readline().rstrip("\n") for _ in range(max(count, 0))]

    def series(self):
        """The identifiers of what it has dispatched, without the host."""
        return [line.split("/", 1)[1] for line in self._ask("LISTVAL")]

    def value(self, series):
        return float(self._ask(f'GETVAL "bench/{series}"')[0].split("=")[1])
