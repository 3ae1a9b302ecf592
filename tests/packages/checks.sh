# SPDX-License-Identifier: MIT
# For tests of what is installed, with Debian's stock configuration of collectd: each check prints ok or FAIL, and $broken is
# the verdict.
# shellcheck shell=sh disable=SC2317,SC2154,SC3013 # what check calls; $top is the test's: the tree; dash has -ef
work=$(mktemp -d)
# shellcheck disable=SC2034 # the test reads it
broken=0

check() { # WHAT COMMAND...
	what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "FAIL $what"
		# shellcheck disable=SC2034
		broken=1
	fi
}

of_services() {
	set -- /var/lib/collectd/rrd/*/ebpf-self/count-tier_process.rrd
	[ -e "$1" ]
}

of_any() {
	[ -n "$(ls /var/lib/collectd/rrd 2>/dev/null)" ]
}

# Within half a minute there are values of services, or, with "no", values, and two readings without those of services.
values() {
	# collectd may write meanwhile.
	until rm -rf /var/lib/collectd/rrd 2>/dev/null; do sleep 1; done
	for _ in $(seq $((30 * ${TEST_SLOWNESS:-1}))); do
		sleep 1
		if of_services || { [ "$1" = no ] && of_any; }; then break; fi
	done
	if [ "$1" = no ]; then sleep 20; ! of_services && of_any; else of_services; fi
}

# The mappings of ebpf.so in each collectd of this root.
mapped() {
	for process in /proc/[0-9]*; do
		[ ! "$process/exe" -ef /usr/sbin/collectd ] || grep -h '/ebpf\.so' "$process/maps"
	done
}

# collectd runs, with the plugin that is installed, or, with "no", without any.
runs() {
	values "$1" || return 1
	mapped >"$work/mapped" || :
	if [ "$1" = yes ]; then
		[ -s "$work/mapped" ] && ! grep -q '(deleted)' "$work/mapped"
	else
		[ ! -s "$work/mapped" ]
	fi
}

# All of collectd.conf.d.
switched_on() {
	[ "$(cd /etc/collectd/collectd.conf.d && echo *)" = '00-ebpf-unixsock.conf ebpf.conf' ] &&
		cmp /etc/collectd/collectd.conf.d/ebpf.conf "$top/contrib/debian/ebpf.conf" &&
		cmp /etc/collectd/collectd.conf.d/00-ebpf-unixsock.conf "$top/conf/unixsock.conf"
}

# It waits for values itself, so it may be asked as soon as collectd has the socket.
top_works() { # [OPTION...]
	ebpf-top --json "$@" >"$work/top" && grep -q '"service": "' "$work/top"
}

socket_is() { # PATH MODE
	[ "$(stat -c '%a %U %G' "$1")" = "$2" ]
}

# Root alone may ask, and that is what others are told.
is_for_root() {
	socket_is /var/run/collectd-unixsock '600 root root' &&
		! setpriv --reuid=nobody --regid=nogroup --clear-groups ebpf-top --once 2>"$work/refusal" &&
		grep -q 'permission denied: be root' "$work/refusal"
}

manuals() {
	for page in man5/collectd-ebpf.5 man1/ebpf-bpftrace.1 man1/ebpf-check.1 man1/ebpf-convert.1 man1/ebpf-dashboards.1 \
		man1/ebpf-graph.1 man1/ebpf-tidy.1 man1/ebpf-top.1; do
		ls "/usr/share/man/$page"* >/dev/null || return 1
	done
}
