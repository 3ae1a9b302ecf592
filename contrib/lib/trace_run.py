# SPDX-License-Identifier: MIT
"""Runs bpftrace: gives it a program, reads its output, and restarts it when it ends."""

import collections
import ctypes
import json
import os
import re
import select
import signal
import subprocess
import time

from tool import Unwritable

LINE = 64 << 20         # bytes of a line, which has a map with all its keys
RECENT = 20               # recent warnings of a run
ATTEMPTS_S = (10, 600)  # the shortest and the longest time from one start to the next
STEADY_S = 300          # after a run of this length the shortest time applies again
END_S = 5
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# bpftrace writes bytes from 0x80 as sign-extended 32-bit numbers.
BYTE = re.compile(rb"(\\\\)|\\uffffff([89a-f][0-9a-f])")
# Warnings that do not matter if the program is loaded.
HARMLESS = "RLIMIT_MEMLOCK"


def with_bytes(line):
    line = BYTE.sub(lambda found: found.group(1) or bytes([int(found.group(2), 16)]), line)
    return line.decode("utf-8", "surrogateescape")


def parse(line):
    """A line of bpftrace's JSON as an object; None if it is malformed."""
    try:
        found = json.loads(with_bytes(line), strict=False, object_pairs_hook=add_up)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def unescape(key):
    """Undoes the second escaping of keys by some versions of bpftrace."""
    try:
        return json.loads(f'"{with_bytes(key.encode("utf-8", "surrogateescape"))}"', strict=False)
    except ValueError:
        return key


def unescape_keys(rows):
    return add_up((unescape(key), value) for key, value in rows.items())


def add_up(pairs):
    """Adds the values of keys that are printed alike, as those with bytes that are no text, or stacks with unknown functions."""
    found = {}
    for key, value in pairs:
        numbers = isinstance(value, int) and isinstance(found.get(key), int)
        found[key] = found[key] + value if numbers else value
    return found


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Lines:
    """Reads lines from a pipe without blocking."""

    def __init__(self, file):
        self.file, self.parts, self.size = file, [], 0

    def fileno(self):
        return self.file.fileno()

    def read(self):
        """The complete lines so far, or None at the end."""
        some = os.read(self.fileno(), 1 << 16)
        if not some:
            return None
        *lines, remainder = some.split(b"\n")
        if lines:
            lines[0] = b"".join(self.parts) + lines[0]
            self.parts, self.size = [], 0
        # A line that is too long is dropped.
        self.size += len(remainder)
        self.parts = self.parts + [remainder] if self.size < LINE else []
        return lines


class Run:
    """A run of bpftrace. say: function for messages"""

    def __init__(self, command, text, say):
        self.say, self.recent, self.warnings = say, collections.deque(maxlen=RECENT), 0
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=die_with_parent)
        try:
            self.process.stdin.write(text.encode("utf-8", "surrogateescape"))
            self.process.stdin.close()
        except BrokenPipeError:
            pass    # its exit has the reason

    def events(self, collectd):
        """Yields what bpftrace prints, as objects, until it ends. Raises Unwritable when collectd has closed its pipe."""
        output, errors = Lines(self.process.stdout), Lines(self.process.stderr)
        poll, left = select.poll(), {output.fileno(): output, errors.fileno(): errors}
        for descriptor in left:
            poll.register(descriptor, select.POLLIN)
        poll.register(collectd, 0)
        while left:
            for descriptor, _ in poll.poll():
                if descriptor == collectd:
                    raise Unwritable
                lines = left[descriptor].read()
                if lines is None:
                    poll.unregister(descriptor)
                    del left[descriptor]
                elif left[descriptor] is errors:
                    self._hear(lines)
                else:
                    yield from filter(None, map(parse, lines))

    def _hear(self, lines):
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if text and HARMLESS not in text:
                self.recent.append(text)
                if "WARNING" in text and self.warnings < RECENT:
                    self.warnings += 1
                    self.say(text)

    def reason(self):
        """The reason why it has ended."""
        status = self.process.wait()
        if status == 0:
            return "its program has finished"
        errors = [text for text in self.recent if "error" in text.lower()] or list(self.recent)[-1:]
        return "; ".join(errors[-3:]) or (f"signal {-status}" if status < 0 else f"exit status {status}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(END_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Patience:
    """The time until the next start, which increases with each run that is short."""

    def __init__(self, least=ATTEMPTS_S[0], most=ATTEMPTS_S[1]):
        self.least, self.most = least, most
        self.seconds = least

    def after(self, lasted):
        if lasted >= STEADY_S:
            self.seconds = self.least
        now = self.seconds
        self.seconds = min(2 * self.seconds, self.most)
        return now


def wait(seconds, collectd):
    """Waits. Raises Unwritable when collectd has closed the pipe."""
    poll = select.poll()
    poll.register(collectd, 0)
    if poll.poll(seconds * 1000):
        raise Unwritable
