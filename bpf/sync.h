/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The record that sync.bpf.c writes to the ring buffer and user/lib/probe_bpf.c reads. This header
 * uses plain types, so that both files can include it.
 */
#ifndef JETWATT_BPF_SYNC_H
#define JETWATT_BPF_SYNC_H

enum jetwatt_sync_record_call {
	/* The first five have the same numbers as in enum jetwatt_sync_call of jetwatt.h. */
	JETWATT_SYNC_RECORD_POLLFD,
	JETWATT_SYNC_RECORD_SYNCPT,
	JETWATT_SYNC_RECORD_STREAM,
	JETWATT_SYNC_RECORD_EVENT,
	JETWATT_SYNC_RECORD_CONTEXT,
	/*
	 * Not a wait: the reader must drop the cached file name of descriptor @fd (-1: of all
	 * descriptors) of process @tgid.
	 */
	JETWATT_SYNC_RECORD_FORGET,
	JETWATT_SYNC_RECORD_COPY,
	JETWATT_SYNC_RECORD_QUERY,
	JETWATT_SYNC_RECORD_CALLBACK,
};

/* Flag in @call: the thread has the name cuda-EvtHandlr, so it is libcuda's helper thread. */
#define JETWATT_SYNC_RECORD_HELPER	0x80000000U

/**
 * struct jetwatt_sync_record - one finished wait, or JETWATT_SYNC_RECORD_FORGET
 * @enter_ns: start of the wait, CLOCK_MONOTONIC
 * @exit_ns: end of the wait, CLOCK_MONOTONIC
 * @cgroup: id of the thread's v2 cgroup
 * @launch_ns: time of the first launch of the process since its previous wait; 0: none, or the wait
 *	was found in system calls, which show no launches
 * @tgid: process id in the initial pid namespace
 * @tid: thread id in the initial pid namespace
 * @call: enum jetwatt_sync_record_call, and the flag JETWATT_SYNC_RECORD_HELPER
 * @ret: return value of the system call or function that waited; 0 for a callback
 * @fd: descriptor that the thread waited on: the polled descriptor, or the device node on which the
 *	ioctl was called; -1: the wait was not in a system call
 * @ctl_fd: descriptor of the device node whose ioctl armed @fd; -1: no ioctl armed @fd
 * @launches: number of launches of the process since its previous wait
 * @lost: total number of records and map entries lost before this record, modulo 2^32
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
