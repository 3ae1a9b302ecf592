# SPDX-License-Identifier: MIT
"""collectd's network plugin as a source: receives its UDP packets and computes rates.

The format is that of https://collectd.org/wiki/index.php/Binary_protocol, without signature and encryption.
"""

import dataclasses
import ipaddress
import math
import socket
import struct
import time

import live
from live import Trouble

PORT = 25826
# Types of the parts of a packet.
HOST, TIME, PLUGIN, PLUGIN_INSTANCE, TYPE, TYPE_INSTANCE, VALUES, INTERVAL, TIME_HR, INTERVAL_HR = range(10)
SIGNATURE, ENCRYPTION = 0x200, 0x210
TEXTS = (HOST, PLUGIN, PLUGIN_INSTANCE, TYPE, TYPE_INSTANCE)
NUMBERS = {TIME: 1, INTERVAL: 1, TIME_HR: 2 ** -30, INTERVAL_HR: 2 ** -30}
# Types of values and their encodings.
COUNTER, GAUGE, DERIVE, ABSOLUTE = range(4)
PACKED = {COUNTER: ">Q", GAUGE: "<d", DERIVE: ">q", ABSOLUTE: ">Q"}
# The data sources in types.db, for the types with several that the columns need.
SOURCES = {"ps_cputime": ("user", "syst"), "io_octets": ("rx", "tx"), "if_octets": ("rx", "tx"),
           "disk_octets": ("read", "write"), "disk_ops": ("read", "write"), "disk_io_time": ("io_time", "weighted_io_time"),
           "ps_count": ("processes", "threads")}
MISSED = 3          # intervals after which a value is no longer current
TOGETHER = 1        # seconds within which all packets of a reading arrive
# Anybody may send packets, so what is stored of them is bounded.
NAME = 127          # bytes, collectd's own limit of a name
INTERVALS = 1e-3, 86400
SERVICES = 20000    # of all hosts
STORED = 1000000      # values of all services
AT_ONCE = 0.2       # seconds of receiving at a time, at most


class Malformed(Exception):
    """The packet is malformed."""


class Closed(Exception):
    """The packet is signed or encrypted."""


@dataclasses.dataclass(frozen=True)
class Reading:
    """A part with values, with the host, plugin and times of the parts before it."""
    host: str
    plugin: str
    plugin_instance: str
    type: str
    type_instance: str
    time: float
    interval: float
    values: tuple   # of (kind, number)

    @property
    def file(self):
        return f"{self.type}-{self.type_instance}" if self.type_instance else self.type


def parts(packet):
    while packet:
        if len(packet) < 4:
            raise Malformed
        kind, length = struct.unpack_from(">HH", packet)
        if not 4 <= length <= len(packet):
            raise Malformed
        yield kind, packet[4:length]
        packet = packet[length:]


def _values(body):
    if len(body) < 2:
        raise Malformed
    count, = struct.unpack_from(">H", body)
    if len(body) != 2 + 9 * count or any(kind not in PACKED for kind in body[2:2 + count]):
        raise Malformed
    return tuple((kind, struct.unpack_from(PACKED[kind], body, 2 + count + 8 * number)[0])
                 for number, kind in enumerate(body[2:2 + count]))


def readings(packet):
    """The readings in a packet."""
    said = {TIME: 0.0, INTERVAL: 0.0, **dict.fromkeys(TEXTS, "")}
    for kind, body in parts(packet):
        if kind in (SIGNATURE, ENCRYPTION):
            raise Closed
        if kind in TEXTS:
            text = body.rstrip(b"\0")
            if len(text) > NAME:
                raise Malformed
            said[kind] = text.decode("utf-8", "replace")
        elif kind in NUMBERS:
            if len(body) != 8:
                raise Malformed
            said[TIME if kind in (TIME, TIME_HR) else INTERVAL] = struct.unpack(">Q", body)[0] * NUMBERS[kind]
        elif kind == VALUES:
            yield Reading(*(said[text] for text in TEXTS), said[TIME], said[INTERVAL], _values(body))


def rate(before, now):
    """The rate of a counter between two (time, count)."""
    grown, passed = now[1] - before[1], now[0] - before[0]
    return grown / passed if passed > 0 and grown >= 0 else math.nan


class Cache:
    """The last values of all services."""

    def __init__(self):
        self.counts = {}    # (host, service, file, data source) -> (time, count)
        self.stored = {}      # (host, service) -> {(file, data source): (until, value)}
        self.first_rate = math.inf  # the time of the first rate
        self.single = set()         # counters with one value so far
        self.interval = 0
        self.size = 0               # number of stored values
        self.full = False           # values were left out for lack of room

    def store(self, reading, now):
        if reading.plugin != "ebpf" or not reading.plugin_instance or not live.is_wanted(reading.file):
            return
        owner = reading.host, reading.plugin_instance
        stored, sources = self.stored.get(owner), SOURCES.get(reading.type, ("value",))
        if (stored is None and len(self.stored) >= SERVICES) or (
                self.size >= STORED and (reading.file, sources[0]) not in (stored or ())):
            self.full = True
            return
        interval = min(max(reading.interval or 10, INTERVALS[0]), INTERVALS[1])
        until = now + MISSED * interval
        self.interval = max(self.interval, interval)
        for source, (kind, number) in zip(sources, reading.values):
            value = number
            if kind != GAUGE:
                value = self._rate((*owner, reading.file, source), reading.time, number)
                self.first_rate = now if math.isinf(self.first_rate) and not math.isnan(value) else self.first_rate
            stored = self.stored.setdefault(owner, {})
            self.size += (reading.file, source) not in stored
            stored[reading.file, source] = until, live.stored(reading.file, value, time.time(), interval)

    def _rate(self, key, moment, count):
        before, self.counts[key] = self.counts.get(key), (moment, count)
        if before:
            self.single.discard(key)
        else:
            self.single.add(key)
        return rate(before, (moment, count)) if before else math.nan

    def services(self, now):
        self.stored = {owner: fresh for owner, values in self.stored.items()
                     if (fresh := {key: stored for key, stored in values.items() if stored[0] > now})}
        self.size = sum(map(len, self.stored.values()))
        self.counts = {key: count for key, count in self.counts.items()
                       if key[2:] in self.stored.get(key[:2], ())}
        self.single &= self.counts.keys()
        return {owner: {key: value for key, (_, value) in values.items()} for owner, values in self.stored.items()}


def resolve(text):
    """ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or :PORT"""
    address, colon, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "")
    if colon and not (port.isdecimal() and int(port) < 2 ** 16):
        raise Trouble(f"{text}: a port is a number below 65536")
    try:
        found = socket.getaddrinfo(address.strip("[]") or "::", int(port or PORT), type=socket.SOCK_DGRAM)
    except OSError as error:
        raise Trouble(f"{text}: {error.strerror}; --listen takes an address of this machine, and perhaps a port") from error
    return found[0][0], found[0][4]


class Network:
    def __init__(self, text):
        self.text, self.cache = text, Cache()
        self.packets = self.strange = self.closed = 0
        family, address = resolve(text)
        try:
            self.socket = socket.socket(family, socket.SOCK_DGRAM)
            self._bind(family, address)
        except OSError as error:
            raise Trouble(f"{text}: cannot listen there: {error.strerror}; --listen names another address or port"
                          ) from error

    def _bind(self, family, address):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 ** 22)
        group = ipaddress.ip_address(address[0].partition("%")[0])
        if group.is_multicast:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        elif family == socket.AF_INET6:
            # "::" accepts IPv4, too.
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.bind(address)
        if group.is_multicast and family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("4sI", group.packed, 0))
        elif group.is_multicast:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, struct.pack("16sI", group.packed, 0))
        self.socket.setblocking(False)

    def __str__(self):
        return f"packets to {self.text}" + (", no room for all services" if self.cache.full else "")

    def fileno(self):
        return self.socket.fileno()

    def listens(self):
        return True

    def settled(self):
        """Whether all rates are there: counters have them from the second reading. collectd sends full packets, so that the
        last part of a reading comes with the next reading, and that of a service that has ended never comes."""
        passed = time.monotonic() - self.cache.first_rate
        return passed > TOGETHER and (not self.cache.single or passed > 1.5 * self.cache.interval)

    def close(self):
        self.socket.close()

    def receive(self):
        """Receives what has arrived. Must be called often: the kernel buffers only a few hundred kilobytes."""
        enough = time.monotonic() + AT_ONCE
        while time.monotonic() < enough:
            try:
                packet = self.socket.recv(65536)
            except BlockingIOError:
                return
            self.store(packet)

    def store(self, packet):
        """Stores a packet entirely or, if it is malformed, not at all."""
        self.packets += 1
        try:
            for reading in list(readings(packet)):
                self.cache.store(reading, time.monotonic())
        except Closed:
            self.closed += 1
        except Malformed:
            self.strange += 1

    def services(self):
        self.receive()
        services = self.cache.services(time.monotonic())
        if not services:
            raise Trouble(f"{self}: " + self._absence(), may_pass=True)
        return services

    def _absence(self):
        if self.closed:
            return ("they are signed or encrypted, which cannot be read here: in collectd's <Plugin network>, give "
                    "this address a <Server> block without SecurityLevel")
        if self.strange == self.packets > 0:
            return "these are not collectd's"
        if self.packets:
            return "no values of the ebpf plugin among them so far"
        return "none so far; in collectd's <Plugin network>, Server names this address"
