# SPDX-License-Identifier: LGPL-2.1-only
"""Marks: tell the verb of jetwatt that has started this program where its minibatches are.

The protocol is that of user/lib/mark.c: a mark is a datagram "[begin |end ]NAME @NS/TID/LOST/0" on
the socket whose descriptor is in the environment variable JETWATT_MARK_FD. A mark takes a few
microseconds; if the program is not measured, only the name is checked. Writing never blocks.
"""
import errno
import fcntl
import os
import socket
import threading
import time
from typing import Dict, Optional

from .errors import JetwattError

ENVIRONMENT = "JETWATT_MARK_FD"
NAME_MAX = 63

_UNKNOWN = -2
_fd = _UNKNOWN
_offset_ns = 0      # of CLOCK_MONOTONIC in this time namespace
_lost = 0           # marks that were lost since the last one that was sent
_names: Dict[str, str] = {}     # up to 1000 valid names, each of which is checked only once
_GONE = (errno.ECONNREFUSED, errno.EPIPE, errno.EBADF, errno.ENOTCONN, errno.ECONNRESET)


def _descriptor() -> int:
    """Return a duplicate of the recorder's descriptor; -1: this program is not measured.

    A program started with close_fds may have another file at this number, so only a datagram socket
    of the family AF_UNIX, as jetwatt_mark_pair() makes it, is accepted.
    """
    global _offset_ns
    text = os.environ.get(ENVIRONMENT, "")
    if not text.isdigit() or int(text) > 1 << 20:
        return -1
    try:
        fd = fcntl.fcntl(int(text), fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        return -1
    try:
        s = socket.socket(fileno=fd)
        fd = s.detach() if s.family == socket.AF_UNIX and s.type & 0xf == socket.SOCK_DGRAM else -1
        s.close()
    except OSError:
        os.close(fd)
        return -1
    try:
        with open("/proc/self/timens_offsets", encoding="ascii") as f:
            for line in f:
                word = line.split()
                if word[0] == "monotonic":
                    _offset_ns = int(word[1]) * 1000000000 + int(word[2])
    except OSError:
        pass
    return fd


def recorded() -> bool:
    """Return whether this program is measured: a verb of jetwatt that receives marks has started it."""
    global _fd
    if _fd == _UNKNOWN:
        _fd = _descriptor()
    return _fd >= 0


def _check(name: str) -> str:
    if not 1 <= len(name) <= NAME_MAX or any(not "!" <= c <= "~" or c == "@" for c in name):
        raise JetwattError("%r cannot be the name of a mark" % name, "",
                           "use 1 to 63 printable ASCII characters, without spaces and @")
    if len(_names) < 1000:
        _names[name] = name
    return name


def _send(verb: str, name: str) -> bool:
    global _lost
    now = time.monotonic_ns()
    if name not in _names:
        _check(name)
    if _fd < 0 and not recorded():
        return False
    missed, _lost = _lost, 0
    line = "%s%s @%d/%d/%d/0\n" % (verb, name, now - _offset_ns, threading.get_native_id(), missed)
    try:
        os.write(_fd, line.encode("ascii"))
        return True
    except OSError as e:
        if e.errno not in _GONE:
            # The socket's buffer is full: the next mark reports the loss.
            _lost += missed + 1
        return False


def mark(name: str = "step") -> bool:
    """Mark the end of one minibatch and the start of the next one.

    name: 1 to 63 printable ASCII characters, without spaces and @

    Return: True if the mark was sent; False: this program is not measured, or the mark is lost.
    """
    return _send("", name)


def mark_begin(name: str = "step") -> bool:
    """Mark the start of a minibatch; mark_end() in the same thread marks its end."""
    return _send("begin ", name)


def mark_end(name: str = "step") -> bool:
    """Mark the end of a minibatch."""
    return _send("end ", name)


def _reset(fd: Optional[int] = None) -> None:
    """Use this descriptor; None: read the environment again at the next mark. For tests."""
    global _fd, _lost
    if _fd >= 0:
        os.close(_fd)
    _fd, _lost = _UNKNOWN if fd is None else fd, 0
