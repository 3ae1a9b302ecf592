# SPDX-License-Identifier: MIT
"""A service that is measured, with its client.

A workload has a server process with this pid and its children, connections that are open all the time, and load(rate,
seconds, batch): what its client says of that, as load.c describes it; a rate of 0 is as many as are answered.
"""

import json
import os
import shutil
import tempfile

from process import Process, free_port


class Workload:
    connections = 32
    patient = True      # has more of them where they wait for the network
    like = None         # what is nearest to it in the paper
    asks = ()
    warm_s = 1          # of full load, before anything is measured

    def __init__(self, site):
        self.site = site
        self.connections *= site.patience if self.patient else 1
        self.port = free_port()
        self.server = self.client = self.home = None

    def __enter__(self):
        try:
            self.server = self.start()
            self.pid = self.server.pid
            self.server.wait_port(self.port)
            self.client = self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        for program in (self.client, self.server):
            if program:
                program.end()
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)

    @classmethod
    def compile(cls, build):
        """Its own programs, where they are not part of the build. Returns their paths."""
        return []

    def make_home(self):
        """A directory, until it ends, that other users may read."""
        self.home = tempfile.mkdtemp(prefix="evidence.", dir="/var/tmp")
        os.chmod(self.home, 0o755)
        return self.home

    def serve(self, *argv, talks=False):
        return Process(argv, self.site.server_cpus, self.site.nice, self.site.dir, talks)

    def ask_with(self, *argv):
        client = Process(argv, self.site.client_cpus, self.site.nice, talks=True)
        client.hear()
        return client

    def connect(self):
        protocol, *shape = self.asks
        return self.ask_with(self.site.built("load"), protocol, self.port, self.connections, *shape)

    def load(self, rate, seconds, batch=1):
        return json.loads(self.client.ask(f"{rate} {seconds} {batch}"))

    def server_log(self):
        """What the server says of the requests since the last time, where it keeps a log."""
        return None
