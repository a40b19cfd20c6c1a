/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a job that waits for the GPU through libcuda while the probe watches it, and read the list of
 * waits that the job itself has written, for comparison.
 */
#ifndef JETWATT_TEST_CUDA_JOB_H
#define JETWATT_TEST_CUDA_JOB_H

#include <limits.h>

#include "seen.h"

#define CUDA_WAITS_MAX 256

struct cuda_job {
	struct seen seen;
	char dir[32], times[64];
	uint64_t start_ns[CUDA_WAITS_MAX], end_ns[CUDA_WAITS_MAX];
	int go[2], waits;
	pid_t pid;
};

/* Paths of the job and its libraries: in the build directory, or installed. */
static char cuda_program[PATH_MAX], cuda_libs[PATH_MAX];

static inline int cuda_job_find(void)
{
	char *slash;
	int up;

	if (!access("/bin/cutrain", X_OK)) {
		strcpy(cuda_program, "/bin/cutrain");
		strcpy(cuda_libs, "/usr/lib/aarch64-linux-gnu");
		return 0;
	}
	if (readlink("/proc/self/exe", cuda_program, sizeof(cuda_program) - 32) < 0)
		return -1;
	for (up = 0; up < 2; up++) {
		slash = strrchr(cuda_program, '/');
		if (!slash)
			return -1;
		*slash = '\0';
	}
	snprintf(cuda_libs, sizeof(cuda_libs), "%.4000s/cuda", cuda_program);
	strcat(cuda_program, "/jobs/cutrain");
	return access(cuda_program, X_OK);
}

/* Prepare a job. Return: NULL, or the reason why the job cannot run on this machine. */
static inline const char *cuda_job_begin(struct cuda_job *j)
{
	memset(j, 0, sizeof(*j));
	if (getuid() || cuda_job_find())
		return "needs root and the job";
	if (!can_trace())
		return "this kernel has no CONFIG_BPF_EVENTS";
	if (access("/sys/bus/event_source/devices/uprobe/type", F_OK))
		return "this kernel has no uprobes";
	strcpy(j->dir, "/tmp/jetwatt-XXXXXX");
	mkdir("/tmp", 01777);
	if (!mkdtemp(j->dir) || pipe(j->go))
		return "no temporary directory";
	snprintf(j->times, sizeof(j->times), "%s/times", j->dir);
	return NULL;
}

static inline void cuda_job_end(struct cuda_job *j)
{
	char cmd[64];

	jetwatt_probe_close(j->seen.probe);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", j->dir);
	if (*j->dir && system(cmd))
		abort();
}

/*
 * Start the job, which does not begin before cuda_job_go(). @where: directory of the job's
 * libraries; @before, may be NULL, is called in the new process; @arg: further arguments of the
 * job.
 */
static inline void cuda_job_start(struct cuda_job *j, const char *where, void (*before)(void *),
				  const char *const *arg)
{
	const char *argv[24] = { "cutrain", "--times", j->times };
	int n = 3;
	char c;

	while (*arg)
		argv[n++] = *arg++;
	j->pid = fork();
	if (j->pid)
		return;
	setenv("LD_LIBRARY_PATH", where, 1);
	setenv("SIM_CUDA_BATCH_US", "2000", 1);
	if (before)
		before(j);
	if (read(j->go[0], &c, 1) == 1)
		execv(cuda_program, (char **)argv);
	_exit(127);
}

#define CUDA_JOB_START(job, where, ...) \
	cuda_job_start(job, where, NULL, (const char *const[]){ __VA_ARGS__, NULL })

static inline int cuda_job_probe(struct cuda_job *j, uint32_t rungs)
{
	struct jetwatt_probe_opts o = { .tgid = j->pid, .children = 1, .backends = rungs };

	return jetwatt_probe_open(&j->seen.probe, &o, seen_add, &j->seen);
}

/* Wait for reports of the probe, at most @ms ms, and process them. Return: 0 or an error. */
static inline int cuda_job_turn(struct cuda_job *j, int ms)
{
	struct pollfd p = { .fd = jetwatt_probe_fd(j->seen.probe), .events = POLLIN };
	int n;

	poll(&p, 1, ms);
	n = jetwatt_probe_dispatch(j->seen.probe);
	return n < 0 ? n : 0;
}

static inline int cuda_job_go(struct cuda_job *j)
{
	return write(j->go[1], "g", 1) != 1;
}

/* Let the job run to its end. Return: its wait status; -1 on error. */
static inline int cuda_job_finish(struct cuda_job *j)
{
	unsigned long long a, b;
	int status;
	FILE *f;

	while (waitpid(j->pid, &status, WNOHANG) != j->pid)
		if (cuda_job_turn(j, 20))
			return -1;
	seen_all(&j->seen);
	f = fopen(j->times, "r");
	while (f && j->waits < CUDA_WAITS_MAX && fscanf(f, "%llu %llu", &a, &b) == 2) {
		j->start_ns[j->waits] = a;
		j->end_ns[j->waits++] = b;
	}
	if (f)
		fclose(f);
	return status;
}

#endif
