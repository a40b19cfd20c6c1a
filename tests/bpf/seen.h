/* SPDX-License-Identifier: GPL-2.0-only */
/* A probe, and the list of all waits that it has reported. */
#ifndef JETWATT_TEST_SEEN_H
#define JETWATT_TEST_SEEN_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "jetwatt.h"
#include "node.h"
#include "skip.h"

#define SEEN_MAX	4096

struct seen {
	struct jetwatt_probe *probe;
	struct jetwatt_sync sync[SEEN_MAX];
	int nr;
};

/*
 * Whether the kernel has CONFIG_BPF_EVENTS. The kernel of JetPack 5 lacks CONFIG_BPF_EVENTS, and
 * NVIDIA's tegra_defconfig of 5.10.104 disables even the bpf() system call. Also true if the
 * process may not load BPF programs.
 */
static inline bool can_trace(void)
{
	struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	union bpf_attr attr;
	int fd;

	/* Up to Linux 5.10, BPF programs count against RLIMIT_MEMLOCK, even for a short time after
	 * they are freed. */
	setrlimit(RLIMIT_MEMLOCK, &all);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EINVAL && errno != ENOSYS);
}

#define NEEDS_BPF_EVENTS()							\
	do {									\
		if (!can_trace())						\
			SKIP_TEST("this kernel has no CONFIG_BPF_EVENTS");	\
	} while (0)

static inline void seen_add(const struct jetwatt_sync *s, void *arg)
{
	struct seen *seen = arg;

	if (seen->nr < SEEN_MAX)
		seen->sync[seen->nr] = *s;
	seen->nr++;
}

static inline int seen_open(struct seen *s, uint32_t tgid, int children, uint64_t cgroup)
{
	struct jetwatt_probe_opts o = { .tgid = tgid, .children = children, .cgroup = cgroup };

	memset(s, 0, sizeof(*s));
	return jetwatt_probe_open(&s->probe, &o, seen_add, s);
}

/*
 * Process all events that the probe has reported so far, and the waits that it holds back. Return:
 * number of waits in total, or an error.
 */
static inline int seen_all(struct seen *s)
{
	int n = jetwatt_probe_dispatch(s->probe);

	if (n >= 0)
		jetwatt_probe_flush(s->probe);
	return n < 0 ? n : s->nr;
}

#endif
