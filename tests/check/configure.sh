#!/bin/sh
# SPDX-License-Identifier: MIT
# What configure misses it names together with the Debian package that has it, all at once.
. "${srcdir:-.}/tests/check/scratch.sh"
mkdir -p "$work/tree/src/daemon" "$work/build"
touch "$work/tree/src/daemon/plugin.h"
release "$work/source"
cd "$work/build"

refuses() {
	if "$work/source/configure" "$@" >"$work/log" 2>&1; then
		complain "configure $* went on"
	fi
	sed -n '/can do without/,$p; /^configure: error/,$p' "$work/log"
}
says() { grep -qE -e "$1" "$work/log" || complain "configure does not say: $1"; }

refuses PKG_CONFIG_LIBDIR="$work" PKG_CONFIG_PATH= BPF_CLANG=false \
	--with-collectd="$work/none" ac_cv_path_BPFTOOL= ac_cv_path_COLLECTD= ac_cv_path_POD2MAN=
says 'libbpf >= 1\.1: apt-get install libbpf-dev$'
says 'libelf: apt-get install libelf-dev$'
says 'libpcre2-8: apt-get install libpcre2-dev$'
says 'collectd.* headers.*: apt-get install collectd-dev$'
says 'clang .*BPF.*: apt-get install clang '
says 'jansson >= 2\.7, .*: apt-get install libjansson-dev$'
says 'libdw, .*: apt-get install libdw-dev$'
says 'liblzma, .*: apt-get install liblzma-dev$'
says 'bpftool, .*: apt-get install bpftool$'
says 'collectd, .*: apt-get install collectd-core$'
says 'pod2man, .*: apt-get install perl$'

# As Ubuntu 22.04's.
cat >"$work/pkg-config" <<'END'
#!/bin/sh
case $* in
*'libbpf >= '*) exit 1 ;;
'--modversion libbpf') echo 0.5.0 ;;
*) exec pkg-config "$@" ;;
esac
END
chmod +x "$work/pkg-config"
refuses PKG_CONFIG="$work/pkg-config"
says '^ *libbpf 1\.1 or later is needed; this machine has 0\.5\.0, which is too old$'

# As clang 13, which knows no declaration tags.
cat >"$work/clang" <<'END'
#!/bin/sh
exec clang -Dbtf_decl_tag=unknown "$@"
END
chmod +x "$work/clang"
refuses BPF_CLANG="$work/clang"
says 'clang 14 or newer, .*: apt-get install clang '

refuses --with-collectd="$work/tree"
says 'src/config\.h is missing'
says 'apt-get install collectd-dev'
exit $broken
