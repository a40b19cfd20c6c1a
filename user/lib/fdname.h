/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Classifies the file behind a descriptor of another process. The backends that trace system calls
 * recognise waits for the GPU by the kind of the file. Descriptors that this process may not
 * examine are classified by jetwatt-files.
 */
#ifndef JETWATT_LIB_FDNAME_H
#define JETWATT_LIB_FDNAME_H

#include <stdint.h>

/* Size of the cache. */
#define JETWATT_FDNAME_SLOTS	256

/*
 * Socket of jetwatt-files. A request to jetwatt-files is one packet with struct
 * jetwatt_files_request; the reply is one packet with an int32_t, enum jetwatt_fdname_what.
 */
#define JETWATT_FILES_SOCKET	"/run/jetwatt-files/socket"

/**
 * struct jetwatt_files_request - request to jetwatt-files
 * @tgid: process id
 * @fd: descriptor of the process @tgid
 */
struct jetwatt_files_request {
	uint32_t tgid;
	int32_t fd;
};

/**
 * struct jetwatt_fdname - cache of results and connection to jetwatt-files; all zero at first
 * @helper: 1 + descriptor of the connection; 0: not connected
 * @tried_ns: time of the last request or connection attempt, ns
 * @slot: results, each valid for one second; a new result replaces the one in the same slot
 */
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

/* Kind of a descriptor. */
enum jetwatt_fdname_what {
	/* the process or the descriptor does not exist, or its file could not be determined */
	JETWATT_FDNAME_GONE,
	JETWATT_FDNAME_OTHER,	/* none of the below */
	JETWATT_FDNAME_POLLFD,	/* file that an ioctl arms for a fence; the program then polls it */
	JETWATT_FDNAME_EVENT,	/* driver event: the program polls it without arming */
	JETWATT_FDNAME_FENCE,	/* its ioctl arms pollfds */
	JETWATT_FDNAME_RENDER,	/* file whose ioctl waits for a fence */
	JETWATT_FDNAME_NVHOST,	/* both FENCE and RENDER */
};

/* Classify the target of a link /proc/PID/fd/N. */
int jetwatt_fdname_classify(const char *path);

/* Classify a descriptor with the rights of this process only. Return: enum jetwatt_fdname_what;
 * -EACCES. */
int jetwatt_fdname_local(uint32_t tgid, int fd);

/* Close the connection to jetwatt-files. */
void jetwatt_fdname_close(struct jetwatt_fdname *c);

/*
 * Classify a descriptor from the cache or, if it is not there, with this process's rights or
 * jetwatt-files. @now_ns: present time by any clock that never decreases, the time of the record
 * for instance. Blocks at most 0.2 s. Return: enum jetwatt_fdname_what.
 */
int jetwatt_fdname_lookup(struct jetwatt_fdname *c, uint32_t tgid, int fd, uint64_t now_ns);

/**
 * jetwatt_fdname_genuine() - check that a record is a wait for the GPU, not an ioctl of another
 * driver with the same number
 * @c: the cache
 * @tgid: process id
 * @syncpt: 1: an ioctl of @fd that waits for a fence; 0: a poll of @fd
 * @fd: the descriptor
 * @ctl_fd: for a poll: the descriptor whose ioctl armed @fd; -1: @fd is a driver event
 * @now_ns: see jetwatt_fdname_lookup()
 *
 * Return: 1: the record is a wait for the GPU, or the file cannot be determined; 0: the record is
 * not a wait for the GPU.
 */
int jetwatt_fdname_genuine(struct jetwatt_fdname *c, uint32_t tgid, int syncpt, int fd,
			   int ctl_fd, uint64_t now_ns);

/**
 * jetwatt_fdname_events() - find the descriptors of a process that are driver events
 * @c: the cache
 * @tgid: process id
 * @now_ns: see jetwatt_fdname_lookup()
 * @fd: receives the descriptors
 * @max: number of entries of @fd
 *
 * If this process may not examine the process @tgid, the function queries jetwatt-files.
 *
 * Return: number of descriptors found; 0 also if they cannot be determined.
 */
int jetwatt_fdname_events(struct jetwatt_fdname *c, uint32_t tgid, uint64_t now_ns, int *fd, int max);

/* Remove @fd (-1: all descriptors) of a process from the cache: the descriptor may refer to
 * another file now. */
void jetwatt_fdname_forget(struct jetwatt_fdname *c, uint32_t tgid, int fd);

#endif
