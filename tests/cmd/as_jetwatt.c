// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command as systemd runs jetwattd: the user jetwatt, with the capabilities of the
 * unit (tests/host/tree.sh compares) and its LimitRTPRIO, less the one of a first argument
 * "-CAP_...", and none besides that it could ever get; or with "-root", as it runs
 * jetwatt-knobs: root, without any. Without arguments, as the runner calls it, it is a test
 * of itself.
 */
#include "../../user/lib/fdname.c"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define JETWATT	990	/* tests/qemu/guest */
#define NOBODY	65534

static const struct {
	const char *name;
	int cap;
} unit[] = {
	{ "CAP_BPF", CAP_BPF },
	{ "CAP_NET_ADMIN", CAP_NET_ADMIN },
	{ "CAP_PERFMON", CAP_PERFMON },
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE },
};

static uint64_t all_but(const char *name)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcmp(name, unit[i].name))
			mask |= 1ull << unit[i].cap;
	return mask;
}

/* The group is the unit's for either. */
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

/* What it is that @pid has open as @fd, as jetwattd's probe finds out; in a process of its
 * own, for there is no way back. */
static int named(uint64_t mask, pid_t pid, int fd)
{
	struct jetwatt_fdname names = { 0 };
	pid_t child = fork();
	int status;

	if (!child)
		_exit(become(JETWATT, mask) ? 99 : jetwatt_fdname_lookup(&names, pid, fd, 1));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int self(void)
{
	int fd, rc, ok;

	printf("TAP version 13\n1..3\n");
	/* This process has a node of a GPU open, and is root's. */
	mkdir("/dev/dri", 0755);
	fd = open("/dev/dri/renderD999", O_RDWR | O_CREAT, 0600);
	ok = fd >= 0 && named(all_but(""), getpid(), fd) == JETWATT_FDNAME_RENDER;
	printf("%s 1 it sees which file root's job waits for\n", ok ? "ok" : "not ok");
	rc = named(all_but("CAP_SYS_PTRACE"), getpid(), fd);
	printf("%s 2 and would not without CAP_SYS_PTRACE\n", rc == JETWATT_FDNAME_GONE ? "ok" : "not ok");
	ok &= rc == JETWATT_FDNAME_GONE;
	unlink("/dev/dri/renderD999");
	rmdir("/dev/dri");

	rc = become(NOBODY, 1ull << CAP_PERFMON);
	rc = !rc && getuid() && prctl(PR_CAPBSET_READ, CAP_PERFMON) == 1 &&
	     !prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) &&
	     prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_PERFMON, 0, 0) == 1 &&
	     open("/proc/1/mem", O_RDONLY) < 0 && open("/sys/kernel/debug", O_RDONLY) < 0;
	printf("%s 3 a user with one capability is no root\n", rc ? "ok" : "not ok");
	return !ok || !rc;
}

int main(int argc, char **argv)
{
	const char *less = argc > 1 && *argv[1] == '-' ? argv[1] + 1 : "";
	char **command = argv + 1 + (*less != '\0');
	int rc;

	if (argc < 2 || !*command)
		return self();
	rc = strcmp(less, "root") ? become(JETWATT, all_but(less)) : become(0, 0);
	if (rc) {
		fprintf(stderr, "as_jetwatt: %s\n", strerror(-rc));
		return 125;
	}
	execvp(*command, command);
	perror(*command);
	return 127;
}
