# SPDX-License-Identifier: MIT
"""Reads what a collectd.conf and its includes say about the ebpf plugin."""

import fnmatch
import glob
import os
import re

DEFAULTS = ("/etc/collectd/collectd.conf", "/etc/collectd.conf", "/opt/collectd/etc/collectd.conf")
DEEPEST = 8             # nested includes, collectd's own limit
SIZE_MAX = 1 << 20      # bytes of a file
TYPES = "/usr/share/collectd/types.db"


class Trouble(Exception):
    """The file cannot be read. The text says why."""


def words(line):
    """A line's words without quotes, brackets of blocks, and comments."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(#.*)|([^\s"#]+)', line)
    return [(quoted or plain).rstrip(">") for quoted, comment, plain in found if not comment and (quoted or plain) != ">"]


class Configuration:
    def __init__(self):
        self.path = ""
        self.plugins = []           # of LoadPlugin, in order
        self.blocks = []            # the lines of each <Plugin ebpf>
        self.types = []
        self.plugin_dir = ""        # that ebpf is loaded from; "": collectd's default
        self.directory = ""         # the last PluginDir
        self.interval = 10.0

    def loads(self):
        return "ebpf" in self.plugins

    def lines(self, *options):
        """The lines with these options of the plugin, outside of nested blocks."""
        found, depth = [], 0
        for line in (line for block in self.blocks for line in block):
            text = line.strip()
            depth += text.startswith("<") and not text.startswith("</")
            if depth == 0 and words(text)[:1] and words(text)[0].lower() in map(str.lower, options):
                found.append(line)
            depth -= text.startswith("</")
        return found

    def value(self, option, default=""):
        """The last value of an option of the plugin."""
        found = [words(line) for line in self.lines(option)]
        return found[-1][1] if found and len(found[-1]) > 1 else default

    def services(self):
        """The names of Service blocks in the form that series have."""
        found = (words(line) for block in self.blocks for line in block if line.strip().lower().startswith("<service"))
        return {re.sub(r"[^A-Za-z0-9_.@:+-]", "_", names[1]) for names in found if len(names) > 1}

    def without(self, block):
        """The plugin's lines without blocks of this kind."""
        text = "\n".join(line for lines in self.blocks for line in lines)
        return re.sub(rf"^\s*<{block}\s*>.*?^\s*</{block}>[^\n]*$", "", text, flags=re.M | re.S | re.I)

    # --- reading

    def _include(self, pattern, only, depth):
        for path in sorted(glob.glob(pattern)):
            if os.path.isdir(path):
                inside = [os.path.join(path, name) for name in sorted(os.listdir(path)) if fnmatch.fnmatch(name, only)]
                for one in filter(os.path.isfile, inside):
                    self.read(one, depth + 1)
            elif fnmatch.fnmatch(os.path.basename(path), only):
                self.read(path, depth + 1)

    def _apply(self, option, value, depth):
        if option == "interval" and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{0,9})?", value) and float(value) > 0:
            self.interval = float(value)
        elif option == "typesdb":
            self.types.append(value)
        elif option == "plugindir":
            self.directory = value
        elif option in ("loadplugin", "<loadplugin"):
            self.plugins.append(value)
            self.plugin_dir = self.directory if value == "ebpf" else self.plugin_dir
        elif option == "include":
            self._include(value, "*", depth)

    def _block(self, lines):
        """Reads the lines of a block up to its end."""
        option, *values = words(lines[0])
        if (option.lower(), values[:1]) == ("<plugin", ["ebpf"]):
            self.blocks.append(lines[1:-1])
        elif option.lower() == "<loadplugin":
            self._apply("<loadplugin", values[0] if values else "", 0)
            for line in lines[1:-1] if values == ["ebpf"] else ():
                self._apply(*(word.lower() for word in [*words(line), "", ""][:2]), 0)

    def read(self, path, depth=0):
        """Raises Trouble if the file cannot be read."""
        if depth > DEEPEST:
            return
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read(SIZE_MAX).splitlines()
        except OSError as error:
            raise Trouble(f"{path}: {error.strerror}") from error
        block, level = [], 0
        for line in lines:
            option, value = [*words(line), "", ""][:2]
            level += option.startswith("<") and not option.startswith("</")
            if level:
                block.append(line)
            else:
                self._apply(option.lower(), value, depth)
            level -= option.startswith("</")
            if block and level <= 0:
                self._include_block(block, depth) if words(block[0])[0].lower() == "<include" else self._block(block)
                block, level = [], 0

    def _include_block(self, lines, depth):
        inside = [[*words(line), "", ""][:2] for line in lines]
        only = next((value for option, value in inside if option.lower() == "filter"), "*")
        self._include(inside[0][1], only, depth)


def load(path):
    """The configuration in this file, or, with None, that of the machine's collectd if there is one. Raises Trouble if it
    cannot be read."""
    found = Configuration()
    found.path = path or next((one for one in DEFAULTS if os.path.exists(one)), "")
    if found.path:
        found.read(found.path)
    return found
