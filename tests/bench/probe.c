// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the probe costs a job that waits for the GPU 20,000 times a second.
 *
 *   probe [-n PAIRS] [-o FILE]     JSON, also on standard output
 *
 * The job computes for most of 50 us and then waits, by either of the ways that
 * system calls show. Slices of 2,000 waits are run by turns with the probe
 * attached and without it. Compared is the processor time of the job's thread:
 * the node that stands in for the GPU is a process here, whose own system calls
 * cost more under the probe, and a GPU makes none. Medians of the pairs, of which
 * every other one begins without the probe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "bpf/node.h"
#include "jetwatt.h"

#define CYCLE_NS	50000
#define WAITS		2000
#define WARM_UP		200	/* before each slice: caches of a probe that was just loaded */
#define PAIRS_MAX	500

enum way { SYNCPT, POLLFD, WAYS };

static const char *const way_name[WAYS] = { "syncpt", "pollfd" };

/* Shared with the job: it runs a slice when @go changes and then says @done. */
struct control {
	int go, done, quit;
	uint64_t cpu_ns, wall_ns;
	unsigned int spins;
};

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void compute(unsigned int spins)
{
	volatile unsigned int i;

	for (i = 0; i < spins; i++)
		;
}

static void wait_gpu(const struct node *n, enum way way, int event, unsigned int i)
{
	if (way == SYNCPT) {
		if (node_syncpt(n->render, i, 0, 0))
			abort();
		return;
	}
	if (node_trigger(n->fence, event) || node_poll(event, -1) != 1)
		abort();
}

static void job(const struct node *n, enum way way, volatile struct control *c)
{
	int event = eventfd(1, EFD_CLOEXEC), turn = 0;

	for (;;) {
		uint64_t cpu, wall;

		while (c->go == turn && !c->quit)
			usleep(100);
		if (c->quit)
			_exit(0);
		turn = c->go;
		for (unsigned int i = 0; i < WARM_UP; i++)
			wait_gpu(n, way, event, i);
		cpu = cpu_now();
		wall = node_now();
		for (unsigned int i = 0; i < WAITS; i++) {
			compute(c->spins);
			wait_gpu(n, way, event, i);
		}
		c->cpu_ns = cpu_now() - cpu;
		c->wall_ns = node_now() - wall;
		__atomic_store_n(&c->done, turn, __ATOMIC_RELEASE);
	}
}

static void slice(volatile struct control *c, struct jetwatt_probe *p)
{
	struct pollfd fd = { .fd = p ? jetwatt_probe_fd(p) : -1, .events = POLLIN };

	c->go++;
	while (__atomic_load_n(&c->done, __ATOMIC_ACQUIRE) != c->go) {
		poll(&fd, 1, 1);
		if (p && jetwatt_probe_dispatch(p) < 0)
			abort();
	}
	if (p)
		jetwatt_probe_dispatch(p);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static uint64_t seen;

static void count(const struct jetwatt_sync *s, void *arg)
{
	(void)s, (void)arg;
	seen++;
}

/**
 * struct result - of one way to wait
 * @pct, @scatter_pct: of the job's processor time; half the range of the middle
 *	half of the pairs
 */
struct result {
	double pct, scatter_pct, wall_pct, rate_hz, plain_us;
	uint64_t seen, lost;
};

/* So many turns of compute() as fill the cycle beside the wait itself, as it is
 * when nobody else wants the processor. */
static unsigned int calibrate(volatile struct control *c)
{
	uint64_t wait = UINT64_MAX, turns = UINT64_MAX, t;

	c->spins = 0;
	for (int i = 0; i < 20; i++) {
		slice(c, NULL);
		if (c->wall_ns / WAITS < wait)
			wait = c->wall_ns / WAITS;
		t = cpu_now();
		compute(100000);
		t = cpu_now() - t;
		if (t < turns)
			turns = t;
	}
	t = wait + 5000 < CYCLE_NS ? CYCLE_NS - wait : 5000;
	return t * 100000.0 / turns;
}

struct slice {
	double cpu, wall;
};

static int with(volatile struct control *c, const struct jetwatt_probe_opts *o, struct slice *s,
		struct result *r)
{
	struct jetwatt_probe *p;
	int err = jetwatt_probe_open(&p, o, count, NULL);

	if (err) {
		fprintf(stderr, "probe: %s\n", jetwatt_probe_error());
		return err;
	}
	slice(c, p);
	*s = (struct slice){ c->cpu_ns, c->wall_ns };
	r->lost += jetwatt_probe_lost(p);
	jetwatt_probe_close(p);
	return 0;
}

static int without(volatile struct control *c, struct slice *s)
{
	slice(c, NULL);
	*s = (struct slice){ c->cpu_ns, c->wall_ns };
	return 0;
}

static int measure(const struct node *n, enum way way, int pairs, struct result *r)
{
	struct control *c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	double cpu[PAIRS_MAX], wall[PAIRS_MAX], rate[PAIRS_MAX], plain[PAIRS_MAX];
	struct jetwatt_probe_opts o = { .children = 1, .rungs = JETWATT_RUNG_TRACEPOINT };
	struct slice a = { 0 }, b = { 0 };
	int err = 0;

	memset(r, 0, sizeof(*r));
	if (c == MAP_FAILED)
		return -errno;
	o.tgid = fork();
	if (!o.tgid)
		job(n, way, c);
	c->spins = calibrate(c);
	seen = 0;
	for (int i = 0; i < pairs && !err; i++) {
		if (i % 2)
			without(c, &b);
		err = with(c, &o, &a, r);
		if (!(i % 2))
			without(c, &b);
		cpu[i] = 100 * (a.cpu / b.cpu - 1);
		wall[i] = 100 * (a.wall / b.wall - 1);
		rate[i] = WAITS * 1e9 / b.wall;
		plain[i] = b.cpu * 1e-3 / WAITS;
	}
	c->quit = 1;
	waitpid(o.tgid, NULL, 0);
	munmap(c, 4096);
	if (err)
		return err;
	r->seen = seen;
	r->pct = median(cpu, pairs);
	r->scatter_pct = (cpu[pairs * 3 / 4] - cpu[pairs / 4]) / 2;
	r->wall_pct = median(wall, pairs);
	r->rate_hz = median(rate, pairs);
	r->plain_us = median(plain, pairs);
	return 0;
}

static void print(FILE *f, const struct result *r, int pairs)
{
	double worst = r[SYNCPT].pct > r[POLLFD].pct ? r[SYNCPT].pct : r[POLLFD].pct;

	fprintf(f, "{\"probe_overhead_pct\":%.2f", worst);
	for (int i = 0; i < WAYS; i++)
		fprintf(f, ",\n \"%s\":{\"pct\":%.2f,\"scatter_pct\":%.2f,\"wall_pct\":%.2f,\"rate_hz\":%.0f,\"cpu_us\":%.2f,\"waits\":%d,\"seen\":%llu,\"lost\":%llu}",
			way_name[i], r[i].pct, r[i].scatter_pct, r[i].wall_pct, r[i].rate_hz,
			r[i].plain_us, pairs * (WAITS + WARM_UP), (unsigned long long)r[i].seen,
			(unsigned long long)r[i].lost);
	fprintf(f, "}\n");
}

int main(int argc, char **argv)
{
	struct result r[WAYS];
	struct node node;
	const char *out = NULL;
	int pairs = 60, opt, err;
	FILE *f;

	while ((opt = getopt(argc, argv, "n:o:")) >= 0) {
		if (opt == 'n')
			pairs = atoi(optarg);
		else if (opt == 'o')
			out = optarg;
		else
			return 2;
	}
	if (pairs < 1 || pairs > PAIRS_MAX)
		return 2;
	f = out ? fopen(out, "w") : NULL;
	if (out && !f) {
		perror(out);
		return 1;
	}
	err = node_open(&node);
	if (err) {
		fprintf(stderr, "probe: needs root and /dev/fuse: %s\n", strerror(-err));
		return 4;
	}
	for (int i = 0; i < WAYS && !err; i++)
		err = measure(&node, i, pairs, &r[i]);
	node_close(&node);
	if (err)
		return 1;
	print(stdout, r, pairs);
	if (f) {
		print(f, r, pairs);
		fclose(f);
	}
	return 0;
}
