# SPDX-License-Identifier: MIT
"""A disk, an upstream and a sender that wait."""

import contextlib
import os
import sys

from app import App, Http
from case import Case, Rhythm, read
from group import Group
from need import Missing, require
from process import free_port

FILES, SIZE = 256, 64 << 10
BYTES_PER_SECOND = 2 << 20


def disk_of(path):
    """Major and minor number of the whole disk that a file is on."""
    device = os.stat(path).st_dev
    node = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    if not os.path.exists(node):
        raise Missing(f"{path} is on no block device")
    node = os.path.realpath(node)
    if os.path.exists(os.path.join(node, "partition")):
        node = os.path.dirname(node)
    return read(os.path.join(node, "dev")).strip()


class Throttled(Case):
    """The service's cgroup may read and write so many bytes in a second, from and to the disk of its files."""
    count, size, rate = FILES, SIZE, BYTES_PER_SECOND
    v2_controllers = "io"
    group = cold = disk = None

    def make_files(self):
        home = self.make_home()
        for number in range(self.count):
            with open(os.path.join(home, str(number)), "wb") as file:
                file.write(os.urandom(self.size))
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.disk = disk_of(os.path.join(home, "0"))
        self.group = Group("blkio", self.v2_controllers)
        return home

    def connect(self):
        self.group.enter([self.pid])
        self.keep_cold()
        return super().connect()

    def keep_cold(self):
        files = [os.open(os.path.join(self.home, str(number)), os.O_RDONLY) for number in range(self.count)]
        self.cold = Rhythm(lambda pause: self._forget(files, pause))

    @staticmethod
    def _forget(files, pause):
        """As if there were more of them than memory."""
        for file in files:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        pause(0.02)

    def throttle(self, most):
        if self.group.is_v1:
            for direction in ("read", "write"):
                self.group.write(f"blkio.throttle.{direction}_bps_device", f"{self.disk} {most or 0}")
        else:
            self.group.write("io.max", f"{self.disk} rbps={most or 'max'} wbps={most or 'max'}")

    def break_it(self):
        self.throttle(self.rate)

    def mend(self):
        self.throttle(None)

    def __exit__(self, *error):
        if self.cold:
            self.cold.end()
        super().__exit__(*error)
        if self.group:
            self.group.remove()


class Disk(Throttled, Http):
    name = "nginx-disk"
    title = "nginx: a throttled disk"
    causes = {"nginx": "disk"}
    healthy = (f"{Http.users} clients ask for files of {SIZE >> 10} kB that are not in the page cache, with a connection for "
               "each request.")
    broken = f"The cgroup of nginx may read {BYTES_PER_SECOND >> 20} MiB per second from the disk."
    command = f"echo \"MAJOR:MINOR rbps={BYTES_PER_SECOND}\" >/sys/fs/cgroup/NAME/io.max"
    truth_name = "the cgroup's I/O statistics: read from the disk per second"
    truth_note = (f"At this rate {SIZE >> 10} kB take {1000 * SIZE / BYTES_PER_SECOND:.0f} ms, and up to {Http.users} requests "
                  "share the rate.")
    keeps = False
    think = 0.01
    paths = FILES

    CONFIGURATION = """\
daemon off;
user root;
worker_processes 16;
pid nginx.pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  sendfile on;
  server {{
    listen 127.0.0.1:{port};
    root {root};
  }}
}}
"""

    def start(self):
        require("nginx")
        home = self.make_files()
        conf = os.path.join(home, "nginx.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, root=home))
        return self.serve("nginx", "-p", home, "-e", "stderr", "-c", conf)

    def counters(self):
        """Bytes that were read."""
        name, word = (("blkio.throttle.io_service_bytes", " Read ") if self.group.is_v1 else ("io.stat", " rbytes="))
        matching = [line for line in self.group.read(name).splitlines() if line.startswith(self.disk + " ") and word in line]
        return {self.truth_name: sum(int(line.partition(word)[2].split()[0]) for line in matching)}

    def truth(self, before, after, said):
        read_bytes = after[self.truth_name] - before[self.truth_name]
        return {self.truth_name: f"{read_bytes / (said['end'] - said['begin']) / (1 << 20):.2f} MiB"}


class Nagle(Http):
    name = "python-nagle"
    title = "Python's http.server: Nagle's algorithm"
    causes = {"http-server": "send_wait"}
    healthy = f"{Http.users} clients ask for a small file, with a connection for each request."
    broken = ("The clients keep their connections. The server sends header and body separately. The body waits for the "
              "acknowledgement of the header, which the client's kernel delays.")
    command = "curl http://HOST/0 http://HOST/0 http://HOST/0 ..."
    truth_name = "the client's clock: from the header to the body"
    truths = {truth_name: ("http-server", ("send_wait",))}
    keeps = False
    think = 0.01

    def start(self):
        home = self.make_home()
        with open(os.path.join(home, "0"), "wb") as file:
            file.write(400 * b"x")
        return self.serve("python3", "-m", "http.server", "--protocol", "HTTP/1.1", "--bind", "127.0.0.1", "--directory",
                          home, self.port)

    @classmethod
    def compile(cls, build):
        if sys.version_info < (3, 11):
            raise Missing("python3 is older than 3.11")
        return []

    def break_it(self):
        self.keeps = True

    def mend(self):
        self.keeps = False

    def truth(self, before, after, said):
        return {self.truth_name: said["stalled"]["average"]}


class Upstream(App):
    """Clients ask nginx, which asks a service that waits for the response of another one."""
    name = "slow-upstream"
    title = "A chain of services: a slow upstream"
    causes = {"nginx": "upstream", "app": "upstream", "upstream": "sleep"}
    QUICK, SLOW = 0.005, 0.1
    healthy = (f"{App.users} clients ask nginx, which passes their requests to a service on Python's `ThreadingHTTPServer`. "
               f"Each of its threads asks another service and waits for the response, which takes {1000 * QUICK:g} ms.")
    broken = f"The other service takes {1000 * SLOW:g} ms. A line on its input sets this."
    command = f'echo "wait {SLOW}" >/proc/PID_OF_THE_OTHER_SERVICE/fd/0'
    NGINX, APP, LAST = ("nginx's `$upstream_response_time`", "the service's clock: until the response of the other",
                        "the other service's clock: elapsed")
    truths = {NGINX: ("nginx", ("upstream",)), APP: ("app", ("upstream",)), LAST: ("upstream", ("sleep",))}
    app = upstream = None

    CONFIGURATION = """\
daemon off;
user root;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events {{ }}
http {{
  log_format times "$request_time $upstream_response_time";
  access_log {home}/access.log times;
  upstream app {{
    server 127.0.0.1:{app};
    keepalive 64;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }}
  }}
}}
"""

    def start(self):
        require("nginx")
        home, app, upstream = self.make_home(), free_port(), free_port()
        conf = os.path.join(home, "nginx.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, home=home, app=app))
        self.upstream = self.serve_app(upstream, "sleep", self.QUICK)
        self.upstream.wait_port(upstream)
        self.app = self.serve_app(app, "ask", upstream)
        self.app.wait_port(app)
        return self.serve("nginx", "-p", home, "-e", "stderr", "-c", conf)

    def pids(self):
        return {"nginx": self.pid, "app": self.app.pid, "upstream": self.upstream.pid}

    def _occupy(self, seconds):
        self.upstream.ask(f"wait {seconds}")

    def break_it(self):
        self._occupy(self.SLOW)

    def mend(self):
        self._occupy(self.QUICK)

    def counters(self):
        lines = [line.split() for line in read(os.path.join(self.home, "access.log")).splitlines()]
        return {self.NGINX: sum(float(line[1]) for line in lines), self.APP: self.stats(self.app)["waited"],
                self.LAST: self.stats(self.upstream)["wall"]}

    def __exit__(self, *error):
        super().__exit__(*error)
        for process in (self.app, self.upstream):
            if process:
                with contextlib.suppress(OSError):
                    process.end()


CASES = (Disk, Nagle, Upstream)
