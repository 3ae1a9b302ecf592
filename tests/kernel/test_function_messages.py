#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions that cannot be attached: one message for each reason, however many functions it affects. It says what is
wrong in the terms of the block, without messages of libbpf and without names of BPF programs.
"""

import itertools
import os
import re
import shutil

import lib
from lib import Test, without

KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")
OFF = without("poll", "request", "process")
INTERNALS = re.compile(r"libbpf|function_(call|return|entry|exit)|failed to|errno|\bE[A-Z]{3,}\b|-\d+\b|lacks this hook")
NO_KPROBES = "the kernel is built without kprobes"
MANY = 200


def block(name, *lines):
    return f'<Function "{name}">\n ' + "\n ".join(lines) + "\n</Function>\n"


def of_files(called, directory, fifo, text):
    """{Attach: message}"""
    return {
        "uprobe:/none/there:f": "cannot read /none/there: No such file or directory",
        "uprobe:no-such-library:f": "no library or program of this name is in the usual directories; name its path",
        f"uprobe:{text}:f": f"cannot read {text}: it is not a 64-bit program or library of this machine",
        f"uprobe:{directory}:f": f"cannot read {directory}: Is a directory",
        f"uprobe:{fifo}:f": f"cannot read {fifo}: it is not a regular file",
        f"uprobe:{called}:caled": f"cannot attach to caled in {called}: it has no function of this name",
        f"uprobe:{called}:0x1": f"cannot attach to 0x1 in {called}: no code is at this offset",
        "uprobe:libc.so.6:memcpy": "cannot attach to memcpy in libc.so.6: the program chooses this function",
        "uprobe:libc.so.6:environ": "cannot attach to environ in libc.so.6: it has no function of this name",
        f"usdt:{called}:load:none": f"cannot attach to load:none in {called}: it has no marker of this name",
        "uprobe:service:nosuch:f": 'there is no Service block "nosuch"',
    }


def of_kernel():
    found = {"fentry:no_such_function": "cannot attach to no_such_function: the kernel has no function of this name"}
    if KPROBES:
        found |= {"kprobe:no_such_function": "cannot attach to no_such_function: the kernel has no function of this name",
                  "kprobe:asm_exc_page_fault": "cannot attach to asm_exc_page_fault: the kernel does not let it be traced",
                  "kprobe:__sys_sendto+0x1": "cannot attach to __sys_sendto+0x1: no instruction begins at this offset"}
    return found


def has_return(attach):
    return attach.startswith(("uprobe", "kprobe", "fentry")) and not re.search(r":0x|\+", attach)


def started(test, blocks):
    """Starts a daemon with these functions, and stops it after a reading."""
    daemon = test.collectd(OFF + '<Probe "functions">\n' + blocks + "</Probe>\n", interval=1)
    daemon.wait_rows("self", "count-tier_functions")
    test.stop(daemon)
    return daemon


def each(test, wanted, latency):
    """Each function has one message, and no message is about anything else."""
    names = {f"f{number}": attach for number, attach in enumerate(wanted)}
    text = "".join(block(name, f'Attach "{attach}"', *["Latency true"] * (latency and has_return(attach)))
                   for name, attach in names.items())
    good = block("good", 'Attach "uprobe:libc.so.6:getloadavg"')
    said = [line for line in started(test, text + good).complaints() if "functions" in line]
    for name, attach in names.items():
        lines = [line for line in said if f'ignoring Function "{name}"' in line]
        test.equal(f"messages for {attach}", len(lines), 1)
        test.contains(attach, "".join(lines), wanted[attach])
    test.equal("messages in all", len(said), len(names))
    test.equal("internals", [line for line in said if INTERNALS.search(line)], [])


def many(test, count, latency, attach, words, always=True):
    """One message for all functions gives their number. `always`: it must be there."""
    more = {1: "", 2: " and 1 other"}.get(count, f" and {count - 1} others")
    text = "".join(block(f"f{number}", f'Attach "{attach.format(number)}"', *["Latency true"] * latency)
                   for number in range(count))
    said = [line for line in started(test, text).log() if "probe functions: " in line and words in line]
    what = f"{attach}, {count} times{', with returns' * latency}"
    if said or always:
        test.equal(f"{what}: messages", len(said), 1)
        test.contains(what, "".join(said), f'Function "f0"{more}')


def parts(test, called):
    """Parts of a block that are ignored: an argument is reported once, although the marker has several locations."""
    said = started(test, block("marker", f'Attach "usdt:{called}:load:two"', 'Argument 9 "sum"') +
                   block("lost", f'Attach "uprobe:{called}:called"', 'Service "nosuch"')).complaints()
    for words in ('ignoring Argument in <Function "marker">: the marker has no arguments',
                  'ignoring Service "nosuch" in <Function "lost">: no Service block has this name, and so'):
        test.equal(words, sum(words in line for line in said), 1)


def none(test):
    """If all functions are refused before the load, the probe is off."""
    said = started(test, block("none", 'Attach "fentry:no_such_function"')).complaints()
    test.equal("none is left", sum("probe functions is off: nothing of it is attached: the messages before" in line
                                   for line in said), 1)


def main():
    with Test(limit=120) as test:
        called, fifo, text = (os.path.join(test.disk, name) for name in ("called", "fifo", "text"))
        shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), called)
        os.mkfifo(fifo)
        with open(text, "w", encoding="ascii") as file:
            file.write("text")
        wanted = of_files(called, test.disk, fifo, text) | of_kernel()
        for latency in (False, True):
            each(test, wanted, latency)
        parts(test, called)
        none(test)
        program = os.path.join(lib.BUILD, "tests", "kernel", "load_many")
        for count, latency in itertools.product((1, 2, MANY), (False, True)):
            many(test, count, latency, "uprobe:/none/there:many_{:03}", "cannot read /none/there")
            # The compiler decides whether there is a message.
            many(test, count, latency, f"uprobe:{program}:many_{{:03}}", "single-step the instruction at the entry", False)
            if not KPROBES:
                many(test, count, latency, "kprobe:function_{}", NO_KPROBES)


if __name__ == "__main__":
    main()
