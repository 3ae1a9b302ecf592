# SPDX-License-Identifier: MIT
"""Services that speak HTTP, and their client."""

import json
import os

from case import Case
from process import Process

HERE = os.path.dirname(os.path.abspath(__file__))


def python(name, *argv):
    return ["python3", os.path.join(HERE, name), *argv]


class Http(Case):
    """users: each asks, and again when it has had its answer and has thought for `think` seconds on average."""
    users = 8
    think = 0.02
    paths = 1           # as many different ones are asked for, at random
    keeps = True        # its connections

    def connect(self):
        client = Process(python("ask.py", self.port, self.users, self.think, self.paths), self.site.client_cpus,
                         self.site.nice, talks=True)
        client.hear()
        return client

    def ask(self, seconds):
        return json.loads(self.client.ask(f"{seconds} {'keep' if self.keeps else 'close'}"))


class App(Http):
    """arguments: of app_server.py, after its port."""
    arguments = ()

    def start(self):
        return self.serve_app(self.port, *self.arguments)

    def serve_app(self, *arguments):
        return self.serve(*python("app_server.py", *arguments), talks=True)

    @staticmethod
    def stats(process):
        return json.loads(process.ask("stats"))
