/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a descriptor of another process is.
 */
#ifndef JETWATT_LIB_FDNAME_H
#define JETWATT_LIB_FDNAME_H

#include <stdint.h>

#define JETWATT_FDNAME_SLOTS	256

/* Where jetwatt-files answers: a request is one packet, the answer another, an int32_t of
 * enum jetwatt_fdname_what. */
#define JETWATT_FILES_SOCKET	"/run/jetwatt-files/socket"

struct jetwatt_files_request {
	uint32_t tgid;
	int32_t fd;
};

/* Answers of the last second, one a slot: the newer one stays.
 * @helper: its descriptor and 1, 0: not connected; @tried_ns: when that was last tried */
struct jetwatt_fdname {
	int helper;
	uint64_t tried_ns;
	struct {
		uint64_t when_ns;
		uint32_t tgid;
		int fd;
		int what;
	} slot[JETWATT_FDNAME_SLOTS];
};

enum jetwatt_fdname_what {
	JETWATT_FDNAME_GONE,	/* no such process or descriptor any more */
	JETWATT_FDNAME_OTHER,
	JETWATT_FDNAME_POLLFD,	/* armed for a fence by an ioctl, then polled */
	JETWATT_FDNAME_EVENT,	/* polled, always armed */
	JETWATT_FDNAME_FENCE,	/* arms poll descriptors */
	JETWATT_FDNAME_RENDER,	/* has an ioctl that waits for a fence */
	JETWATT_FDNAME_NVHOST,	/* both */
};

/* Of what /proc/PID/fd/N points to. */
int jetwatt_fdname_classify(const char *path);

/* By our own rights. Return: a kind; -EACCES. */
int jetwatt_fdname_local(uint32_t tgid, int fd);

/* No more look-ups. */
void jetwatt_fdname_close(struct jetwatt_fdname *c);

/* @now_ns: any clock that goes on, e.g. the time of the record. */
int jetwatt_fdname_lookup(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns);

/**
 * jetwatt_fdname_genuine() - was it a wait for the GPU, and not one of the same number?
 * @syncpt: an ioctl of @fd that waits for a fence; else a poll of @fd, which an ioctl of
 *	@ctl_fd has armed, or which is an event (@ctl_fd -1)
 *
 * Doubt is in favour: the process may be gone.
 */
int jetwatt_fdname_genuine(struct jetwatt_fdname *c, uint32_t tgid, int syncpt, int fd,
			   int ctl_fd, uint64_t now_ns);

/**
 * jetwatt_fdname_events() - find descriptors of a process that are events
 * @fd: where they go
 * @max: room there
 *
 * Another user's process is asked for by jetwatt-files. Return: how many; 0 also where neither
 * may look.
 */
int jetwatt_fdname_events(struct jetwatt_fdname *c, uint32_t tgid, uint64_t now_ns, int *fd, int max);

/* @fd was closed or made anew; -1: all of the process. */
void jetwatt_fdname_forget(struct jetwatt_fdname *c, uint32_t tgid, int fd);

#endif
