// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the CPU time of the sampler thread and the power of a busy core, and tests that
 * unprivileged processes get no samples.
 */
#include "cmd/doctor/sampler_overhead.h"

#include <errno.h>
#include <grp.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fork.h"

#define PAIRS		3
#define WINDOW_MS	250
#define NOBODY		65534

static void count_samples(const struct jetwatt_samples *s, void *n)
{
	*(uint64_t *)n += s->count;
}

static void dispatch_for(struct jetwatt *jw, unsigned int ms)
{
	struct pollfd p = { jetwatt_fd(jw), POLLIN, 0 };
	uint64_t end = jetwatt_clock_ns() + ms * 1000000ull, now;

	while ((now = jetwatt_clock_ns()) < end)
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) > 0 && jetwatt_dispatch(jw) < 0)
			return;
}

static int read_rail_energy(struct jetwatt *jw, uint32_t rail, struct jetwatt_energy *e)
{
	struct jetwatt_energy all[JETWATT_RAILS_MAX + 1];
	int n = jetwatt_energies(jw, all, JETWATT_RAILS_MAX + 1);

	for (int i = 0; i < n && i <= JETWATT_RAILS_MAX; i++)
		if (all[i].rail == rail) {
			*e = all[i];
			return 0;
		}
	return n < 0 ? n : -ENOENT;
}

/* Return: mean power of a rail in W over WINDOW_MS milliseconds, with one more core kept busy if
 * @busy is set; NAN if unknown. */
static double rail_mean_w(struct jetwatt *jw, uint32_t rail, int busy)
{
	struct jetwatt_energy a, b;
	pid_t doctor = getpid(), pid = 0;
	int err;

	if (busy) {
		pid = jetwatt_fork();
		if (!pid) {
			/* The process ends even if doctor is killed. */
			while (getppid() == doctor)
				for (volatile int i = 0; i < 1000000; i++)
					;
			_exit(0);
		}
	}
	/* Let the averaging of the power sensor settle at the new load for 50 ms. */
	dispatch_for(jw, WINDOW_MS / 5);
	err = read_rail_energy(jw, rail, &a);
	dispatch_for(jw, WINDOW_MS);
	err = err ? err : read_rail_energy(jw, rail, &b);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return err || pid < 0 || b.time_ns <= a.time_ns ? NAN :
	       (double)(b.uj - a.uj) * 1e3 / (double)(b.time_ns - a.time_ns);
}

static void measure_core_power(struct jetwatt *jw, uint32_t rail, struct jetwatt_overhead *o)
{
	double d[PAIRS], sum = 0, square = 0;

	for (int i = 0; i < PAIRS; i++) {
		d[i] = -rail_mean_w(jw, rail, 0);
		d[i] += rail_mean_w(jw, rail, 1);
		sum += d[i];
	}
	o->core_w = sum / PAIRS;
	for (int i = 0; i < PAIRS; i++)
		square += (d[i] - o->core_w) * (d[i] - o->core_w);
	o->error_w = sqrt(square / (PAIRS - 1) / PAIRS);
}

int jetwatt_sampler_overhead_measure(struct jetwatt_overhead *o)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_stats before, after;
	struct jetwatt *jw = NULL;
	uint64_t samples = 0, begun;
	int n, cpu = -1, err;

	memset(o, 0, sizeof(*o));
	err = jetwatt_open(&jw);
	if (err)
		return err;
	n = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	for (int i = 0; i < n && i < JETWATT_RAILS_MAX && cpu < 0; i++)
		if (rail[i].enabled && strstr(rail[i].label, "CPU"))
			cpu = i;
	err = jetwatt_subscribe(jw, count_samples, &samples);
	if (err)
		goto out;
	/* The counter cpu_ns is updated when samples arrive, so the first window is discarded: it
	 * may include CPU time from before the subscription. */
	dispatch_for(jw, WINDOW_MS);
	err = jetwatt_stats(jw, &before);
	if (err)
		goto out;
	begun = jetwatt_clock_ns();
	if (cpu >= 0) {
		memcpy(o->rail, rail[cpu].label, sizeof(o->rail));
		measure_core_power(jw, rail[cpu].id, o);
	} else {
		dispatch_for(jw, 2 * WINDOW_MS);
	}
	err = jetwatt_stats(jw, &after);
	if (!err && !samples)
		err = -ENODATA;
	if (!err)
		o->share = (double)(after.cpu_ns - before.cpu_ns) / (double)(jetwatt_clock_ns() - begun);
out:
	jetwatt_close(jw);
	return err;
}

/* Child process: drop privileges and try to read samples. @namespace: become root of a new user
 * namespace; else become the user nobody. Exit status: 1: the process got samples; 0: it got none;
 * 2: it could not drop privileges. */
static void __attribute__((noreturn)) access_test(int namespace)
{
	struct jetwatt *jw = NULL;
	uint64_t samples = 0;

	if (namespace ? unshare(CLONE_NEWUSER | CLONE_NEWNET) :
	    setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(2);
	if (jetwatt_open(&jw))
		_exit(0);
	if (!jetwatt_subscribe(jw, count_samples, &samples))
		dispatch_for(jw, 2 * WINDOW_MS);
	jetwatt_samples_since(jw, 0, count_samples, &samples);
	_exit(samples != 0);
}

/* Run the test in a child process and wait for its end. Return: exit status of the child process; 2
 * if it could not be started. */
static int run_access_test(struct jetwatt *jw, int namespace)
{
	pid_t pid = jetwatt_fork();
	int status;

	if (!pid)
		access_test(namespace);
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0)
		dispatch_for(jw, 20);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int jetwatt_access_check(void)
{
	struct jetwatt *jw = NULL;
	uint64_t samples = 0;
	int err, nobody, namespace;

	err = jetwatt_open(&jw);
	if (err)
		return err;
	err = jetwatt_subscribe(jw, count_samples, &samples);
	if (err)
		goto out;
	nobody = run_access_test(jw, 0);
	/* A kernel without user namespaces passes this test: no process can become root of a user
	 * namespace. */
	namespace = run_access_test(jw, 1);
	dispatch_for(jw, WINDOW_MS);
	err = nobody == 1 || namespace == 1 ? 1 : nobody == 2 ? -EPERM : samples ? 0 : -ENODATA;
out:
	jetwatt_close(jw);
	return err;
}
