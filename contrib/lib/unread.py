# SPDX-License-Identifier: MIT
"""Messages about files that cannot be read, or that have nothing to draw."""

import os
import time

NAMED = 3   # files


def _is_empty(path):
    try:
        return os.path.getsize(path) == 0
    except OSError:
        return False


def lines(refused):
    """refused: (path, reason) of each file that rrdtool refused. Only the first are named."""
    said = [f"{path}: {'is empty' if _is_empty(path) else reason}; skipping it" for path, reason in refused[:NAMED]]
    more = len(refused) - NAMED
    return said + [f"and {more} more file{'s' * (more > 1)}"] * (more > 0)


def _stamp(moment):
    return time.strftime("%F %H:%M", time.localtime(moment))


def nothing(directory, services, refused, start, end):
    """Why there is nothing to draw. services: those that were read; refused: as above"""
    if not any(service.files for service in services):
        if all(_is_empty(path) for path, _ in refused):
            return (f"the RRD files below {directory} are empty ({len(refused)}, of 0 bytes each), as a full disk leaves them; "
                    "make room and remove them, and collectd makes new ones")
        return f"no RRD file below {directory} can be read ({len(refused)})"
    newest = max(service.updated for service in services)
    if start < newest <= end:
        return (f"no value from {_stamp(start)} to {_stamp(end)}, though files below {directory} are of {_stamp(newest)}: a new "
                "file gets its first value after two Intervals, and after the CacheTimeout of the rrdtool plugin")
    return (f"no value from {_stamp(start)} to {_stamp(end)}; the last is of {_stamp(newest)}: choose the time with --start and "
            "--end")
