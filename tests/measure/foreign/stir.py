# SPDX-License-Identifier: MIT
"""A little of everything: what makes the examples of ebpf_exporter count something. Each part costs itself alone, as
machines differ in what they allow."""

import atexit
import contextlib
import glob
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

UNIX_PATHS = ("/run/dbus/system_bus_socket", "/run/systemd/journal/stdout", "/var/run/docker/metrics.sock")


def tcp():
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as server:
            server.bind((address, 0))
            server.listen(64)
            for _ in range(20):
                with socket.create_connection(server.getsockname()[:2]) as client, server.accept()[0] as peer:
                    client.sendall(b"x" * 1000)
                    peer.recv(1000)
            clients = [socket.create_connection(server.getsockname()[:2]) for _ in range(8)]
            for client in clients:
                server.accept()[0].close()
                client.close()


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        receiver.bind(("127.0.0.1", 0))
        for _ in range(50):
            sender.sendto(b"x" * 1000, receiver.getsockname())
            with contextlib.suppress(OSError):
                sender.sendto(b"x", ("127.0.0.1", 9))


def icmp():
    for family, address, protocol, kind in ((socket.AF_INET, "127.0.0.1", 1, 8), (socket.AF_INET6, "::1", 58, 128)):
        with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
            echo = struct.pack("!BBHHH", kind, 0, 0, 1, 1)
            check = ~(kind << 8 | 0) - 2 & 0xffff
            raw.sendto(echo[:2] + struct.pack("!H", check) + echo[4:], (address, 0))


def unix():
    with tempfile.TemporaryDirectory() as directory:
        for path in (os.path.join(directory, "s"), *UNIX_PATHS):
            if os.path.exists(path):
                continue
            made = not os.path.isdir(os.path.dirname(path))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(path)
                try:
                    server.listen(16)
                    for _ in range(5):
                        with socket.socket(socket.AF_UNIX) as client:
                            client.connect(path)
                            time.sleep(0.002)
                            server.accept()[0].close()
                finally:
                    os.unlink(path)
                    if made:
                        os.rmdir(os.path.dirname(path))


def files():
    for where in ("/var/tmp", "/dev/shm"):
        with tempfile.TemporaryDirectory(dir=where) as directory:
            for number in range(10):
                path = os.path.join(directory, str(number))
                with open(path, "wb") as file:
                    file.write(os.urandom(200000))
                    file.flush()
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                with open(path, "rb") as file:
                    while file.read(65536):
                        pass
                os.stat(path)


def processes():
    for _ in range(3):
        subprocess.run([sys.executable, "-S", "-c", "import json"], check=False)
    with contextlib.suppress(OSError):
        os.close(-1)
    with contextlib.suppress(OSError):
        os.stat("/none")
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def devices():
    for path in glob.glob("/sys/bus/pci/devices/*/config"):
        with open(path, "rb") as file:
            file.read()


def cgroup_files():
    for path in glob.glob("/sys/fs/cgroup/*.stat") + glob.glob("/sys/fs/cgroup/*/*.stat"):
        with open(path, "rb") as file:
            file.read()


def in_cgroup(limits, *command):
    """In one of its own, where all are cgroup2."""
    top = "/sys/fs/cgroup"
    if not os.path.exists(f"{top}/cgroup.controllers"):
        raise OSError("not all cgroups are cgroup2")
    with open(f"{top}/cgroup.subtree_control", "w", encoding="ascii") as file:
        file.write(" ".join("+" + name.split(".")[0] for name in limits))
    path = f"{top}/foreign"
    if not os.path.exists(path):
        os.mkdir(path)
        # Not before: its name is asked for when all is over.
        atexit.register(os.rmdir, path)
    for name, value in limits.items():
        with open(f"{path}/{name}", "w", encoding="ascii") as file:
            file.write(value)
    subprocess.run(["sh", "-c", f'echo $$ >{path}/cgroup.procs; exec "$@"', "sh", *command], check=False,
                   timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def throttled():
    in_cgroup({"cpu.max": "2000 20000"}, sys.executable, "-S", "-c",
              "import time; end = time.process_time() + 0.05\nwhile time.process_time() < end: pass")


def reclaimed():
    in_cgroup({"memory.high": "16M"}, "dd", "if=/dev/zero", "of=/var/tmp/foreign", "bs=1M", "count=40")
    os.unlink("/var/tmp/foreign")
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")


FRAGMENTS = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as r:
    r.bind(("127.0.0.1", 0))
    for _ in range(5): s.sendto(b"x" * 6000, r.getsockname())
"""
LOSSES = """
import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0)); s.listen()
    c = socket.create_connection(s.getsockname()); p = s.accept()[0]; p.settimeout(20)
    for _ in range(100):
        c.sendall(b"x" * 2000)
        got = 0
        while got < 2000: got += len(p.recv(2000))
"""


def in_network(setup, program):
    subprocess.run(["unshare", "-n", "sh", "-ec", f'{setup}\nexec "$@"', "sh", sys.executable, "-S", "-c", program],
                   check=False, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fragments():
    in_network("ip link set lo up mtu 1500", FRAGMENTS)


def losses():
    in_network("ip link set lo up; tc qdisc add dev lo root netem loss 5%", LOSSES)


PARTS = (tcp, udp, icmp, unix, files, processes, devices, cgroup_files, throttled, reclaimed, fragments, losses)


def stir(rounds):
    """{part: why it did nothing}"""
    failed = {}
    for _ in range(rounds):
        for part in PARTS:
            if part.__name__ in failed:
                continue
            try:
                part()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                failed[part.__name__] = str(error)
    return failed


if __name__ == "__main__":
    print(stir(1))
