// SPDX-License-Identifier: GPL-2.0-only
/*
 * pid 1 of the guest: loads modules, runs tests one after another, and powers off.
 *
 * /jw.plan contains one command per line:
 *   ports                       open the virtio ports; their driver must be loaded
 *   module PATH [PARAMETERS]    load a module
 *   init PATH                   execute PATH as pid 1; a child process runs the other commands
 *   test NAME SECONDS PATH      run a test (NAME "-": the only test; its output gets no header)
 *
 * Results are written to the virtio port "jw.result", to which nothing else in the guest writes:
 *   test NAME            the test starts
 *   exit NAME STATUS     the test has ended; or signal NAME NUMBER, or timeout NAME SECONDS
 *   splat NAME TEXT      the kernel logged a warning during this test ("boot": before the first)
 *   error TEXT           a command failed
 *   done                 all commands were executed
 * If the guest crashes, it writes neither "exit" for the present test nor "done", so a crash cannot
 * be taken for a pass.
 *
 * The output of the tests is written to the port "jw.log". The output of each test follows a record
 * separator, its name and a newline. At the end, /out is written to the port "jw.out" as tar.
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
		/* A kernel without bpf(), as that of JetPack 5, has no directory for bpffs. */
		if (mkdir(fs[i].dir, 0755) && errno != EEXIST && !strcmp(fs[i].type, "bpf"))
			continue;
		if (mount(fs[i].type, fs[i].dir, fs[i].type, 0, NULL))
			die(fs[i].dir);
	}
	mkdir("/dev/shm", 01777);
	if (mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL))
		die("/dev/shm");
}

/* Open the virtio port with this name. Return: descriptor; -1: there is no such port. */
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

/* Wait for a port: ports appear some time after their driver was loaded. */
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

/*
 * Search the kernel log since the previous call for warnings. Only messages of the kernel (facility
 * 0) count, so that a test may write to kmsg.
 */
static void search_kmsg(void)
{
	char record[2048], *text;
	ssize_t n;

	for (;;) {
		n = read(kmsg, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)	/* messages were overwritten: continue after them */
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

/*
 * Wait for the child @pid, and reap all orphans. SIGCHLD is blocked, so that a signal between the
 * check and the wait is not missed. Return: 0; -ETIMEDOUT: the child still runs.
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

/* Kill all processes that a test has left. */
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
 * Start a complete system: pid 1 executes @path, and a child process runs the remaining commands.
 * The root is moved to a file system on which services can use pivot_root, which is impossible on
 * the initramfs.
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
