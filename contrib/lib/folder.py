# SPDX-License-Identifier: MIT
"""Directories that files are written to, which others may be able to write to as well: a web server's, one below /tmp.

All is done by handles of directories. The only links that are followed are root's and one's own, on the way to the
directory; a file is rewritten under a random name, and takes the place of what had its name. So whoever else can write
there gets what is drawn, and decides about no file elsewhere.
"""

import contextlib
import errno
import os
import secrets
import stat

LINKS = 40  # on one way, as for the kernel
PASS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _read_link(name, directory):
    """Where a link leads that is root's or one's own."""
    link = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        found = os.fstat(link)
        if not stat.S_ISLNK(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if found.st_uid not in (0, os.geteuid()):
            raise PermissionError(errno.EPERM, f"the link {name} is another user's (uid {found.st_uid}) and is not "
                                  "followed; name the directory that is meant, or another one")
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)


def _enter(name, directory, flags):
    """A directory below another; it is made if it is missing."""
    try:
        return os.open(name, flags, dir_fd=directory)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
        return os.open(name, flags, dir_fd=directory)


class Folder:
    def __init__(self, handle, path):
        """path: for messages alone"""
        self.handle, self.path = handle, path

    def close(self):
        os.close(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _named(self, error, name):
        return type(error)(error.errno, error.strerror, os.path.join(self.path, name))

    def folder(self, name):
        """The one below it of this name, which is no link."""
        try:
            return Folder(_enter(name, self.handle, READ), os.path.join(self.path, name))
        except OSError as error:
            raise self._named(error, name) from None

    def write(self, name, text):
        """Text, or bytes as they are. Who reads meanwhile has the whole file, the old or the new one."""
        new = f".{secrets.token_hex(8)}.new"
        try:
            handle = os.open(new, NEW, 0o666, dir_fd=self.handle)
            try:
                with open(handle, "wb") as file:
                    file.write(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
                os.replace(new, name, src_dir_fd=self.handle, dst_dir_fd=self.handle)
            except BaseException:
                os.unlink(new, dir_fd=self.handle)
                raise
        except OSError as error:
            raise self._named(error, name) from None

    def begin_of(self, name, length):
        """The first bytes of a file; none of what is no regular one."""
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.handle)
        except OSError:
            return b""
        with open(handle, "rb") as file:
            return file.read(length) if stat.S_ISREG(os.fstat(handle).st_mode) else b""

    def names(self):
        return os.listdir(self.handle)

    def remove(self, name):
        os.unlink(name, dir_fd=self.handle)


def open_folder(path):
    """Makes what is missing of the path."""
    todo, links = path.split("/")[::-1], 0
    at = os.open("/" if path.startswith("/") else ".", PASS)
    try:
        while todo:
            name = todo.pop()
            if not name:
                continue
            try:
                further = _enter(name, at, PASS)
            except NotADirectoryError:
                target, links = _read_link(name, at), links + 1
                if links > LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
                todo += target.split("/")[::-1]
                further = os.open("/" if target.startswith("/") else ".", PASS, dir_fd=at)
            os.close(at)
            at = further
        return Folder(os.open(".", READ, dir_fd=at), path)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
    finally:
        os.close(at)
