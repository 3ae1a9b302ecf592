#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A threshold of this host starts a profile of the service that it is about, and of no other, once in ten minutes; what
a socket says starts none.

Truth: what the threshold plugin and the socket were told, and the programs that use the CPUs meanwhile.
"""

import os
import socket
import time

import receiver
from receiver import lib

HZ = 99
SECONDS = 10    # attaching is a part of it, and takes seconds on a busy machine
WRITTEN_SECONDS = 150 * lib.SLOWNESS  # a file is written once a minute
INTERVAL = 0.5 if lib.SLOWNESS < 2 else 1
PLUGIN = f"""
  <Service "slow">
    Process "kt_slow"
  </Service>
  <Service "busy">
    Process "kt_busy"
  </Service>
  <Service "forged">
    Process "kt_forged"
  </Service>
  <Profiles>
    Directory "%s"
    OnThreshold "profile"
    Seconds {SECONDS}
  </Profiles>
"""
EXTRA = """
LoadPlugin threshold
<Plugin threshold>
  <Plugin "ebpf">
    Instance "slow"
    <Type "ps_count">
      DataSource "processes"
      WarningMax 0
      Persist true
    </Type>
  </Plugin>
</Plugin>
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile "%s"
</Plugin>
"""
FORGED = ("PUTNOTIF severity=failure time={time:.0f} message=forged host=testhost plugin=ebpf plugin_instance=forged "
          "type=ps_count s:CurrentValue=7\n")
STARTS = "a threshold starts a profile of "


def say(path, line):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        sock.sendall(line.encode())
        return sock.recv(1000).decode()


def started(daemon):
    return [line.partition(STARTS)[2] for line in daemon.log() if STARTS in line]


def has_ended(daemon):
    """It has had samples, and readings have none any more."""
    rows = daemon.rows("slow", "total_events-profile_samples")
    return rows and len([row for row in daemon.rows("slow", "ps_count") if row[0] > rows[-1][0]]) > 3


def main():
    with lib.Test(limit=240) as test:
        loads = [test.load("profile", "native", name=f"kt_{name}") for name in ("slow", "busy", "forged")]
        for load in loads:
            load.hear()
        path = os.path.join(test.disk, "sock")
        where = os.path.join(test.disk, "profiles")
        daemon = test.collectd(PLUGIN % where, EXTRA % path, interval=INTERVAL)
        daemon.profiles = where
        daemon.wait_rows("slow", "ps_count", 1)
        test.contains("the socket takes it", say(path, FORGED.format(time=time.time())), "Success")
        receiver.wait_until("a profile", lambda: started(daemon))
        receiver.wait_until("the probe is off again", lambda: has_ended(daemon))
        test.equal("profiles started", started(daemon), [f"slow, {SECONDS} s"])
        # What is left when collectd ends has names only as far as these are found soon.
        receiver.wait_until("its file", lambda: daemon.folded("slow", "cpu"), WRITTEN_SECONDS)
        test.stop(daemon)
        logged = [line for line in daemon.log() if "plugin_instance = forged" in line]
        test.true("the socket's notification was dispatched", logged)
        lines = daemon.folded("slow", "cpu")
        samples = sum(lines.values())
        test.true("samples of the service", samples > 0, samples)
        test.figures.within("samples of the service", samples, 10, HZ * (SECONDS + 3) * (os.cpu_count() or 1))
        test.true("they have functions", any("share_40" in line for line in lines), list(lines)[:3])
        test.equal("files of others", [name for name in os.listdir(where) if not name.startswith("slow-cpu-")], [])
        for load in loads:
            load.end()


if __name__ == "__main__":
    main()
