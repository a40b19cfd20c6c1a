// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Marks in the measured program: sends the boundaries of its minibatches to the measuring program.
 * The receiver is marks.c.
 *
 * Each mark is sent as one datagram:
 *
 *	[begin |end ]NAME[ @NS/TID/LOST/PID]
 *
 * NS is the time by the kernel's CLOCK_MONOTONIC, without the offset of a time namespace. LOST is
 * the number of marks that were lost since the last mark that was sent. PID is 0, or the id of
 * another process for which the mark is sent; TID then has the value of PID. A mark without these
 * numbers has the time of its arrival.
 */
#include <errno.h>
#include <fcntl.h>
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

static int64_t offset_ns;	/* offset of CLOCK_MONOTONIC in this time namespace */
static pid_t on_behalf_of;		/* process to which marks are attributed; 0: this one */
static unsigned int lost;	/* number of marks lost since the last mark that was sent */

/* Return a duplicate of the descriptor; -1: it is not the socket of jetwatt_mark_pair(). In a
 * program that was started without its parent's descriptors, the number may be that of a file of
 * the program. The duplicate is still the socket if the program closes the descriptor @number, and
 * a file that it opens next gets this number. */
static int duplicate_socket(int number)
{
	int fd = fcntl(number, F_DUPFD_CLOEXEC, 3), domain, type;
	socklen_t len = sizeof(domain), size = sizeof(type);

	if (fd < 0)
		return -1;
	if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX &&
	    !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_DGRAM)
		return fd;
	close(fd);
	return -1;
}

/* Return a duplicate of the descriptor JETWATT_MARK_FD; -1: the variable is not set, invalid or not
 * the socket for marks, so this program is not measured. The first call sets offset_ns. */
static int mark_fd(void)
{
	static int fd = -2;
	int own, unknown = -2;
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
	own = v >= 0 ? duplicate_socket((int)v) : -1;
	f = own >= 0 ? fopen("/proc/self/timens_offsets", "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "monotonic %lld %lld", &sec, &nsec) == 2)
			offset_ns = sec * 1000000000ll + nsec;
	if (f)
		fclose(f);
	if (__atomic_compare_exchange_n(&fd, &unknown, own, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return own;
	/* Another thread was faster. */
	if (own >= 0)
		close(own);
	return unknown;
}

static int send_mark(const char *verb, const char *name)
{
	unsigned int missed;
	struct timespec ts;
	char line[160];
	int fd, n;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (!jetwatt_marks_name_ok(name))
		return -EINVAL;
	fd = mark_fd();
	if (fd < 0)
		return 0;
	missed = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	n = snprintf(line, sizeof(line), "%s%s @%lld/%ld/%u/%d\n", verb, name,
		     ts.tv_sec * 1000000000ll + ts.tv_nsec - offset_ns,
		     on_behalf_of ? (long)on_behalf_of : syscall(SYS_gettid), missed, on_behalf_of);
	if (send(fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL) == n)
		return 0;
	if (errno == ECONNREFUSED || errno == EPIPE || errno == EBADF || errno == ENOTCONN ||
	    errno == ENOTSOCK)
		return 0;
	__atomic_add_fetch(&lost, missed + 1, __ATOMIC_RELAXED);
	return -EAGAIN;
}

void jetwatt_mark_for(pid_t pid)
{
	on_behalf_of = pid;
}

int jetwatt_mark_begin(const char *name)
{
	return send_mark("begin ", name);
}

int jetwatt_mark_end(const char *name)
{
	return send_mark("end ", name);
}

int jetwatt_mark(const char *name)
{
	return send_mark("", name);
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
