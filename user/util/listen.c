// SPDX-License-Identifier: GPL-2.0-only
/* Create a listening Unix socket safely in a directory that another user may write. */
#include "util/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Attempts 1 ms apart; another starting process holds the lock for microseconds. */
#define LOCK_TRIES	50

/* Check whether a process listens on the socket. */
static int socket_in_use(const struct sockaddr_un *at, int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int refused, gone = 0;
	struct ucred peer;
	socklen_t len = sizeof(peer);

	/* Without a socket for the check, assume that a process listens. */
	if (fd < 0)
		return 1;
	refused = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? errno : 0;
	/* If a child of a killed process has inherited the socket, the peer's PID does not
	 * exist. */
	if (!refused && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		gone = peer.pid > 0 && kill(peer.pid, 0) && errno == ESRCH;
	close(fd);
	/* EAGAIN means that the backlog of the listening process is full. */
	return (!refused && !gone) || refused == EAGAIN;
}

/* Lock the directory, so that one process at a time checks the file and binds the socket. Continue
 * without the lock after LOCK_TRIES: any process that can read the directory could hold it.
 * Return: descriptor of the directory; -1 if the directory cannot be opened. */
static int listen_lock_dir(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct timespec interval = { 0, 1000000 };
	char *slash;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && i < LOCK_TRIES; i++)
		nanosleep(&interval, NULL);
	return fd;
}

/* Delete the socket file of a process that has ended. Return: 0; negative errno. */
static int remove_stale_socket(const struct sockaddr_un *at, int type)
{
	struct stat st;

	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (socket_in_use(at, type))
		return -EADDRINUSE;
	return unlink(at->sun_path) && errno != ENOENT ? -errno : 0;
}

/* Set group and mode of the socket file. Use a descriptor, because another user may replace the
 * name at any time. */
static int set_socket_access(struct jetwattd_listener *l, const char *path, gid_t group, int all)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = 0, given;
	char name[48];
	struct stat st;

	if (fd < 0)
		return -errno;
	/* If there are two links, a user has linked the socket of another jetwatt process to this name. */
	if (fstat(fd, &st) || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1) {
		close(fd);
		return -EEXIST;
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	given = group == (gid_t)-1 || group == st.st_gid ||
		!fchownat(fd, "", (uid_t)-1, group, AT_EMPTY_PATH);
	if (!given && errno != EPERM)
		rc = -errno;
	/* If the group cannot be set, let every user connect; the server checks its clients. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!rc && (all || !given) && chmod(name, 0666))
		rc = -errno;
	close(fd);
	return rc;
}

int jetwattd_listen(struct jetwattd_listener *l, const char *path, int type, gid_t group, int all,
		    int backlog)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int lock, rc;
	mode_t was;

	*l = (struct jetwattd_listener){ .fd = -1 };
	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	lock = listen_lock_dir(path);
	rc = remove_stale_socket(&at, type);
	if (!rc) {
		l->fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		was = umask(0117);
		rc = l->fd < 0 || bind(l->fd, (struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
		umask(was);
	}
	if (!rc)
		rc = set_socket_access(l, path, group, all);
	if (!rc && listen(l->fd, backlog))
		rc = -errno;
	if (lock >= 0)
		close(lock);
	if (rc && l->fd >= 0) {
		close(l->fd);
		l->fd = -1;
	}
	return rc;
}

void jetwattd_listen_end(struct jetwattd_listener *l, const char *path)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (!lstat(path, &st) && st.st_dev == l->dev && st.st_ino == l->ino && unlink(path))
		errno = 0;
	close(l->fd);
	l->fd = -1;
}
