#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a removed package leaves of an administrator's configuration: a collectd that finds no plugin ebpf does not start with
it, starts when the package's switch_conf.py has made comments, and has each byte back afterwards. collectd itself decides: it
reads each configuration with a PluginDir that lacks the plugin."""

import os
import re
import shutil
import subprocess
import sys

from e2e import TOP, Check, Skip

COLLECTD = os.environ.get("COLLECTD") or shutil.which("collectd")
LIBRARY = os.path.join(TOP, "contrib", "lib")
# The machine's collectd is one that reads this file.
SWITCH = ("import runpy, sys; sys.path.insert(0, sys.argv[1]); sys.argv[:2] = []; import collectd_conf\n"
          "collectd_conf.DEFAULTS = sys.argv.pop(0),; runpy.run_path(sys.argv[0])")
LOADED = "LoadPlugin ebpf\n"
# {what: ({file: text}, is it loaded?)}; % is the directory, collectd.conf includes d/*.conf
CASES = {
    "a line": ({"d/a.conf": LOADED}, True),
    "nothing": ({"d/a.conf": "# LoadPlugin ebpf\n"}, False),
    "in collectd.conf": ({"collectd.conf": LOADED}, True),
    "quotes and another case": ({"d/a.conf": '  loadplugin\t"EBPF"# LoadPlugin no\n'}, True),
    "continued": ({"d/a.conf": 'LoadPlugin \\\n  \\\r\n "eb\\\n   pf"\n'}, True),
    "a block": ({"d/a.conf": "< LoadPlugin ebpf >\n  Interval 5\n</LoadPlugin>\n"}, True),
    "line ends of DOS": ({"d/a.conf": "# of DOS\r\nLoadPlugin ebpf\r\n<Plugin ebpf>\r\n  MaxServices 5\r\n</Plugin>\r\n"}, True),
    "no line end": ({"d/a.conf": "# \xe4\n<Plugin ebpf>\n  A 1\n</Plugin>\nLoadPlugin ebpf\n# LoadPlugin ebpf"}, True),
    "how-to": ({"d/a.conf": LOADED + '\n<Plugin ebpf>\n  <Service "a > b">\n    Unit "<Plugin x>" # >\n  </Service>\n'
                            '  Text "LoadPlugin \\"x\\"\n</Plugin>\nz"\n</Plugin>\n\nLoadPlugin load\n'}, True),
    "a block that loads": ({"d/a.conf": "AutoLoadPlugin true\n<Plugin Ebpf>\n  MaxServices 5\n</Plugin>\n"}, True),
    "of others": ({"d/a.conf": 'LoadPlugin load\n<Plugin other>\n  File "\nLoadPlugin ebpf\n"\n</Plugin>\n<Plugin "threshold">\n'
                               '  <Plugin "ebpf">\n    Instance "a"\n  </Plugin>\n</Plugin>\n'}, False),
    "filtered": ({"collectd.conf": '<Include "%/e">\n  Filter "*.conf"\n</Include>\n', "e/a.bak": LOADED,
                  "e/.a.conf": LOADED, "e/f/a.conf": LOADED}, True),
    "left out by a filter": ({"collectd.conf": '<Include "%/e">\n  Filter "*.conf"\n</Include>\n', "e/a.bak": LOADED}, False),
    "seven files deep": ({"d/a.conf": 'Include "%/e/2"\n', **{f"e/{n}": f'Include "%/e/{n + 1}"\n' for n in range(2, 7)},
                          "e/7": LOADED}, True),
    "two patterns": ({"collectd.conf": 'Include "%/e/[ab].conf %/f"\n', "e/b.conf": LOADED, "f/c": LOADED}, True),
}


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)


def write(top, files):
    """The configuration; returns its path."""
    main = f'BaseDir "{top}"\nPluginDir "{top}/plugins"\nPIDFile "{top}/pid"\nLoadPlugin load\nInclude "{top}/d/*.conf"\n'
    for name, text in {"d/0.conf": "#\n", **files, "collectd.conf": main + files.get("collectd.conf", "")}.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.replace("%", top).encode("latin-1"))
    os.makedirs(os.path.join(top, "plugins"))
    shutil.copy(plugin_directory() + "/load.so", os.path.join(top, "plugins"))
    return os.path.join(top, "collectd.conf")


def plugin_directory():
    return re.search(r"Plugin directory\s+(\S+)", run(COLLECTD, "-h").stdout).group(1)


def contents(top):
    found = {}
    for directory, _, names in os.walk(top):
        for path in (os.path.join(directory, name) for name in names):
            if os.path.isfile(path) and not path.endswith(("/pid", ".so")):
                with open(path, "rb") as file:
                    status = os.lstat(path)
                    found[os.path.relpath(path, top)] = (file.read(), status.st_mode, status.st_uid, status.st_gid)
    return found


def starts(conf):
    """Does collectd accept it? None: it fails for another reason than the plugin."""
    done = run(COLLECTD, "-T", "-C", conf)
    lacks = 'could not find plugin "ebpf"' in (done.stdout + done.stderr).lower()
    return True if done.returncode == 0 and not lacks else False if lacks else None


def switch(conf, word, *own):
    return run(sys.executable, "-B", "-c", SWITCH, LIBRARY, conf, os.path.join(LIBRARY, "switch_conf.py"), word, *own)


def test_cases(test):
    for number, (what, (files, loaded)) in enumerate(CASES.items()):
        top = os.path.join(test.dir, str(number))
        conf = write(top, files)
        before = contents(top)
        test.equal(f"{what}: collectd starts with it", starts(conf), not loaded)
        off = switch(conf, "off")
        test.equal(f"{what}: off", (off.returncode, off.stderr), (0, ""))
        changed = [name for name, file in contents(top).items() if file != before[name]]
        test.equal(f"{what}: each file that changes is named", sorted(re.findall(r"^collectd-ebpf: (\S+):", off.stdout, re.M)),
                   sorted(os.path.join(top, name) for name in changed))
        test.equal(f"{what}: collectd starts then", starts(conf), True)
        switch(conf, "on")
        test.equal(f"{what}: on again", contents(top) == before, True)


def test_files(test):
    """Owner and mode stay, a link stays one, the package's own file stays, and what cannot be read is said in a sentence."""
    top = os.path.join(test.dir, "files")
    conf = write(top, {"d/a.conf": LOADED, "d/own.conf": LOADED, "elsewhere": LOADED})
    os.symlink("../elsewhere", os.path.join(top, "d", "link.conf"))
    os.symlink("nowhere", os.path.join(top, "d", "dangling.conf"))
    os.mkfifo(os.path.join(top, "d", "fifo.conf"))
    os.chmod(os.path.join(top, "elsewhere"), 0o640)
    if os.geteuid() == 0:
        os.chown(os.path.join(top, "elsewhere"), 1234, 4321)
    before = contents(top)
    done = switch(conf, "off", os.path.join(top, "d", "own.conf"))
    after = contents(top)
    test.equal("files: those that change", sorted(name for name in after if after[name] != before[name]),
               ["d/a.conf", "d/link.conf", "elsewhere"])
    test.equal("files: owner and mode stay", [file[1:] for file in after.values()], [file[1:] for file in before.values()])
    test.true("files: the link is one", os.path.islink(os.path.join(top, "d", "link.conf")))
    test.equal("files: status", (done.returncode, done.stderr), (0, ""))
    test.equal("files: once more changes nothing", switch(conf, "off", os.path.join(top, "d", "own.conf")).stdout, "")
    switch(conf, "on")
    test.equal("files: as before", contents(top), before)
    for what, text in (("no quote's end", 'LoadPlugin "ebpf\n'), ("no block's end", "<Plugin ebpf>\n<<>\n"),
                       ("zeros", "\0\xff" * 99), ("itself", f'Include "{top}"\n'),
                       ("a pattern that is none", "Include \"'x\"\nInclude \"a\0b\"\n")):
        with open(os.path.join(top, "d", "a.conf"), "w", encoding="latin-1") as file:
            file.write(text)
        done = switch(conf, "off")
        test.equal(f"odd: {what}", (done.returncode, done.stderr), (0, ""))
    done = switch(os.path.join(top, "d"), "off")
    test.equal("odd: a directory", (done.returncode, done.stderr.count("\n")), (1, 1))
    test.contains("odd: a directory", done.stderr, "cannot be read")


def main():
    with Check() as test:
        if not COLLECTD:
            raise Skip("there is no collectd")
        test_cases(test)
        test_files(test)


main()
