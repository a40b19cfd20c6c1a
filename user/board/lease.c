// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lease: a lock file in the state directory that lets one process at a time write the knobs.
 * The kernel releases the lock when the process that holds it ends.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_RETRIES	4

/* Replace the PID in a lock file by the text @pid. Return: true; false: it cannot be written, such as
 * on a full disk. The callers go on then: only messages need the PID, and the saved state must be
 * restored on a full disk too. */
static bool lease_write_pid(int fd, const char *pid)
{
	return !ftruncate(fd, 0) && pwrite(fd, pid, strlen(pid), 0) >= 0;
}

/**
 * jetwatt_lease_lock() - lock a file in the state directory
 * @leaf: name of the file; the file is created if it is missing
 * @taken: text for @err if another process holds the lock
 *
 * The kernel releases the lock when the last process that has the descriptor ends or closes it. The
 * file has mode 0600, because any process that can open it can lock it.
 *
 * Return: descriptor; -EBUSY: another process holds the lock; -EPERM; other negative errno.
 */
int jetwatt_lease_lock(struct jetwatt_board *b, const char *leaf, const char *taken,
		       struct jetwatt_error_text *err)
{
	char path[PATH_LEN], pid[16] = "";
	int fd, rc;

	rc = jetwatt_statefile_dir(b, err);
	if (rc)
		return rc == -EACCES ? -EPERM : rc;
	fd = open(jetwatt_statefile_path(b, leaf, path),
		  O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return jetwatt_error_sys(err, -errno, "cannot take the lease %s", path);
	/* Retry, because jetwatt_board_saved_owner() of another process takes the lock for an
	 * instant to see whether it is held. */
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) && i < LOCK_RETRIES; i++)
		jetwatt_sysfs_settle_wait();
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		rc = -errno;
		if (rc != -EWOULDBLOCK) {
			rc = jetwatt_error_sys(err, rc, "cannot lock %s", path);
		} else {
			if (pread(fd, pid, sizeof(pid) - 1, 0) < 0 || !pid[0])
				snprintf(pid, sizeof(pid), "?");
			pid[strcspn(pid, "\n")] = '\0';
			rc = jetwatt_board_error_set(err, -EBUSY, "%s", taken);
			jetwatt_error_why(err, "process %s holds the lease %s", pid, path);
			jetwatt_error_fix(err, "wait until it ends, or end it: kill %s", pid);
		}
		close(fd);
		return rc;
	}
	snprintf(pid, sizeof(pid), "%d\n", getpid());
	lease_write_pid(fd, pid);
	return fd;
}

int jetwatt_lease_take(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	int fd;

	if (b->lease >= 0)
		return 0;
	fd = jetwatt_lease_lock(b, "lease", "another jetwatt controls this board", err);
	if (fd < 0)
		return fd;
	b->lease = fd;
	return 0;
}

void jetwatt_lease_release(struct jetwatt_board *b)
{
	/* Another process may change the knobs from now on. */
	b->have_applied = false;
	if (b->lease < 0)
		return;
	/* Keep the file, because a new file would have a new lock; delete only the PID in the
	 * file. */
	lease_write_pid(b->lease, "");
	close(b->lease);
	b->lease = -1;
}

int jetwatt_board_saved_owner(struct jetwatt_board *b, int *owner)
{
	char path[PATH_LEN], pid[16] = "";
	struct stat st;
	int fd;

	*owner = 0;
	if (stat(jetwatt_statefile_path(b, "saved", path), &st))
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (jetwatt_saved_old(b))
		return 0;
	if (b->lease >= 0) {
		*owner = getpid();
		return 1;
	}
	fd = open(jetwatt_statefile_path(b, "lease", path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1;
	if (flock(fd, LOCK_SH | LOCK_NB) && pread(fd, pid, sizeof(pid) - 1, 0) > 0)
		*owner = atoi(pid);
	close(fd);
	return 1;
}
