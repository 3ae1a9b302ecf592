# SPDX-License-Identifier: MIT
"""How BPF objects read members of the kernel's types, and whether they read a running kernel's right: libbpf moves an
access to where the kernel has the member (struct bpf_core_relo in linux/bpf.h), and lets it load more or less only if both
are unsigned and the instruction itself loads. What else has another size is another value, or no program at all, and of a
bit field the bits of its neighbours, unless BPF_CORE_READ_BITFIELD or its like reads them, which ask for the size and the
place of the bits, too.
"""

import bisect
import collections
import re
import struct
import subprocess

from btf import ARRAY, COMPOSITES, Btf, Member, member

BYTE_OFFSET, RIGHT_SHIFT = 0, 5  # the first and the last kind of relocation of a member
LOADS_AND_STORES = (1, 2, 3)     # classes of instructions with an address

# at: the byte in section; root: the number of a type; path: indices of members and elements
Access = collections.namedtuple("Access", "section function at kind root path")


def sections(path):
    """{name: bytes} of an object file."""
    with open(path, "rb") as file:
        data = file.read()
    listed = subprocess.run(["readelf", "-WS", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ *\[ *\d+\] (\S+) +PROGBITS +\S+ (\S+) (\S+)", listed, re.MULTILINE)
    return {name: data[int(at, 16):int(at, 16) + int(size, 16)] for name, at, size in found}


def records(ext, at, size, shape):
    """(offset of the section's name, record) of each record in a part of .BTF.ext."""
    end = at + size
    width, = struct.unpack_from("<I", ext, at)
    at += 4
    while at < end:
        name, count = struct.unpack_from("<II", ext, at)
        at += 8
        yield from ((name, struct.unpack_from(shape, ext, position)) for position in range(at, at + count * width, width))
        at += count * width


def accesses(btf, ext):
    """The accesses to members."""
    header, functions_at, functions_size, _, _, at, size = struct.unpack_from("<IIIIIII", ext, 4)
    functions = collections.defaultdict(list)
    for section, (begin, number) in records(ext, header + functions_at, functions_size, "<II"):
        functions[section].append((begin, btf.types[number].name))
    for section, (begin, root, path, kind) in records(ext, header + at, size, "<IIII") if size else ():
        if kind <= RIGHT_SHIFT:
            function = functions[section][bisect.bisect(functions[section], (begin + 1,)) - 1][1]
            yield Access(btf.string(section), function, begin, kind, root, tuple(map(int, btf.string(path).split(":"))))


def declared(btf, access):
    """([name of a member or index of an element, ...], the last of them)"""
    last, names = Member("", access.root, 0), []
    for index in access.path[1:]:
        if btf.kind(last.type) == ARRAY:
            last = Member("", btf.array(last.type)[0], 0)
            names.append(index)
        else:
            last = list(btf.members(last.type))[index]
            names += [last.name] if last.name else []
    return names, last


def find(btf, number, names):
    """Follows these names in a type. Returns the last member, or None."""
    last = Member("", number, 0)
    for name in names:
        kind = btf.kind(last.type)
        if isinstance(name, int):
            last = Member("", btf.array(last.type)[0], 0) if kind == ARRAY else None
        else:
            last = member(btf, last.type, name) if kind in COMPOSITES else None
        if not last:
            break
    return last


def fault(btf, own, kernel, theirs, loads):
    """The fault in the access to a member, or None. loads: the instruction loads, and does not only compute an address"""
    if own.bits or theirs.bits:
        return "a bit field is read as a whole"
    size, wanted = btf.size(own.type), kernel.size(theirs.type)
    if size == wanted or btf.kind(own.type) in (ARRAY, *COMPOSITES):
        return None
    if loads and btf.is_unsigned(own.type) and kernel.is_unsigned(theirs.type):
        return None
    return f"of {wanted} bytes, read as {size}"


def plain_accesses(btf, parts):
    """The accesses that do not belong to a read of a bit field."""
    found = list(accesses(btf, parts[".BTF.ext"])) if ".BTF.ext" in parts else []
    as_bits = {(access.function, access.root, access.path) for access in found if access.kind == RIGHT_SHIFT}
    return [access for access in found
            if access.kind == BYTE_OFFSET and (access.function, access.root, access.path) not in as_bits]


def faults(path, kernel):
    """(number of accesses in an object, {member: fault})"""
    parts, found = sections(path), {}
    btf = Btf(parts[".BTF"])
    listed = plain_accesses(btf, parts)
    for access in listed:
        root, (names, own) = btf.types[btf.plain(access.root)], declared(btf, access)
        loads = parts[access.section][access.at] & 7 in LOADS_AND_STORES
        for number in kernel.named[root.kind, root.name.partition("___")[0]]:
            theirs = find(kernel, number, names)
            wrong = theirs and fault(btf, own, kernel, theirs, loads)
            if wrong:
                found[".".join(map(str, [root.name, *names]))] = wrong
    return len(listed), found
