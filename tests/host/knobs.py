# SPDX-License-Identifier: GPL-2.0-only
"""Test of the program jetwatt-knobs on a simulated board of files; run by knobs.sh."""
import atexit
import fcntl
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BINARY = os.path.abspath("build/jetwatt-knobs")
LOW = "c2-729600-g420750000-e665600000"
HIGH = "c4-2201600-g1300500000-e2133000000"
OTHER = 65534
SEED = int(os.environ.get("SEED", "1"))

KNOBS = {
    "class/devfreq/17000000.gpu/available_frequencies": "114750000 420750000 1300500000",
    "class/devfreq/17000000.gpu/min_freq": "114750000",
    "class/devfreq/17000000.gpu/max_freq": "1300500000",
    "kernel/nvpmodel_clk_cap/emc": "3199000000",
    "kernel/debug/bpmp/debug/emc/possible_rates": "204000 665600 2133000 3199000",
    "devices/system/cpu/cpufreq/policy0/related_cpus": "0 1 2 3",
    "devices/system/cpu/cpufreq/policy0/scaling_min_freq": "729600",
    "devices/system/cpu/cpufreq/policy0/scaling_max_freq": "2201600",
    "devices/system/cpu/cpufreq/policy0/scaling_available_frequencies": "729600 1728000 2201600",
    # A change of this knob takes effect only after a reboot, so no request may change it.
    "devices/gpu.0/tpc_pg_mask": "0",
} | {f"devices/system/cpu/cpu{i}/online": "1" for i in range(4)}


class Board:
    """The files of the board, and the jetwatt-knobs that writes them."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="jetwatt-knobs.")
        os.chmod(self.root, 0o755)
        self.sys = self.root + "/sys"
        self.state = self.root + "/var/lib/jetwatt"
        self.socket = self.root + "/socket"
        self.put("proc/sys/kernel/random/boot_id", "6f0d2c1e-0000-4000-8000-000000000001")
        for path, text in KNOBS.items():
            self.put("sys/" + path, text)
        self.before = self.snapshot()
        self.log = open(self.root + "/log", "w+")
        self.child = None
        atexit.register(self.clean)

    def clean(self):
        """End jetwatt-knobs, also after an exception, so that nothing waits for its output."""
        if self.child and self.child.poll() is None:
            self.child.kill()
            self.child.wait(20)

    def put(self, path, text):
        path = f"{self.root}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text + "\n")

    def snapshot(self):
        return {k: open(f"{self.sys}/{k}").read().strip() for k in KNOBS}

    def as_before(self):
        return self.snapshot() == self.before and not os.path.exists(self.state + "/saved")

    def start(self, *options):
        user = pwd.getpwuid(os.getuid()).pw_name
        self.child = subprocess.Popen([BINARY, "--root", self.root, "--socket", self.socket,
                                       "--user", user, *options], stderr=self.log)
        return until(lambda: os.path.exists(self.socket) and self.ask("status"))

    def end(self, how=signal.SIGTERM):
        self.child.send_signal(how)
        return self.child.wait(20)

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(20)
        s.connect(self.socket)
        return s

    def ask(self, *requests):
        """Return the last response of a connection; None: the server has disconnected."""
        try:
            with self.connect() as s:
                return [ask(s, r) for r in requests][-1]
        except OSError:
            return None

    def status(self):
        words = self.ask("status").split()[1:]
        return {k: int(v) for k, v in zip(words[::2], words[1::2])}

    def guardian(self):
        """Return the PID of the guardian, once it has set its name."""
        until(self.find_guardian)
        return self.find_guardian()

    def find_guardian(self):
        """Return the PID of the guardian, or None. A guardian has the command line of the process that
        it guards."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                comm = open(f"/proc/{pid}/comm").read()
                line = open(f"/proc/{pid}/cmdline").read()
            except OSError:
                continue
            if comm == "jetwatt-guard\n" and self.socket in line:
                return int(pid)
        return None


def ask(s, request):
    s.send(request if isinstance(request, bytes) else request.encode())
    return s.recv(4096).decode(errors="replace")


def until(is_so):
    """Poll for a state for up to 30 s."""
    for _ in range(600):
        try:
            if is_so():
                return True
        except (OSError, AttributeError):
            pass
        time.sleep(0.05)
    return False


NR = FAILED = 0


def result(ok, text):
    global NR, FAILED
    NR += 1
    if not ok:
        FAILED = 1
        b.log.flush()
        for line in open(b.root + "/log").read().splitlines()[-20:]:
            print("# log:", line)
    print(f"{'ok' if ok else 'not ok'} {NR} {text}", flush=True)


def sealed(answer):
    """Return whether the mode was applied and the previous state is on disk."""
    return answer == "ok" and open(b.state + "/saved").read().startswith("jetwatt-saved 1\n")


print("1..24")
b = Board()
result(b.start() and b.ask("emc") == "ok 204000000 665600000 2133000000 3199000000",
       "emc: the levels that only root can read")

b.end()
levels = f"{b.sys}/kernel/debug/bpmp/debug/emc/possible_rates"
os.rename(levels, levels + ".away")
result(b.start() and b.ask("emc") == "ok", "emc without debugfs: no levels, and no placeholder")
b.end()
os.rename(levels + ".away", levels)
b.start()

filtered = [line for p in (b.child.pid, b.guardian()) for line in open(f"/proc/{p}/status")
            if line in ("Seccomp:\t2\n", "NoNewPrivs:\t1\n")]
result(len(filtered) == 4, "jetwatt-knobs and its guardian deny themselves calls that reach into other processes")

holder = b.connect()
result(sealed(ask(holder, "apply " + LOW)) and ask(holder, "verify " + LOW) == "ok" and
       ask(holder, "verify " + HIGH).startswith("no 116\n") and
       b.snapshot()["class/devfreq/17000000.gpu/max_freq"] == "420750000",
       "apply saves the state, writes the mode and verifies it")
result(b.ask("apply " + HIGH).startswith("no 16\n") and b.ask("restore").startswith("no 16\n") and
       b.ask("forget").startswith("no 16\n") and ask(holder, "verify " + LOW) == "ok",
       "another client cannot apply or restore")
holder.close()
result(until(b.as_before), "the owner disconnects: the board is restored")

holder = subprocess.Popen([sys.executable, "-c", f"""
import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("{b.socket}")
s.send(b"apply {LOW}")
print(s.recv(99), flush=True)
time.sleep(1000)"""], stdout=subprocess.PIPE)
holder.stdout.readline()
was = b.snapshot() != b.before
holder.kill()
holder.wait()
result(was and until(b.as_before), "SIGKILL of the owner: the board is restored")

# --- invalid requests ----------------------------------------------------------------
refused = b.status()["refused"]
hostile = [
    b"x", b"apply", b"apply ", b"apply MAXN", b"apply  " + LOW.encode(), b"APPLY " + LOW.encode(),
    b"apply " + LOW.encode() + b"\n", b"apply " + LOW.encode() + b" ", b"apply " + LOW.encode() + b"\0",
    b"\0apply " + LOW.encode(), b"restore now", b"restore\0", b"emc 1", b"status\n",
    b"apply c2-729600-g420750000-e665600001", b"apply c9-729600-g420750000-e665600000",
    b"apply c0-729600-g420750000-e665600000", b"apply c-2-729600-g420750000-e665600000",
    b"apply c2-729600-g99999999999999999999-e665600000", b"apply c2-729600-g1-e1",
    b"apply c4294967298-729600-g420750000-e665600000",
    b"apply ../../etc/passwd", b"apply /sys/class/devfreq/17000000.gpu/max_freq",
    b"apply c2-729600-g420750000-e665600000/../../x", b"write devices/gpu.0/tpc_pg_mask 1",
    b"tpc_pg_mask 1", b"apply tpc_pg_mask=1", b"verify %s%n%n", b"apply " + b"c" * 121,
    b"apply " + b"9" * 4000, b"a" * 60000, bytes(range(1, 127)), b"\xff" * 64,
]
answers = [b.ask(r) for r in hostile]
result(all(a and a.startswith("no 22\n") and a.count("\n") == 3 for a in answers),
       f"{len(hostile)} malformed requests are refused with a reason and a fix")
result(b.as_before() and b.status()["refused"] == refused + len(hostile), "malformed requests are counted, and change nothing")

# Send packets of known words in random order, with and without damage. Some packets may be valid
# and apply a mode.
rng = random.Random(SEED)
words = [b"emc", b"apply", b"verify", b"restore", b"forget", b"status", b" ", b"-", b"c4", b"g1", b"\n",
         b"\0", LOW.encode(), HIGH.encode(), b"../", b"9" * 30]
served = True
for _ in range(400):
    with b.connect() as s:
        for _ in range(25):
            packet = bytearray(b"".join(rng.choices(words, k=rng.randint(1, 4))))
            if rng.random() < 0.3:
                packet[rng.randrange(len(packet))] = rng.randrange(256)
            if b"forget" in packet:
                continue
            served = served and ask(s, bytes(packet))[:3] in ("ok", "ok ", "no ")
result(served and until(b.as_before) and b.child.poll() is None, "10,000 packets of noise: the server keeps running")

silent = [b.connect() for _ in range(4)]
strangers = ask(silent[0], "status")
fifth = b.ask("status")
count = int(ask(silent[0], "status").split()[-1]) - int(strangers.split()[-1])
for s in silent:
    s.close()
result(fifth is None and count == 1 and until(lambda: b.ask("status")),
       "with four silent clients, a fifth is refused until they disconnect")

if os.getuid():
    NR += 1
    print(f"ok {NR} another user is refused # SKIP needs root")
else:
    def other():
        pid = os.fork()
        if not pid:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            try:
                ask(b.connect(), "apply " + LOW)
            except PermissionError:
                os._exit(1)
            except OSError:
                os._exit(2)
            os._exit(0 if b.as_before() else 3)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    # Another user is refused by the permissions of the socket file. With permissions 0666, the
    # server refuses the user because of the client's credentials.
    strangers = b.status()["strangers"]
    door = other()
    os.chmod(b.socket, 0o666)
    inside = other()
    result(door == 1 and inside in (0, 2) and b.as_before() and b.status()["strangers"] == strangers + 1,
           "another user is refused, by the socket file and by its credentials")

# --- the lease of another jetwatt process --------------------------------------------
with open(b.state + "/lease", "w") as lease:
    fcntl.flock(lease, fcntl.LOCK_EX)
    lease.write("4242\n")
    lease.flush()
    answer = b.ask("apply " + LOW)
    result(answer.startswith("no 16\n") and "process 4242 holds" in answer and b.as_before(),
           "another process holds the lease: it is named, and nothing is written")

# A client that has applied nothing cannot delete the saved state of another process.
lease = os.open(b.state + "/lease", os.O_RDWR)
fcntl.flock(lease, fcntl.LOCK_EX)
b.put("var/lib/jetwatt/saved", "what another jetwatt has saved")
answer = b.ask("forget")
there = os.path.exists(b.state + "/saved")
os.unlink(b.state + "/saved")
os.close(lease)
result(answer.startswith("no 2\n") and there, "forget by a client that has applied nothing is refused")

# --- a second server is refused; freezers of two clients ------------------------------
second = subprocess.run([BINARY, "--root", b.root, "--socket", b.socket, "--user",
                         pwd.getpwuid(os.getuid()).pw_name], capture_output=True, text=True, timeout=60)
result(second.returncode == 1 and "another jetwatt-knobs listens on the socket" in second.stderr and b.ask("status"),
       "a second jetwatt-knobs does not take the socket")
b.end()


def freezer(s, cgroup="/batch.slice"):
    s.send(b"freezer " + cgroup.encode())
    answer, fds, _, _ = socket.recv_fds(s, 100, 1)
    return fds[0] if answer == b"ok" else -1


def frozen(cgroup="/batch.slice"):
    return open(b.sys + "/fs/cgroup" + cgroup + "/cgroup.freeze").read().strip()


for path in "batch.slice", "serve.service":
    b.put(f"sys/fs/cgroup/{path}/cgroup.freeze", "0")
b.put("proc/self/cgroup", "0::/system.slice/jetwatt-knobs.service")
b.put("etc/policy", "turns = /batch.slice /serve.service 100ms")
b.start("--conf", b.root + "/etc/policy")
one, two = b.connect(), b.connect()
fds = freezer(one), freezer(two)
os.pwrite(fds[1], b"1", 0)
one.close()
ok = until(lambda: frozen() == "0") and os.path.exists(b.state + "/held")
os.pwrite(fds[1], b"1", 0)
two.close()
result(ok and until(lambda: frozen() == "0"),
       "each of two clients with freezers disconnects: its jobs are thawed")

# A child of a disconnected client has kept the descriptor, so it can still freeze the jobs.
os.pwrite(fds[1], b"1", 0)
next_one = b.connect()
ok = ask(next_one, "status").startswith("ok ") and frozen() == "0"
os.pwrite(freezer(next_one), b"1", 0)
ok = ok and ask(b.connect(), "status").startswith("ok ") and frozen() == "1"
next_one.close()
ok = ok and until(lambda: frozen() == "0") and os.path.exists(b.state + "/held")
os.pwrite(fds[1], b"1", 0)
b.end()
result(ok and frozen() == "0" and not os.path.exists(b.state + "/held"),
       "jobs frozen through a descriptor that outlived its client: thawed when the next client connects, and when the server ends")

# Four policies name two cgroups each: in total, more cgroups than the record of frozen cgroups
# holds.
b.start("--conf", b.root + "/etc/policy")
ok = True
for n in range(4):
    paths = f"/batch{n}.slice", f"/serve{n}.service"
    for path in paths:
        b.put(f"sys/fs/cgroup{path}/cgroup.freeze", "0")
    b.put("etc/policy", f"turns = {paths[0]} {paths[1]} 100ms")
    one = b.connect()
    for path in paths:
        fd = freezer(one, path)
        ok = ok and fd >= 0 and os.pwrite(fd, b"1", 0) == 1
    one.close()
    ok = ok and until(lambda: "0" == frozen(paths[0]) == frozen(paths[1]))
result(ok, "cgroups of disconnected clients are replaced by new ones")

# The same during one connection: jetwattd stays connected when it reloads the policy.
one = b.connect()
ok = True
for n in range(4):
    paths = f"/batch{n}.slice", f"/serve{n}.service"
    b.put("etc/policy", f"turns = {paths[0]} {paths[1]} 100ms")
    for path in paths:
        fd = freezer(one, path)
        ok = ok and fd >= 0 and os.pwrite(fd, b"1", 0) == 1
ok = ok and frozen("/batch0.slice") == "0"
one.close()
ok = ok and until(lambda: all("0" == frozen(f"/batch{n}.slice") == frozen(f"/serve{n}.service") for n in range(4)))
b.put("etc/policy", "turns = /batch.slice /serve.service 100ms")
result(ok, "cgroups that the policy no longer names are replaced by new ones during a connection")

one, two = b.connect(), b.connect()
fds = freezer(one), freezer(two)
one.close()
until(lambda: b.status()["strangers"] >= 0 and frozen() == "0")
os.pwrite(fds[1], b"1", 0)
b.end(signal.SIGKILL)
result(until(lambda: frozen() == "0"), "frozen jobs are thawed however the server ends")
b.start()

# --- killed processes ----------------------------------------------------------------
holder = b.connect()
ok = ask(holder, "apply " + LOW) == "ok"
status = b.end()
result(ok and status == 0 and b.as_before() and holder.recv(99) == b"", "SIGTERM: the board is restored, status 0")

b.start()
holder = b.connect()
ok = ask(holder, "apply " + LOW) == "ok"
b.end(signal.SIGKILL)
result(ok and until(b.as_before) and holder.recv(99) == b"", "SIGKILL of the server: its guardian restores the board, and the owner is disconnected")

b.start()
holder = b.connect()
ok = ask(holder, "apply " + LOW) == "ok"
os.kill(b.guardian(), signal.SIGKILL)
result(ok and b.child.wait(20) == 1 and until(b.as_before), "SIGKILL of the guardian: the server restores the board and ends")

b.start()
holder = b.connect()
ok = ask(holder, "apply " + LOW) == "ok"
os.kill(b.guardian(), signal.SIGSTOP)
stopped = b.guardian()
b.end(signal.SIGKILL)
os.kill(stopped, signal.SIGKILL)
left = not b.as_before()
code = subprocess.call([BINARY, "--root", b.root, "--restore"])
result(ok and left and code == 0 and b.as_before(), "SIGKILL of both: --restore restores the board")

shutil.rmtree(b.root)
sys.exit(FAILED)
