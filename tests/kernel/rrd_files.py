# SPDX-License-Identifier: MIT
"""What a server costs in RRD files, by those that collectd's rrdtool plugin has made of it."""

import os

# As by default with an interval of 10 seconds, which decides how many values a file has room for; when it is written
# changes nothing in its size.
RRD = """
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "{}"
  StepSize 10
  HeartBeat 20
  CacheTimeout 3600
</Plugin>
"""
FILES_MAX = 48   # of a service
MB_MAX = 100     # of a server, in a week


def sizes(directory):
    """{subject: [size of a file]}"""
    found = {}
    for name in os.listdir(directory):
        below = os.path.join(directory, name)
        found[name.removeprefix("ebpf-")] = [os.path.getsize(os.path.join(below, file)) for file in os.listdir(below)]
    return found


def check_files(test, directory, services):
    """A file never grows, and there are no more of them for a week than there are names: those of units that come and go
    are no new ones."""
    found = sizes(directory)
    for subject, each in sorted(found.items()):
        kind = "" if subject in services else ", no service"
        print(f"     {subject}: {len(each)} files, {sum(each) / 1e6:.1f} MB{kind}")
    test.equal("services without files", sorted(services - set(found)), [])
    test.within("files of a service, at most", max(len(found[service]) for service in services), 1, FILES_MAX)
    test.within("MB of all files, for a week as for ever", sum(map(sum, found.values())) / 1e6, 1, MB_MAX)
