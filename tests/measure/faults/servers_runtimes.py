# SPDX-License-Identifier: MIT
"""Services on Go, Java, node and asyncio, whose requests are in no thread's hands, or whose threads wait in the runtime's way."""

import contextlib
import os

import need
from app import App, python
from case import Brief
from process import Process, free_port

HERE = os.path.dirname(os.path.abspath(__file__))


class Runtime(Brief, App):
    """what: the program's mode; broken by a line "wait SLOW" on its input."""
    what = None
    allows = {"async"}      # the requests are in no thread's hands, or the kernel does not know which of them a thread has
    QUICK, SLOW = 0.005, 0.1
    truth_name = "the service's clock: how long its handlers waited"
    command = 'echo "wait SECONDS" >/proc/PID_OF_THE_SERVICE/fd/0'

    def start(self):
        return self.serve(*self.program(), self.port, self.what, self.QUICK, talks=True)

    def _wait(self, seconds):
        self.server.ask(f"wait {seconds}")

    def break_it(self):
        self._wait(self.SLOW)

    def mend(self):
        self._wait(self.QUICK)

    def counters(self):
        return {self.truth_name: self.stats(self.server)["waited"]}

    def __init_subclass__(cls):
        cls.truths = {cls.truth_name: (service, (cause,)) for service, cause in cls.causes.items()}


class Upstream(Runtime):
    """The service asks another one, which is on Python's ThreadingHTTPServer and sleeps."""
    what = "upstream"
    upstream = None
    command = 'echo "wait SECONDS" >/proc/PID_OF_THE_OTHER_SERVICE/fd/0'
    healthy = (f"{App.users} clients ask a service, which asks another one for each request and waits for its response, which "
               f"takes {1000 * Runtime.QUICK:g} ms.")
    broken = f"This other service takes {1000 * Runtime.SLOW:g} ms."

    def start(self):
        port = free_port()
        self.upstream = self.serve_app(port, "sleep", self.QUICK)
        self.upstream.wait_port(port)
        return self.serve(*self.program(), self.port, self.what, port, talks=True)

    def _wait(self, seconds):
        self.upstream.ask(f"wait {seconds}")

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.upstream:
            with contextlib.suppress(OSError):
                self.upstream.end()


class Sleep(Runtime):
    what = "sleep"
    healthy = f"{App.users} clients ask a service that sleeps for {1000 * Runtime.QUICK:g} ms before it responds."
    broken = f"It sleeps for {1000 * Runtime.SLOW:g} ms."


class Locked(Runtime):
    QUICK, SLOW = 0, 0.08
    users = 16
    think = 0.1


class Parallel:
    """On all CPUs: by their number a runtime decides how many threads it has."""

    def serve(self, *argv, talks=False):
        return Process(argv, self.site.server_cpus | self.site.client_cpus, self.site.nice, self.site.dir, talks)


class Go(Parallel):
    @classmethod
    def compile(cls, build):
        return [need.compile_go(build, "app_server", room="faults")]

    def program(self):
        return self.compile(self.site.build)


class Java(Parallel):
    @classmethod
    def compile(cls, build):
        return [need.compile_java(build, "AppServer", room="faults")]

    def program(self):
        return ["java", "-Dsun.net.httpserver.nodelay=true", "-cp", *self.compile(self.site.build), "AppServer"]


class Node:
    @classmethod
    def compile(cls, _build):
        need.require("node")
        return []

    @staticmethod
    def program():
        return ["node", os.path.join(HERE, "app_server.js")]


class Asyncio:
    @staticmethod
    def program():
        return python("app_asyncio.py")


class GoUpstream(Go, Upstream):
    name = "go-upstream"
    title = "Go: a slow upstream"
    causes = {"go": "upstream"}


class GoSleep(Go, Sleep):
    name = "go-sleep"
    title = "Go: `time.Sleep`"
    causes = {"go": "sleep"}


class GoMutex(Go, Locked):
    name = "go-mutex"
    title = "Go: a mutex"
    causes = {"go": "lock"}
    what = "mutex"
    healthy = f"{Locked.users} clients ask a service whose handlers need a `sync.Mutex` for a moment."
    broken = f"Another goroutine computes with it for {1000 * Locked.SLOW:g} ms, again and again."


class JavaSleep(Java, Sleep):
    name = "java-sleep"
    title = "Java: `Thread.sleep`"
    causes = {"java": "timed_wait"}
    note = "The virtual machine sleeps by a futex with a timeout."


class JavaMonitor(Java, Locked):
    name = "java-monitor"
    title = "Java: a monitor"
    causes = {"java": "lock"}
    allows = {"timed_wait"}     # of the threads that wait for a monitor one wakes up again and again to see whether it is free
    what = "monitor"
    healthy = f"{Locked.users} clients ask a service whose handlers enter a monitor (`synchronized`) for a moment."
    broken = f"Another thread has it for {1000 * Locked.SLOW:g} ms, again and again."


class AsyncioUpstream(Asyncio, Upstream):
    name = "asyncio-upstream"
    title = "asyncio: a slow upstream"
    causes = {"asyncio": "upstream"}


class AsyncioSleep(Asyncio, Sleep):
    name = "asyncio-sleep"
    title = "asyncio: `asyncio.sleep`"
    causes = {"asyncio": "sleep"}


class AsyncioPool(Asyncio, Runtime):
    name = "asyncio-pool"
    title = "asyncio: a pool with too few threads"
    causes = {"asyncio": "queue"}
    what = "pool"
    SLOW = 0.02
    QUICK = 0.001
    users = 20
    healthy = (f"{users} clients ask a service that gives each request to a pool of two threads (`run_in_executor`), where it "
               f"takes {1000 * QUICK:g} ms.")
    broken = f"It takes {1000 * SLOW:g} ms there."
    truth_name = "the service's clock: until a thread was free"


class NodeUpstream(Node, Upstream):
    name = "node-upstream"
    title = "node: a slow upstream"
    causes = {"node": "upstream"}


class NodeTimer(Node, Sleep):
    name = "node-timer"
    title = "node: `setTimeout`"
    causes = {"node": "sleep"}
    what = "timer"


class NodeCompute(Node, Runtime):
    name = "node-compute"
    title = "node: a handler that computes"
    causes = {"node": "socket"}
    allows = {"cpu"}
    what = "compute"
    QUICK, SLOW = 0.0005, 0.02
    healthy = f"{App.users} clients ask a service whose handler computes for {1000 * QUICK:g} ms."
    broken = f"It computes for {1000 * SLOW:g} ms, one request after the other: the others are not even received."
    truth_name = "from the client's send to the handler"

    def counters(self):
        return {self.truth_name: self.stats(self.server)["before"]}


CASES = (GoUpstream, GoSleep, GoMutex, JavaSleep, JavaMonitor, AsyncioUpstream, AsyncioSleep, AsyncioPool, NodeUpstream,
         NodeTimer, NodeCompute)
