// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Marks, the side of the program that is measured: one datagram a line,
 *
 *	[begin |end ]NAME[ @NS/TID/LOST/PID]
 *
 * NS is CLOCK_MONOTONIC of the kernel, which is not that of a time namespace;
 * LOST counts the marks that found no room since the last one that did; PID is
 * not 0 where it is said on behalf of another process, TID then being its. A line
 * without them is taken to be of the time when it arrives.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jetwatt.h"
#include "lib/marks.h"

static int64_t offset_ns;
static pid_t behalf;
static unsigned int lost;

/* -1: nobody measures. */
static int open_once(void)
{
	static int fd = -2;
	const char *env = getenv(JETWATT_MARKS_ENV);
	long long sec, nsec;
	char line[64], *end;
	FILE *f;
	long v;

	if (__atomic_load_n(&fd, __ATOMIC_ACQUIRE) != -2)
		return fd;
	v = env ? strtol(env, &end, 10) : -1;
	if (!env || end == env || *end || v < 0 || v > 1 << 20)
		v = -1;
	f = v >= 0 ? fopen("/proc/self/timens_offsets", "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "monotonic %lld %lld", &sec, &nsec) == 2)
			offset_ns = sec * 1000000000ll + nsec;
	if (f)
		fclose(f);
	__atomic_store_n(&fd, (int)v, __ATOMIC_RELEASE);
	return (int)v;
}

static int mark(const char *verb, const char *name)
{
	unsigned int missed;
	struct timespec ts;
	char line[160];
	int fd, n;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (!jetwatt_marks_name_ok(name))
		return -EINVAL;
	fd = open_once();
	if (fd < 0)
		return 0;
	missed = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	n = snprintf(line, sizeof(line), "%s%s @%lld/%ld/%u/%d\n", verb, name,
		     ts.tv_sec * 1000000000ll + ts.tv_nsec - offset_ns,
		     behalf ? (long)behalf : syscall(SYS_gettid), missed, behalf);
	if (send(fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL) == n)
		return 0;
	/* Whoever measured has gone, or it isn't a socket: a file, a pipe. */
	if (errno == ENOTSOCK && write(fd, line, n) == n)
		return 0;
	if (errno == ECONNREFUSED || errno == EPIPE || errno == EBADF || errno == ENOTCONN)
		return 0;
	__atomic_add_fetch(&lost, missed + 1, __ATOMIC_RELAXED);
	return -EAGAIN;
}

void jetwatt_mark_for(pid_t pid)
{
	behalf = pid;
}

int jetwatt_mark_begin(const char *name)
{
	return mark("begin ", name);
}

int jetwatt_mark_end(const char *name)
{
	return mark("end ", name);
}

int jetwatt_mark(const char *name)
{
	return mark("", name);
}

int jetwatt_mark_pair(int fd[2])
{
	int one = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd))
		return -errno;
	if (setsockopt(fd[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one))) {
		one = -errno;
		close(fd[0]);
		close(fd[1]);
		return one;
	}
	return 0;
}
