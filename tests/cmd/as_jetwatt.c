// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command as systemd runs jetwattd: as the user jetwatt, with the capabilities of the unit
 * (tests/host/tree.sh compares them) as the bounding set, and its LimitRTPRIO. If the first
 * argument is "-CAP_...", the command runs without this capability. With "-root", run the command
 * like jetwatt-knobs, as root without capabilities; with "-files", like jetwatt-files. Without
 * arguments, as the test runner calls it, the program tests itself.
 */
#include "../../user/lib/fdname.c"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define JETWATT	990	/* tests/qemu/guest */
#define FILES	991
#define NOBODY	65534

static const struct {
	const char *name;
	int cap;
} unit[] = {
	{ "CAP_BPF", CAP_BPF },
	{ "CAP_NET_ADMIN", CAP_NET_ADMIN },
	{ "CAP_PERFMON", CAP_PERFMON },
};

static const uint64_t files_caps = 1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH;

static uint64_t all_but(const char *name)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcmp(name, unit[i].name))
			mask |= 1ull << unit[i].cap;
	return mask;
}

/* Whichever user is selected, the process gets the group jetwatt, as with the units. */
static int become(uid_t uid, uint64_t mask)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct cap[2];
	const struct passwd *pw = getpwnam("jetwatt");

	if (!pw)
		return -ENOENT;
	if (setrlimit(RLIMIT_RTPRIO, &(struct rlimit){ 1, 1 }))
		return -errno;
	for (int c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++)
		if (!(mask >> c & 1) && prctl(PR_CAPBSET_DROP, c))
			return -errno;
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(mask >> 32 * i);

		cap[i] = (struct __user_cap_data_struct){ part, part, part };
	}
	if (syscall(SYS_capset, &head, cap))
		return -errno;
	for (int c = 0; c < 64; c++)
		if (mask >> c & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0))
			return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

/*
 * Return the kind of file that descriptor @fd of process @pid refers to, as the functions of
 * jetwattd's probe determine it. Run in a child process, because a process cannot regain rights
 * that it has dropped.
 */
static int named(uint64_t mask, pid_t pid, int fd)
{
	struct jetwatt_fdname names = { 0 };
	pid_t child = fork();
	int status;

	if (!child)
		_exit(become(JETWATT, mask) ? 99 : jetwatt_fdname_lookup(&names, pid, fd, 1));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/*
 * Start jetwatt-files as its unit does, and wait until it listens for connections (at most 30 s).
 * Return: its pid; -1 after an error.
 */
static pid_t start_files(void)
{
	struct stat st;
	pid_t pid;

	mkdir("/run", 0755);
	if (mkdir("/run/jetwatt-files", 0750) && errno != EEXIST)
		return -1;
	if (chown("/run/jetwatt-files", FILES, JETWATT) || chmod("/run/jetwatt-files", 0750))
		return -1;
	pid = fork();
	if (!pid) {
		if (!become(FILES, files_caps))
			execlp("jetwatt-files", "jetwatt-files", NULL);
		_exit(99);
	}
	for (int i = 0; i < 3000 && stat(JETWATT_FILES_SOCKET, &st); i++)
		usleep(10000);
	return pid;
}

static volatile char word[8] = "root's";

/*
 * Try five ways by which a process of user @uid with capabilities @mask could take over process
 * @pid of root. Return: 0 if none works; 1 to 5: the first one that works; other values: an error.
 */
static int takes_over(uid_t uid, uint64_t mask, pid_t pid, int fd)
{
	pid_t child = fork();
	int status;

	if (!child) {
		char text[8] = "ours";
		struct iovec from = { text, sizeof(text) }, to = { (void *)word, sizeof(text) };
		char path[64];
		int pidfd;

		if (become(uid, mask))
			_exit(99);
		if (process_vm_writev(pid, &from, 1, &to, 1, 0) >= 0)
			_exit(1);
		if (process_vm_readv(pid, &from, 1, &to, 1, 0) >= 0)
			_exit(2);
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0)
			_exit(3);
		if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL))
			_exit(4);
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		_exit(open(path, O_RDWR) >= 0 ? 5 : 0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/*
 * Send a request to jetwatt-files. Return: the response; -1 if jetwatt-files has closed the
 * connection or has not responded for 20 s; -3 if it cannot be reached.
 */
static int asked(const void *request, size_t len)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = JETWATT_FILES_SOCKET };
	struct timeval patience = { 20, 0 };
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0), what = -2;

	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(s, (struct sockaddr *)&at, sizeof(at)) || send(s, request, len, 0) < 0)
		what = -3;
	else if (recv(s, &what, sizeof(what), 0) != sizeof(what))
		what = -1;
	close(s);
	return what;
}

static int self(void)
{
	const struct jetwatt_files_request good = { (uint32_t)getpid(), 0 };
	int fd, rc, ok, all = 1, before;
	char noise[4096] = { 1 };
	pid_t files;

	printf("TAP version 13\n1..6\n");
	/* This process runs as root and has a file open that is named like a GPU's device node. */
	mkdir("/dev/dri", 0755);
	fd = open("/dev/dri/renderD999", O_RDWR | O_CREAT, 0600);
	before = named(all_but(""), getpid(), fd);
	files = start_files();
	rc = named(all_but(""), getpid(), fd);
	ok = fd >= 0 && before == JETWATT_FDNAME_GONE && rc == JETWATT_FDNAME_RENDER;
	printf("%s 1 the kind of file that root's job waits for is known through jetwatt-files only\n", ok ? "ok" : "not ok");
	all &= ok;

	rc = takes_over(JETWATT, all_but(""), getpid(), fd);
	printf("%s 2 the unit's capabilities do not allow to take over a process of root\n", rc ? "not ok" : "ok");
	if (rc)
		printf("# way %d\n", rc);
	all &= !rc;

	rc = asked(&good, sizeof(good));
	ok = rc == JETWATT_FDNAME_OTHER || rc == JETWATT_FDNAME_GONE;
	ok = ok && asked(noise, sizeof(noise)) == -1 && asked(&good, sizeof(good) - 1) == -1 &&
	     asked("", 0) == -1 && asked(&(struct jetwatt_files_request){ UINT32_MAX, -1 }, 8) == JETWATT_FDNAME_GONE;
	ok = ok && asked(&good, sizeof(good)) == rc;
	printf("%s 3 jetwatt-files closes the connection after an invalid request, and continues\n", ok ? "ok" : "not ok");
	all &= ok;

	/* The seccomp filter of jetwatt-files is active, and no child of it can gain privileges. */
	rc = 0;
	if (files > 0) {
		char line[256], path[64];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/status", files);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			rc |= !strcmp(line, "Seccomp:\t2\n") ? 1 : !strcmp(line, "NoNewPrivs:\t1\n") ? 2 : 0;
		if (f)
			fclose(f);
		kill(files, SIGKILL);
		waitpid(files, NULL, 0);
	}
	printf("%s 4 jetwatt-files has a seccomp filter and no_new_privs\n", rc == 3 ? "ok" : "not ok");
	all &= rc == 3;
	rc = named(all_but(""), getpid(), fd);
	printf("%s 5 without jetwatt-files, a descriptor counts as gone\n", rc == JETWATT_FDNAME_GONE ? "ok" : "not ok");
	all &= rc == JETWATT_FDNAME_GONE;
	unlink(JETWATT_FILES_SOCKET);
	rmdir("/run/jetwatt-files");
	unlink("/dev/dri/renderD999");
	rmdir("/dev/dri");

	rc = become(NOBODY, 1ull << CAP_PERFMON);
	rc = !rc && getuid() && prctl(PR_CAPBSET_READ, CAP_PERFMON) == 1 &&
	     !prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) &&
	     prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_PERFMON, 0, 0) == 1 &&
	     open("/proc/1/mem", O_RDONLY) < 0 && open("/sys/kernel/debug", O_RDONLY) < 0;
	printf("%s 6 (precondition) a user with one capability cannot do what root can\n", rc ? "ok" : "not ok");
	return !all || !rc;
}

int main(int argc, char **argv)
{
	const char *less = argc > 1 && *argv[1] == '-' ? argv[1] + 1 : "";
	char **command = argv + 1 + (*less != '\0');
	int rc;

	if (argc < 2 || !*command)
		return self();
	rc = !strcmp(less, "root") ? become(0, 0) : !strcmp(less, "files") ? become(FILES, files_caps) :
	     become(JETWATT, all_but(less));
	if (rc) {
		fprintf(stderr, "as_jetwatt: %s\n", strerror(-rc));
		return 125;
	}
	execvp(*command, command);
	perror(*command);
	return 127;
}
