# SPDX-License-Identifier: MIT
"""What a handler of app_server.py may wait for: wait(seconds) does so for about as long; it returns a float: how long,
if that is not all of its time."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import random
import signal
import struct
import subprocess
import tempfile
import threading
import time
import zlib

LIBC = ctypes.CDLL(None)
FREE_S = 0.01
IN_MODIFY, SETVAL = 2, 16
LINE = 2000 * b"x"
NAP_S, NAPS, LATE_S = 0.005, 10, 0.05
ONE_OF, SLEEP_S = 30, 0.06
WRITTEN = 16384 * b"x"


class Locked:
    """Another thread holds a lock for so long, again and again. own, other: context managers that lock it."""

    def __init__(self, own, other=None):
        self._own, self._other, self._seconds = own, other or own, 0
        threading.Thread(target=self._lock_again, daemon=True).start()

    def _lock_again(self):
        while True:
            if self._seconds:
                with self._other():
                    time.sleep(self._seconds)
            time.sleep(FREE_S)

    def __call__(self, seconds):
        self._seconds = seconds
        with self._own():
            pass


def make_flock():
    file = tempfile.NamedTemporaryFile()

    @contextlib.contextmanager
    def locked():
        with open(file.name, "rb") as own:
            fcntl.flock(own, fcntl.LOCK_EX)
            yield

    return Locked(locked)


def make_record_lock():
    """The handlers' is that of the process, the other one that of an open file."""
    file = tempfile.NamedTemporaryFile()

    @contextlib.contextmanager
    def locked(operation):
        with open(file.name, "r+b") as own:
            fcntl.fcntl(own, operation, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            yield

    return Locked(lambda: locked(fcntl.F_SETLKW), lambda: locked(fcntl.F_OFD_SETLKW))


def make_semaphore():
    """System V's: it stays until its namespace ends."""
    semaphore = LIBC.semget(0, 1, 0o600)
    LIBC.semctl(semaphore, 0, SETVAL, 1)

    @contextlib.contextmanager
    def locked():
        LIBC.semop(semaphore, struct.pack("Hhh", 0, -1, 0), 1)
        yield
        LIBC.semop(semaphore, struct.pack("Hhh", 0, 1, 0), 1)

    return Locked(locked)


def make_mutex():
    mutex = ctypes.create_string_buffer(64)     # of zeros: initialised

    @contextlib.contextmanager
    def locked():
        LIBC.pthread_mutex_lock(mutex)
        yield
        LIBC.pthread_mutex_unlock(mutex)

    return Locked(locked)


def join(seconds):
    """A thread that runs usleep() and nothing else."""
    thread = ctypes.c_ulong()
    LIBC.pthread_create(ctypes.byref(thread), None, LIBC.usleep, ctypes.c_void_p(int(seconds * 1e6)))
    LIBC.pthread_join(thread, None)


def read_eventfd(seconds):
    event = os.eventfd(0)
    threading.Timer(seconds, os.eventfd_write, (event, 1)).start()
    os.eventfd_read(event)
    os.close(event)


def read_inotify(seconds):
    with tempfile.NamedTemporaryFile() as file:
        changes = LIBC.inotify_init1(0)
        LIBC.inotify_add_watch(changes, file.name.encode(), IN_MODIFY)
        threading.Timer(seconds, os.write, (file.fileno(), b"x")).start()
        os.read(changes, 4096)
        os.close(changes)


def read_timerfd(seconds):
    timer = LIBC.timerfd_create(time.CLOCK_MONOTONIC, 0)
    LIBC.timerfd_settime(timer, 0, struct.pack("qqqq", 0, 0, 0, int(seconds * 1e9)), None)
    os.read(timer, 8)
    os.close(timer)


def make_log():
    """A pipe that a thread reads: it pauses, and then reads all that is there."""
    outlet, inlet = os.pipe()
    fcntl.fcntl(inlet, fcntl.F_SETPIPE_SZ, mmap.PAGESIZE)
    pause = 0

    def drain():
        while True:
            time.sleep(pause)
            os.read(outlet, mmap.PAGESIZE)

    def write(seconds):
        nonlocal pause
        pause = seconds
        os.write(inlet, LINE)

    threading.Thread(target=drain, daemon=True).start()
    return write


def nap(_seconds):
    """How long naps were late, where somebody has stopped the process."""
    late = 0.0
    for _ in range(NAPS):
        begin = time.monotonic()
        time.sleep(NAP_S)
        elapsed = time.monotonic() - begin
        if elapsed > LATE_S:
            late += elapsed - NAP_S
    return late


def wait_and_sleep(seconds):
    """One of several waits for another thread's lock first: how long."""
    begin = time.monotonic()
    if seconds and random.randrange(ONE_OF) == 0:
        lock = threading.Lock()
        with lock:
            threading.Timer(seconds, lock.release).start()
            lock.acquire()
    waited = time.monotonic() - begin
    time.sleep(SLEEP_S)
    return waited


def any_file():
    """Of the working directory."""
    return random.choice([name for name in os.listdir() if name.isdigit()])


def read_mapped(_seconds):
    with open(any_file(), "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        zlib.crc32(mapped)  # without the interpreter's lock


def read_file(_seconds):
    with open(any_file(), "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def write_and_sync(_seconds):
    with tempfile.TemporaryFile(dir=".", buffering=0) as file:
        file.write(WRITTEN)
        os.fsync(file.fileno())


def always(wait):
    return lambda: wait


# {kind: makes wait()}
KINDS = {
    "flock": make_flock,
    "fcntl": make_record_lock,
    "semop": make_semaphore,
    "mutex": make_mutex,
    "timed": always(lambda seconds: threading.Event().wait(seconds)),
    "join": always(join),
    "child": always(lambda seconds: subprocess.run(["sleep", str(seconds)], check=True)),
    "output": always(lambda seconds: subprocess.run(["sleep", str(seconds)], check=True, capture_output=True)),
    "eventfd": always(read_eventfd),
    "inotify": always(read_inotify),
    "timerfd": always(read_timerfd),
    "signal": always(lambda seconds: signal.sigtimedwait([signal.SIGRTMIN], seconds)),
    "log": make_log,
    "nap": always(nap),
    "tail": always(wait_and_sleep),
    "mapped": always(read_mapped),
    "read": always(read_file),
    "sync": always(write_and_sync),
}
