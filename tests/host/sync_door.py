# SPDX-License-Identifier: GPL-2.0-only
"""Replacement of systemd for jetwatt-profiles.socket: starts a jetwatt-sync --serve for each
connection. Run by sync.sh. sync_door.py SOCKET COMMAND...; with - for SOCKET: send packets of noise
to the command."""
import os
import random
import socket
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]


def start(end):
    return subprocess.Popen(command, stdin=end, stdout=subprocess.DEVNULL, stderr=sys.stderr)


if path != "-":
    door = socket.socket(socket.AF_UNIX)
    door.bind(path)
    os.chmod(path, 0o666)
    door.listen()
    while True:
        end, _ = door.accept()
        start(end)
        end.close()

# Send random bytes, every second time after a valid first word: each time, the server must disconnect
# and exit with status 1.
rng = random.Random(int(os.environ.get("SEED", "1")))
for i in range(40):
    ours, its = socket.socketpair()
    child = start(its)
    its.close()
    size = rng.choice([1, 100, 5000, 200000])
    packet = bytearray(rng.randbytes(size))
    if i % 2:
        packet[:4] = (1).to_bytes(4, sys.byteorder)
    try:
        ours.sendall(packet)
        ours.shutdown(socket.SHUT_WR)
        ours.settimeout(60)
        got = ours.recv(1)
    except OSError:
        got = b""
    ours.close()
    if got or child.wait(60) != 1:
        sys.exit(f"round {i}: answered {got!r}, status {child.returncode}")
