# SPDX-License-Identifier: MIT
"""Names of the series at Prometheus: ebpf_WHAT_UNIT[_total], so that no sum over a name counts anything twice. An own metric of
a type that is listed here for any instance has such a name, too; any other keeps collectd's."""

import dataclasses

from series import PROBES

COUNTED = frozenset(file.partition("-")[0] for _, _, many in PROBES for file, _, counted, *_ in many if counted)
PLAIN = "([^-]+)"           # an instance without a key
PERCENTILE = "-percentile-[0-9._]+"


@dataclasses.dataclass(frozen=True)
class Rule:
    """An action "replace" of Prometheus. In replacements, ${1} is the first group of the expression."""
    sources: tuple
    regex: str
    target: str
    replacement: str = "${1}"


@dataclasses.dataclass(frozen=True)
class Naming:
    kind: str           # the type
    source: str         # its data source
    instance: str       # an expression of type instances
    name: str           # of the metric, less ebpf_, as a replacement
    labels: dict = dataclasses.field(default_factory=dict)     # {label: replacement}
    subject: str = ""   # the only one that it is for


def one(kind, instance, name, source="value", /, **labels):
    return Naming(kind, source, instance, name, labels)


def own(kind, instance, name, source="value", /, **labels):
    """A figure of the plugin itself."""
    return Naming(kind, source, instance, "plugin_" + name, labels, "self")


def histogram(kind, instance, name, unit, source="value", /, **labels):
    """Its average and its percentiles, which have the label quantile."""
    return (Naming(kind, source, instance + "-average", f"{name}_average{unit}", labels),
            Naming(kind, source, instance + PERCENTILE, name + unit, labels))


def sources(kind, instance, names):
    """names: {data source: name}"""
    return tuple(Naming(kind, source, instance, name) for source, name in names.items())


REQUESTS = (
    one("total_requests", "", "requests_total"),
    one("total_requests", "client", "client_requests_total"),
    one("total_requests", "(streams|full_duplex|acknowledgements)", "request_${1}_total"),
    one("total_requests", "upstream-(.+)", "upstream_requests_total", upstream="${1}"),
    one("total_requests", "(.+)", "responses_total", **{"class": "${1}"}),
    one("percent", "response-(.+)", "responses_percent", **{"class": "${1}"}),
    one("gauge", "requests_(in_progress|waiting)", "requests_${1}"),
    one("gauge", "requests_in_progress-upstream-(.+)", "upstream_requests_in_progress", upstream="${1}"),
    one("gauge", "requests_oldest", "oldest_request_seconds"),
    one("gauge", "request_(samples)", "request_${1}"),
    one("gauge", "request_cpu", "request_cpu_seconds"),
    one("gauge", "request_capacity", "request_capacity_per_second"),
    one("gauge", "tls_handshake", "tls_handshake_seconds"),
    one("total_connections", "tls_handshakes", "tls_handshakes_total"),
    one("latency", "in_(.+)", "request_time_seconds", part="${1}"),
    one("gauge", "send_wait", "request_time_seconds", part="send"),
    one("percent", "slow_(.+)", "slow_request_time_percent", part="${1}"),
    *histogram("latency", "upstream-(.+)", "upstream_response", "_seconds", upstream="${1}"),
    *sources("if_octets", "", {"rx": "received_bytes_total", "tx": "sent_bytes_total"}),
    *sources("if_octets", PLAIN, {"rx": "${1}_received_bytes_total", "tx": "${1}_sent_bytes_total"}),
    one("delay_rate", "delay-cpu", "waiting_threads", part="runqueue"),
    one("delay_rate", "delay-blkio", "waiting_threads", part="disk"),
    one("delay_rate", "delay-(memory|lock|timed_wait|upstream|client|pipe|child|event|sleep|stopped|other)", "waiting_threads",
        part="${1}"),
    one("delay_rate", "syscall-(.+)", "asleep_threads", syscall="${1}"),
    one("delay_rate", "request_syscall-(.+)", "asleep_requests", syscall="${1}"),
    one("delay_rate", "upstream-(.+)", "upstream_waiting_threads", upstream="${1}"),
)

RESOURCES = (
    *sources("ps_cputime", "", {"user": "cpu_user_time_total", "syst": "cpu_system_time_total"}),
    one("gauge", "cpu_percent", "cpu_percent"),
    one("gauge", "cpu_limit_percent", "cpu_limit_percent"),
    one("contextswitch", PLAIN, "${1}_context_switches_total"),
    *sources("ps_pagefaults", "", {"minflt": "minor_page_faults_total", "majflt": "major_page_faults_total"}),
    *sources("io_octets", "", {"rx": "read_bytes_total", "tx": "written_bytes_total"}),
    *sources("io_ops", "", {"read": "read_calls_total", "write": "write_calls_total"}),
    *sources("ps_count", "", {"processes": "processes", "threads": "threads"}),
    one("ps_rss", "", "resident_bytes"),
    one("ps_rss", "peak", "resident_peak_bytes"),
    one("ps_vm", "", "virtual_bytes"),
    one("swap", "", "swap_bytes"),
    one("memory", "limit", "memory_limit_bytes"),
    one("fork_rate", "", "forks_total"),
    one("cpufreq", "", "cpu_frequency_hertz"),
)

DISKS = (
    *sources("disk_octets", "", {"read": "disk_read_bytes_total", "write": "disk_written_bytes_total"}),
    *sources("disk_octets", PLAIN, {"read": "disk_${1}_read_bytes_total", "write": "disk_${1}_written_bytes_total"}),
    *sources("disk_ops", PLAIN, {"read": "disk_${1}_reads_total", "write": "disk_${1}_writes_total"}),
    *(Naming(kind, source, "submitted-(.+)", f"disk_kernel_submitted_{name}_total", {"kind": "${1}"})
      for kind, names in (("disk_octets", {"read": "read_bytes", "write": "written_bytes"}),
                          ("disk_ops", {"read": "reads", "write": "writes"}))
      for source, name in names.items()),
    *sources("disk_merged", "", {"read": "disk_merged_reads_total", "write": "disk_merged_writes_total"}),
    *sources("disk_io_time", "", {"io_time": "disk_io_time_total", "weighted_io_time": "disk_weighted_io_time_total"}),
    one("pending_operations", "", "disk_requests_in_flight"),
    one("total_operations", "(discard|flush)", "disk_${1}_operations_total"),
    one("total_bytes", "discard", "disk_discarded_bytes_total"),
    one("errors", "disk-(.+)", "disk_errors_total", operation="${1}"),
    *histogram("latency", "disk_(service|queued)-(.+)", "disk_${1}", "_seconds", operation="${2}"),
    *histogram("latency", "disk_(read|write)-(.+)", "disk_kernel_${1}", "_seconds", kind="${2}"),
    *histogram("bytes", "disk_request-(.+)", "disk_request", "_bytes", operation="${1}"),
)

# Counters of /proc/net/snmp and netstat.
TCP = tuple(one("protocol_counter", theirs, f"tcp_{name}_total") for theirs, name in (
    ("ActiveOpens", "active_opens"), ("PassiveOpens", "passive_opens"), ("AttemptFails", "failed_attempts"),
    ("EstabResets", "established_resets"), ("OutRsts", "sent_resets"), ("RetransSegs", "retransmitted_segments"),
    ("OutSegs", "sent_segments"), ("ListenOverflows", "listen_overflows"), ("ListenDrops", "listen_drops"),
    ("TCPTimeouts", "timeouts"))) + (
    one("tcp_connections", "established", "tcp_established_connections"),
    one("current_connections", "", "connections"),
    one("current_connections", PLAIN, "connections_${1}"),
)

KEYED = (
    *(one(kind, f"{key}-(.+)", f"{name}_total", **{key: "${1}"})
      for key in ("syscall", "function", "softirq", "hardirq")
      for kind, name in (("total_operations", f"{key}_calls"), ("errors", f"{key}_errors"), ("total_time_in_ms", f"{key}_time"),
                         ("irq", f"{key}s"))),
    *(naming for key in ("syscall", "function", "softirq", "hardirq") for kind, source in (("latency", "value"), ("duration", "seconds"))
      for naming in histogram(kind, f"{key}-(.+)", f"{key}_{kind}", "_seconds", source, **{key: "${1}"})),
    *(one("total_events", f"{name}-(.+)", f"{name}_total", signal="${1}")
      for name in ("signal_received", "signal_sent", "exit_by_signal")),
    one("total_operations", "slow-([^-]+)-(.+)", "slow_file_operations_total", operation="${1}", filesystem="${2}"),
    one("total_time_in_ms", "slow-([^-]+)-(.+)", "slow_file_operation_time_total", operation="${1}", filesystem="${2}"),
    *histogram("latency", "operation-([^-]+)-(.+)", "file_operation", "_seconds", operation="${1}", filesystem="${2}"),
    *histogram("latency", "runqueue-(.+)", "cpu_runqueue", "_seconds", kind="${1}"),
    one("errors", "upstream-(.+)", "upstream_errors_total", upstream="${1}"),
    one("derive", "argument-(.+)", "function_argument_total", function="${1}"),
    one("count", "unreturned-(.+)", "function_unreturned_calls", function="${1}"),
    *histogram("gauge", "argument-(.+)", "function_argument", "", function="${1}"),
)

# Of these types any instance has such a name.
ANY = (
    *histogram("latency", "wait", "socket_wait", "_seconds"),
    *histogram("latency", "client(_first)?", "client_response${1}", "_seconds"),
    *histogram("latency", PLAIN, "${1}", "_seconds"),
    *histogram("latency", "service-(.+)", "class_service", "_seconds", **{"class": "${1}"}),
    *histogram("duration", PLAIN, "${1}_duration", "_seconds", "seconds"),
    *histogram("bytes", PLAIN, "${1}", "_bytes"),
    one("percent", PLAIN, "${1}_percent"),
    one("cache_ratio", PLAIN, "cache_${1}_percent"),
    one("total_events", PLAIN, "${1}_total"),
    one("total_operations", PLAIN, "${1}_operations_total"),
    one("total_bytes", PLAIN, "${1}_bytes_total"),
    one("total_connections", PLAIN, "connections_${1}_total"),
    one("total_time_in_ms", PLAIN, "${1}_time_total"),
    one("errors", PLAIN, "${1}_errors_total"),
    *(one(kind, PLAIN, "cache_${1}_total") for kind in ("cache_result", "cache_operation", "cache_eviction")),
    one("vmpage_action", PLAIN, "pages_${1}_total"),
    one("gauge", PLAIN + "-average", "${1}_average_seconds"),
    one("gauge", PLAIN + "-variance", "${1}_variance_square_seconds"),
    one("gauge", PLAIN + "-cv", "${1}_coefficient_of_variation"),
    one("gauge", PLAIN + "-frequency", "${1}_per_second"),
    one("gauge", PLAIN + "-samples", "${1}_samples"),
    one("bucket", "(.+)-([^-_]+)_([^-_]+)", "histogram_per_second", histogram="${1}", lower="${2}", upper="${3}"),
)

PLUGIN = (
    own("percent", "overhead_(.+)", "overhead_percent", probe="${1}"),
    own("percent", "sample_(.+)", "sampler_cpu_percent", sampler="${1}"),
    own("percent", "other_(.+)", "other_percent", probe="${1}"),
    own("duration", "(read|walk)_(.+)", "${1}_seconds", "seconds", probe="${2}"),
    own("duration", "run_(.+)", "program_run_seconds", "seconds", program="${1}"),
    own("duration", "sample_(.+)", "sample_seconds", "seconds", sampler="${1}"),
    own("operations_per_second", "run_(.+)", "program_runs_per_second", program="${1}"),
    own("operations_per_second", "sample_(.+)", "samples_per_second", sampler="${1}"),
    own("memory", "maps_(.+)", "maps_bytes", probe="${1}"),
    own("objects", "services", "services"),
    own("objects", "services_other", "services_under_other"),
    own("objects", "(services_without_name|processes_without_row|helpers_stuck)", "${1}"),
    own("objects", "(services_without_row|rows|keys)_(.+)", "${1}", probe="${2}"),
    own("objects", "other_(.+)", "other_keys", probe="${1}"),
    own("total_events", "(names|cgroups)_refused_services", "${1}_refused_total"),
    own("total_events", "refused_(.+)", "insertions_refused_total", probe="${1}"),
    own("total_events", "missed_(.+)", "events_missed_total", probe="${1}"),
    own("total_events", "(stacks_lost|rows_returned)_(.+)", "${1}_total", probe="${2}"),
    own("total_events", "events_(.+)", "events_not_reported_total", reason="${1}"),
    own("count", "tier_(.+)", "hook_set", probe="${1}"),
)

NAMES = (*PLUGIN, *REQUESTS, *RESOURCES, *DISKS, *TCP, *KEYED, *ANY)

OURS = "collectd_ebpf_.+;"
BEFORE = (
    Rule(("__name__", "ebpf"), OURS + "(.+)", "service"),
    Rule(("__name__", "type"), OURS + ".+-percentile-([0-9])", "quantile", "0.0${1}"),
    Rule(("__name__", "type"), OURS + ".+-percentile-([0-9][0-9])", "quantile", "0.${1}"),
    Rule(("__name__", "type"), OURS + ".+-percentile-([1-9])0", "quantile", "0.${1}"),
    Rule(("__name__", "type"), OURS + ".+-percentile-([0-9])[._]([0-9]+)", "quantile", "0.0${1}${2}"),
    Rule(("__name__", "type"), OURS + ".+-percentile-([0-9][0-9])[._]([0-9]+)", "quantile", "0.${1}${2}"),
    Rule(("__name__", "type"), OURS + ".+-percentile-100", "quantile", "1"),
)

# Rows of a device, a CPU, the machine, a process and the plugin are of no service.
OF_DEVICES = ("completed_.+|merged_.+|(?:discard|discarded|flush)_.+|errors_total|(?:service|queued|request)_.+|.*io_time_total|"
              "requests_in_flight")
DISK = f"(ebpf_disk_(?:{OF_DEVICES}));"
AFTER = (
    Rule(("__name__", "service"), DISK + "(.+)", "device", "${2}"),
    Rule(("__name__", "service"), "ebpf_(?:softirq|hardirq|cpu_runqueue|cpu_frequency).+;cpu([0-9]+)", "cpu"),
    Rule(("__name__", "service"), "ebpf_(.+);.+-([0-9]+-[0-9]{3,})", "process", "${2}"),
    Rule(("__name__", "service"), "ebpf_(.+);(.+)-[0-9]+-[0-9]{3,}", "service", "${2}"),
    Rule(("__name__", "process"), "ebpf_(.+);.+", "__name__", "ebpf_process_${1}"),
    Rule(("__name__", "device"), "ebpf_.+;.+", "service", ""),
    Rule(("__name__", "cpu"), "ebpf_.+;.+", "service", ""),
    Rule(("__name__",), "ebpf_(?:machine_|plugin_|disk_kernel_|softirq|hardirq).+", "service", ""),
    Rule(("__name__",), "ebpf_.+", "type", ""),
    Rule(("__name__",), "ebpf_.+", "ebpf", ""),
    Rule(("__name__", "service"), "collectd_ebpf_.+;.*", "service", ""),
)
