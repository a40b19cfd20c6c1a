// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers of ioctls are not unique: whether a wait was one for the GPU is
 * told by the file. A BPF program without kernel BTF can't walk to it, /proc
 * can, at the price of a look-up that is good for a second: a descriptor's
 * number may be used again for another file.
 */
#include "fdname.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 5.6; glibc 2.31 (JetPack 5) does not know it yet. One number on every machine. */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd	438
#endif

#define FRESH_NS	1000000000ull

/* Names as the drivers give them. The sources are public: doc/hardware.md has their tags. */
static const struct {
	const char *path;
	int what;
	enum { WHOLE, NUMBER, PREFIX } rest;	/* what follows @path: nothing, digits, anything */
} names[] = {
	/* linux-nv-oot: drivers/gpu/host1x-fence/dev.c */
	{ "anon_inode:host1x_pollfd", JETWATT_FDNAME_POLLFD, WHOLE },
	{ "/dev/host1x-fence", JETWATT_FDNAME_FENCE, WHOLE },
	/* JetPack 5: nvidia/drivers/video/tegra/host/host1x/host1x.c */
	{ "anon_inode:nvhost-event-poll-fd", JETWATT_FDNAME_POLLFD, WHOLE },
	{ "/dev/nvhost-ctrl", JETWATT_FDNAME_NVHOST, WHOLE },
	/* nvgpu: os/linux/ioctl_tsg.c; 2 is BLOCKING_SYNC */
	{ "anon_inode:nvgpu-event2-fd", JETWATT_FDNAME_EVENT, NUMBER },
	/* open-gpu-kernel-modules: kernel-open/nvidia/nv.c nvidia_poll() */
	{ "/dev/nvidiactl", JETWATT_FDNAME_EVENT, WHOLE },
	{ "/dev/nvidia", JETWATT_FDNAME_EVENT, NUMBER },
	/* tegra-drm, whatever the number */
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

/* A directory of descriptors is its owner's, and CAP_SYS_PTRACE does not open it, as
 * CAP_DAC_READ_SEARCH would with every other file of the system. But it lends us one. */
static ssize_t borrow(uint32_t tgid, int fd, char *path, size_t len)
{
	int pidfd = (int)syscall(SYS_pidfd_open, tgid, 0), ours;
	char link[32];
	ssize_t n;

	if (pidfd < 0)
		return -1;
	ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close(pidfd);
	if (ours < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", ours);
	n = readlink(link, path, len);
	close(ours);
	return n;
}

static int ask(uint32_t tgid, int fd)
{
	char link[64], path[128];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/fd/%d", tgid, fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 && errno == EACCES)
		n = borrow(tgid, fd, path, sizeof(path) - 1);
	if (n < 0)
		return JETWATT_FDNAME_GONE;
	path[n] = '\0';
	return jetwatt_fdname_classify(path);
}

int jetwatt_fdname_lookup(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns)
{
	unsigned int i = (tgid * 31 + (unsigned int)fd) % JETWATT_FDNAME_SLOTS;

	if (c->slot[i].tgid != tgid || c->slot[i].fd != fd ||
	    now_ns - c->slot[i].when_ns > FRESH_NS) {
		c->slot[i].tgid = tgid;
		c->slot[i].fd = fd;
		c->slot[i].when_ns = now_ns;
		c->slot[i].what = ask(tgid, fd);
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

int jetwatt_fdname_events(uint32_t tgid, int *fd, int max)
{
	const struct dirent *e;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", tgid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (n < max && (e = readdir(dir))) {
		char *end;
		long nr = strtol(e->d_name, &end, 10);

		if (end != e->d_name && !*end && ask(tgid, (int)nr) == JETWATT_FDNAME_EVENT)
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
