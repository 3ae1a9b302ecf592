#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-convert: what it makes of each word of a configuration file of ebpf_exporter, what it leaves out, and that
no file makes it do anything else."""

import os
import subprocess
import textwrap
import time

from e2e import TOP, Check, Skip

TOOL = os.path.join(TOP, "contrib", "ebpf-convert")


def convert(*arguments):
    return subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300,
                          text=True, errors="surrogateescape", env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})


def require():
    probe = subprocess.run(["/usr/bin/python3", "-c", "import yaml"], capture_output=True, check=False)
    if probe.returncode:
        raise Skip("needs PyYAML: apt-get install python3-yaml")


class Files:
    """YAML files in a directory of the test's own."""

    def __init__(self, check):
        self.check = check

    def make(self, text, name="x.yaml"):
        path = os.path.join(self.check.dir, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return path

    def run(self, what, text, *arguments, status=0, name="x.yaml"):
        done = convert(*arguments, self.make(text, name))
        self.check.equal(f"{what}: exit status", done.returncode, status)
        self.check.equal(f"{what}: lines that a terminal would obey",
                         [line for line in (done.stdout + done.stderr).split("\n") if not line.isprintable()], [])
        return done

    def expect(self, what, text, want, *arguments, says="", status=0):
        """want: what is between Object and the end of the block."""
        done = self.run(what, text, *arguments, status=status)
        head = ["<Plugin ebpf>", f"  # {self.check.dir}/x.yaml", '  <Probe "exporter-x">',
                f'    Object "{self.check.dir}/x.bpf.o"']
        lines = [*head, *("    " + line for line in textwrap.dedent(want).strip().split("\n")), "  </Probe>", "</Plugin>", ""]
        self.check.equal(f"{what}: blocks", done.stdout, "\n".join(lines))
        if says:
            self.check.contains(f"{what}: says", done.stderr, says)
        else:
            self.check.equal(f"{what}: says nothing", done.stderr, "")


def with_label(size, *decoders, name="kind"):
    """A counter with one label."""
    return ("metrics: {counters: [{name: things_total, help: Things, labels: [{name: %s, %s, decoders: [%s]}]}]}\n" %
            (name, size, ", ".join(decoders)))


def key_of(size, *lines, name="kind"):
    inside = "\n".join(f"    {line}" for line in (f"Size {size}", *lines))
    return (f'# Things\n<Table "things_total">\n  <Key "{name}">\n{inside}\n  </Key>\n'
            '  <Value>\n    Metric "total_events-things"\n  </Value>\n</Table>')


def counters(files):
    files.expect("a counter without labels", """\
        metrics:
          counters:
            - name: drops_total
              help: "What was dropped,\\n  in \\e[2J all \\\\"
        """, """
        # What was dropped, in \N{REPLACEMENT CHARACTER}[2J all
        <Table "drops_total">
          <Value>
            Metric "total_events-drops"
          </Value>
        </Table>
        """)
    for name, metric in (("sent_bytes_total", "total_bytes-sent_bytes"), ("wait_seconds_total", "derive-wait_seconds"),
                         ("flush_nanoseconds_sum", "derive-flush_nanoseconds_sum"), ("_total", "total_events-_total"),
                         ("pages", "total_events-pages")):
        done = files.run(name, f"metrics: {{counters: [{{name: {name}, help: x}}]}}\n")
        files.check.contains(f"{name}: metric", done.stdout, f'Metric "{metric}"\n')
    done = files.run("a type", "metrics: {counters: [{name: pages, help: x}]}\n", "--type", "pages=gauge")
    files.check.contains("a type: metric", done.stdout, 'Metric "gauge-pages"\n')
    files.expect("per CPU", """\
        metrics:
          counters:
            - name: runs_total
              labels:
                - {name: vec, size: 4, decoders: [{name: uint}]}
                - {name: cpu, size: 2, decoders: [{name: uint}]}
            - name: one_total
              labels:
                - {name: cpu, size: 2, decoders: [{name: uint}]}
            - name: key_total
              labels:
                - {name: cpu, size: 4, decoders: [{name: uint}]}
        """, """
        <Table "runs_total">
          EachCpu true
          <Key "vec">
            Size 4
            Decode "uint"
          </Key>
          <Value>
            Metric "total_events-runs"
          </Value>
        </Table>
        <Table "one_total">
          EachCpu true
          <Value>
            Metric "total_events-one"
          </Value>
        </Table>
        <Table "key_total">
          <Key "cpu">
            Size 4
            Decode "uint"
          </Key>
          <Value>
            Metric "total_events-key"
          </Value>
        </Table>
        """)


def decoders(files):
    for words, size, lines in (
            (["uint"], 1, ['Decode "uint"']), (["string"], 16, ['Decode "string"']), (["hex"], 6, ['Decode "hex"']),
            (["inet_ip"], 16, ['Decode "address"']), (["ksym"], 8, ['Decode "ksym"']),
            (["ifname"], 4, ['Decode "interface"']), (["majorminor"], 4, ['Decode "device" "stat"']),
            (["uint", "cgroup"], 8, ['Decode "cgroup"']), (["uint", "errno"], 8, ['Decode "errno"']),
            (["uint", "syscall"], 8, ['Decode "syscall"']),
            (["string", "dname"], 64, ['Decode "string"', 'Decode "dname"'])):
        files.expect(" ".join(words), with_label(f"size: {size}", *(f"{{name: {word}}}" for word in words)),
                     key_of(size, *lines))
    files.expect("the first bytes of a longer label", with_label("size: 8, padding: 4", "{name: ifname}"),
                 key_of(4, "Padding 8", 'Decode "interface"'))
    files.expect("the service of a cgroup", with_label("size: 8", "{name: uint}", "{name: cgroup}"),
                 key_of(8, 'Decode "service" "cgroup"'), "--services")
    files.expect("a map", with_label("size: 4", "{name: uint}", "{name: static_map, static_map: {0: read, 1: yes, 0x2: '\"'}}"),
                 key_of(4, 'Decode "uint"', 'Decode "map-strict" "0" "read" "1" "yes" "0x2" "\\""'))
    files.expect("a map of some", with_label("size: 4", "{name: uint}",
                                             "{name: static_map, allow_unknown: true, static_map: {7: seven}}"),
                 key_of(4, 'Decode "uint"', 'Decode "map" "7" "seven"'))
    files.expect("regular expressions", with_label("size: 16", "{name: string}", r"{name: regexp, regexps: ['^(a\d)', '\.$']}"),
                 key_of(16, 'Decode "string"', r'Decode "regexp" "^(a\\d)" "\\.$"'))
    files.expect("two sub-matches", with_label("size: 16", "{name: string}", "{name: regexp, regexps: ['(a)(b)']}"),
                 key_of(16, 'Decode "string"', 'Decode "regexp" "(a)(b)"'), says="has several groups")
    files.expect("a chain of four", with_label("size: 8", "{name: uint}", "{name: cgroup}", "{name: regexp, regexps: [x]}",
                                               "{name: static_map, static_map: {a: b}}"),
                 key_of(8, 'Decode "cgroup"', 'Decode "regexp" "x"', 'Decode "map-strict" "a" "b"'))
    files.expect("padding", with_label("size: 1, padding: 3", "{name: uint}"), key_of(1, "Padding 3", 'Decode "uint"'))
    long = files.run("a long map", with_label("size: 4", "{name: uint}", "{name: static_map, static_map: {%s}}" % ", ".join(
        f"{number}: name_of_{number}" for number in range(400))))
    files.check.equal("a long map: words", long.stdout.count("name_of_"), 400)
    files.check.true("a long map: columns", max(map(len, long.stdout.split("\n"))) <= 110)
    files.check.equal("a long map: it is one line", long.stdout.replace("\\\n", "").count("name_of_"), sum(
        line.count("name_of_") for line in long.stdout.replace("\\\n", "").split("\n") if "map-strict" in line))


def histograms(files):
    one = """\
        metrics:
          histograms:
            - name: %s
              help: Sizes
              bucket_type: %s
              %s
              labels:
                - {name: port, size: 2, padding: 6, decoders: [{name: uint}]}
                - {name: bucket, size: 8, decoders: [{name: uint}]}
        """
    table = """
        # Sizes
        <Table "%s">
          <Key "port">
            Size 2
            Padding 6
            Decode "uint"
          </Key>
          <Key "bucket">
            Size 8
            Decode "bucket"
          </Key>
          <Value>
            Metric "%s"
            Histogram %s
          </Value>
        </Table>
        """
    span = "bucket_min: 0\n              bucket_max: 26"
    for name, kind, words, metric, line in (
            ("wait_seconds", "exp2", span + "\n              bucket_multiplier: 0.000001", "latency-wait scale=1/1000000",
             '"exp2" 0 26'),
            ("wait_latency_seconds", "exp2", span + "\n              bucket_multiplier: 1e-7", "latency-wait scale=1/10000000",
             '"exp2" 0 26'),
            ("sent_bytes", "exp2zero", span, "bytes-sent", '"exp2zero" 0 26'),
            ("backlog", "linear", span + "\n              bucket_multiplier: 50", "gauge-backlog scale=50/1", '"linear" 0 26'),
            ("backlog", "linear", span + "\n              bucket_multiplier: 0", "gauge-backlog", '"linear" 0 26'),
            ("backlog", "fixed", "bucket_keys: [1, 5, 10.0]\n              bucket_multiplier: 2.5",
             "gauge-backlog scale=5/2", '"fixed" 1 5 10')):
        files.expect(f"{kind} {name}", one % (name, kind, words), table % (name, metric, line))
    for what, kind, words, says in (
            ("no kind", "exp3", span, "bucket_type must be one of exp2"), ("no end", "exp2", "bucket_min: 0", "bucket_max"),
            ("below zero", "linear", "bucket_min: -1\n              bucket_max: 3", "bucket_min must be an integer"),
            ("no keys", "fixed", span, "bucket_keys must be a list"),
            ("keys that fall", "fixed", "bucket_keys: [2, 1]", "ascend"),
            ("half keys", "fixed", "bucket_keys: [0.5]", "bucket_keys must be a list"),
            ("a negative factor", "exp2", span + "\n              bucket_multiplier: -1", "bucket_multiplier"),
            ("a huge factor", "exp2", span + "\n              bucket_multiplier: 1e999999999", "bucket_multiplier"),
            ("no factor", "exp2", span + "\n              bucket_multiplier: nan", "bucket_multiplier")):
        done = files.run(what, one % ("wait", kind, words), status=1)
        files.check.contains(f"{what}: says", done.stderr, says)
        files.check.equal(f"{what}: blocks", done.stdout, "")


def anchors(files):
    files.expect("aliases and merges", """\
        metrics:
          counters:
            - &first
              name: a_total
              help: First
              labels: &labels
                - {name: id, size: 4, decoders: [{name: uint}]}
            - <<: *first
              name: b_total
              help:
              labels: *labels
        """, "\n".join(f'{comment}<Table "{name}_total">\n  <Key "id">\n    Size 4\n    Decode "uint"\n  </Key>\n'
                       f'  <Value>\n    Metric "total_events-{name}"\n  </Value>\n</Table>'
                       for name, comment in (("a", "# First\n"), ("b", ""))))


def left_out(files):
    """What has no counterpart costs itself alone."""
    text = """\
        metrics:
          counters:
            - {name: kills_total, help: x, perf_event_array: true, flush_interval: 1h}
            - {name: good_total, more: 1}
            - {name: good_total}
            - {name: ids_total, labels: [{name: c, size: 2, decoders: [{name: uint}, {name: pci_class}]}]}
            - {name: stacks_total, labels: [{name: s, size: 160, decoders: [{name: kstack}]}]}
            - {name: a b}
            - 3
            - {name: much_total, labels: [%s]}
          histograms:
            - {name: no_total, bucket_type: exp2, bucket_min: 0, bucket_max: 3}
        tracing: {spans: [{ringbuf: r}]}
        kaddrs: [jiffies]
        cgroup_id_map: {name: ids, type: hash, regexps: [x]}
        """ % ", ".join(["{name: a, size: 1, decoders: [{name: uint}]}"] * 9)
    files.expect("the rest stays", text, """
        <Table "good_total">
          <Value>
            Metric "total_events-good"
          </Value>
        </Table>
        """, status=1, says="kaddrs")
    printed = files.run("the rest stays", text, status=1).stderr
    for says in ('"kills_total": records of perf buffers', "ignoring the unknown word 'more'",
                 '"good_total": another metric has this map',
                 "no decoder 'kstack'", "no decoder 'pci_class'", "name must be the name of a map", "counter 7 must be a mapping",
                 "more than the plugin's 8",
                 "must be the number of a bucket", "spans are traces", "kaddr_jiffies", "cgroup_id_map"):
        files.check.contains("what is left out is told", printed, says)
    for what, label in (("no decoder", "size: 4, decoders: []"), ("no size", "decoders: [{name: uint}]"),
                        ("a size that is none", "size: four, decoders: [{name: uint}]"),
                        ("too wide", "size: 9, decoders: [{name: uint}]"), ("too long", "size: 600, decoders: [{name: string}]"),
                        ("too short", "size: 4, decoders: [{name: ksym}]"), ("no reader", "size: 8, decoders: [{name: errno}]"),
                        ("wrong reader", "size: 8, decoders: [{name: string}, {name: errno}]"),
                        ("reader behind reader", "size: 8, decoders: [{name: uint}, {name: hex}]"),
                        ("an empty map", "size: 8, decoders: [{name: uint}, {name: static_map}]"),
                        ("no expressions", "size: 8, decoders: [{name: string}, {name: regexp}]"),
                        ("a control", 'size: 8, decoders: [{name: string}, {name: regexp, regexps: ["a\\nb"]}]'),
                        ("not true", "size: 8, decoders: [{name: uint}, {name: static_map, allow_unknown: 2, static_map: {1: a}}]"),
                        ("a list for a text", "size: [8], decoders: [{name: uint}]")):
        done = files.run(what, f"metrics: {{counters: [{{name: a, labels: [{{name: k, {label}}}]}}]}}\n", status=1)
        files.check.equal(f"{what}: blocks", done.stdout, "")
        files.check.contains(f"{what}: says", done.stderr, 'counter "a": label "k"')


def hostile(files):
    merges = "a: &a {x0: 1, x1: 2}\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} {{<<: [{','.join(['*' + chr(97 + i)] * 10)}]}}\n" for i in range(9))
    much = ("m: &m {%s}\nd: &d [{name: uint}, {name: static_map, static_map: *m}]\nl: &l {name: k, size: 4, decoders: *d}\n"
            "metrics: {counters: [%s]}\n" % (", ".join(f"{i}: {'n' * 90}" for i in range(2000)), ", ".join(
                f"{{name: c{i}, labels: [{', '.join(['*l'] * 8)}]}}" for i in range(400))))
    made = os.path.join(files.check.dir, "made")
    for what, text in (("merges of merges", merges), ("brackets", "metrics: " + "[" * 100000), ("bytes", bytes(range(256))),
                       ("a tag", f"metrics: !!python/object/apply:os.system ['touch {made}']\n"), ("nothing", ""),
                       ("a list", "- 1\n"), ("a mapping as key", "{metrics: {}}: 2\n"), ("a set", "metrics: !!set {a}\n"),
                       ("a list of a mapping", "metrics: {counters: {a: b}}\n"), ("a loop", "metrics: &a {counters: [*a]}\n"),
                       ("much", "a" * (2 << 20)), ("much of little", much)):
        began = time.monotonic()
        done = files.run(what, text, status=1)
        files.check.equal(f"{what}: blocks", done.stdout, "")
        files.check.contains(f"{what}: says", done.stderr, "leaving it out")
        files.check.equal(f"{what}: no trace of Python", "Traceback" in done.stderr, False)
        files.check.figures.within(f"{what}: seconds", time.monotonic() - began, 0, 30)
    files.check.equal("a tag: has run something", os.path.exists(made), False)
    good = files.make("metrics: {counters: [{name: a}]}\n", "good.yaml")
    strange = files.make("metrics: {counters: [{name: a}]}\n", 'q"\\ \udcff.yaml'.encode("utf-8", "surrogateescape").decode(
        "utf-8", "surrogateescape"))
    done = convert(os.path.join(files.check.dir, "none.yaml"), good, strange)
    files.check.equal("a file that is not there, and a good one: exit status", done.returncode, 1)
    files.check.contains("the good one", done.stdout, '<Probe "exporter-good">')
    files.check.contains("the other one", done.stderr, "No such file")
    files.check.equal("a name that is no text: blocks", done.stdout.count("<Probe"), 1)
    done = convert("--objects", "/opt/x", "--prefix", "", good)
    files.check.contains("options: object", done.stdout, 'Object "/opt/x/good.bpf.o"')
    files.check.contains("options: name", done.stdout, '<Probe "good">')
    files.check.equal("a wrong type", convert("--type", "a", good).returncode, 2)


def main():
    with Check() as check:
        require()
        files = Files(check)
        for part in (counters, decoders, histograms, anchors, left_out, hostile):
            part(files)


if __name__ == "__main__":
    main()
