#!/bin/sh
# SPDX-License-Identifier: MIT
# What README.md says in "From source", below a DESTDIR: each file goes where collectd and the manuals say. A collectd that has these
# files in /usr finds them, and keeps its own where manuals, examples and help say.
. "${srcdir:-.}/tests/check/scratch.sh"
release "$work/source"
cd "$work/source"
export DESTDIR="$work/root"

awk '/^##/ { wanted = $0 == "### From source" } wanted && sub(/^    /, "")' README.md |
	sed -n '/^\.\/configure /,/^make install$/p' >"$work/lines"
cat "$work/lines"
[ "$(cut -d ' ' -f 1 "$work/lines" | xargs)" = "./configure make make" ] || {
	complain "README.md has no such lines"
	exit 1
}
# The options of this build come first, so that its objects fit, and README.md's win.
eval "quietly ./configure $("$build/config.status" --config) $(sed -n 's,^\./configure ,,p' "$work/lines")"
# Only main.c knows where it will be installed. Objects depend on the stamps of their directories, which come first.
(cd "$build" && {
	find bpf plugin -name .dirstamp
	find bpf plugin -name '*.o' ! -name main.o
} | tar -c -T -) | tar -x -m
sed -i 1d "$work/lines"
quietly sh -eu "$work/lines"

(cd "$DESTDIR" && find . -type f -o -type l) | sort >"$work/installed"
cat "$work/installed"
for file in ebpf.so $(make -s print-probe_objects | sed 's,bpf/,ebpf/,g'); do
	grep -qx "./usr/lib/collectd/$file" "$work/installed" || complain "not installed: $file"
done
! grep -qF service.bpf.o "$work/installed" || complain "the engine's own object is installed"
stray=$(grep -vE '^\./usr/(lib/collectd/(ebpf\.so|ebpf/[^/]*\.bpf\.o)|include/collectd-ebpf/((kernel|requests|services)/)?[^/]*\.h|bin/ebpf-[a-z]*|libexec/collectd-ebpf/ebpf-symbols|share/collectd-ebpf/[^/]*|share/(man|doc)/.*)$' \
	"$work/installed" || :)
[ -z "$stray" ] || complain "installed too: $stray"
for tool in $(make -s print-tools); do
	[ -e "$DESTDIR/usr/share/man/man1/$tool.1" ] || complain "not installed: the manual page of $tool"
	# It finds its modules.
	"$DESTDIR/usr/bin/$tool" --help >>"$work/help"
done

# Paths of this plugin, and of what collectd keeps.
grep -hoE '/(usr/(bin/ebpf-|include/collectd-ebpf|lib/collectd/|libexec/collectd-ebpf|share/doc/collectd-ebpf)|var/lib/collectd/)([[:alnum:]_.*/-]*[[:alnum:]*])?' \
	docs/*.pod conf/ebpf.conf conf/receiver-rrdtool.conf "$work/help" | sort -u >"$work/paths"
for path in /usr/lib/collectd/ebpf /usr/libexec/collectd-ebpf/ebpf-symbols /var/lib/collectd/ebpf/events.jsonl \
	/var/lib/collectd/profiles /var/lib/collectd/rrd; do
	grep -qx "$path" "$work/paths" || complain "no text has $path"
done

# What ebpf-symbols knows of a misspelt name.
similar='did you mean "getloadavg"'
cat >"$work/collectd.conf" <<END
Interval 1
PIDFile "$work/pid"
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "$work/log"
</Plugin>
Include "$DESTDIR/usr/share/doc/collectd-ebpf/examples/receiver-rrdtool.conf"
LoadPlugin ebpf
<Plugin ebpf>
  <Probe "profile">
    Enable true
  </Probe>
  <Probe "functions">
    <Function "misspelt">
      Attach "uprobe:libc.so.6:getloadavgg"
    </Function>
  </Probe>
</Plugin>
END
if [ "$(id -u)" = 0 ] && [ -x "${COLLECTD:-}" ]; then
	# Nothing of another installation is there. RRD files are written when collectd stops. A helper that is late at the start is asked
	# again soon.
	# shellcheck disable=SC2016 # the inner shell's own
	setpriv --pdeathsig TERM unshare --mount --propagation private sh -eu -c '
		mount -t overlay -o lowerdir="$DESTDIR/usr:/usr" none /usr
		mount -t tmpfs none /usr/local
		mount -t tmpfs none /var/lib
		mkdir /var/lib/collectd
		setpriv --pdeathsig TERM "$COLLECTD" -f -C "$1/collectd.conf" &
		for _ in $(seq 1200); do
			said=$(cat "$1/log" 2>/dev/null | grep -cE "ebpf plugin: services:|$2") || :
			[ -e /proc/$!/exe ] && [ "$said" -lt 2 ] || break
			sleep 0.1
		done
		kill $!
		wait $!
		while read -r path; do
			ls -d $path || echo "$path" >>"$1/missing"
		done <"$1/paths"' - "$work" "$similar" || complain "collectd does not run"
	cat "$work/log" || :
	[ ! -e "$work/missing" ] || complain "is not there: $(cat "$work/missing")"
	grep -q "$similar" "$work/log" || complain "the plugin does not find ebpf-symbols"
else
	echo "skip: a run of collectd needs collectd and root"
fi

quietly make uninstall
left=$(find "$DESTDIR" -type f -o -type l)
[ -z "$left" ] || complain "not uninstalled: $left"
exit $broken
