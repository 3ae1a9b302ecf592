# SPDX-License-Identifier: MIT
"""Probe blocks of the objects tests/bpf/foreign_*.bpf.c, which have no tags."""

SHAPES = """
  <Probe "shapes">
    Object "%(object)s"
    Parameter "watched_pid" %(target)d
    <Table "plain_hash">
      %(eight)s
    </Table>
    <Table "plain_lru">
      %(eight)s
    </Table>
    <Table "percpu_hash">
      %(eight)s
    </Table>
    <Table "percpu_lru">
      %(eight)s
    </Table>
    <Table "plain_array">
      %(four)s
    </Table>
    <Table "percpu_array">
      %(four)s
    </Table>
    <Table "mapped_array">
      %(four)s
    </Table>
    <Table "single">
      <Value>
        Metric "derive-single"
      </Value>
    </Table>
    <Table "each_array">
      %(four)s
      EachCpu true
    </Table>
    <Table "struct_hash">
      <Key "color">
        Decode "map" 0 "red" "0x1" "green"
      </Key>
      <Key "size">
      </Key>
      <Value "once">
        Metric "derive-once"
      </Value>
      <Value "twice">
        Metric "derive-twice scale=10/1"
      </Value>
      <Value "thrice">
        Metric "gauge-ratio of=once"
      </Value>
    </Table>
    <Table "bare_hash">
      <Key "first">
        Size 2
        Padding 1
      </Key>
      <Key "second">
        Size 3
        Decode "uint" "big"
      </Key>
      <Key "last">
        Offset 6
        Size 1
      </Key>
      <Value>
        Type "u64"
        Offset 8
        Metric "derive-bare"
      </Value>
    </Table>
    <Table "absent">
      <Value>
        Metric "derive-absent"
      </Value>
    </Table>
  </Probe>
"""
NAMES = """
  <Service "kt_group">
    Cgroup "%(group)s"
  </Service>
  <Probe "names">
    Object "%(object)s"
    Parameter "watched_pid" %(target)d
    Parameter "cgroup" %(cgroup)d
    Parameter "function" "%(function)d"
    Parameter "device_stat" %(device)d
    Parameter "interface" 1
    Label "shade" "DARK" "BRIGHT"
    <Table "numbers">
      <Key "below">
        Size 2
        Decode "int"
      </Key>
      <Key "big">
        Size 3
        Decode "uint" "big"
      </Key>
      <Key "little">
        Size 3
        Decode "uint" "little"
      </Key>
      <Key "port">
        Size 2
        Padding 2
        Decode "uint" "big"
      </Key>
      <Key "bytes">
        Size 2
        Decode "hex"
      </Key>
      <Key "end">
        Size 2
        Decode "uint" "big"
      </Key>
      <Value>
        Metric "derive-numbers"
      </Value>
    </Table>
    <Table "kernels">
      <Key "errno">
        Size 4
        Decode "uint"
        Decode "errno"
      </Key>
      <Key "signal">
        Size 4
        Decode "signal"
      </Key>
      <Key "syscall">
        Size 4
        Decode "uint"
        Decode "syscall"
      </Key>
      <Key "user">
        Size 4
        Decode "user"
      </Key>
      <Key "cpu">
        Size 4
        Decode "cpu"
      </Key>
      <Key "untold">
        Size 4
        Decode "none"
      </Key>
      <Key "device">
        Size 4
        Decode "device" "stat"
      </Key>
      <Key "mapped">
        Size 4
        Decode "uint"
        Decode "map-strict" 1 "one"
        Decode "map" "unknown:3" "three"
      </Key>
      <Key "interface">
        Size 4
        Decode "interface"
        Padding 4
      </Key>
      <Value>
        Metric "derive-kernels"
      </Value>
    </Table>
    <Table "addresses">
      <Key "four">
        Size 4
        Decode "address"
      </Key>
      <Key "six">
        Size 16
        Decode "address"
      </Key>
      <Value>
        Metric "derive-addresses"
      </Value>
    </Table>
    <Table "texts">
      <Key "command">
        Size 16
        Decode "string"
        Decode "regexp" "^(kswapd).*$" "^systemd-j"
      </Key>
      <Key "domain">
        Size 16
        Subject true
        Decode "string"
        Decode "dname"
      </Key>
      <Value>
        Metric "derive-texts"
      </Value>
    </Table>
    <Table "labels_many">
      %(many)s
      <Value>
        Metric "derive-many"
      </Value>
    </Table>
    <Table "enums">
      <Key "shade">
      </Key>
      <Key "word">
      </Key>
      <Value>
        Metric "derive-enums"
      </Value>
    </Table>
    <Table "cgroups">
      <Key "cgroup">
        Size 8
        Decode "uint"
        Decode "cgroup"
        Decode "regexp" "[^/]*$"
      </Key>
      <Value>
        Metric "derive-cgroups"
      </Value>
    </Table>
    <Table "group_services">
      <Key "cgroup">
        Size 8
        Decode "service" "cgroup"
      </Key>
      <Value>
        Metric "derive-calls"
      </Value>
    </Table>
    <Table "functions">
      <Key "function">
        Size 8
        Decode "ksym"
      </Key>
      <Value>
        Metric "derive-functions"
      </Value>
    </Table>
  </Probe>
"""
HISTOGRAMS = """
  Buckets true
  <Probe "histograms">
    Object "%(object)s"
    Parameter "watched_pid" %(target)d
    <Table "powers">
      %(half)s
      <Value>
        Metric "latency-powers scale=1/1000"
        Histogram "exp2" 0 7
      </Value>
    </Table>
    <Table "powers_of_cpus">
      <Key "bucket">
        Decode "bucket"
      </Key>
      <Value>
        Metric "latency-cpus"
        Histogram "exp2" 0 7
      </Value>
    </Table>
    <Table "with_zero">
      %(half)s
      <Value>
        Metric "latency-zero"
        Histogram "exp2zero" 0 8
      </Value>
    </Table>
    <Table "steps">
      %(half)s
      <Value>
        Metric "latency-steps scale=10/1"
        Histogram "linear" 0 10
      </Value>
    </Table>
    <Table "bounds">
      %(half)s
      <Value>
        Metric "latency-bounds"
        Histogram "fixed" 10 25 1000
      </Value>
    </Table>
    <Table "within">
      <Key "half">
      </Key>
      <Value "slot">
        Metric "latency-within"
        Histogram "exp2" 0 7
      </Value>
    </Table>
  </Probe>
"""
HOSTILE = """
  <Probe "hostile">
    Object "%(object)s"
    Parameter "watched_pid" %(target)d
    <Table "full">
      %(whole)s
    </Table>
    <Table "vanishing">
      %(whole)s
    </Table>
    <Table "buckets_of_others">
      <Key "bucket">
        Size 8
        Decode "bucket"
      </Key>
      <Value>
        Metric "latency-others"
        Histogram "linear" 0 7
      </Value>
    </Table>
    <Table "names_of_others">
      <Key "name">
        Size 16
        Decode "string"
      </Key>
      <Value>
        Metric "derive-names"
      </Value>
    </Table>
  </Probe>
"""
