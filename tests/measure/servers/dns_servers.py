# SPDX-License-Identifier: MIT
"""Servers of DNS over UDP."""

from client_programs import Dnsperf
from entry import Entry

ZONE = """\
$ORIGIN example.
$TTL 3600
@ IN SOA ns root 1 3600 3600 3600 3600
@ IN NS ns
ns IN A 127.0.0.1
www IN A 10.0.0.1
"""
UNBOUND = """\
server:
  interface: 127.0.0.1
  port: @PORT@
  username: ""
  chroot: ""
  directory: "@HOME@"
  pidfile: ""
  use-syslog: no
  logfile: "/dev/null"
  do-daemonize: no
  num-threads: 1
  local-zone: "example." static
  local-data: "www.example. A 10.0.0.1"
remote-control:
  control-enable: no
"""
NSD = """\
server:
  ip-address: 127.0.0.1@@PORT@
  server-count: 1
  username: ""
  chroot: ""
  zonesdir: "@HOME@"
  pidfile: ""
  zonelistfile: "@HOME@/zones"
  xfrdfile: "@HOME@/transfers"
  xfrdir: "@HOME@"
  database: ""
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "example"
  zonefile: "zone"
"""
BIND = """\
options {
  directory "@HOME@";
  listen-on port @PORT@ { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
};
controls { };
zone "example" { type primary; file "zone"; };
"""
KNOT = """\
server:
  listen: 127.0.0.1@@PORT@
  rundir: @HOME@
  udp-workers: 1
database:
  storage: @HOME@
log:
  - target: stderr
    any: critical
template:
  - id: default
    storage: @HOME@
zone:
  - domain: example
    file: zone
"""
PDNS_ZONES = 'zone "example" { type native; file "@HOME@/zone"; };\n'


def dns(name, package, command, files):
    return Entry(name, "DNS, UDP", package, command, Dnsperf(), files=files, connections=4)


ENTRIES = (
    dns("unbound", "unbound", ("unbound", "-d", "-c", "@HOME@/conf"), {"conf": UNBOUND}),
    dns("nsd", "nsd", ("nsd", "-d", "-c", "@HOME@/conf"), {"conf": NSD, "zone": ZONE}),
    dns("bind", "bind9", ("named", "-f", "-n", "1", "-c", "@HOME@/conf"), {"conf": BIND, "zone": ZONE}),
    dns("knot", "knot", ("knotd", "-c", "@HOME@/conf"), {"conf": KNOT, "zone": ZONE}),
    dns("dnsmasq", "dnsmasq-base", ("dnsmasq", "-k", "-C", "/dev/null", "-p", "@PORT@", "--listen-address=127.0.0.1",
                                    "--bind-interfaces",
                                    "--no-resolv", "--no-hosts", "--user=", "--pid-file=", "--address=/www.example/10.0.0.1"),
                                    {}),
    dns("pdns", "pdns-backend-bind", ("pdns_server", "--config-dir=@HOME@", "--socket-dir=@HOME@", "--local-address=127.0.0.1",
                                "--local-port=@PORT@", "--launch=bind", "--bind-config=@HOME@/zones", "--guardian=no",
                                "--daemon=no",
                                "--write-pid=no", "--disable-syslog", "--loglevel=0"), {"zones": PDNS_ZONES, "zone": ZONE,
                                                                                        "pdns.conf": ""}),
)
