// SPDX-License-Identifier: GPL-2.0-only
/* Freeze and thaw jobs, and the guard process that thaws them if this process cannot. */
#include "job/freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/fork.h"

int jetwatt_freezer_open(struct jetwatt_freezer *h, const struct jetwatt_cgroup *cgroup, pid_t group)
{
	*h = (struct jetwatt_freezer){ .freeze = -1, .events = -1, .group = group };
	if (!*cgroup->path)
		return 0;
	h->freeze = jetwatt_cgroup_file(cgroup, "cgroup.freeze", O_WRONLY);
	h->events = jetwatt_cgroup_file(cgroup, "cgroup.events", O_RDONLY);
	/* Linux before 5.2 has no v2 freezer: freeze the job with signals. */
	if (h->freeze < 0 || h->events < 0)
		jetwatt_freezer_close(h);
	return 0;
}

void jetwatt_freezer_close(struct jetwatt_freezer *h)
{
	if (h->freeze >= 0)
		close(h->freeze);
	if (h->events >= 0)
		close(h->events);
	h->freeze = h->events = -1;
}

/* Freeze (@still 1) or thaw a job. The guard process calls this function too, with a copy of @h,
 * so the function must not depend on @held. */
static int write_state(const struct jetwatt_freezer *h, int still)
{
	if (h->freeze < 0)
		return kill(-h->group, still ? SIGSTOP : SIGCONT) ? -errno : 0;
	return pwrite(h->freeze, still ? "1" : "0", 1, 0) == 1 ? 0 : -errno;
}

/* Ignore the errors of a job that has ended. */
static int ignore_ended(int err)
{
	return err == -ESRCH || err == -ENODEV ? 0 : err;
}

int jetwatt_freezer_freeze(struct jetwatt_freezer *h, uint64_t now_ns)
{
	int err;

	if (h->held)
		return 0;
	h->held = 1;
	h->since_ns = now_ns;
	err = write_state(h, 1);
	if (err)
		h->held = 0;
	return ignore_ended(err);
}

int jetwatt_freezer_thaw(struct jetwatt_freezer *h, uint64_t now_ns)
{
	int err;

	if (!h->held)
		return 0;
	err = write_state(h, 0);
	h->held = 0;
	h->ns += now_ns - h->since_ns;
	return ignore_ended(err);
}

uint64_t jetwatt_freezer_frozen_ns(const struct jetwatt_freezer *h, uint64_t now_ns)
{
	return h->ns + (h->held && now_ns > h->since_ns ? now_ns - h->since_ns : 0);
}

int jetwatt_freezer_wait(const struct jetwatt_freezer *h, int ms)
{
	struct timespec interval = { 0, 50000 };
	char text[128];
	ssize_t n;

	/* SIGSTOP takes effect before a process returns to user space: there is nothing to wait
	 * for. */
	if (h->events < 0)
		return 0;
	for (long us = 0; us <= ms * 1000l; us += interval.tv_nsec / 1000) {
		n = pread(h->events, text, sizeof(text) - 1, 0);
		if (n < 0)
			return errno == ENODEV ? 0 : -errno;
		text[n] = '\0';
		if (strstr(text, "frozen 1") || strstr(text, "populated 0"))
			return 0;
		/* Poll the freezer's state, because the kernel limits notifications of
		 * cgroup.events to one in 10 ms. */
		nanosleep(&interval, NULL);
		if (interval.tv_nsec < 1000000)
			interval.tv_nsec += interval.tv_nsec / 2;
	}
	return -ETIMEDOUT;
}

/* Return: 1: @fd is the descriptor of the cgroup.freeze file of one of the jobs. */
static int is_freeze_fd(int fd, const struct jetwatt_freezer *h, int n)
{
	for (int i = 0; i < n; i++)
		if (fd == h[i].freeze)
			return 1;
	return 0;
}

/* In the guard, close all inherited descriptors that the guard does not need: other processes
 * may wait for end of file on them. */
static void close_others(int ours, const struct jetwatt_freezer *h, int n)
{
	long max = sysconf(_SC_OPEN_MAX);
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		if (fd != ours && !is_freeze_fd(fd, h, n))
			close(fd);
}

/* Main function of the guard process. @ours: the guard's end of the socket pair. */
static void __attribute__((noreturn)) guard_main(int ours, const struct jetwatt_freezer *h, int n)
{
	struct pollfd p = { .fd = ours, .events = POLLIN };
	char word[64];
	ssize_t got;

	setsid();
	prctl(PR_SET_NAME, "jetwatt-guard");
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	close_others(ours, h, n);
	if (chdir("/"))
		errno = 0;
	do {
		p.revents = 0;
		/* No notification came in time: the parent may be stopped. */
		if (!poll(&p, 1, JETWATT_FREEZER_SILENT_MS))
			for (int i = 0; i < n; i++)
				write_state(&h[i], 0);
		got = p.revents ? read(ours, word, sizeof(word)) : 1;
	} while (got > 0 || (got < 0 && errno == EINTR));
	for (int i = 0; i < n; i++)
		write_state(&h[i], 0);
	_exit(0);
}

int jetwatt_freezer_guard(const struct jetwatt_freezer *h, int n)
{
	int pair[2], status = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	pid = jetwatt_fork();
	if (!pid) {
		close(pair[0]);
		/* A second fork: the guard becomes a child of init, which waits for it. */
		pid = fork();
		if (!pid)
			guard_main(pair[1], h, n);
		_exit(pid < 0);
	}
	close(pair[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && !status)
		return pair[0];
	close(pair[0]);
	return -EAGAIN;
}

int jetwatt_freezer_notify_guard(int guard)
{
	if (send(guard, "h", 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN || errno == EINTR)
		return 0;
	return -errno;
}
