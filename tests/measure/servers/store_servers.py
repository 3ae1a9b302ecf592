# SPDX-License-Identifier: MIT
"""Databases, stores of keys and values, directories, and what stands before them."""

from client_programs import Pgbench, RedisBenchmark, Step, Sysbench, Talk
from entry import SELF_SIGNED, Entry

PG = "/usr/lib/postgresql/*/bin/"
PG_SETUP = (PG + "initdb", "-D", "@HOME@/data", "-A", "trust", "-U", "postgres", "-N", "--no-instructions")
PG_FILL = ("sh", "-c", "until pgbench -h 127.0.0.1 -p @PORT@ -U postgres -i -q postgres; do sleep 0.2; done")
PG_COMMAND = (PG + "postgres", "-D", "@HOME@/data", "-h", "127.0.0.1", "-p", "@PORT@", "-k", "@HOME@", "-c", "fsync=off", "-c",
              "autovacuum=off")
PG_TLS = ("-c", "ssl=on", "-c", "ssl_cert_file=@HOME@/cert", "-c", "ssl_key_file=@HOME@/key", "-c",
          "ssl_min_protocol_version=TLSv1.3")
POSTGRES = Entry("postgresql", "PostgreSQL", "postgresql", PG_COMMAND, Pgbench(), user="postgres", setup=(PG_SETUP,),
                 fill=PG_FILL)
PGBOUNCER = """\
[databases]
postgres = host=127.0.0.1 port=@BACKEND@ user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = @PORT@
unix_socket_dir =
auth_type = any
ignore_startup_parameters = extra_float_digits
"""

WHERE = ("--no-defaults", "--datadir=@HOME@/data")
MARIADB_COMMAND = ("mariadbd", *WHERE, "--bind-address=127.0.0.1", "--port=@PORT@", "--socket=@HOME@/socket",
                   "--innodb-flush-log-at-trx-commit=0")
MARIADB_TLS = ("--ssl-ca=@HOME@/cert", "--ssl-cert=@HOME@/cert", "--ssl-key=@HOME@/key")
# root has no password.
MARIADB_SETUP = (("mariadb-install-db", *WHERE, "--skip-test-db", "--auth-root-authentication-method=normal"),
                 ("sh", "-c", "echo 'CREATE DATABASE test;' | mariadbd --no-defaults --datadir=@HOME@/data --bootstrap"))
SYSBENCH_FILES = ("sh", "-c", "cp key client-key.pem && cp cert client-cert.pem && cp cert cacert.pem")
MARIADB_FILL = (*Sysbench().command("@PORT@"), "prepare")


def mariadb(name, protocol, client, *more, setup=()):
    return Entry(name, protocol, "mariadb-server-core", (*MARIADB_COMMAND, *more), client, needs=("mariadb-install-db",),
                 setup=(*MARIADB_SETUP, *setup), fill=MARIADB_FILL)


# The search for the root's own entry, after an anonymous bind.
LDAP = Talk(begin=[Step(bytes.fromhex("300c020101600702010304008000"), length=14)],
            request=Step(bytes.fromhex("3025020102632004000a01000a0100020100020100010100870b") + b"objectClass" +
                         bytes.fromhex("3000"),
                         ends=bytes.fromhex("300c02010265070a010004000400")),
            end=[Step(bytes.fromhex("30050201034200"))])
REDIS = Entry("redis", "redis", "redis-server", ("redis-server", "--bind", "127.0.0.1", "--port", "@PORT@", "--save", "",
                                                 "--appendonly",
                                                 "no", "--dir", "@HOME@"), RedisBenchmark())
NUTCRACKER = """\
pool:
  listen: 127.0.0.1:@PORT@
  redis: true
  servers:
   - 127.0.0.1:@BACKEND@:1
"""

ENTRIES = (
    Entry("memcached", "memcached", "memcached", ("memcached", "-l", "127.0.0.1", "-p", "@PORT@", "-U", "0"),
          Talk(Step(b"get k\r\n", ends=b"END\r\n"), end=[Step(b"quit\r\n")])),
    REDIS,
    Entry("nutcracker", "redis, before redis", "nutcracker", ("nutcracker", "-c", "@HOME@/conf", "-s", "@OTHER@", "-a",
                                                              "127.0.0.1", "-o", "/dev/null"),
          RedisBenchmark(), files={"conf": NUTCRACKER}, backend=REDIS),
    POSTGRES,
    Entry("postgresql-tls1.3", "PostgreSQL, TLS 1.3", "postgresql", (*PG_COMMAND, *PG_TLS), Pgbench("require"), user="postgres",
          setup=(PG_SETUP, SELF_SIGNED), fill=PG_FILL),
    Entry("pgbouncer", "PostgreSQL, before it", "pgbouncer", ("pgbouncer", "@HOME@/conf"), Pgbench(), files={"conf": PGBOUNCER},
          backend=POSTGRES),
    mariadb("mariadb", "MySQL", Sysbench()),
    mariadb("mariadb-tls", "MySQL, TLS", Sysbench(tls=True), *MARIADB_TLS, setup=(SELF_SIGNED, SYSBENCH_FILES)),
    Entry("slapd", "LDAP", "slapd", ("slapd", "-d", "0", "-f", "@HOME@/conf", "-h", "ldap://127.0.0.1:@PORT@"), LDAP,
          files={"conf": "pidfile @HOME@/pid\n"}),
)
