# SPDX-License-Identifier: MIT
"""Writes files to directories that others may be able to write to as well, as that of a web server or one below /tmp.

Each access is by the descriptor of a directory. Links are followed only on the way to the directory, and only those of
root and of this user. A file is written under a random name and then renamed, which replaces a link of that name. So
another writer of the directory cannot redirect a write to a file elsewhere.
"""

import contextlib
import errno
import os
import secrets
import stat

LINKS = 40  # links in one path, the kernel's own limit
PASS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _read_link(name, directory):
    """The target of a link that is owned by root or by this user."""
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
    """Opens a subdirectory and makes it if it is missing."""
    try:
        return os.open(name, flags, dir_fd=directory)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
        return os.open(name, flags, dir_fd=directory)


class Folder:
    def __init__(self, handle, path):
        """path: used in messages only"""
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
        """The subdirectory of this name, which must not be a link."""
        try:
            return Folder(_enter(name, self.handle, READ), os.path.join(self.path, name))
        except OSError as error:
            raise self._named(error, name) from None

    def write(self, name, text):
        """Writes text or bytes. A concurrent reader gets either the whole old file or the whole new one."""
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
        """The first bytes of a file; b"" if it is not a regular one."""
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

    def remove_empty(self):
        """Removes subdirectories that have no file."""
        for name in self.names():
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=self.handle)


def open_folder(path):
    """Opens a directory and makes what is missing of its path."""
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
