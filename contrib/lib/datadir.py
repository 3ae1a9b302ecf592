# SPDX-License-Identifier: MIT
"""Changes the tree of collectd's rrdtool and rrdcached plugins: DIR/HOST/ebpf-SERVICE/NAME.rrd.

Each access is by the descriptor of a directory and a name without slashes. So no link below DIR is followed, and no file
outside of DIR or of another plugin is touched, whatever the names are.
"""

import contextlib
import errno
import os
import stat

import rrd_file
from name import PREFIX, of_directory
from tool import Trouble

ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LONGEST = 127   # bytes of a plugin instance
END = ".rrd"


def directory_of(service):
    """The directory's name for a service that the user named. Raises Trouble if the name is invalid."""
    if (not service or "/" in service or not service.isprintable() or service.strip() != service
            or len(os.fsencode(service)) > LONGEST):
        raise Trouble(f"{service!r} is not the name of a service: it has 1 to {LONGEST} bytes, no slash, no control "
                      "character and no space at either end")
    return PREFIX + service


class File:
    """An RRD file of a service."""

    def __init__(self, file_name, updated, size):
        self.name, self.updated, self.size = file_name, updated, size


class Directory:
    """An open directory below DIR."""

    def __init__(self, path, handle):
        """path: used in messages and in requests to rrdcached"""
        self.path, self.handle = path, handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.handle)

    def _mode(self, name):
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False).st_mode

    def enter(self, name):
        """Raises Trouble if it is missing or not a directory."""
        path = os.path.join(self.path, name)
        try:
            return Directory(path, os.open(name, ENTER, dir_fd=self.handle))
        except OSError as error:
            link = error.errno in (errno.ELOOP, errno.ENOTDIR) and stat.S_ISLNK(self._mode(name))
            raise Trouble(f"{path}: " + ("a symbolic link, which is not followed" if link
                                         else os.strerror(error.errno))) from None

    def directories(self):
        """The names of its subdirectories, without links."""
        names = []
        for name in sorted(os.listdir(self.handle)):
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISDIR(self._mode(name)):
                    names.append(name)
        return names

    def services(self):
        """{service: name of its directory}"""
        return {of_directory(name): name for name in self.directories() if of_directory(name)}

    def files(self, report):
        """Its RRD files. Calls tell(path, reason) for each other entry."""
        found = []
        for name in sorted(os.listdir(self.handle)):
            path = os.path.join(self.path, name)
            if not name.endswith(END):
                report(path, "is not called *.rrd")
                continue
            try:
                found.append(File(name, *rrd_file.last_update(name, self.handle)))
            except FileNotFoundError:
                pass
            except ValueError as error:
                report(path, str(error))
            except OSError as error:
                report(path, "is a symbolic link" if error.errno == errno.ELOOP else os.strerror(error.errno))
        return found

    def remove_file(self, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.handle)

    def remove_empty(self, name):
        """Removes a subdirectory if it is empty."""
        try:
            os.rmdir(name, dir_fd=self.handle)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise

    def rename(self, old, new):
        """Never replaces an existing name, except an empty directory."""
        os.rename(old, new, src_dir_fd=self.handle, dst_dir_fd=self.handle)


def open_tree(path):
    """Opens DIR, which may be a link, because the operator named it."""
    try:
        return Directory(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError as error:
        raise Trouble(f"{path}: {os.strerror(error.errno)}; --rrd names the DataDir of collectd's rrdtool or rrdcached "
                      "plugin") from None
