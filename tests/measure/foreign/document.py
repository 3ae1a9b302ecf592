# SPDX-License-Identifier: MIT
"""docs/measured/ebpf-exporter.md: how objects of ebpf_exporter are read, and a table of its examples by kernel."""

import re
import textwrap

import rows

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Objects written for ebpf_exporter

[ebpf_exporter](https://github.com/cloudflare/ebpf_exporter) serves what BPF programs count to Prometheus. The plugin reads the
maps of the same objects without changes. `ebpf-convert(1)` turns a configuration of the exporter into blocks for collectd.conf,
which `collectd-ebpf-objects(7)` describes.

    ebpf-convert timers.yaml >/etc/collectd/collectd.conf.d/ebpf-timers.conf

| ebpf_exporter | collectd |
| --- | --- |
| `timers.yaml`, `timers.bpf.o` | `<Probe "exporter-timers">` with `Object ".../timers.bpf.o"` |
| a counter or a histogram, called like its map | `<Table "MAP">` |
| `labels`, `size`, `padding`, `decoders` | `<Key "LABEL">`, `Size`, `Padding`, `Decode` |
| `bucket_type`, `bucket_min`, `bucket_max`, `bucket_keys` | `Histogram "exp2" 0 26`, `Histogram "fixed" 1 5 10` |
| `bucket_multiplier: 0.000001` | `Metric "latency-NAME scale=1/1000000"` |
| `ebpf_exporter_timer_starts_total{function="f"}` | `ebpf-exporter-timers/total_events-timer_starts-f` |

`ebpf-convert(1)` says what gets another name and what is left out.

## Examples of the exporter

`make measure PARTS=exporter EXPORTER=DIRECTORY` writes this page. DIRECTORY is a checkout of the exporter; none of its files is
in this repository. [measured.md](../measured.md) has what is wanted of these figures.
"""
METHOD = """\
These are the examples of its commit %s, compiled by %s. One collectd loads as many of them at once as have no maps of the
same name. Meanwhile files, sockets, processes and cgroups are used a little. A counter is equal if its value is between those
of bpftool's dumps of the map just before and just after the reading. The buckets and the sum of a histogram are equal if
their growth is, within %g %% for the rounding of rates. A program that shares nothing with the plugin or the converter makes
the labels, by the exporter's manual. The dumps are the truth: the exporter does not run.
"""
LEGEND = """\
- *equal*: each series that was compared has the value of the map.
- *differs*: at least one has another value; the first is given.
- *on, no event*: it is loaded and attached, and nothing that it counts happened, or only what had no series yet.
- *not on*: the plugin says why.
- *not converted*: it counts nothing in a map, or in none that can be read.

The exporter would write cgroups into the map of `cgroup_id_map`. Without them all events count as not matching.
"""
LINE = 120
STATES = {"off": "not on", "nothing happened": "on, no event"}


def why(one):
    """In short, of the plugin's and the converter's messages."""
    texts = [re.sub(r"; leaving it out$", "", text) for text in one["left_out"] if "no metric is left" not in text]
    for text in one.get("why", []):
        text = re.sub(r" \(libbpf: .*\)(?=;|$)|; the running kernel .*|; collectd has .*", "", text.partition(" is off: ")[2])
        texts.append(re.sub(r"^/\S*: ", "", text))
    return texts + one.get("wrong", [])[:1]


def cell(one):
    return f"equal, {one['equal']} series" if one["state"] == "equal" else STATES.get(one["state"], one["state"])


def notes(ones):
    """ones: {kernel: the example's result}"""
    kernels_of = {}
    for kernel, one in ones.items():
        for text in why(one):
            kernels_of.setdefault(text, []).append(kernel)
    return "; ".join(text if len(kernels) == len(ones) else f"{', '.join(kernels)}: {text}"
                     for text, kernels in kernels_of.items()).replace("|", "/")


def print_table(results):
    kernels = list(results)
    by_name = {}
    for kernel, found in results.items():
        for one in found:
            by_name.setdefault(one["name"], {})[kernel] = one
    print("| example | " + " | ".join(kernels) + " | why not, and what is missing |\n|" + " --- |" * (len(kernels) + 2))
    for name, ones in sorted(by_name.items()):
        print(f"| {name} | " + " | ".join(cell(ones[kernel]) for kernel in kernels) + f" | {notes(ones)} |")


def write(results, commit, compiler, rounding):
    """results: {kernel: [the result of each example]}; rounding: a share."""
    with rows.page("ebpf-exporter.md"):
        print(HEAD, textwrap.fill(METHOD % (commit, compiler, 100 * rounding), LINE), "", LEGEND, sep="\n")
        print_table(results)
