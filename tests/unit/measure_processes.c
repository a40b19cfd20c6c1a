// SPDX-License-Identifier: GPL-2.0-only
/* Time and power of a mode if two processes of the job use the GPU. */
#include "measure/mode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "jobs.h"
#include "measure/left_mode.h"
#include "near.h"
#include "util/clock.h"

#define MS	1000000ull
#define BEFORE_MS	2000	/* time before the change of mode */
#define MODE_MS		8000	/* time in the mode */
#define WAITS_MAX	8192
#define POWER_W		20.0

/* A process whose minibatches, of one wait each, take @ms; with @vary, from a third of that to three times. */
struct process {
	double ms;
	int vary;
};

struct run {
	struct jetwatt_session w;
	uint64_t since_ns;
};

static int by_end(const void *a, const void *b)
{
	const struct jetwatt_sync *x = a, *y = b;

	return (x->exit_ns > y->exit_ns) - (x->exit_ns < y->exit_ns);
}

/* Simulate a job of two processes until now, and a power sample every 5 ms. @mean_ms: set to the true mean of each
 * process since the change of mode. */
static struct run simulate(const struct process *p, double *mean_ms)
{
	uint64_t now = jetwatt_clock_ns(), begin = now - (BEFORE_MS + MODE_MS) * MS, seed = 5;
	struct run r = { .since_ns = now - MODE_MS * MS };

	r.w.epoll = epoll_create1(0);
	r.w.sync = calloc(WAITS_MAX, sizeof(*r.w.sync));
	r.w.power = calloc(4096, sizeof(*r.w.power));
	if (r.w.epoll < 0 || !r.w.sync || !r.w.power)
		abort();
	r.w.max_sync = WAITS_MAX;
	r.w.max_power = 4096;
	r.w.nr_total = r.w.nr_rails = 1;
	r.w.signals = r.w.pidfd = r.w.cgroup.events = -1;
	for (uint64_t at = begin; at <= now; at += 5 * MS)
		r.w.power[r.w.nr_power++] = (struct jetwatt_power){
			.time_ns = at, .nr = 1, .valid = 1, .uw[0] = 1e6 * (POWER_W + 0.1 * job_normal(&seed)),
		};
	r.w.power_ns = r.w.power[r.w.nr_power - 1].time_ns;
	for (uint32_t i = 0; i < 2; i++) {
		double sum = 0;
		size_t n = 0;

		for (uint64_t t = begin; t < now && r.w.nr_sync < WAITS_MAX;) {
			double ms = p[i].ms * (p[i].vary ? exp(log(9) * (job_uniform(&seed) - 0.5)) : 1);
			uint64_t gap = 0.1 * ms * MS, end = t + ms * MS;

			if (end >= now)
				break;
			r.w.sync[r.w.nr_sync++] = (struct jetwatt_sync){
				.enter_ns = t + gap, .exit_ns = end, .tgid = 7 + i, .tid = 7 + i,
			};
			sum += t >= r.since_ns ? ms : 0;
			n += t >= r.since_ns;
			t = end;
		}
		mean_ms[i] = sum / n;
	}
	qsort(r.w.sync, r.w.nr_sync, sizeof(*r.w.sync), by_end);
	r.w.last_wait_ns = r.w.sync[r.w.nr_sync - 1].exit_ns;
	r.w.waits = r.w.nr_sync;
	return r;
}

static void end(struct run *r)
{
	close(r->w.epoll);
	free(r->w.sync);
	free(r->w.power);
}

static int measure(struct run *r, struct jetwatt_measure *m)
{
	const struct jetwatt_measure_limits limits = {
		.batches = 8, .min_on_timeout = 3, .seconds = 1, .target = 0.1, .max_s = 9, .idle_s = 60, .poll_s = 0.01,
	};

	*m = (struct jetwatt_measure){ 0 };
	return jetwatt_measure_mode(&r->w, r->since_ns, &limits, m, NULL, NULL);
}

/* A minibatch that contains a whole one of the other process counts like any other. */
TEST(long_minibatches_of_two_processes_count)
{
	const struct process p[2] = { { 40, 1 }, { 40, 1 } };
	struct jetwatt_measure m;
	double mean_ms[2];
	struct run r = simulate(p, mean_ms);

	ASSERT_EQ(0, measure(&r, &m));
	EXPECT_NEAR(1, m.row.time_ms / ((mean_ms[0] + mean_ms[1]) / 2), 0.12);
	EXPECT_NEAR(POWER_W, m.row.power_w, 0.1);
	end(&r);
}

/* The process with the most minibatches is measured, alike by both functions. */
TEST(processes_with_different_minibatches)
{
	const struct process p[2] = { { 300, 0 }, { 10, 0 } };
	struct jetwatt_measure m;
	double mean_ms[2];
	struct run r = simulate(p, mean_ms);

	ASSERT_EQ(0, measure(&r, &m));
	EXPECT_NEAR(10, m.row.time_ms, 0.01);
	EXPECT_NEAR(POWER_W, m.row.power_w, 0.1);
	m = (struct jetwatt_measure){ 0 };
	ASSERT_EQ(0, jetwatt_left_mode_time(&r.w, r.since_ns, r.w.power_ns, &m));
	EXPECT_NEAR(10, m.row.time_ms, 0.01);
	end(&r);
}

TEST(the_process_with_most_minibatches)
{
	struct jetwatt_batch_bound b[] = {
		{ .end_ns = 10, .tgid = 8 }, { .end_ns = 20, .tgid = 8 }, { .end_ns = 30, .tgid = 9 },
		{ .end_ns = 40, .tgid = 9, .kind = JETWATT_BATCH_OTHER }, { .end_ns = 50, .tgid = 8 },
		{ .end_ns = 60, .tgid = 9 },
	};

	EXPECT_EQ(8, jetwatt_measure_process(b, 6, 0));
	EXPECT_EQ(9, jetwatt_measure_process(b, 6, 20));
	EXPECT_EQ(0, jetwatt_measure_process(b, 6, 60));
}

TEST_HARNESS_MAIN
