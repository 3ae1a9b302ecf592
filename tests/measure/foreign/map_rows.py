# SPDX-License-Identifier: MIT
"""What a map says by a configuration file of ebpf_exporter: its rows by bpftool, its labels as that exporter's manual has
them, spelt as the plugin spells names. Nothing here comes from the plugin or from contrib/ebpf-convert."""

import errno
import ipaddress
import json
import os
import re
import socket
import subprocess
import sys

LABELS_BYTES = 63   # of all labels together, in a type instance
ERRORS = {**errno.errorcode, **{getattr(errno, name): name for name in ("EOPNOTSUPP", "EDEADLK")}}  # as the kernel has them


def number(raw):
    return int.from_bytes(raw, sys.byteorder)


class Names:
    """What the machine calls things."""

    def __init__(self):
        self.symbols, self.syscalls, self.cgroups = {}, {}, {}

    def symbol(self, raw):
        if not self.symbols:
            with open("/proc/kallsyms", encoding="ascii", errors="replace") as lines:
                for line in lines:
                    address, _, name = line.split()[:3]
                    self.symbols.setdefault(int(address, 16), name)
        return self.symbols.get(number(raw), f"ksym_{number(raw):x}")

    def syscall(self, text):
        if not self.syscalls:
            words = subprocess.run(["gcc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"],
                                   capture_output=True, text=True, check=True).stdout
            self.syscalls = {value: name for name, value in re.findall(r"#define __NR_(\w+) (\d+)", words)}
        return self.syscalls.get(text, "syscall_" + text)

    def cgroup(self, text):
        if int(text) not in self.cgroups:
            top = next(path for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
                       if os.path.exists(path + "/cgroup.controllers"))
            for path, _, _ in os.walk(top):
                self.cgroups.setdefault(os.stat(path).st_ino, os.path.relpath(path, top) if path != top else "root")
        return self.cgroups.get(int(text), "cgroup_" + text)

    @staticmethod
    def device(raw):
        # As the kernel's new_encode_dev() has it.
        device = number(raw[:4])
        major, minor = device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00
        with open("/proc/partitions", encoding="ascii") as lines:
            for words in (line.split() for line in lines):
                if words[:2] == [str(major), str(minor)]:
                    return words[3]
        return f"{major}:{minor}"

    @staticmethod
    def interface(raw):
        index = number(raw[:4])
        try:
            return socket.if_indextoname(index)
        except OSError:
            return f"if{index}"

    @staticmethod
    def error(text):
        return ERRORS.get(int(text), "none" if text == "0" else "errno_" + text)


NAMES = Names()
PLAIN = {
    "uint": lambda raw: str(number(raw)),
    "string": lambda raw: raw.split(b"\0", 1)[0].decode("utf-8", "surrogateescape"),
    "hex": bytes.hex,
    "inet_ip": lambda raw: str(ipaddress.ip_address(bytes(raw))),
    "ifname": NAMES.interface,
    "majorminor": NAMES.device,
    "ksym": NAMES.symbol,
    "cgroup": NAMES.cgroup,
    "errno": NAMES.error,
    "syscall": NAMES.syscall,
}
SUBJECTS = ("ifname", "majorminor")


def decoded(value, decoder):
    """None: the row is not wanted."""
    name = decoder["name"]
    if name == "static_map":
        names = {str(key): str(text) for key, text in decoder["static_map"].items()}
        return names.get(value, value if decoder.get("allow_unknown") else "unknown:" + value)
    if name == "regexp":
        for expression in decoder["regexps"]:
            if found := re.search(expression, value):
                return found[1] if found.lastindex else found[0]
        return None
    return PLAIN[name](value)


def clean(text):
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join("_" if letter in "/ \N{REPLACEMENT CHARACTER}" or not letter.isprintable() else letter for letter in text) or "_"


class Row:
    """One entry of a map: its labels by name, and a number by CPU (None: of no CPU)."""

    def __init__(self, entry):
        self.key = bytes(int(byte, 16) for byte in entry["key"])
        self.values = {one["cpu"]: self._number(one["value"]) for one in entry.get("values", [])}
        self.values = self.values or {None: self._number(entry["value"])}

    @staticmethod
    def _number(value):
        return number(bytes(int(byte, 16) for byte in value))


def dump(bpftool, map_id):
    out = subprocess.run([bpftool, "-j", "map", "dump", "id", str(map_id)], capture_output=True, check=False).stdout
    return [Row(entry) for entry in json.loads(out or "[]") if "error" not in entry.get("value", {})]


class Series:
    """A row's name: a subject (None: the probe), the labels behind the type instance, and the bucket."""

    def __init__(self, metric, is_histogram):
        self.labels = list(metric.get("labels") or [])
        self.is_histogram = is_histogram
        self.each_cpu = bool(self.labels) and self.labels[-1]["name"] == "cpu" and self.labels[-1]["size"] == 2
        if self.each_cpu:
            self.labels.pop()
        words = [label["decoders"][0]["name"] for label in self.labels]
        self.subject = next((position for position, word in enumerate(words) if word in SUBJECTS), None)

    def _values(self, key):
        values, at = [], 0
        for label in self.labels:
            value = key[at:at + label["size"]]
            at += label["size"] + label.get("padding", 0)
            for decoder in label["decoders"]:
                value = value if value is None else decoded(value, decoder)
            values.append(value)
        return None if None in values else values

    def name(self, key, cpu):
        """(subject, instance, bucket) or None."""
        values = self._values(key)
        if values is None:
            return None
        bucket = int(values.pop()) if self.is_histogram else None
        subject = clean(values.pop(self.subject)) if self.subject is not None else None
        parts = [clean(value).replace("-", "_").encode() for value in values]
        room = next(most for most in range(LABELS_BYTES, -1, -1)
                    if sum(min(len(part), most) for part in parts) <= LABELS_BYTES + 1 - max(len(parts), 1))
        parts = [part[:room].decode("utf-8", "ignore") for part in parts]
        return f"cpu{cpu}" if self.each_cpu else subject, "-".join(parts), bucket

    def totals(self, rows):
        """{name: sum of its rows}"""
        found = {}
        for row in rows:
            for cpu, value in row.values.items():
                name = self.name(row.key, cpu)
                if name is not None:
                    found[name] = found.get(name, 0) + value
        return found
