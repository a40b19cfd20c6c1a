#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Both sides of tests/host/rootless.sh.

  container.py marks COMMAND...   run a command with a socket for marks, as a verb of jetwatt does, and
                                  print the marks that arrive, each with the process id of the kernel
  container.py job                in the container: measure 0.9 s, mark three steps, print one line
"""
import os
import socket
import struct
import subprocess
import sys
import time


def marks(command):
    receive, send = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    receive.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    # Use a descriptor other than 3, with two digits.
    os.dup2(send.fileno(), 12)
    status = subprocess.call(command, pass_fds=[12], env=dict(os.environ, JETWATT_MARK_FD="12"))
    receive.setblocking(False)
    while True:
        try:
            data, control, _, _ = receive.recvmsg(256, 256)
        except BlockingIOError:
            return status
        print("mark", data.decode().split(" @")[0], "pid", struct.unpack("3i", control[0][2])[0])


def job():
    import jetwatt
    with jetwatt.measure("job") as m:
        for _ in range(3):
            time.sleep(0.3)
            jetwatt.mark()
    print("joules %.1f in %.2f s source %s scope %s" % (m.joules, m.seconds, m.source, m.scope.split()[0]))
    return 0


sys.exit(marks(sys.argv[2:]) if sys.argv[1] == "marks" else job())
