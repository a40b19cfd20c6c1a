// SPDX-License-Identifier: GPL-2.0-only
/* Fork, release, wait for and end a command. */
#include "job/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/fork.h"

/* In the child: wait for the parent's byte on the pipe @go, then execute the command. Does not
 * return. */
static void child_exec(int go, int failed, char **argv, int mark_fd)
{
	char c, number[16];
	sigset_t none;
	int err;

	if (mark_fd >= 0) {
		snprintf(number, sizeof(number), "%d", mark_fd);
		fcntl(mark_fd, F_SETFD, 0);
		setenv("JETWATT_MARK_FD", number, 1);
	}

	/* The parent blocks the signals that it handles and ignores SIGPIPE; reset both for the
	 * command. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* End of file on the pipe: the parent ended before it released the child. */
	if (read(go, &c, 1) != 1)
		_exit(1);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(1);
	_exit(err == ENOENT ? 127 : 126);
}

int jetwatt_child_start(struct jetwatt_child *c, char **argv, int mark_fd)
{
	int go[2], failed[2], err;

	memset(c, 0, sizeof(*c));
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	c->pid = jetwatt_fork();
	if (c->pid < 0) {
		err = -errno;
		c->pid = 0;
		goto close_failed;
	}
	if (!c->pid) {
		/* If the child kept a copy of the pipe's write end, the child would never see
		 * end of file, and so would not notice that the parent has ended. */
		close(go[1]);
		close(failed[0]);
		child_exec(go[0], failed[1], argv, mark_fd);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;

close_failed:
	close(failed[0]);
	close(failed[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

int jetwatt_child_go(struct jetwatt_child *c)
{
	int err = 0;
	ssize_t n = write(c->go, "g", 1);

	close(c->go);
	if (n == 1)
		do
			n = read(c->failed, &err, sizeof(err));
		while (n < 0 && errno == EINTR);
	close(c->failed);
	/* The pipe is close-on-exec: end of file means that exec() has succeeded, or that the child
	 * was killed before. */
	if (n != sizeof(err))
		return 0;
	wait4(c->pid, &c->status, 0, &c->used);
	c->gone = 1;
	return -err;
}

int jetwatt_child_reap(struct jetwatt_child *c)
{
	if (c->pid && !c->gone && wait4(c->pid, &c->status, WNOHANG, &c->used) == c->pid)
		c->gone = 1;
	return c->gone;
}

int jetwatt_child_exit(const struct jetwatt_child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void jetwatt_child_stop(struct jetwatt_child *c)
{
	if (!c->pid || c->gone)
		return;
	kill(c->pid, SIGTERM);
	for (int ms = 0; ms < JETWATT_CHILD_PATIENCE_MS && !jetwatt_child_reap(c); ms += 20)
		poll(NULL, 0, 20);
	if (c->gone)
		return;
	kill(c->pid, SIGKILL);
	wait4(c->pid, &c->status, 0, &c->used);
	c->gone = 1;
}
