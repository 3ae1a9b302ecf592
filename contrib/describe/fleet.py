# SPDX-License-Identifier: MIT
"""What many machines store: an example for docs/rollout.md, from the tags of the probes.

The numbers of machines, services and devices are the example's. The series of services and devices follow from the probes that
are on by default."""

import storage

MACHINES = 300
SERVICES = 30           # of a machine
ANSWERING = 10          # of these, with requests and limits
DEVICES = 2
OPERATIONS = 4          # of a device: read, write, discard, flush
OWN = 105               # files in ebpf-self with the probes that are on by default, Linux 6.18
CREATES_A_MINUTE = 50   # carbon's default of MAX_CREATES_PER_MINUTE


def service(probes):
    """(data sources of each file of a service that answers no requests, the same of one that does)"""
    found = {probe["probe"]: storage.files_of(probe) for probe in probes}
    threads = [count for probe in probes if probe["probe"] == "delay" for count in storage.files_of(probe, "delay_rate-")]
    return found["process"] + threads + found["oom"], sum(found.values(), [])


def device(probes):
    """Data sources of each file of a block device."""
    tables = [table for probe in probes if probe["probe"] == "disk" for table in probe["tables"]
              if not table["option"] and "device" in table["labels"]]
    return [count for table in tables for series in table["series"] if not series["off"]
            for count in storage.sources_of(series) * (OPERATIONS if "enum" in table["labels"] else 1)]


def row(*cells):
    return f"| {' | '.join(cells)} |\n"


def gigabytes(size):
    return f"{size / 1e9:.1f} GB"


def table(probes, whisper):
    """The table and its sentences. whisper: bytes of a whisper file"""
    plain, answering = service(probes)
    parts = (("services that answer no requests, and `kernel`", SERVICES - ANSWERING + 1, plain),
             ("services that answer requests, and `other`", ANSWERING + 1, answering),
             ("block devices", DEVICES, device(probes)),
             ("the plugin itself, `ebpf-self`", 1, [1] * OWN))
    text = row("what", "on a machine", "series of each", "series of a machine", f"of {MACHINES} machines", "their RRD files",
               "or whisper files")
    text += row("---", *["---:"] * 6)
    total = []
    for name, count, files in parts:
        total += files * count
        text += line(name, str(count), str(len(files)), files * count, whisper)
    text += line("all of them", "", "", total, whisper)
    hours = MACHINES * sum(total) / CREATES_A_MINUTE / 60
    return text + (f"\nThat is {MACHINES * len(total):,} RRD files, each an inode, or {MACHINES * sum(total):,} whisper files.\n"
                   f"With carbon's default, {CREATES_A_MINUTE} new files a minute, it takes {hours:,.0f} hours until all "
                   "whisper files exist.\n")


def line(name, count, each, files, whisper):
    rrd = MACHINES * sum(map(storage.rrd_size, files))
    return row(name, count, each, f"{len(files):,}", f"{MACHINES * len(files):,}", gigabytes(rrd),
               gigabytes(MACHINES * sum(files) * whisper))
