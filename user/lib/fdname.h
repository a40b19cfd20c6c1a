/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a descriptor of another process is.
 */
#ifndef JETWATT_LIB_FDNAME_H
#define JETWATT_LIB_FDNAME_H

#include <stdint.h>

#define JETWATT_FDNAME_SLOTS	256

/* Answers of the last second, one a slot: the newer one stays. */
struct jetwatt_fdname {
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
	JETWATT_FDNAME_POLLFD,
	JETWATT_FDNAME_FENCE,
	JETWATT_FDNAME_RENDER,
};

/* Of what /proc/PID/fd/N points to. */
int jetwatt_fdname_classify(const char *path);

/* @now_ns: any clock that goes on, e.g. the time of the record. */
int jetwatt_fdname_lookup(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns);

#endif
