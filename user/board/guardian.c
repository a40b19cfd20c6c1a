// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guardian processes. A guardian waits until the process that forked it asks it to finish, or has
 * ended in any way, and then restores the previous state. One guardian restores the settings of the
 * sensors. Another guardian thaws the jobs and restores the knobs, for processes that control the
 * board for a long time: jetwattd and jetwatt-knobs.
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
#include "util/fork.h"

/* Number of attempts to take the lease: the kernel releases the lease of a killed process, but not
 * at once. */
#define KNOBS_TRIES	100
/* Number of attempts to restore if a knob refuses its value: a CPU takes time to come online. */
#define REFUSED_TRIES	5

/* Close all descriptors except @sock and @lock. Other processes wait for end of file on some of
 * these descriptors: pipes, the socket to the module. */
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
	/* Ignore the signals by which a terminal or a service manager ends all processes of a
	 * group, so that they do not prevent the restore. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/* Forget the files that the guarded process keeps open: their descriptors are closed here, and
	 * their numbers are used again for other files. */
	jetwatt_sysfs_files_free(b->files);
	b->files = jetwatt_sysfs_files_new();
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
 * jetwatt_guardian_start() - fork a guardian process
 * @lock: descriptor of a lock that the guardian holds until it has restored the state, -1: no lock
 * @put_back: function that restores the state
 * @fd: gets the socket to the guardian, which becomes readable when the guardian ends
 *
 * The guardian is not a child of this process (it is forked twice), so no waitpid(2) is needed.
 * Return: 0; -EAGAIN: fork(2) failed; other negative errno.
 */
int jetwatt_guardian_start(struct jetwatt_board *b, int lock, jetwatt_guardian_fn put_back, int *fd,
			   struct jetwatt_error_text *err)
{
	int pair[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return jetwatt_error_sys(err, -errno, "cannot start the guardian process");
	pid = jetwatt_fork();
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
		return jetwatt_error_sys(err, -EAGAIN, "cannot start the guardian process");
	}
	*fd = pair[0];
	return 0;
}

int jetwatt_guardian_finish(int *fd)
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

/* Thaw all jobs and restore the knobs; runs in the guardian process. The guarded process has
 * released the lease or is about to release it. */
static int guardian_restore_knobs(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	int rc = -EBUSY, refused = 0;

	jetwatt_board_thaw_all(b);
	for (int i = 0; (rc == -EBUSY || rc == -EIO) && i < KNOBS_TRIES && refused < REFUSED_TRIES; i++) {
		if (i)
			jetwatt_sysfs_settle_wait();
		rc = jetwatt_board_restore(b, err);
		refused += rc == -EIO;
	}
	return rc == -ENOENT ? 0 : rc;
}

int jetwatt_board_guardian(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	/* Start no guardian if jetwatt-knobs writes the knobs: it has a guardian of its own. */
	if (b->by_remote)
		return 0;
	return b->knobs_guardian >= 0 ? 0
				      : jetwatt_guardian_start(b, -1, guardian_restore_knobs,
							       &b->knobs_guardian, err);
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
		jetwatt_guardian_finish(&b->knobs_guardian);
}
