# SPDX-License-Identifier: MIT
"""Debian's kernels, made ready to boot and kept: vmlinux, modules, and the order of those that the first process
needs."""

import contextlib
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "collectd-ebpf", "vm")
# What a server's network, storage and file systems are made of; the drivers of real hardware are left out.
WANTED = ("arch", "crypto", "lib", "net", "fs/9p", "fs/netfs", "fs/fscache", "fs/fuse", "fs/overlayfs", "fs/ext4",
          "fs/xfs", "fs/btrfs", "fs/jbd2", "fs/configfs", "fs/mbcache.ko", "drivers/virtio", "drivers/net/veth.ko",
          "drivers/net/dummy.ko", "drivers/net/tun.ko", "drivers/block", "drivers/char/virtio_console.ko",
          "drivers/nvme", "block/t10-pi.ko", "drivers/md/dm-mod.ko", "drivers/dax")
FIRST = ("virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "overlay", "ext4")
NEWEST = "newest"
# Kernels that the machine's own Debian may not have.
ELSEWHERE = {version: f"deb http://deb.debian.org/debian {suite} main"
             for version, suite in ((NEWEST, "trixie-backports"), ("6.1", "bookworm"))}


class KernelError(Exception):
    """No kernel to boot; the text says why."""


class NotFound(KernelError):
    """Not in an archive within reach."""


def run(*argv, error=KernelError, **options):
    done = subprocess.run(argv, capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise error(f"{argv[0]}: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return done.stdout


class Apt:
    """The machine's, or with a source and lists of our own."""

    def __init__(self, source=None):
        self.options = ["-q", "-o", "APT::Sandbox::User=root", "-o", "DPkg::Lock::Timeout=300",
                        "-o", "Acquire::Retries=2"]
        if source:
            directory = os.path.join(CACHE, "apt")
            os.makedirs(os.path.join(directory, "lists", "partial"), exist_ok=True)
            sources = os.path.join(directory, "sources.list")
            with open(sources, "w", encoding="ascii") as file:
                file.write(source + "\n")
            for name, value in (("Etc::SourceList", sources), ("Etc::SourceParts", "/dev/null"),
                                ("State::Lists", os.path.join(directory, "lists")), ("Cache", directory)):
                self.options += ["-o", f"Dir::{name}={value}"]
            self.update()

    def update(self):
        run("apt-get", *self.options, "update", error=NotFound)

    def cache(self, *words):
        return run("apt-cache", *self.options, *words).decode()

    def newest(self, version):
        """(package, its version) of the newest signed image of this series that apt knows, or None."""
        series = r"\d+\.\d+" if version == NEWEST else re.escape(version)
        pattern = re.compile(rf"linux-image-{series}\.\d+(-\d+|\+deb\d+)-amd64")
        names = [name for name in self.cache("pkgnames", "linux-image-").split() if pattern.fullmatch(name)]
        if not names:
            return None
        name = max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
        candidate = re.search(r"Candidate: (\S+)", self.cache("policy", name)).group(1)
        return None if candidate == "(none)" else (name, candidate)

    def find(self, version):
        """The same, from fresh lists if apt has none of it."""
        found = self.newest(version)
        if not found:
            self.update()
            found = self.newest(version)
        if not found:
            raise NotFound(f"apt offers no kernel {version}")
        return found

    def parts(self, name):
        """The packages that have the files of an image: since Linux 6.19 those that it needs, of the same release."""
        release = name.removeprefix("linux-image-")
        needs = re.search(r"^Depends: (.*)$", self.cache("show", name), re.MULTILINE).group(1)
        return re.findall(rf"linux-(?:base|binary|modules)-{re.escape(release)}\b", needs) or [name]

    def download(self, name, into):
        """apt compares the size and the hash."""
        get = ("apt-get", *self.options, "download", name)
        try:
            run(*get, cwd=into, timeout=300)
        except KernelError:
            # Lists that are older than the mirror name a file that it no longer has.
            self.update()
            run(*get, error=NotFound, cwd=into, timeout=300)
        except subprocess.TimeoutExpired as error:
            raise NotFound(f"download of {name}: not done after {error.timeout} s") from error
        return glob.glob(os.path.join(into, name + "_*.deb"))[0]


def unpack(package, into):
    """vmlinuz and the wanted modules."""
    members = ["./boot/vmlinuz-*", "*/lib/modules/*/vmlinuz", "*/lib/modules/*/modules.*"]
    members += [f"*/lib/modules/*/kernel/{part}*" for part in WANTED]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as archive:
        # A member that a package does not have is no error of it.
        subprocess.run(["tar", "-x", "-C", into, "--wildcards", *members], stdin=archive.stdout,
                       stderr=subprocess.DEVNULL, check=False)
    if archive.returncode not in (0, -13):
        raise KernelError(f"{os.path.basename(package)}: broken package")


def arrange(into):
    """All modules plain, as depmod and insmod would unpack them one by one, and in lib, where modprobe looks for them.
    Returns the path of the image."""
    young = os.path.join(into, "usr", "lib")
    if os.path.isdir(young):
        os.rename(young, os.path.join(into, "lib"))
    packed = glob.glob(os.path.join(into, "lib/modules/*/kernel/**/*.ko.xz"), recursive=True)
    if packed:
        run("xz", "-d", "-T2", *packed)
    images = glob.glob(os.path.join(into, "boot/vmlinuz-*")) or glob.glob(os.path.join(into, "lib/modules/*/vmlinuz"))
    if not images:
        raise KernelError("no kernel in its packages")
    return images[0]


def vmlinux(image):
    """The ELF file within a bzImage: booted without the slow unpacking (Documentation/arch/x86/boot.rst)."""
    sectors = image[0x1f1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = image[start:start + length]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        # The last four bytes are the size, as gzip would give it.
        return run("zstd", "-d", "-c", input=payload[:-4])
    raise KernelError("the kernel is packed in a way that is not known here")


def boot_modules(root, release):
    """Paths of the modules of the first process, each after those that it needs. Some kernels have some built in."""
    order = []
    for module in FIRST:
        lines = run("modprobe", "-d", root, "-S", release, "--show-depends", module).decode().splitlines()
        order += [words[1] for words in map(str.split, lines) if words[0] == "insmod" and words[1] not in order]
    return order


def make(apt, name, into):
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        for part in apt.parts(name):
            unpack(apt.download(part, scratch), into)
    image = arrange(into)
    with open(image, "rb") as packed, open(os.path.join(into, "vmlinux"), "wb") as plain:
        plain.write(vmlinux(packed.read()))
    release, = os.listdir(os.path.join(into, "lib/modules"))
    run("depmod", "-b", into, release)
    with open(os.path.join(into, "order"), "w", encoding="utf-8") as order:
        order.writelines(f"{os.path.relpath(path, into)}\n" for path in boot_modules(into, release))
    with open(os.path.join(into, "release"), "w", encoding="utf-8") as file:
        file.write(release)


def find(version):
    """(who offers it, package, its version)"""
    apt = Apt() if version != NEWEST else None
    if version in ELSEWHERE and not (apt and apt.newest(version)):
        apt = Apt(ELSEWHERE[version])
    return (apt, *apt.find(version))


@contextlib.contextmanager
def locked(path):
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Kernel:
    def __init__(self, version):
        """Version: 6.1, 6.12, ... or NEWEST. A download that breaks off leaves nothing in the cache."""
        os.makedirs(CACHE, exist_ok=True)
        with locked(os.path.join(CACHE, "lock")):
            apt, name, revision = find(version)
            parts = hashlib.sha256(" ".join(WANTED).encode()).hexdigest()[:8]
            self.dir = os.path.join(CACHE, f"{name}_{revision}_{parts}")
            if not os.path.isdir(self.dir):
                scratch = tempfile.mkdtemp(prefix="new.", dir=CACHE)
                try:
                    make(apt, name, scratch)
                    os.chmod(scratch, 0o755)
                    os.rename(scratch, self.dir)
                finally:
                    shutil.rmtree(scratch, ignore_errors=True)
        self.release = self._read("release")
        self.image = os.path.join(self.dir, "vmlinux")
        self.modules = os.path.join(self.dir, "lib/modules", self.release)
        self.first = [os.path.join(self.dir, path) for path in self._read("order").split()]

    def _read(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8") as file:
            return file.read()
