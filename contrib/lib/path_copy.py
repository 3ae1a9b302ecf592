# SPDX-License-Identifier: MIT
"""Copies what is on a path without what is in it: directories and links with their owners and modes, files empty. A program that
runs on the copy meets the same rights as on the path."""

import os
import stat


def _make(real, made, found, tree):
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        os.mkdir(made)
    elif kind == stat.S_IFLNK:
        target = os.readlink(real)
        os.symlink(tree + target if target.startswith("/") else target, made)
    else:
        os.mknod(made, stat.S_IFREG)
    os.chown(made, found.st_uid, found.st_gid, follow_symlinks=False)
    if kind == stat.S_IFLNK:
        copy(os.path.join(os.path.realpath(os.path.dirname(real)), target), tree)
    else:
        os.chmod(made, stat.S_IMODE(found.st_mode))


def copy(path, tree):
    """Copies as much of an absolute path as there is to below the directory `tree`. Returns the path of the copy."""
    real = ""
    for name in filter(None, os.path.normpath(path).split("/")):
        real += "/" + name
        try:
            found = os.lstat(real)
        except OSError:
            break
        if not os.path.lexists(tree + real):
            _make(real, tree + real, found, tree)
    return tree + path
