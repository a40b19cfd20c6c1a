/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What else a job takes: processor, memory, storage, and how much of what it
 * reads lies in the page cache already. From /proc, a few times a second.
 */
#ifndef JETWATT_JOB_RESOURCE_USAGE_H
#define JETWATT_JOB_RESOURCE_USAGE_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "job/child.h"
#include "out/json.h"

#define JETWATT_USAGE_PROCESSES	512
#define JETWATT_USAGE_FILES	128

/* Of one process, since it began. */
struct jetwatt_usage_count {
	uint64_t cpu_ticks, minor, major, read_bytes, read_calls;
};

/**
 * struct jetwatt_usage - sums
 * @process: those alive at the last look; @first: what was not ours to count
 * @sum: of those that are gone
 * @file: those that it has had open, by descriptors of our own
 * @missed: processes or files for which there was no room
 * @rss_max: the most memory at a time, of all its processes
 * @memory, @gpu: mean of what was seen, in parts of 1; @gpu negative: not known
 */
struct jetwatt_usage {
	pid_t pid;
	const char *cgroup;
	struct {
		pid_t pid;
		uint64_t start;
		struct jetwatt_usage_count first, last;
		int seen;
	} process[JETWATT_USAGE_PROCESSES];
	int nr_process;
	struct jetwatt_usage_count sum;
	struct { dev_t dev; ino_t ino; int fd; } file[JETWATT_USAGE_FILES];
	int nr_file;
	unsigned int missed, looks, begun;
	uint64_t looked_ns, rss_max, busy0, idle0, reads0, sectors0;
	double memory, gpu;
	char gpu_load[96];
};

/**
 * struct jetwatt_usage_figures - the result
 * @cores: processor time over time; @machine: share of all cores' time, of everybody
 * @reads, @read_bytes: of the machine's disks; @job_read_bytes: of the job alone
 * @cached: share of the job's files in the page cache, negative: it has none open
 */
struct jetwatt_usage_figures {
	double cpu_s, cores, machine, gpu, memory, cached;
	uint64_t rss_max, minor, major, reads, read_bytes, job_read_bytes, read_calls;
	int files;
	unsigned int missed;
};

/* @cgroup: its directory, or NULL: @pid and what it forks */
void jetwatt_usage_begin(struct jetwatt_usage *u, pid_t pid, const char *cgroup);
/* Look again; at most five times a second at a cgroup, once at a tree. */
void jetwatt_usage_look(struct jetwatt_usage *u);
/* @child: of ours, whose resources the kernel has counted exactly; may be NULL */
void jetwatt_usage_end(struct jetwatt_usage *u, const struct jetwatt_child *child,
		       double elapsed_s, struct jetwatt_usage_figures *f);

void jetwatt_usage_print(const struct jetwatt_usage_figures *u, double elapsed_s, FILE *f);
void jetwatt_usage_json(const struct jetwatt_usage_figures *u, struct jetwatt_json *j);

#endif
