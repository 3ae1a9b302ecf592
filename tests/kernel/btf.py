# SPDX-License-Identifier: MIT
"""Parses BTF of the kernel and of BPF objects (Documentation/bpf/btf.rst)."""

import collections
import struct

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT = range(1, 12)
FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(12, 20)
MODIFIERS = (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG)
COMPOSITES = (STRUCT, UNION)
# Bytes after a type: fixed, and for each of its vlen elements.
TAILS = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8), FUNC_PROTO: (0, 8), VAR: (4, 0),
         DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}
POINTER_SIZE = 8

Type = collections.namedtuple("Type", "name kind count has_bits number at")
# bits: of a bit field, else 0; type: number of the type
Member = collections.namedtuple("Member", "name type bits")


class Btf:
    def __init__(self, data):
        _, _, _, header, type_at, type_size, text_at, text_size = struct.unpack_from("<HBBIIIII", data)
        self.data = data
        self.text = data[header + text_at:header + text_at + text_size]
        self.types = [Type("", 0, 0, False, 0, 0)]  # void
        at, end = header + type_at, header + type_at + type_size
        while at < end:
            at = self._read(at)
        self.named = collections.defaultdict(list)
        for number, of in enumerate(self.types):
            self.named[of.kind, of.name].append(number)

    def _read(self, at):
        name, info, number = struct.unpack_from("<III", self.data, at)
        kind, count = info >> 24 & 31, info & 0xffff
        self.types.append(Type(self.string(name), kind, count, bool(info >> 31), number, at + 12))
        fixed, each = TAILS.get(kind, (0, 0))
        return at + 12 + fixed + each * count

    def string(self, at):
        return self.text[at:self.text.index(b"\0", at)].decode()

    def plain(self, number):
        """The type without typedefs and qualifiers."""
        while self.types[number].kind in MODIFIERS:
            number = self.types[number].number
        return number

    def kind(self, number):
        return self.types[self.plain(number)].kind

    def array(self, number):
        """(type of an element, number of elements)"""
        element, _, count = struct.unpack_from("<III", self.data, self.types[self.plain(number)].at)
        return element, count

    def members(self, number):
        of = self.types[self.plain(number)]
        for at in range(of.at, of.at + 12 * of.count, 12):
            name, inner, offset = struct.unpack_from("<III", self.data, at)
            yield Member(self.string(name), inner, offset >> 24 if of.has_bits else 0)

    def size(self, number):
        of = self.types[self.plain(number)]
        if of.kind == ARRAY:
            element, count = self.array(number)
            return count * self.size(element)
        return POINTER_SIZE if of.kind == PTR else of.number

    def is_unsigned(self, number):
        """Whether libbpf sees it as unsigned; of signed members it never loads a different size."""
        of = self.types[self.plain(number)]
        return of.kind == INT and not struct.unpack_from("<I", self.data, of.at)[0] >> 24 & 1


def read_kernel():
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        return Btf(file.read())


def member(btf, number, name):
    """The member of this name, including those of anonymous structs, or None."""
    for found in btf.members(number):
        if found.name == name:
            return found
        if not found.name and btf.kind(found.type) in COMPOSITES:
            inner = member(btf, found.type, name)
            if inner:
                return inner
    return None
