// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds out to what kind of file a descriptor of another process refers.
 *
 * Different drivers use the same ioctl numbers, so only the file of the descriptor shows whether an
 * ioctl was a wait for the GPU. A BPF program without kernel BTF cannot find the file of a
 * descriptor, but /proc shows it. A result in the cache is valid for one second, because the number
 * of a descriptor may be used again for another file.
 */
#include "lib/fdname.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* how long a result in the cache is valid, and minimum interval between attempts to connect to
 * jetwatt-files, ns */
#define FRESH_NS	1000000000ull
/* Timeout of a request to jetwatt-files; the reply usually takes microseconds. */
#define HELPER_TIMEOUT_US	100000
/* Query jetwatt-files for the descriptor numbers below SEARCH_FDS one by one, until the caller's
 * array is full or GONE_IN_A_ROW successive numbers are not open or could not be classified. */
#define SEARCH_FDS		4096
#define GONE_IN_A_ROW		64

/* File names of the drivers; doc/hardware.md names the versions of the public sources. */
static const struct {
	const char *path;
	int what;
	enum { WHOLE, NUMBER, PREFIX } rest;	/* what follows @path: nothing, digits, anything */
} names[] = {
	/* source in linux-nv-oot: drivers/gpu/host1x-fence/dev.c */
	{ "anon_inode:host1x_pollfd", JETWATT_FDNAME_POLLFD, WHOLE },
	{ "/dev/host1x-fence", JETWATT_FDNAME_FENCE, WHOLE },
	/* source in JetPack 5: nvidia/drivers/video/tegra/host/host1x/host1x.c */
	{ "anon_inode:nvhost-event-poll-fd", JETWATT_FDNAME_POLLFD, WHOLE },
	{ "/dev/nvhost-ctrl", JETWATT_FDNAME_NVHOST, WHOLE },
	/* nvgpu: os/linux/ioctl_tsg.c; 2 is BLOCKING_SYNC */
	{ "anon_inode:nvgpu-event2-fd", JETWATT_FDNAME_EVENT, NUMBER },
	/* source in open-gpu-kernel-modules: kernel-open/nvidia/nv.c nvidia_poll() */
	{ "/dev/nvidiactl", JETWATT_FDNAME_EVENT, WHOLE },
	{ "/dev/nvidia", JETWATT_FDNAME_EVENT, NUMBER },
	/* tegra-drm, any number */
	{ "/dev/dri/renderD", JETWATT_FDNAME_RENDER, PREFIX },
	{ "/dev/dri/card", JETWATT_FDNAME_RENDER, PREFIX },
};

int jetwatt_fdname_classify(const char *path)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].path);
		const char *rest = path + n;

		if (strncmp(path, names[i].path, n))
			continue;
		if (names[i].rest == PREFIX || (names[i].rest == WHOLE && !*rest) ||
		    (names[i].rest == NUMBER && *rest && !rest[strspn(rest, "0123456789")]))
			return names[i].what;
	}
	return JETWATT_FDNAME_OTHER;
}

int jetwatt_fdname_local(uint32_t tgid, int fd)
{
	char link[64], path[128];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/fd/%d", tgid, fd);
	n = readlinkat(AT_FDCWD, link, path, sizeof(path) - 1);
	if (n < 0)
		return errno == EACCES ? -EACCES : JETWATT_FDNAME_GONE;
	path[n] = '\0';
	return jetwatt_fdname_classify(path);
}

static void disconnect_helper(struct jetwatt_fdname *c)
{
	if (c->helper)
		close(c->helper - 1);
	c->helper = 0;
}

static int connect_helper(struct jetwatt_fdname *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = JETWATT_FILES_SOCKET };
	struct timeval timeout = { 0, HELPER_TIMEOUT_US };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		close(fd);
		return 0;
	}
	c->helper = fd + 1;
	return 1;
}

/* Classify a descriptor by a query to jetwatt-files, which has the right to read the descriptors
 * of other users' processes. */
static int query_helper(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns)
{
	struct jetwatt_files_request request = { tgid, fd };
	int32_t what;

	if (!c->helper && c->tried_ns && now_ns - c->tried_ns < FRESH_NS)
		return JETWATT_FDNAME_GONE;
	c->tried_ns = now_ns;
	if (!c->helper && !connect_helper(c))
		return JETWATT_FDNAME_GONE;
	if (send(c->helper - 1, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request) &&
	    recv(c->helper - 1, &what, sizeof(what), 0) == sizeof(what) &&
	    what >= JETWATT_FDNAME_GONE && what <= JETWATT_FDNAME_NVHOST)
		return what;
	/* Disconnect after a timeout: a late reply would be taken for the reply to the next
	 * request. */
	disconnect_helper(c);
	return JETWATT_FDNAME_GONE;
}

void jetwatt_fdname_close(struct jetwatt_fdname *c)
{
	disconnect_helper(c);
}

static int classify_fd(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns)
{
	int what = jetwatt_fdname_local(tgid, fd);

	return what < 0 ? query_helper(c, tgid, fd, now_ns) : what;
}

int jetwatt_fdname_lookup(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns)
{
	unsigned int i = (tgid * 31 + (unsigned int)fd) % JETWATT_FDNAME_SLOTS;

	if (c->slot[i].tgid != tgid || c->slot[i].fd != fd ||
	    now_ns - c->slot[i].when_ns > FRESH_NS) {
		c->slot[i].tgid = tgid;
		c->slot[i].fd = fd;
		c->slot[i].when_ns = now_ns;
		c->slot[i].what = classify_fd(c, tgid, fd, now_ns);
	}
	return c->slot[i].what;
}

int jetwatt_fdname_genuine(struct jetwatt_fdname *c, uint32_t tgid, int syncpt, int fd,
			   int ctl_fd, uint64_t now_ns)
{
	int what = jetwatt_fdname_lookup(c, tgid, fd, now_ns);

	if (syncpt)
		return what == JETWATT_FDNAME_RENDER || what == JETWATT_FDNAME_NVHOST ||
		       what == JETWATT_FDNAME_GONE;
	if (ctl_fd < 0)
		return what == JETWATT_FDNAME_EVENT || what == JETWATT_FDNAME_GONE;
	if (what == JETWATT_FDNAME_POLLFD)
		return 1;
	what = jetwatt_fdname_lookup(c, tgid, ctl_fd, now_ns);
	return what == JETWATT_FDNAME_FENCE || what == JETWATT_FDNAME_NVHOST ||
	       what == JETWATT_FDNAME_GONE;
}

/* jetwatt-files lists no directories, so query each descriptor number; processes use the lowest
 * free number first. */
static int events_by_helper(struct jetwatt_fdname *c, uint32_t tgid, uint64_t now_ns, int *fd, int max)
{
	int n = 0;

	for (int nr = 0, gone = 0; nr < SEARCH_FDS && gone < GONE_IN_A_ROW && n < max; nr++) {
		int what = query_helper(c, tgid, nr, now_ns);

		gone = what == JETWATT_FDNAME_GONE ? gone + 1 : 0;
		if (what == JETWATT_FDNAME_EVENT)
			fd[n++] = nr;
	}
	return n;
}

int jetwatt_fdname_events(struct jetwatt_fdname *c, uint32_t tgid, uint64_t now_ns, int *fd, int max)
{
	const struct dirent *e;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", tgid);
	dir = opendir(path);
	if (!dir)
		return errno == EACCES ? events_by_helper(c, tgid, now_ns, fd, max) : 0;
	while (n < max && (e = readdir(dir))) {
		char *end;
		long nr = strtol(e->d_name, &end, 10);

		if (end != e->d_name && !*end && jetwatt_fdname_local(tgid, (int)nr) == JETWATT_FDNAME_EVENT)
			fd[n++] = (int)nr;
	}
	closedir(dir);
	return n;
}

void jetwatt_fdname_forget(struct jetwatt_fdname *c, uint32_t tgid, int fd)
{
	for (int i = 0; i < JETWATT_FDNAME_SLOTS; i++)
		if (c->slot[i].tgid == tgid && (fd < 0 || c->slot[i].fd == fd))
			c->slot[i].tgid = 0;
}
