# SPDX-License-Identifier: MIT
"""For packages: python3 unixsock_conf.py FILE copies unixsock.conf, which is in the directory of this file, to FILE, unless
the configuration of the machine's collectd loads the unixsock plugin already."""

import os
import shutil
import sys

import collectd_conf


def main(path):
    if "unixsock" not in collectd_conf.load(None).plugins:
        shutil.copyfile(os.path.join(os.path.dirname(__file__), "unixsock.conf"), path)


main(*sys.argv[1:])
