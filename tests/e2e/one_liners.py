# SPDX-License-Identifier: MIT
"""Programs of bpftrace as administrators write them, and a load that does for each a known number of what it counts."""

import ctypes
import mmap
import os
import resource
import time

# Its fork() makes none of the calls that Python makes before and after its own.
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME = 15
CALLS = 300
EXECS = 30
PAGES = 2000
BLOCK = 4096
WAIT_S = 0.024

# The ten of the article "eBPF Observability in Practice", and others for what they do not use. FILTER is the load's
# name, OWNER its user's number.
PROGRAMS = {
    "opens": 'tracepoint:syscalls:sys_enter_openat { printf("%-16s %s\\n", comm, str(args->filename)); }',
    "execs": 'tracepoint:syscalls:sys_enter_execve { printf("%-16s -> %s\\n", comm, str(args->filename)); }',
    "syscalls": "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }",
    "reads": """
tracepoint:syscalls:sys_enter_read { @start[tid] = nsecs; }
tracepoint:syscalls:sys_exit_read /@start[tid]/
{ @usecs = hist((nsecs - @start[tid]) / 1000); delete(@start[tid]); }""",
    "connects": 'kprobe:tcp_connect { printf("%-16s pid=%d\\n", comm, pid); }',
    "sizes": "tracepoint:block:block_rq_issue { @bytes = hist(args->bytes); }",
    "blockio": "tracepoint:block:block_rq_issue { @[comm] = sum(args->bytes); }",
    "stacks": "profile:hz:99 { @[kstack] = count(); }",
    "faults": "software:page-faults:1 { @[comm] = count(); }",
    "kills": """tracepoint:syscalls:sys_enter_kill
{ printf("%s (pid %d) -> pid %d, sig %d\\n", comm, pid, args->pid, args->sig); }""",
    "kinds": """// @none[comm] = count();
tracepoint:syscalls:sys_enter_lseek /comm == "FILTER"/ {
  @stats[comm] = stats(args->offset); @avg = avg(args->offset); @max = max(args->offset); @min = min(args->offset);
  @lin = lhist(args->offset, 0, 300, 10); @two[comm, args->whence] = count(); @last = args->offset; @n++;
}""",
    "cleared": """tracepoint:syscalls:sys_enter_lseek /comm == "FILTER"/ { @seeks[comm] = count(); }
interval:ms:300 { print(@seeks); clear(@seeks); }""",
    "waits": """
tracepoint:syscalls:sys_enter_read /comm == "FILTER"/ { @start[tid] = nsecs; }
tracepoint:syscalls:sys_exit_read /@start[tid]/
{ @usecs = hist((nsecs - @start[tid]) / 1000); delete(@start[tid]); }""",
    "values": 'interval:ms:200 { @n++; printf("first %d second=%d\\n", 5, @n); printf("another line of text\\n"); }',
    "names": "tracepoint:syscalls:sys_enter_getppid /uid == OWNER/ { @[comm] = count(); }",
}

def rename(name):
    LIBC.prctl(PR_SET_NAME, name, 0, 0, 0)


def in_child(name, function, *arguments):
    """Run it in a process of this command name; returns its number."""
    pid = os.fork()
    if pid == 0:
        try:
            rename(name)
            function(*arguments)
            os._exit(0)
        finally:
            os._exit(1)
    return pid


def wait(pid):
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("a load failed")


def seeks():
    """To 0, 1, 2 and so on, half of them from the end."""
    descriptor = os.open("/etc/passwd", os.O_RDONLY)
    for i in range(CALLS):
        os.lseek(descriptor, i, os.SEEK_END if i % 2 else os.SEEK_SET)


def getppids(count, user):
    os.setuid(user)
    for _ in range(count):
        LIBC.getppid()


def waits():
    """Reads that wait for so long."""
    read_end, writer = os.pipe()
    if LIBC.fork() == 0:
        rename(b"a writer")
        for _ in range(20):
            time.sleep(WAIT_S)
            os.write(writer, b"x")
        os._exit(0)
    for _ in range(20):
        os.read(read_end, 1)
    os.wait()


def faults(result):
    """Touch pages; result: a descriptor, for how many faults that was."""
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(PAGES):
        memory[page * mmap.PAGESIZE] = 1
    used = resource.getrusage(resource.RUSAGE_SELF)
    os.write(result, str(used.ru_minflt + used.ru_majflt).encode())


def spin(result, seconds):
    """So much CPU time; result: a descriptor, for the part of it that is the process's own code."""
    while sum(os.times()[:2]) < seconds:
        pass
    os.write(result, str(os.times().user).encode())


def kills():
    for _ in range(CALLS):
        os.kill(os.getpid(), 0)


def calls():
    """Open, kill and execve."""
    for _ in range(CALLS):
        os.close(os.open("/dev/null", os.O_RDONLY))
        os.kill(os.getpid(), 0)
    for _ in range(EXECS):
        pid = LIBC.fork()
        if pid == 0:
            os.execv("/bin/true", ["true"])
        os.waitpid(pid, 0)


def blocks(disk):
    """Reads from a device, past the page cache."""
    descriptor = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, BLOCK) as buffer:
        for i in range(CALLS):
            os.preadv(descriptor, [buffer], i * BLOCK)
