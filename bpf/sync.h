/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What sync.bpf.c and the library say to each other: the record in the ring
 * buffer. Plain types, so that both sides can include it.
 */
#ifndef JETWATT_BPF_SYNC_H
#define JETWATT_BPF_SYNC_H

enum jetwatt_sync_record_call {
	JETWATT_SYNC_RECORD_POLLFD,	/* as enum jetwatt_sync_call of jetwatt.h */
	JETWATT_SYNC_RECORD_SYNCPT,
	JETWATT_SYNC_RECORD_STREAM,
	JETWATT_SYNC_RECORD_EVENT,
	JETWATT_SYNC_RECORD_CONTEXT,
	/* no wait: what was known of @fd, or of all (-1), of @tgid holds no longer */
	JETWATT_SYNC_RECORD_FORGET,
	JETWATT_SYNC_RECORD_COPY,
	JETWATT_SYNC_RECORD_QUERY,
};

/* A flag of @call: the thread is named cuda-EvtHandlr, so libcuda has started it. */
#define JETWATT_SYNC_RECORD_HELPER	0x80000000U

/**
 * struct jetwatt_sync_record - one finished wait
 * @enter_ns, @exit_ns: CLOCK_MONOTONIC
 * @cgroup: id of the thread's v2 cgroup
 * @tgid, @tid: in the initial pid namespace
 * @call: enum jetwatt_sync_record_call, and JETWATT_SYNC_RECORD_HELPER
 * @ret: what the call returned
 * @fd: descriptor waited on: the one polled, or the node of the ioctl; of a
 *	call of libcuda -1
 * @ctl_fd: descriptor that @fd was armed through, else -1
 * @launch_ns, @launches: the process's first launch since its wait before
 *	this one, and how many there were
 * @lost: how many records, in all, had found no room before
 */
struct jetwatt_sync_record {
	unsigned long long enter_ns, exit_ns, cgroup, launch_ns;
	unsigned int tgid, tid;
	unsigned int call;
	int ret;
	int fd, ctl_fd;
	unsigned int launches, lost;
};

#endif
