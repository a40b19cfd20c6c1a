// SPDX-License-Identifier: GPL-2.0-only
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

#define PAIRS		3
#define WINDOW_MS	250
#define NOBODY		65534

static void count(const struct jetwatt_samples *s, void *n)
{
	*(uint64_t *)n += s->count;
}

static void dispatch(struct jetwatt *jw, unsigned int ms)
{
	struct pollfd p = { jetwatt_fd(jw), POLLIN, 0 };
	uint64_t end = jetwatt_clock_ns() + ms * 1000000ull, now;

	while ((now = jetwatt_clock_ns()) < end)
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) > 0 && jetwatt_dispatch(jw) < 0)
			return;
}

static int counter(struct jetwatt *jw, uint32_t rail, struct jetwatt_energy *e)
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

/* Mean power of a rail in W, with one core kept busy or not; NAN: not known. */
static double mean_w(struct jetwatt *jw, uint32_t rail, int busy)
{
	struct jetwatt_energy a, b;
	pid_t pid = 0;
	int err;

	if (busy) {
		pid = fork();
		if (!pid)
			for (;;)
				;
	}
	/* The averaging of the chip takes its time. */
	dispatch(jw, WINDOW_MS / 5);
	err = counter(jw, rail, &a);
	dispatch(jw, WINDOW_MS);
	err = err ? err : counter(jw, rail, &b);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return err || pid < 0 || b.time_ns <= a.time_ns ? NAN :
	       (double)(b.uj - a.uj) * 1e3 / (double)(b.time_ns - a.time_ns);
}

static void slope(struct jetwatt *jw, uint32_t rail, struct jetwatt_overhead *o)
{
	double d[PAIRS], sum = 0, square = 0;

	for (int i = 0; i < PAIRS; i++) {
		d[i] = -mean_w(jw, rail, 0);
		d[i] += mean_w(jw, rail, 1);
		sum += d[i];
	}
	o->core_w = sum / PAIRS;
	for (int i = 0; i < PAIRS; i++)
		square += (d[i] - o->core_w) * (d[i] - o->core_w);
	o->error_w = sqrt(square / (PAIRS - 1) / PAIRS);
}

int jetwatt_own_cost(struct jetwatt_overhead *o)
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
	err = jetwatt_subscribe(jw, count, &samples);
	if (err)
		goto out;
	/* What its thread took before counts with the first sample. */
	dispatch(jw, WINDOW_MS);
	err = jetwatt_stats(jw, &before);
	if (err)
		goto out;
	begun = jetwatt_clock_ns();
	if (cpu >= 0) {
		memcpy(o->rail, rail[cpu].label, sizeof(o->rail));
		slope(jw, rail[cpu].id, o);
	} else {
		dispatch(jw, 2 * WINDOW_MS);
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

/* Status: 1 got some, 0 did not, 2 could not try. */
static void __attribute__((noreturn)) try(int namespace)
{
	struct jetwatt *jw = NULL;
	uint64_t samples = 0;

	if (namespace ? unshare(CLONE_NEWUSER | CLONE_NEWNET) :
	    setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(2);
	if (jetwatt_open(&jw))
		_exit(0);
	if (!jetwatt_subscribe(jw, count, &samples))
		dispatch(jw, 2 * WINDOW_MS);
	jetwatt_samples_since(jw, 0, count, &samples);
	_exit(samples != 0);
}

/* Return: the status of such a process, 2 if there was none. */
static int tried(struct jetwatt *jw, int namespace)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		try(namespace);
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0)
		dispatch(jw, 20);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int jetwatt_own_leaks(void)
{
	struct jetwatt *jw = NULL;
	uint64_t samples = 0;
	int err, nobody, namespace;

	err = jetwatt_open(&jw);
	if (err)
		return err;
	err = jetwatt_subscribe(jw, count, &samples);
	if (err)
		goto out;
	nobody = tried(jw, 0);
	/* Where there are no user namespaces, there is nobody to get any. */
	namespace = tried(jw, 1);
	dispatch(jw, WINDOW_MS);
	err = nobody == 1 || namespace == 1 ? 1 : nobody == 2 ? -EPERM : samples ? 0 : -ENODATA;
out:
	jetwatt_close(jw);
	return err;
}
