# SPDX-License-Identifier: MIT
"""How each tool runs, and what ends it.

| ended by | exit status |
|---|---|
| a standard stream whose reader has closed the pipe | 141, without a message |
| a signal of ENDS | 128 + its number, after all clean-ups |
| Trouble, an OSError, another failure of a standard stream | 1, or what run() is given, after one message |
| wrong options | 2, or what run() is given |
"""

import contextlib
import errno
import io
import os
import signal
import sys

from text import printable

ENDS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
STDOUT, STDERR = 1, 2


class Trouble(Exception):
    """Why a tool cannot go on, and the remedy, as text for the user."""


class Ended(BaseException):
    """A signal ends the tool. Not an Exception: only clean-ups shall catch it."""

    def __init__(self, signum):
        super().__init__()
        self.signum = signum


class Unwritable(BaseException):
    """A standard stream cannot be written. Not an OSError: those are of files, and a tool goes on without some of them."""

    def __init__(self, number=errno.EPIPE):
        super().__init__()
        self.number = number


class _File(io.FileIO):
    def write(self, data):
        try:
            return super().write(data)
        except OSError as error:
            raise Unwritable(error.errno) from None


def _stream(descriptor, errors):
    """A standard stream, buffered as Python's own is."""
    try:
        file = _File(descriptor, "wb", closefd=False)
    except OSError as error:
        raise Unwritable(error.errno) from None
    return io.TextIOWrapper(io.BufferedWriter(file), getattr(sys.stdout, "encoding", None), errors,
                            line_buffering=descriptor == STDERR or file.isatty())


def _discard(*descriptors):
    """What is still buffered would fail when Python ends, or wait for a reader."""
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(null, descriptor)


def _end(signum, _frame):
    # Another signal must not disturb the clean-ups.
    for one in ENDS:
        signal.signal(one, signal.SIG_IGN)
    raise Ended(signum)


def note(text):
    """Prints a line on standard error, which the name of the tool begins."""
    print(printable(f"{os.path.basename(sys.argv[0])}: {text}"), file=sys.stderr)


def _status(main, trouble, wrong):
    try:
        return main()
    except SystemExit as end:
        # argparse's: 0 after --help, 2 after wrong options.
        return wrong if end.code == 2 else end.code
    except Trouble as reason:
        note(reason)
    except OSError as error:
        note(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    return trouble


def run(main, trouble=1, wrong=2):
    """Calls main() and exits with the status that it returns. trouble, wrong: exit status after a message, after wrong options"""
    for signum in ENDS:
        # nohup has a tool ignore SIGHUP.
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, _end)
    # print() would take standard output in its place.
    if sys.stderr is None:
        _discard(STDERR)
    try:
        sys.stderr = _stream(STDERR, "backslashreplace")
        sys.stdout = _stream(STDOUT, "replace")
        status = _status(main, trouble, wrong)
        sys.stdout.flush()
    except Ended as ended:
        status = 128 + ended.signum
        _discard(STDOUT, STDERR)
    except Unwritable as failure:
        status = 128 + signal.SIGPIPE if failure.number == errno.EPIPE else trouble
        if failure.number != errno.EPIPE:
            with contextlib.suppress(Unwritable):
                note(f"standard output: {os.strerror(failure.number)}")
        _discard(STDOUT, STDERR)
    sys.exit(status)
