// SPDX-License-Identifier: GPL-2.0-only
/*
 * pid 1 of the guest: loads modules, runs tests one after another, powers off.
 *
 * What to do stands in /jw.plan, one order a line:
 *   ports                       open the virtio ports, once their driver is loaded
 *   module PATH [PARAMETERS]
 *   init PATH                   pid 1 is that program from now on, a child goes on here
 *   test NAME SECONDS PATH      (NAME "-": the only one, its output needs no mark)
 *
 * What happened goes to the virtio port "jw.result", which nothing else in the
 * guest writes to:
 *   test NAME            it starts
 *   exit NAME STATUS     it ended; or signal NAME NUMBER, or timeout NAME SECONDS
 *   splat NAME TEXT      the kernel complained meanwhile (NAME is "boot" before the first test)
 *   error TEXT           pid 1 could not do its work
 *   done                 every order was carried out
 * A guest that crashes never says "exit" for the test at hand nor "done", so a
 * crash cannot look like a pass.
 *
 * The tests' own output goes to the port "jw.log", each test's after a record
 * separator, its name and a newline; at the end the port "jw.out" gets /out as tar.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int result = -1;	/* the port jw.result */
static int out_log = -1;	/* the port jw.log */
static int kmsg = -1;
static char current[64] = "boot";

static void say(const char *format, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	if (n >= (int)sizeof(line) - 1)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(result >= 0 ? result : STDERR_FILENO, line, n) != n)
		fprintf(stderr, "init: lost: %s", line);
}

static void halt(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void die(const char *what)
{
	say("error %s: %s", what, strerror(errno));
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
	halt();
}

static void mount_all(void)
{
	static const struct {
		const char *type, *dir;
	} fs[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "tmpfs", "/tmp" },
		{ "tmpfs", "/run" },
		{ "tmpfs", "/out" },
		{ "debugfs", "/sys/kernel/debug" },
		{ "tracefs", "/sys/kernel/tracing" },
		{ "cgroup2", "/sys/fs/cgroup" },
		{ "bpf", "/sys/fs/bpf" },
	};
	size_t i;

	for (i = 0; i < sizeof(fs) / sizeof(fs[0]); i++) {
		/* A kernel without bpf(), as JetPack 5's, has no directory for it. */
		if (mkdir(fs[i].dir, 0755) && errno != EEXIST && !strcmp(fs[i].type, "bpf"))
			continue;
		if (mount(fs[i].type, fs[i].dir, fs[i].type, 0, NULL))
			die(fs[i].dir);
	}
	mkdir("/dev/shm", 01777);
	if (mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL))
		die("/dev/shm");
}

/* Opens the virtio port of that name, -1 if this guest has none. */
static int open_port(const char *name)
{
	char path[64], text[64];
	int i, fd;
	ssize_t n;

	for (i = 1; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/vport0p%d/name", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		text[strcspn(text, "\n")] = '\0';
		if (strcmp(text, name))
			continue;
		snprintf(path, sizeof(path), "/dev/vport0p%d", i);
		return open(path, O_WRONLY | O_CLOEXEC);
	}
	errno = ENODEV;
	return -1;
}

/* The driver learns of its ports from messages: they appear some time after it is loaded. */
static int await_port(const char *name)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	int i, fd;

	for (i = 0; i < 1000; i++) {
		fd = open_port(name);
		if (fd >= 0)
			return fd;
		nanosleep(&pause, NULL);
	}
	die(name);
	return -1;
}

static void load_module(const char *path, const char *parameters)
{
	char what[160];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	snprintf(what, sizeof(what), "module %s %s", path, parameters);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		die(what);
	close(fd);
}

static bool is_splat(const char *text)
{
	static const char *const marks[] = {
		"WARNING:", "BUG:", "Oops", "Call trace:", "Kernel panic", "Unable to handle",
		"INFO: task", "INFO: possible", "INFO: trying to register", "suspicious RCU",
		"rcu: INFO:", "self-detected stall", "soft lockup", "scheduling while atomic",
		"refcount_t:", "UBSAN:", "KASAN:", "unreferenced object", "DEBUG_LOCKS_WARN_ON",
		"list_add corruption", "list_del corruption", "sleeping function called",
		"sysfs: cannot create duplicate",
	};
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(text, marks[i]))
			return true;
	return false;
}

/* Reads what the kernel has said since the last call. Only the kernel's own words
 * count (facility 0), so that no test fails for what it writes to kmsg itself.
 */
static void search_kmsg(void)
{
	char record[2048], *text;
	ssize_t n;

	for (;;) {
		n = read(kmsg, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)	/* overwritten before we came: go on behind it */
			continue;
		if (n <= 0)
			return;
		record[n] = '\0';
		text = strchr(record, ';');
		if (!text || strtoul(record, NULL, 10) >> 3)
			continue;
		text++;
		text[strcspn(text, "\n")] = '\0';
		if (is_splat(text))
			say("splat %s %s", current, text);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static pid_t spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		if (chdir("/tmp"))
			_exit(126);
		execv(argv[0], argv);
		dprintf(STDERR_FILENO, "# cannot run %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	return pid;
}

/* Waits for @pid, reaping every orphan on the way. SIGCHLD is blocked, so that
 * one that comes between the check and the wait is not missed. Return: 0, or
 * -ETIMEDOUT with the child still there.
 */
static int wait_for(pid_t pid, double seconds, int *status)
{
	double end = now() + seconds;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		double left = end - now();
		struct timespec t = { .tv_sec = left > 0 ? left : 0,
				      .tv_nsec = left > 0 ? (left - (time_t)left) * 1e9 : 0 };
		pid_t p;

		while ((p = waitpid(-1, status, WNOHANG)) > 0)
			if (p == pid)
				return 0;
		if (left <= 0)
			return -ETIMEDOUT;
		sigtimedwait(&child, NULL, &t);
	}
}

/* Nothing that a test started outlives it. */
static void kill_all(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void run_test(const char *name, double seconds, char *path)
{
	char *argv[] = { path, NULL };
	int status = 0;
	pid_t pid;

	search_kmsg();
	snprintf(current, sizeof(current), "%s", name);
	say("test %s", name);
	if (strcmp(name, "-"))
		dprintf(out_log, "\036%s\n", name);
	pid = spawn(argv, out_log);
	if (wait_for(pid, seconds, &status)) {
		kill_all();
		search_kmsg();
		say("timeout %s %.0f", name, seconds);
		return;
	}
	kill_all();
	search_kmsg();
	if (WIFSIGNALED(status))
		say("signal %s %d", name, WTERMSIG(status));
	else
		say("exit %s %d", name, WEXITSTATUS(status));
}

/*
 * A system of its own: pid 1 becomes @path, a child of it carries out what is left. The
 * root becomes one that services can turn (pivot_root) for file systems of their own, which
 * the initramfs is not.
 */
static void hand_over(char *path)
{
	char *argv[] = { path, NULL };
	sigset_t none;
	pid_t pid;

	mkdir("/sysroot", 0755);
	if (mount("/", "/sysroot", NULL, MS_BIND | MS_REC, NULL) || chdir("/sysroot") ||
	    mount("/sysroot", "/", NULL, MS_MOVE, NULL) || chroot("."))
		die("/sysroot");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		setsid();
		return;
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(path, argv);
	die(path);
}

static void carry_out(char *order)
{
	char *word = strsep(&order, " "), *name, *seconds, *path;

	if (!strcmp(word, "module")) {
		path = strsep(&order, " ");
		load_module(path, order ? order : "");
	} else if (!strcmp(word, "init")) {
		hand_over(order);
	} else if (!strcmp(word, "test")) {
		name = strsep(&order, " ");
		seconds = strsep(&order, " ");
		path = strsep(&order, " ");
		if (!path)
			die("/jw.plan");
		run_test(name, atof(seconds), path);
	}
}

static void send_out(void)
{
	char *tar[] = { "/bin/tar", "-c", "-C", "/out", "-f", "-", ".", NULL };
	int status, fd = open_port("jw.out");

	if (fd < 0)
		return;
	if (wait_for(spawn(tar, fd), 120, &status) || status)
		say("error /out could not be sent");
	close(fd);
}

int main(void)
{
	char *busybox[] = { "/bin/busybox", "--install", "-s", "/bin", NULL };
	static char line[4096];
	sigset_t all;
	int status;
	FILE *plan;

	mount_all();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/root", 1);
	if (wait_for(spawn(busybox, STDERR_FILENO), 60, &status) || status)
		die("busybox");
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		die("/dev/kmsg");

	plan = fopen("/jw.plan", "re");
	if (!plan)
		die("/jw.plan");
	while (fgets(line, sizeof(line), plan)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "ports")) {
			result = await_port("jw.result");
			out_log = await_port("jw.log");
		} else {
			carry_out(line);
		}
	}
	search_kmsg();
	send_out();
	say("done");
	halt();
	return 0;
}
