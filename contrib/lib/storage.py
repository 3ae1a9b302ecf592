# SPDX-License-Identifier: MIT
"""The disk space of stored series: RRD files with collectd's default options, and whisper files by a
storage-schemas.conf."""

import math
import re

import rrd_file

# Defaults of collectd's rrdtool and rrdcached plugins: archives for these spans in seconds, each with about this many rows,
# for average, minimum and maximum.
SPANS = (3600, 86400, 7 * 86400, 31 * 86400, 366 * 86400)
ROWS = 1200
CONSOLIDATIONS = 3

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
WHISPER_HEAD, WHISPER_ARCHIVE, WHISPER_POINT = 16, 12, 12


def archive_rows(interval):
    """The rows of each archive of a file that collectd makes."""
    rows, width = [], 0
    for span in SPANS:
        span = max(span, ROWS * interval)
        width = max(1, math.floor(span / (ROWS * interval))) if width else 1
        rows += [math.ceil(span / (width * interval))] * CONSOLIDATIONS
    return rows


def rrd_size(sources, interval=10):
    """The size in bytes of a file with so many data sources."""
    return rrd_file.size(sources, archive_rows(interval))


def retentions(text):
    """The retentions in the first section of storage-schemas.conf: ((step, points), ...)"""
    line = re.search(r"^retentions *= *(.*)$", text, re.M).group(1)
    parsed = []
    for part in line.split(","):
        step, span = (int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([smhdwy])", part))
        parsed.append((step, span // step))
    return tuple(parsed)


def whisper_size(archives):
    """The size in bytes of the file of one data source."""
    return WHISPER_HEAD + sum(WHISPER_ARCHIVE + WHISPER_POINT * points for _, points in archives)


def sources_of(series):
    """The number of data sources of each file of a series; a computed series has one."""
    return [len(series["sources"]) if series["kind"] == "integer" else 1] * len(series["files"])


def files_of(probe, begin=""):
    """The same for all series that a service has by default of a probe. begin: a prefix of the names of series"""
    return [count for table in probe["tables"] for series in table["series"]
            if not probe["off"] and not table["option"] and "service" in table["subject"].split()
            and not series["off"] and series["name"].startswith(begin) for count in sources_of(series)]
