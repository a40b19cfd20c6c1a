// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guardians: a process that waits until we say that we are done, or are gone in
 * whatever way, and then puts back what was before. One is of the sensors' settings,
 * one of the knobs for who holds them for long.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board/remote.h"

/* The lease of who was killed goes with him, but not at the very same instant. */
#define KNOBS_TRIES	100
/* A knob that refuses may be late: a CPU takes its time to come back. */
#define REFUSED_TRIES	5

/* Nothing that anybody waits for may stay open here: pipes, the module's socket. */
static void guardian_close_fds(int sock, int lock)
{
	long max = sysconf(_SC_OPEN_MAX);
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		if (fd != sock && fd != lock)
			close(fd);
}

static void __attribute__((noreturn)) guardian_run(struct jetwatt_board *b, int sock, int lock,
						   jetwatt_guardian_fn put_back)
{
	char c;
	int rc;

	setsid();
	prctl(PR_SET_NAME, "jetwatt-guard");
	/* Who ends us ends the promise: what ends others in a group does not. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	guardian_close_fds(sock, lock);
	if (chdir("/"))
		errno = 0;
	while (read(sock, &c, 1) < 0 && errno == EINTR)
		;
	rc = put_back(b, NULL);
	if (write(sock, &rc, sizeof(rc)) < 0)
		errno = 0;
	_exit(rc != 0);
}

/**
 * jetwatt_guardian_start() - have one
 * @lock: held by it until it has done its work, -1: none
 * @put_back: its work
 * @fd: its descriptor: readable means that it has gone
 *
 * Not a child that anybody would have to wait for: it belongs to init.
 */
int jetwatt_guardian_start(struct jetwatt_board *b, int lock, jetwatt_guardian_fn put_back, int *fd,
			   struct jetwatt_error_text *err)
{
	int pair[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return jetwatt_error_sys(err, -errno, "cannot start a guardian");
	pid = fork();
	if (!pid) {
		close(pair[0]);
		pid = fork();
		if (!pid)
			guardian_run(b, pair[1], lock, put_back);
		_exit(pid < 0);
	}
	close(pair[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || status) {
		close(pair[0]);
		return jetwatt_error_sys(err, -EAGAIN, "cannot start a guardian");
	}
	*fd = pair[0];
	return 0;
}

/* Tell it that we are done. Return: what it says of its work; -EPIPE: it has gone. */
static int guardian_finish(int *fd)
{
	ssize_t got;
	int rc = 0;

	shutdown(*fd, SHUT_WR);
	do
		got = read(*fd, &rc, sizeof(rc));
	while (got < 0 && errno == EINTR);
	close(*fd);
	*fd = -1;
	return got == sizeof(rc) ? rc : -EPIPE;
}

/* Ours has let go of the lease, or is about to. */
static int guardian_restore_knobs(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	int rc = -EBUSY, refused = 0;

	jetwatt_board_thaw(b);
	for (int i = 0; (rc == -EBUSY || rc == -EIO) && i < KNOBS_TRIES && refused < REFUSED_TRIES; i++) {
		if (i)
			jetwatt_sysfs_nap();
		rc = jetwatt_board_restore(b, err);
		refused += rc == -EIO;
	}
	return rc == -ENOENT ? 0 : rc;
}

int jetwatt_board_guardian(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	/* It has one of its own. */
	if (b->by_remote)
		return 0;
	return b->knobs_guardian >= 0
		       ? 0
		       : jetwatt_guardian_start(b, -1, guardian_restore_knobs, &b->knobs_guardian, err);
}

int jetwatt_board_guarded(const struct jetwatt_board *b)
{
	struct pollfd p = { b->knobs_guardian, POLLIN, 0 };

	if (b->by_remote)
		return jetwatt_remote_alive(b);
	return b->knobs_guardian >= 0 && !poll(&p, 1, 0);
}

void jetwatt_guardian_end(struct jetwatt_board *b)
{
	if (b->knobs_guardian >= 0)
		guardian_finish(&b->knobs_guardian);
}

int jetwatt_board_sensors_back(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	int rc;

	if (b->sensors_guardian < 0)
		return 0;
	rc = guardian_finish(&b->sensors_guardian);
	/* Somebody has killed it, or it could not do it: the same once more, and say why not. */
	if (rc)
		rc = jetwatt_board_sensors_restore(b, err);
	return rc == -ENOENT ? 0 : rc;
}
