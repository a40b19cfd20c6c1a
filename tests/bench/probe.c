// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the overhead of the probe (backend tracepoint) for a job that waits for the GPU 20,000
 * times per second.
 *
 *   probe [-n PAIRS] [-o FILE]     print the result as JSON; -o writes it to FILE too
 *
 * A cycle of the job takes 50 us: it computes, then waits by one of the two kinds of system calls
 * that the backend sees (enum way). Slices of WAITS waits run alternately with and without the
 * probe. The CPU time of the job's thread is compared, not the elapsed time: a process stands in
 * for the GPU here, and the probe makes its system calls slower, whereas a real GPU makes none.
 *
 * Medians suppress disturbances by other processes: the value of a slice is the median of its
 * blocks of BLOCK waits, and the result is the median over pairs of slices. In every second pair
 * the slice without the probe comes first. The job has a CPU to itself if it is permitted to set
 * its affinity and scheduling class.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "bpf/node.h"
#include "jetwatt.h"

#define CYCLE_NS	50000
#define BLOCK		200	/* waits between readings of the clocks; one wakeup of the reader */
#define BLOCKS		7	/* blocks per slice */
#define WAITS		(BLOCK * BLOCKS)
#define WARM_UP		200	/* waits before each slice: fill the caches of a probe that was just loaded */
#define PAIRS_MAX	500

enum way { SYNCPT, POLLFD, WAYS };

static const char *const way_name[WAYS] = { "syncpt", "pollfd" };

/* Memory shared with the job: it runs a slice when @go changes, then sets @done to @go. */
struct control {
	int go, done, quit;
	uint64_t work_ns;
	double cpu_ns, wall_ns;		/* medians for a wait and the work before it */
};

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
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

/* No system call: the clock is read in user space. */
static void compute(uint64_t ns)
{
	uint64_t end = node_now() + ns;

	while (node_now() < end)
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

static void block(const struct node *n, enum way way, int event, uint64_t work_ns, double *cpu,
		  double *wall)
{
	uint64_t start = node_now(), used = cpu_now();

	for (unsigned int i = 0; i < BLOCK; i++) {
		compute(work_ns);
		wait_gpu(n, way, event, i);
	}
	*cpu = (double)(cpu_now() - used) / BLOCK;
	*wall = (double)(node_now() - start) / BLOCK;
}

static void job(const struct node *n, enum way way, volatile struct control *c)
{
	int event = eventfd(1, EFD_CLOEXEC), turn = 0;
	double cpu[BLOCKS], wall[BLOCKS];

	for (;;) {
		while (c->go == turn && !c->quit)
			usleep(100);
		if (c->quit)
			_exit(0);
		turn = c->go;
		for (unsigned int i = 0; i < WARM_UP; i++)
			wait_gpu(n, way, event, i);
		for (int i = 0; i < BLOCKS; i++)
			block(n, way, event, c->work_ns, &cpu[i], &wall[i]);
		c->cpu_ns = median(cpu, BLOCKS);
		c->wall_ns = median(wall, BLOCKS);
		__atomic_store_n(&c->done, turn, __ATOMIC_RELEASE);
	}
}

/* Pin a process to the first permitted CPU, with real-time priority. */
static void alone(pid_t pid)
{
	struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) || sched_setscheduler(pid, SCHED_FIFO, &first))
		fprintf(stderr, "probe: the job has no CPU to itself, so the result is less accurate: %s\n", strerror(errno));
}

static void slice(volatile struct control *c, struct jetwatt_probe *p)
{
	struct pollfd fd = { .fd = p ? jetwatt_probe_fd(p) : -1, .events = POLLIN };

	c->go++;
	while (__atomic_load_n(&c->done, __ATOMIC_ACQUIRE) != c->go) {
		/* Read records as programs do: only after poll() has returned. */
		if (poll(&fd, 1, 1) > 0 && jetwatt_probe_dispatch(p) < 0)
			abort();
	}
	if (p)
		jetwatt_probe_dispatch(p);
}

static uint64_t seen;

static void count(const struct jetwatt_sync *s, void *arg)
{
	(void)s, (void)arg;
	seen++;
}

/**
 * struct result - overhead for one way to wait
 * @pct: overhead in percent of the job's CPU time
 * @scatter_pct: half the interquartile range of @pct over the pairs
 * @wall_pct: overhead in percent of the elapsed time, including the process that stands in for the
 *	GPU
 * @extra_ns: additional CPU time per wait, in ns
 * @rate_hz: waits per second without the probe
 * @plain_us: CPU time of a cycle without the probe, in us
 * @seen: number of waits that the probe reported
 * @lost: number of waits that the probe lost
 */
struct result {
	double pct, scatter_pct, wall_pct, extra_ns, rate_hz, plain_us;
	uint64_t seen, lost;
};

/* Return: ns of work that fill a cycle of CYCLE_NS together with the wait. */
static uint64_t calibrate(volatile struct control *c)
{
	double wait[9];

	c->work_ns = 0;
	for (int i = 0; i < 9; i++) {
		slice(c, NULL);
		wait[i] = c->wall_ns;
	}
	return (uint64_t)fmax(CYCLE_NS - median(wait, 9), CYCLE_NS / 10.0);
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
	double extra[PAIRS_MAX];
	struct jetwatt_probe_opts o = { .children = 1, .backends = JETWATT_BACKEND_TRACEPOINT };
	struct slice a = { 0 }, b = { 0 };
	int err = 0;

	memset(r, 0, sizeof(*r));
	if (c == MAP_FAILED)
		return -errno;
	o.tgid = fork();
	if (!o.tgid)
		job(n, way, c);
	alone(o.tgid);
	c->work_ns = calibrate(c);
	seen = 0;
	for (int i = 0; i < pairs && !err; i++) {
		if (i % 2)
			without(c, &b);
		err = with(c, &o, &a, r);
		if (!(i % 2))
			without(c, &b);
		cpu[i] = 100 * (a.cpu / b.cpu - 1);
		wall[i] = 100 * (a.wall / b.wall - 1);
		extra[i] = a.cpu - b.cpu;
		rate[i] = 1e9 / b.wall;
		plain[i] = b.cpu * 1e-3;
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
	r->extra_ns = median(extra, pairs);
	return 0;
}

static void print(FILE *f, const struct result *r, int pairs)
{
	double worst = r[SYNCPT].pct > r[POLLFD].pct ? r[SYNCPT].pct : r[POLLFD].pct;

	fprintf(f, "{\"probe_overhead_pct\":%.2f", worst);
	for (int i = 0; i < WAYS; i++)
		fprintf(f, ",\n \"%s\":{\"pct\":%.2f,\"scatter_pct\":%.2f,\"wall_pct\":%.2f,\"extra_ns\":%.0f,\"rate_hz\":%.0f,\"cpu_us\":%.2f,\"waits\":%d,\"seen\":%llu,\"lost\":%llu}",
			way_name[i], r[i].pct, r[i].scatter_pct, r[i].wall_pct, r[i].extra_ns, r[i].rate_hz,
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
		fprintf(stderr, "probe: cannot create the simulated GPU node (needs root and /dev/fuse): %s\n", strerror(-err));
		return 4;
	}
	alone(node.server);
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
