#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of test_units.py where systemd keeps hybrid hierarchies: its own in version 1, controllers there, a copy
of its own in version 2. It runs before the plugin starts, whose Service blocks have some of it.

Truth: as there.
"""

from lib import Test
from test_units import (INTERVAL, NAMED, USER, check_bounded, check_container, check_counts, check_podman, check_series, few,
                        libpod, require_systemd, server, services, start_server)

SYSTEMD = "hybrid"
RULES = """
  <Service "workers">
    Unit "job@*.service"
  </Service>
  <Service "named">
    Unit "_io.service"
    Unit "my-app"
    Unit "run-billing.service"
  </Service>
  <Service "db">
    Unit "postgresql@15-main"
  </Service>
  <Service "people">
    Unit "user-alice.slice"
  </Service>
  <Service "podded">
    Container "w?b*"
  </Service>
  <Service "by-id">
    Container "{:.12}"
  </Service>
  <Service "group">
    Cgroup "system.slice/system-echo.slice"
    Cgroup "system.slice/echo.socket"
  </Service>
  ServicesFrom "containers" "units" "commands"
"""
ENDLESS = 20


def ruled(identity, namesake):
    """{service: [path of a cgroup]}"""
    found = services(identity, namesake)
    workers = [path for service in list(found) if service.startswith("job@") for path in found.pop(service)]
    named = [path for service in NAMED for path in found.pop(service)]
    return {"workers": workers, "named": named, "db": found.pop("postgresql@15-main"), "people": found.pop(USER),
            "group": found.pop("echo"), "podded": [libpod(identity)], "by-id": [libpod(namesake)], **found}


def main():
    with Test(limit=150) as test:
        require_systemd(SYSTEMD)
        identity, pid = start_server(test)
        namesake, _ = server.container("nginx")
        daemon = test.collectd(RULES.format(namesake), interval=INTERVAL, extra=few("csv"))
        check_counts(test, daemon, "found", ruled(identity, namesake))
        identity = check_container(test, daemon, "podded", identity, pid)
        check_podman(test, identity, namesake)
        check_bounded(test, daemon, ENDLESS, "group")
        check_counts(test, daemon, "at the end", ruled(identity, namesake))
        check_series(test, daemon, ruled(identity, namesake))


if __name__ == "__main__":
    main()
