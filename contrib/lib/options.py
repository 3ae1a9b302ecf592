# SPDX-License-Identifier: MIT
"""The command line of ebpf-graph."""

import argparse
import datetime
import os
import re
import time

import events
import host
import rrd
import span
import tool
from choice import unknown
from version import add_version

# A date, or a date and a time of the local zone or of a named one.
ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?)?")
FORMS = "write it as 2026-11-27T03:10, 2026-11-27, 03:10, -1h, now or 1795800500"
AHEAD = 60      # seconds that the clock of another machine may be ahead


def text(given):
    if not given:
        raise argparse.ArgumentTypeError("must not be empty")
    return given


def whole(given):
    if given.isdecimal() and len(given) < 10:
        return int(given)
    raise argparse.ArgumentTypeError(f"{given!r} is not a whole number of at least 0")


def _parser():
    parser = argparse.ArgumentParser(
        description="Draw the RRD files of collectd's ebpf plugin: a page of all services, one of each, and one of each machine.",
        epilog="TIME is as in 2026-11-27T03:10, 2026-11-27, 03:10, -1h, now, 1795800500, or another of rrdtool's forms.")
    add_version(parser)
    parser.add_argument("--rrd", default="/var/lib/collectd/rrd", type=text, metavar="DIR",
                        help="DataDir of collectd's rrdtool plugin (%(default)s)")
    parser.add_argument("--output", required=True, type=text, metavar="DIR",
                        help="directory for the pages, which is made if it is missing")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("--span", action="append", choices=span.SECONDS,
                       help="up to the end; may repeat (all, as far as there are readings)")
    times.add_argument("--start", type=text, metavar="TIME", help="one span, from here, in place of those")
    parser.add_argument("--end", default="now", type=text, metavar="TIME", help="(%(default)s)")
    parser.add_argument("--service", action="append", type=text, metavar="NAME", help="only this; may repeat")
    parser.add_argument("--host", action="append", type=text, metavar="NAME", help="only this; may repeat")
    parser.add_argument("--events", default=events.DEFAULT, type=text, metavar="PATH",
                        help="file of events to mark in the charts (%(default)s)")
    parser.add_argument("--stacks", type=text, metavar="DIR", help="folded files of stacks, drawn as flame graphs")
    parser.add_argument("--before", type=text, metavar="TIME",
                        help="flame graphs show the difference from the span of equal length that ended then")
    parser.add_argument("--png", action="store_true", help="also draw each chart of each service as a PNG file")
    parser.add_argument("--title", default="Services seen by eBPF", type=text, metavar="TEXT", help="of the pages (%(default)s)")
    parser.add_argument("--note", action="append", default=[], metavar="TEXT",
                        help="a line at the top of the pages; may repeat")
    parser.add_argument("--table", type=whole, default=0, metavar="N",
                        help="print the table of the first span as well, at most N services")
    return parser


def parse(arguments):
    """The options. Times are seconds since the epoch; start is None if there are spans in its place."""
    parser = _parser()
    # argparse would take the -1h of `--start -1h` for an option.
    joined = re.sub(r"\0(--start|--end|--before)\0", r"\0\1=", "\0" + "\0".join(arguments))
    options = parser.parse_args(joined.split("\0")[1:])
    if options.before and not options.stacks:
        parser.error("argument --before: needs --stacks; to compare services at two times, open compare.html")
    for name, path in (("stacks", options.stacks), ("events", options.events)):
        # The plugin makes its own file with the first event.
        if path and path != events.DEFAULT and not os.path.exists(path):
            parser.error(f"argument --{name}: no such file: {path!r}")
    _read_times(parser, options)
    return options


def _iso(given):
    """As rrdtool takes it, which knows no times of ISO 8601, and nothing but UTF-8."""
    match = ISO.fullmatch(given)
    if not match:
        return given.encode(errors="replace").decode()
    day, clock, zone = match.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{day}T{clock or '00:00'}{'+00:00' if zone == 'Z' else zone or ''}")
        return str(int(moment.timestamp()))
    except (ValueError, OverflowError):
        return given


def _stamp(moment):
    return time.strftime("%F %T", time.localtime(moment))


def _read_times(parser, options):
    """Converts them to seconds."""
    start, options.end = _seconds(parser, options.start or "end-1h", options.end)
    if start >= options.end:
        parser.error(f"argument --start: {_stamp(start)} is not before --end, {_stamp(options.end)}")
    if options.end > time.time() + AHEAD:
        parser.error(f"argument --end: {_stamp(options.end)} is in the future")
    if options.start:
        options.start = start
    if options.before:
        _, options.before = _seconds(parser, options.before, options.before, "--before")
        if options.before >= options.end:
            parser.error(f"argument --before: {_stamp(options.before)} is not before --end, {_stamp(options.end)}")


def _seconds(parser, start, end, option=""):
    """(start, end). option: the one that both are of"""
    try:
        return rrd.seconds(_iso(start), _iso(end))
    except rrd.Refused as error:
        reason = str(error).removeprefix("rrdtool graphv: ")
    backwards = re.fullmatch(r"start \((-?\d+)\) should be less than end \((-?\d+)\)", reason)
    if backwards:
        return list(map(int, backwards.groups()))
    name, given = ("--end", end) if "end time" in reason else ("--start", start)
    return parser.error(f"argument {option or name}: no such time: {given!r}; {FORMS}")


def check_choice(options):
    """Raises Trouble if there are no files, or not of a chosen host or service."""
    there = host.find(options.rrd, None, None)
    if not there:
        raise tool.Trouble(f"no RRD file of the ebpf plugin below {options.rrd}; --rrd names the DataDir of collectd's rrdtool "
                           "plugin")
    services = {service.parent for name, many in there.items() if not options.host or name in options.host for service in many}
    for what, names, known in (("host", options.host, there), ("service", options.service, services)):
        if wrong := unknown(what, names, known):
            raise tool.Trouble(wrong)
