# SPDX-License-Identifier: MIT
"""bpftrace as a process: it is given a program, what it prints is read, and when it ends it is started again."""

import collections
import ctypes
import json
import os
import re
import select
import signal
import subprocess
import time

LINE = 64 << 20         # bytes, of a map with all its keys
TOLD = 20               # warnings of one run
ATTEMPTS_S = (10, 600)  # from one start to the next: at least, and at most
STEADY_S = 300          # who has run for so long begins with the least again
END_S = 5
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# bpftrace writes a byte of 0x80 and more as a number of 32 bits with its sign.
BYTE = re.compile(rb"(\\\\)|\\uffffff([89a-f][0-9a-f])")
# Of no consequence where the program is loaded.
HARMLESS = "RLIMIT_MEMLOCK"


class Ended(Exception):
    """collectd wants no more."""


def with_bytes(line):
    line = BYTE.sub(lambda found: found.group(1) or bytes([int(found.group(2), 16)]), line)
    return line.decode("utf-8", "surrogateescape")


def parse(line):
    """A line of bpftrace as an object, None if it is none."""
    try:
        found = json.loads(with_bytes(line), strict=False, object_pairs_hook=add_up)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def unescape(key):
    """What some bpftrace has escaped twice."""
    try:
        return json.loads(f'"{with_bytes(key.encode("utf-8", "surrogateescape"))}"', strict=False)
    except ValueError:
        return key


def unescape_keys(rows):
    return add_up((unescape(key), value) for key, value in rows.items())


def add_up(pairs):
    """Keys that look the same are different ones: bytes that are no text, stacks with unknown functions."""
    found = {}
    for key, value in pairs:
        numbers = isinstance(value, int) and isinstance(found.get(key), int)
        found[key] = found[key] + value if numbers else value
    return found


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Lines:
    """The lines of a pipe as they come."""

    def __init__(self, file):
        self.file, self.parts, self.size = file, [], 0

    def fileno(self):
        return self.file.fileno()

    def read(self):
        """The lines that are complete, or None at the end."""
        some = os.read(self.fileno(), 1 << 16)
        if not some:
            return None
        *lines, rest = some.split(b"\n")
        if lines:
            lines[0] = b"".join(self.parts) + lines[0]
            self.parts, self.size = [], 0
        # Of a line without an end, the begin is no use.
        self.size += len(rest)
        self.parts = self.parts + [rest] if self.size < LINE else []
        return lines


class Run:
    """One life of bpftrace. say: for messages."""

    def __init__(self, command, text, say):
        self.say, self.told, self.warnings = say, collections.deque(maxlen=TOLD), 0
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=die_with_parent)
        try:
            self.process.stdin.write(text.encode("utf-8", "surrogateescape"))
            self.process.stdin.close()
        except BrokenPipeError:
            pass    # how it ends says why

    def events(self, collectd):
        """What it prints, as objects, until its end; Ended when nobody reads the descriptor of collectd any more."""
        output, errors = Lines(self.process.stdout), Lines(self.process.stderr)
        poll, left = select.poll(), {output.fileno(): output, errors.fileno(): errors}
        for descriptor in left:
            poll.register(descriptor, select.POLLIN)
        poll.register(collectd, 0)
        while left:
            for descriptor, _ in poll.poll():
                if descriptor == collectd:
                    raise Ended
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
                self.told.append(text)
                if "WARNING" in text and self.warnings < TOLD:
                    self.warnings += 1
                    self.say(text)

    def reason(self):
        """Why it has ended."""
        status = self.process.wait()
        if status == 0:
            return "its program is at its end"
        errors = [text for text in self.told if "error" in text.lower()] or list(self.told)[-1:]
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
    """How long to wait for the next start: longer each time that it does not last."""

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
    """Ended as above."""
    poll = select.poll()
    poll.register(collectd, 0)
    if poll.poll(seconds * 1000):
        raise Ended
