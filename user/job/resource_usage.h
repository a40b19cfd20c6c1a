/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resource usage of a job, for example CPU time, memory, storage reads, and the fraction of its
 * files that is in the page cache; and that of the machine meanwhile. Sampled from /proc and /sys,
 * at most five times per second (at most once per second for a job without a cgroup).
 */
#ifndef JETWATT_JOB_RESOURCE_USAGE_H
#define JETWATT_JOB_RESOURCE_USAGE_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "job/child.h"
#include "out/json.h"

/* Maximum number of processes and files that are tracked. */
#define JETWATT_USAGE_PROCESSES	512
#define JETWATT_USAGE_FILES	128

/**
 * struct jetwatt_usage_count - counters of one process since it started
 * @cpu_ticks: CPU time, in clock ticks
 * @minor: minor page faults
 * @major: major page faults
 * @read_bytes: bytes read from storage
 * @read_calls: read system calls
 */
struct jetwatt_usage_count {
	uint64_t cpu_ticks, minor, major, read_bytes, read_calls;
};

/**
 * struct jetwatt_usage - state of the sampling
 * @pid: first process of the job
 * @cgroup: directory of the job's cgroup; NULL: the job is @pid and its descendants
 * @process: processes that were alive at the last sample
 * @process.pid: process id
 * @process.start: start time in clock ticks, to detect that the pid was reused
 * @process.first: counters when sampling began, for processes that had started before
 * @process.last: counters at the last sample
 * @process.seen: number of the sample that found the process last
 * @nr_process: number of elements of @process
 * @sum: counters of processes that have ended or left the job
 * @file: files that the job has had open only for reading
 * @file.dev: device of the file
 * @file.ino: inode of the file
 * @file.fd: this process's own descriptor of the file
 * @nr_file: number of elements of @file
 * @missed: number of processes and open files that the present sample has left out because the arrays
 *	are full
 * @missed_max: largest @missed of all samples
 * @looks: number of samples
 * @begun: 1: the first sample was taken
 * @looked_ns: time of the last sample, ns, CLOCK_MONOTONIC
 * @rss_max: maximum resident memory of all processes of the job together, in bytes
 * @busy0: busy CPU time of the machine when sampling began, in clock ticks
 * @idle0: idle CPU time of the machine when sampling began, in clock ticks
 * @reads0: number of reads of all disks when sampling began
 * @sectors0: sectors read from all disks when sampling began
 * @memory: sum over the samples of the fraction of the machine's memory in use; each fraction is
 *	from 0 to 1
 * @gpu: sum over the samples of the GPU load; each load is from 0 to 1
 * @gpu_load: path of the GPU's load file; empty: none
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
	unsigned int missed, missed_max, looks, begun;
	uint64_t looked_ns, rss_max, busy0, idle0, reads0, sectors0;
	double memory, gpu;
	char gpu_load[96];
};

/**
 * struct jetwatt_usage_result - the result
 * @cpu_s: CPU time of the job, in s
 * @cores: mean number of cores that the job used: @cpu_s divided by the elapsed time
 * @machine: fraction of the CPU time of all cores that was used by all processes, from 0 to 1
 * @gpu: mean GPU load, from 0 to 1; negative: unknown
 * @memory: mean fraction of the machine's memory in use, from 0 to 1
 * @cached: of the files that the job has had open only for reading, the fraction (by size) that is
 *	in the page cache; negative: there was no such file, or none could be examined
 * @rss_max: maximum resident memory of the job, in bytes
 * @minor: minor page faults
 * @major: major page faults
 * @reads: number of reads of all disks of the machine
 * @read_bytes: bytes read from all disks of the machine
 * @job_read_bytes: bytes that the job has read from storage
 * @read_calls: read system calls of the job
 * @files: number of files that the job has had open only for reading and that were tracked
 * @missed: largest number of processes and open files that one sample left out
 */
struct jetwatt_usage_result {
	double cpu_s, cores, machine, gpu, memory, cached;
	uint64_t rss_max, minor, major, reads, read_bytes, job_read_bytes, read_calls;
	int files;
	unsigned int missed;
};

/* Begin sampling. @cgroup: directory of the job's cgroup; NULL or empty: the job is @pid and its
 * descendants. The string must live until jetwatt_usage_end(). */
void jetwatt_usage_begin(struct jetwatt_usage *u, pid_t pid, const char *cgroup);
/* Take a sample, unless the last sample was less than 0.2 s ago (less than 1 s ago for a job
 * without a cgroup). */
void jetwatt_usage_sample(struct jetwatt_usage *u);
/* Compute the result and close all files. @child: the job if it is a child of this process that
 * has ended: the kernel's counts for the ended child are used where they are higher than the
 * sampled ones; may be NULL. */
void jetwatt_usage_end(struct jetwatt_usage *u, const struct jetwatt_child *child,
		       double elapsed_s, struct jetwatt_usage_result *f);

/* Write the result to a report, as text or as JSON. */
void jetwatt_usage_print(const struct jetwatt_usage_result *u, double elapsed_s, FILE *f);
void jetwatt_usage_json(const struct jetwatt_usage_result *u, struct jetwatt_json *j);

#endif
