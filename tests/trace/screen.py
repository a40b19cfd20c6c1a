#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Run a program on a pseudo-terminal and print the content of its screen.

  screen.py COLUMNSxLINES SCRIPT -- COMMAND...

SCRIPT: steps separated by commas. A number waits until the program has slept for this time in seconds,
"KxL" resizes the terminal, "key:C" types C, "show" prints the screen, "colors" prints the number of
colours on it. The exit status is that of the command; 99: the command does not end.
"""
import fcntl, os, pty, select, signal, struct, sys, termios, time

import pyte

SLICE = 0.05


def resize(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def state(pid):
    """Return the state of a process as in proc(5)."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0]


def feed(fd, pid, stream, seconds):
    """Pass the output of the program to the screen until it has slept for this time, or has ended.

    Time in which the program runs or waits for a CPU does not count, so that it may take longer on a
    busy machine."""
    left = seconds
    until = time.monotonic() + 60
    while left > 0 and time.monotonic() < until:
        if select.select([fd], [], [], SLICE)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                return
            if not data:
                return
            stream.feed(data)
        elif state(pid) not in "RD":
            left -= SLICE


def main():
    columns, lines = (int(n) for n in sys.argv[1].split("x"))
    command = sys.argv[sys.argv.index("--") + 1:]
    screen = pyte.Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    pid, fd = pty.fork()
    if not pid:
        os.environ["TERM"] = os.environ.get("SCREEN_TERM", "linux")
        time.sleep(0.2)
        os.execvp(command[0], command)
    resize(fd, columns, lines)
    for step in sys.argv[2].split(","):
        if step == "show":
            print("\n".join(line.rstrip() for line in screen.display))
        elif step == "colors":
            seen = {c.fg for row in screen.buffer.values() for c in row.values()} - {"default"}
            print("colors", len(seen))
        elif step.startswith("key:"):
            os.write(fd, step[4:].encode())
        elif "x" in step:
            columns, lines = (int(n) for n in step.split("x"))
            screen.resize(lines, columns)
            resize(fd, columns, lines)
            os.kill(pid, signal.SIGWINCH)
        else:
            feed(fd, pid, stream, float(step))
    feed(fd, pid, stream, 3)
    for _ in range(50):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return 99


sys.exit(main())
