#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands and configurations of the pages and manuals below, with the installed plugin and collectd's own start script: each
block is followed, or named in LEFT with the reason why not. A command succeeds without complaints,
and the messages of a start are those of the page, but for numbers. collectd loads a configuration and ignores nothing of it.

Truth: the kernel's own list of programs, maps and links, for what is left after the end of collectd.
"""

import os
import re
import signal
import sys
import textwrap
import time

import follow
import receiver
import bpf_objects
import truth
from e2e import TOP
from receiver import lib
from test_howto import CONFIGURATION, PLUGINS, Machine, reap, serve_nginx
from test_writing import install

LONG = bool(os.environ.get("TEST_LONG"))
TOOLS = "ebpf-bpftrace", "ebpf-check", "ebpf-convert", "ebpf-dashboards", "ebpf-graph", "ebpf-tidy", "ebpf-top"
PAGES = ["README.md", *(f"docs/{name}.md" for name in ("meaning", "receivers", "security", "troubleshooting")),
         *(f"docs/{name}.pod" for name in ("collectd-ebpf", *TOOLS)), "docs/rollout.md"]
SECTION = {"README.md": ("## First look", "## What it measures")}
PROGRAM = re.compile(rf"(?:{'|'.join(TOOLS)}|bpftool|cat|collectd(?= -)|collectdctl|journalctl|mount|mv|ps|ss|useradd)(?: |$)")
INDENTED = r"(?<=\n\n)(?P<indented>(?: {%d,}\S.*\n|\n)+)"
POD = re.compile(INDENTED % 1)
MARKDOWN = re.compile(r"^```\w*\n(?P<fenced>(?s:.*?))^```$|" + INDENTED % 4 + r"|(?<!`)`(?P<inline>[^`\n]+)`(?!`)", re.MULTILINE)
CONFIGURED = re.compile(r"LoadPlugin |<(?:Plugin|Probe|Service) |Response ")
BLOCK = "/etc/collectd/collectd.conf.d/yy-block.conf"
NAMED = re.compile(r"# (/etc/collectd/\S+)\n")
LOG = "/var/log/collectd.log"
# What another machine has, and what this has in its place. Without systemd; files outside /tmp are of the machine itself.
HERE = [
    (r"journalctl -u collectd", f"cat {LOG}"),
    (r"systemctl restart collectd", "service collectd restart"),
    (r"/var/tmp/", "/tmp/"),
    (r"^(\*\S* ){1}(\* ){4} root  ", ""),
    (r"/var/www/html", "/tmp/html"),
    (r"DIRECTORY", "/tmp/pages"),
    (r"(--stacks \S+)$", r"\1 --output /tmp/stacks"),
    (r"(--triage|--upstreams)$", r"\1 --once"),
    (r"^(ebpf-bpftrace .*)$", r"timeout -s INT 60 \1 | grep -m 1 PUTVAL"),
    *(() if LONG else [(r"--seconds 60", "--seconds 12")])]
# Why a block is not followed; by how it begins.
TABLE, SAID, OTHER_PROGRAM = "a table", "what other machines say", "a bpftrace program: test_bpftrace.py"
LEFT = {
    "docs/security.md": {"capability bpf,": "needs AppArmor"},
    "docs/rollout.md": {"services that answer no requests x": TABLE},
    "docs/collectd-ebpf.pod": {"a Service block ": TABLE, "NUMBER-ADDRESS:PORT": TABLE, "Deployment ": TABLE, "ebpf-nginx ": TABLE,
                              "services: 31": SAID, "OOM kill: nginx": SAID},
    "docs/ebpf-bpftrace.pod": {
        "count(), sum()": TABLE, "tracepoint:": OTHER_PROGRAM, "interval:s:10": OTHER_PROGRAM,
        "Defaults!/usr/bin/ebpf-bpftrace": "needs sudo: test_bpftrace.py"},
    "docs/ebpf-convert.pod": {"counter X_total": TABLE, "ebpf-convert /opt/exporter/": "needs ebpf_exporter: test_convert.py"},
    "docs/ebpf-graph.pod": {"Requests      db has": SAID, "LAYER ": TABLE, "main;handle;parse 17": "a file, not output"},
    "docs/ebpf-tidy.pod": {"ps -eo unit": "needs units of systemd: test_tidy.py"},
    "docs/ebpf-top.pod": {"NAME ": TABLE, "? ": TABLE}}
# Mentions of a tool in a sentence, which are not whole commands, or need a terminal (test_top.py) or profiles (test_flame.py).
MENTIONED = {"ebpf-top", "ebpf-graph", "ebpf-graph --stacks /var/lib/collectd/profiles", "ebpf-tidy --rename"}


def items(page):
    """[text, ...] of blocks and of commands in sentences, in their order."""
    with open(os.path.join(TOP, page), encoding="utf-8") as file:
        text = file.read()
    begin, end = SECTION.get(page, ("", ""))
    text = (text.partition(begin)[2] if begin else text).partition(end or "\0")[0]
    found = []
    for hit in (MARKDOWN if page.endswith(".md") else POD).finditer(text):
        groups = hit.groupdict()
        inline = groups.get("inline")
        if inline is None:
            found.append(textwrap.dedent(groups["indented"] or groups["fenced"]).strip("\n") + "\n")
        elif PROGRAM.match(inline) and inline not in MENTIONED:
            found.append(inline + "\n")
    return [one for one in found if one.strip()]


def is_left(page, text):
    return next((begin for begin in LEFT.get(page, {}) if text.startswith(begin)), None)


def kind(text):
    if NAMED.match(text) or CONFIGURED.match(text):
        return "configuration"
    if text.startswith("[info]"):
        return "log"
    begin = re.sub(r"^(?:# |(?:\*\S* )(?:\* ){4} root  )", "", text)
    return "commands" if PROGRAM.match(begin) else None


def localized(commands):
    for there, here in HERE:
        commands = re.sub(there, here, commands, flags=re.MULTILINE)
    return commands


def wrapped(text):
    """A whole configuration, whatever block of it is shown."""
    if text.startswith("Response "):
        text = f'<Service "shown">\nProcess "shown"\n{text}</Service>\n'
    if re.match("<(Service|Probe) ", text):
        text = f"<Plugin ebpf>\n{text}</Plugin>\n"
    return text


class Pages:
    def __init__(self, test):
        self.test, self.machine, self.mark, self.done = test, Machine(test, "pages", install(test)), 0, set()
        # RRD files have whole seconds.
        self.machine.put("/etc/collectd/collectd.conf", CONFIGURATION.format(host="web1", interval=1))
        alone, others = "LoadPlugin ebpf\n", PLUGINS.replace("LoadPlugin ebpf\n", "")
        self.machine.put("/etc/collectd/collectd.conf.d/ebpf.conf", alone)
        self.machine.put("/etc/collectd/collectd.conf.d/base.conf",
                         others + '<Plugin ebpf>\n<Probe "request">\nOption "clients"\n</Probe>\n</Plugin>\n')
        serve_nginx(self.machine)
        self.restart()

    def log(self):
        """Since the last start."""
        return re.sub(r"^\[\d[^]]*\] ", "", self.machine.run(f"cat {LOG}")[1][self.mark:], flags=re.MULTILINE)

    def restart(self):
        self.mark = len(self.machine.run(f"cat {LOG} 2>&- || :")[1])
        status, _, said = self.machine.run("service collectd restart")
        self.test.equal("collectd starts", (status, said), (0, ""))
        receiver.wait_until("services", lambda: "services: " in self.log())

    def pid(self):
        """That of collectd; the file has the monitor's, which starts it again."""
        monitor = self.machine.run("cat /run/collectd.pid")[1].strip()
        return int(truth.proc(monitor, f"task/{monitor}/children").split()[0])

    def owned(self):
        """What collectd has in the kernel."""
        return bpf_objects.of_process(self.pid())

    def check_none_left(self, name, owned):
        """Nothing of it is in the kernel's list; it goes a moment after the process."""
        for what in bpf_objects.KINDS:
            self.test.within(f"{name}: {what}s that collectd had", len([one for one in owned if one[0] == what]), 5, 10000)
        receiver.wait_until(f"{name}: nothing is left", lambda: not owned & bpf_objects.existing())

    def configure(self, page, text):
        name = NAMED.match(text)
        self.machine.put(name.group(1) if name else BLOCK, wrapped(text))
        self.restart()
        wrong = [line for line in self.log().splitlines() if re.search("ignoring|unknown|not found|rror|off for|failed to", line)]
        self.test.equal(f"{page}: {text.splitlines()[0]}: what collectd says against it", wrong, [])
        if name:
            self.test.true(f"{page}: the probe is off", "probe request is on" not in self.log())
            self.machine.run(f"rm {name.group(1)}")
            self.restart()

    def command(self, page, commands):
        """They succeed without complaints, as soon as there are values."""
        name = f"{page}: {commands.splitlines()[0]}"
        give_up, done = time.monotonic() + 30 * lib.SLOWNESS, False
        while not done and time.monotonic() < give_up:
            result = self.machine.run(f"cd /tmp\nset -e\n{localized(commands)}")
            done = result[0] == 0 and not result[2]
            time.sleep(0 if done else 1)
        print(f"     | {result[1][:300]!r}")
        self.test.equal(f"{name}: exit status, complaints", (result[0], result[2]), (0, ""))

    def switch_off(self, page, commands):
        """The whole plugin, by the page's commands, and on again."""
        owned = self.owned()
        self.machine.put(BLOCK, "<Plugin ebpf>\nMaxServices 100\n</Plugin>\n")
        self.command(page, commands)
        self.check_none_left(f"{page}: the plugin is off", owned)
        self.machine.run("cd /etc/collectd/collectd.conf.d && mv ebpf.conf.off ebpf.conf")
        self.restart()

    def kill(self, page, text):
        """Nothing is left. Other collectds may run on this machine: programs of this one are those that count."""
        commands, shown = text.removeprefix("# ").splitlines()
        # The command lists the programs that it counts.
        commands = commands.replace("grep -c", "grep")
        owned, pid = self.owned(), self.pid()

        def count():
            return len({("prog", int(number)) for number in re.findall(r"^(\d+):", self.machine.run(commands)[1], re.M)} & owned)
        self.test.within(f"{page}: programs that its command sees before", count(), 1, 100)
        os.kill(pid, signal.SIGKILL)
        receiver.wait_until("collectd is gone", lambda: reap() or not os.path.exists(f"/proc/{pid}"))
        self.check_none_left(f"{page}: after kill -9", owned)
        self.test.equal(f"{page}: programs that its command sees then", str(count()), shown)
        self.restart()

    def follow(self, page):
        left, count = set(), 0
        for text in items(page):
            begin = is_left(page, text)
            what = kind(text)
            if begin:
                left.add(begin)
                continue
            if not what:
                self.test.true(f"{page}: it is known how to follow {text.splitlines()[0]}", False)
            count += 1
            if what == "configuration":
                self.configure(page, text)
            elif what == "log":
                self.machine.run(f"rm {BLOCK}")
                self.restart()
                shown = re.sub(r"\n  +", " ", text).replace("[info] ", "")
                self.test.equal(f"{page}: lines of a start that the log lacks", follow.absent(shown, self.log()), [])
            elif text.startswith("# bpftool"):
                self.kill(page, text)
            elif what and "ebpf.conf.off" in text:
                self.switch_off(page, text)
            elif what and text not in self.done:
                self.done.add(text)
                self.command(page, text)
        self.test.equal(f"{page}: blocks of LEFT that it no longer has", set(LEFT.get(page, ())) - left, set())
        self.test.within(f"{page}: what was followed", count, 0 if page == "docs/ebpf-convert.pod" else 1, 40)


def main():
    with lib.Test(limit=1500) as test:
        receiver.need("bpftool", "bpftrace", "collectdctl", "nginx", "pidof", "rrdtool", "service", "ss", "useradd")
        pages = Pages(test)
        for page in sys.argv[1:] or PAGES:
            pages.follow(page)
        pages.machine.end()


if __name__ == "__main__":
    main()
