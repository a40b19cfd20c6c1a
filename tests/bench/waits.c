// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the minibatch boundaries that one backend of the probe finds with the times that the job
 * itself records (--times FILE). Runs in the guest. The simulated GPU must have counted the same
 * number of minibatches as the job.
 *
 *   waits BACKEND COMMAND [ARGUMENT]...      BACKEND: uprobe, tracepoint or module
 *
 * Prints one line: waits seen, boundaries found, true minibatches, F1. A boundary is correct if it
 * is not more than 5 ms before the GPU has finished a minibatch, nor more than 5 ms after the job has
 * noticed that. If F1 is below 0.995, a line for each wait, boundary and minibatch follows, with its
 * time in us since the start of the first wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "minibatch/minibatch.h"

#define TRUTH	"/sys/kernel/debug/jetwatt-sim/truth/minibatches"
/*
 * Tolerance: another thread may run for a time slice between the end of a wait and the time at
 * which the job reads its clock. The shortest minibatch takes 28 ms.
 */
#define NEAR_NS	5000000
#define MAX	8192
#define ENOUGH	0.995	/* minimum F1 */

static struct jetwatt_sync sync_seen[MAX];
static size_t waits;

static void add(const struct jetwatt_sync *s, void *arg)
{
	(void)arg;
	if (waits < MAX)
		sync_seen[waits++] = *s;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "waits: %s: %s\n", what, why);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint32_t backend(const char *name)
{
	if (!strcmp(name, "uprobe"))
		return JETWATT_BACKEND_UPROBE;
	if (!strcmp(name, "tracepoint"))
		return JETWATT_BACKEND_TRACEPOINT;
	if (!strcmp(name, "module"))
		return JETWATT_BACKEND_MODULE;
	fail(name, "no such backend");
	return 0;
}

/* Start the job after the probe is attached. Return: the exit status of the job. */
static int run(const char *by, char **argv)
{
	struct jetwatt_probe_opts o = { .children = 1, .backends = backend(by) };
	struct jetwatt_probe *probe;
	struct pollfd p = { .events = POLLIN };
	int go[2], status;
	char c = 'g';
	pid_t pid;

	if (pipe(go))
		fail("pipe", strerror(errno));
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	o.tgid = pid;
	if (pid < 0 || jetwatt_probe_open(&probe, &o, add, NULL))
		fail(by, jetwatt_probe_error());
	if (write(go[1], &c, 1) != 1)
		fail("pipe", strerror(errno));
	p.fd = jetwatt_probe_fd(probe);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		poll(&p, 1, 20);
		if (jetwatt_probe_dispatch(probe) < 0)
			fail(by, "cannot read waits");
	}
	/* The module sends its records in batches: read until it sends no more. */
	while (poll(&p, 1, 300) > 0 && jetwatt_probe_dispatch(probe) > 0)
		;
	jetwatt_probe_dispatch(probe);
	jetwatt_probe_flush(probe);
	if (jetwatt_probe_lost(probe))
		fail(by, "waits were lost");
	jetwatt_probe_close(probe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Set @done to the times at which the simulated GPU has finished the minibatches since @begin. Return:
 * number of minibatches. */
static size_t planted(uint64_t begin, uint64_t *done)
{
	unsigned long long to;
	char line[160];
	size_t n = 0;
	FILE *f = fopen(TRUTH, "re");

	if (!f)
		fail(TRUTH, strerror(errno));
	while (n < MAX && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*u,%*u,%llu", &to) == 1 && to >= begin)
			done[n++] = to;
	fclose(f);
	return n;
}

static size_t truth(const char *times, uint64_t *end)
{
	unsigned long long at;
	size_t n = 0;
	FILE *f = fopen(times, "re");

	if (!f)
		fail(times, strerror(errno));
	while (n < MAX && fscanf(f, "%llu", &at) == 1)
		end[n++] = at;
	fclose(f);
	unlink(times);
	return n;
}

static double us(uint64_t ns)
{
	return ((double)ns - (double)sync_seen[0].enter_ns) / 1e3;
}

/* Print waits, boundaries and minibatches in order of time. */
static void explain(const struct jetwatt_batch_bound *bound, int n, const uint64_t *end, size_t total)
{
	size_t at = 0;
	int b = 0;

	for (size_t i = 0; i < waits; i++) {
		const struct jetwatt_sync *s = &sync_seen[i];

		for (; at < total && end[at] < s->exit_ns; at++)
			printf("# minibatch %zu done %.0f\n", at, us(end[at]));
		printf("# wait %zu from %.0f to %.0f tid %u call %u launches %u first %.0f lost %u\n", i,
		       us(s->enter_ns), us(s->exit_ns), s->tid, s->call, s->launches,
		       s->launch_ns ? us(s->launch_ns) : 0, s->lost);
		for (; b < n && bound[b].end_ns <= s->exit_ns; b++)
			printf("# bound %d at %.0f kind %d flags %#x syncs %u\n", b, us(bound[b].end_ns),
			       bound[b].kind, bound[b].flags, bound[b].syncs);
	}
	for (; at < total; at++)
		printf("# minibatch %zu done %.0f\n", at, us(end[at]));
}

int main(int argc, char **argv)
{
	static struct jetwatt_batch_bound bound[2 * MAX];
	static uint64_t end[MAX], done[MAX];
	struct jetwatt_batch_info info;
	size_t total, hit = 0, said = 0, at = 0;
	uint64_t begin = now();
	char times[] = "/tmp/waits-times", *command[64];
	double f1;
	int n;

	if (argc < 3 || argc > 60)
		return 2;
	memcpy(command, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
	command[argc - 2] = "--times";
	command[argc - 1] = times;
	command[argc] = NULL;
	if (run(argv[1], command))
		fail(argv[2], "the job has failed");
	total = truth(times, end);
	if (planted(begin, done) != total)
		fail(argv[2], "the simulated GPU has counted another number of minibatches than the job");
	n = jetwatt_batch_segment(sync_seen, waits, bound, &info);
	/* The lists of found and of true boundaries are in order of time; each boundary is matched
	 * at most once. A wait returns after the GPU has finished and before the job notes the
	 * time; the guest may stall in between. */
	for (int i = 0; i < n; i++) {
		if (bound[i].kind == JETWATT_BATCH_OTHER && i)
			continue;
		said++;
		while (at < total && end[at] + NEAR_NS < bound[i].end_ns)
			at++;
		if (at < total && done[at] <= bound[i].end_ns + NEAR_NS) {
			hit++;
			at++;
		}
	}
	f1 = total + said ? 2.0 * hit / (double)(total + said) : 0;
	printf("%zu %zu %zu %.4f\n", waits, said, total, f1);
	if (f1 < ENOUGH && waits)
		explain(bound, n, end, total);
	return 0;
}
