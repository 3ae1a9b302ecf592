# SPDX-License-Identifier: MIT
"""Queues and brokers, mail and files."""

from client_programs import Step, Talk
from entry import Entry

DOVECOT = """\
protocols = imap
listen = 127.0.0.1
base_dir = @HOME@/run
state_dir = @HOME@/state
log_path = /dev/null
ssl = no
disable_plaintext_auth = no
default_client_limit = 200
mail_location = maildir:@HOME@/mail
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=mail gid=mail home=@HOME@/mail
}
first_valid_uid = 1
mail_max_userip_connections = 100
service imap-login {
  inet_listener imap {
    port = @PORT@
  }
  inet_listener imaps {
    port = 0
  }
}
"""
EXIM = """\
spool_directory = @HOME@/spool
log_file_path = @HOME@/spool/log-%slog
pid_file_path = @HOME@/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = @PORT@
keep_environment =
tls_advertise_hosts =
smtp_accept_max = 100
smtp_accept_max_nonmail = 1000000000
smtp_enforce_sync = false
host_lookup =
rfc1413_query_timeout = 0s
"""
VSFTPD = """\
listen=YES
background=NO
listen_address=127.0.0.1
listen_port=@PORT@
run_as_launching_user=YES
anonymous_enable=YES
anon_root=@HOME@
secure_chroot_dir=@HOME@
seccomp_sandbox=NO
xferlog_enable=NO
"""
LINE = b"\r\n"

ENTRIES = (
    Entry("mosquitto", "MQTT, publications of QoS 1", "mosquitto", ("mosquitto", "-c", "@HOME@/conf"),
          Talk(begin=[Step(b"\x10\x0c\0\4MQTT\4\2\0\x3c\0\0", length=4)], request=Step(b"\x32\x0a\0\1t\0\1hello", length=4),
               end=[Step(b"\xe0\0")]),
          files={"conf": "listener @PORT@ 127.0.0.1\nallow_anonymous true\n"}),
    Entry("nats-server", "NATS, publications with +OK", "nats-server", ("nats-server", "-a", "127.0.0.1", "-p", "@PORT@"),
          Talk(begin=[Step(b"", b"INFO", LINE), Step(b'CONNECT {"verbose":true}\r\n', b"+OK", LINE)],
               request=Step(b"PUB a 5\r\nhello\r\n", b"+OK", LINE))),
    Entry("beanstalkd", "beanstalk", "beanstalkd", ("beanstalkd", "-l", "127.0.0.1", "-p", "@PORT@"),
          Talk(Step(b"use default\r\n", b"USING", LINE), end=[Step(b"quit\r\n")])),
    Entry("dovecot", "IMAP", "dovecot-imapd", ("dovecot", "-F", "-c", "@HOME@/conf"),
          Talk(begin=[Step(b"", b"* OK", LINE), Step(b"a login nobody secret\r\n", b"a OK", LINE)],
               request=Step(b"a noop\r\n", b"a OK", LINE), end=[Step(b"a logout\r\n", b"a OK", LINE)]),
          needs=("/usr/lib/dovecot/imap",), commands=("imap-login", "imap"), files={"conf": DOVECOT, "mail/none": ""},
          user="root",
          setup=(("chown", "-R", "mail:mail", "mail"),)),
    Entry("exim", "SMTP", "exim4-daemon-light", ("exim4", "-bdf", "-C", "@HOME@/conf"),
          Talk(begin=[Step(b"", b"220 ", LINE), Step(b"EHLO localhost\r\n", b"250 ", LINE)], request=Step(b"NOOP\r\n", b"250 ",
                                                                                                          LINE),
               end=[Step(b"QUIT\r\n", b"221 ", LINE)]), files={"conf": EXIM, "spool/none": ""}, user="root",
          setup=(("chown", "-R", "Debian-exim", "spool"),)),
    Entry("vsftpd", "FTP", "vsftpd", ("vsftpd", "@HOME@/own"),
          Talk(begin=[Step(b"", b"220 ", LINE), Step(b"USER anonymous\r\n", b"331 ", LINE), Step(b"PASS x\r\n", b"230 ", LINE)],
               request=Step(b"NOOP\r\n", b"200 ", LINE), end=[Step(b"QUIT\r\n", b"221 ", LINE)]), files={"conf": VSFTPD},
          setup=(("cp", "conf", "own"), ("chmod", "555", "@HOME@"))),
)
