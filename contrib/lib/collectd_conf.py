# SPDX-License-Identifier: MIT
"""Reads what a collectd.conf and its includes say about the ebpf plugin, as collectd 5.12 reads them."""

import collections
import fnmatch
import glob
import os
import re
import shlex

DEFAULTS = ("/etc/collectd/collectd.conf", "/etc/collectd.conf", "/opt/collectd/etc/collectd.conf")
DEEPEST = 8             # nested includes, collectd's own limit
SIZE_MAX = 1 << 20      # bytes of a file
TYPES = "/usr/share/collectd/types.db"
# A backslash at its end continues a line, and quotes may hold ends of lines.
TOKEN = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|#[^\n]*|\\\r?\n|(?P<end>\n)|(?P<bracket>[<>])|(?P<plain>[^\s"#<>\\]+)', re.S)
# A line as collectd has it, and the first and the last of the file's that it is made of, from 0.
Line = collections.namedtuple("Line", "text first last")


class Trouble(Exception):
    """The file cannot be read. The text says why."""


def unquoted(text):
    return re.sub(r"\\(.)", r"\1", re.sub(r"\\\r?\n[ \t]*", "", text), flags=re.S)


def words(line):
    """A line's words without quotes, brackets of blocks, and comments; the first one of a block's line keeps its "<"."""
    found, bracket = [], ""
    for token in TOKEN.finditer(line):
        if token["bracket"]:
            bracket = token["bracket"].strip(">")
        elif token["plain"] or token["quoted"] is not None:
            found.append(bracket + (token["plain"] or unquoted(token["quoted"])))
            bracket = ""
    return found


def lines_of(text):
    """The lines that say something."""
    number, begin, first = 0, None, 0
    for token in TOKEN.finditer(text + "\n"):
        if token["end"] and begin is not None:
            yield Line(text[begin:token.start()], first, number)
            begin = None
        elif begin is None and (token["plain"] or token["bracket"] or token["quoted"] is not None):
            begin, first = token.start(), number
        number += token[0].count("\n")


def items_of(text):
    """What is outside of blocks: [its lines, ...], of a block all from the first to the last one."""
    item, depth = [], 0
    for line in lines_of(text):
        start = "".join(words(line.text)[:1])
        depth += start.startswith("<") and not start.startswith("</")
        item.append(line)
        depth -= start.startswith("</")
        if depth <= 0:
            yield item
            item, depth = [], 0


def expanded(pattern):
    """The paths that a shell would make of it."""
    try:
        found = [os.path.expanduser(os.path.expandvars(word)) for word in shlex.split(pattern)]
    except ValueError:
        return []
    return sorted(path for word in found for path in glob.glob(word) or [word])


class Configuration:
    def __init__(self):
        self.path = ""
        self.files = []             # (path, [(first, last) line that loads or configures ebpf, ...]), as they are read
        self.plugins = []           # that are loaded, in order
        self.blocks = []            # the lines of each <Plugin ebpf>
        self.types = []
        self.plugin_dir = ""        # that ebpf is loaded from; "": collectd's default
        self.directory = ""         # the last PluginDir
        self.interval = 10.0
        self.settings = {}          # {(plugin, or "", option): the last value}; the keys are in lower case
        self._loads_by_block = False
        self._within = []           # files and directories that are being read

    def loads(self):
        return "ebpf" in self.plugins

    def lines(self, *options):
        """The lines with these options of the plugin, outside of nested blocks."""
        found, depth = [], 0
        for line in (line for block in self.blocks for line in block):
            start = "".join(words(line)[:1])
            depth += start.startswith("<") and not start.startswith("</")
            if depth == 0 and start.lower() in map(str.lower, options):
                found.append(line)
            depth -= start.startswith("</")
        return found

    def value(self, option, default=""):
        """The last value of an option of the plugin."""
        found = [words(line) for line in self.lines(option)]
        return found[-1][1] if found and len(found[-1]) > 1 else default

    def services(self):
        """The names of Service blocks in the form that series have."""
        blocks = (words(line) for block in self.blocks for line in block)
        found = (names[1] for names in blocks if len(names) > 1 and names[0].lower() == "<service")
        return {re.sub(r"[^A-Za-z0-9_.@:+-]", "_", name) for name in found}

    # --- reading

    def _include(self, path, only, depth):
        """A file that includes itself keeps collectd from starting; here it is read once."""
        is_directory = os.path.isdir(path)
        if not is_directory and not (os.path.isfile(path) and fnmatch.fnmatch(os.path.basename(path), only)):
            return
        real = os.path.realpath(path)
        if depth >= DEEPEST or real in self._within:
            return
        self._within.append(real)
        if is_directory:
            for name in sorted(name for name in os.listdir(path) if not name.startswith(".")):
                self._include(os.path.join(path, name), only, depth)
        else:
            self.read(path, depth)
        self._within.pop()

    def _set_interval(self, value):
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{0,9})?", value) and float(value) > 0:
            self.interval = float(value)

    def _load(self, plugin, inside):
        self.plugins.append(plugin)
        if plugin != "ebpf":
            return
        self.plugin_dir = self.directory
        for option, value in (words(line.text)[:2] for line in inside if len(words(line.text)) > 1):
            if option.lower() == "interval":
                self._set_interval(value)

    def _apply(self, item, depth):
        """An option, or a block; collectd reads names of options and of plugins in any case."""
        option, value = [*words(item[0].text), "", ""][:2]
        option, plugin, inside = option.lower().lstrip("<"), value.lower(), item[1:-1]
        if len(item) == 1:
            self.settings["", option] = value
        if option == "interval":
            self._set_interval(value)
        elif option == "typesdb":
            self.types.append(value)
        elif option == "plugindir":
            self.directory = value
        elif option == "autoloadplugin":
            self._loads_by_block = plugin in ("true", "yes", "on")
        elif option == "loadplugin":
            self._load(plugin, inside)
        elif option == "plugin":
            if self._loads_by_block:
                self._load(plugin, ())
            if plugin == "ebpf":
                self.blocks.append([line.text for line in inside])
            else:
                self.settings |= {(plugin, names[0].lower()): names[1] for names in map(words, (line.text for line in inside))
                                  if len(names) > 1}
        elif option == "include":
            only = "*"
            for name, pattern in (words(line.text)[:2] for line in inside if len(words(line.text)) > 1):
                only = pattern if name.lower() == "filter" else only
            for path in expanded(value):
                self._include(path, only, depth + 1)
        return option in ("loadplugin", "plugin") and plugin == "ebpf"

    def read(self, path, depth=0):
        """Raises Trouble if the file cannot be read."""
        try:
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                text = file.read(SIZE_MAX)
        except OSError as error:
            raise Trouble(f"{path}: {error.strerror}") from error
        ours = []
        self.files.append((path, ours))
        for item in items_of(text):
            if self._apply(item, depth):
                ours.append((item[0].first, item[-1].last))


def load(path):
    """The configuration in this file, or, with None, that of the machine's collectd if there is one. Raises Trouble if it
    cannot be read."""
    found = Configuration()
    found.path = path or next((one for one in DEFAULTS if os.path.exists(one)), "")
    if found.path:
        found.read(found.path)
    return found
