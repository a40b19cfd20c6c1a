// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatches with many waits (user/minibatch/long_cycle.c), in programs whose numbers of layers,
 * launches and waits are random; and programs that look similar but have short minibatches.
 * The recordings of tests/trace/gpu are single examples of the same kinds.
 */
#include "minibatch/minibatch.h"

#include <stdio.h>
#include <stdlib.h>

#include "ends.h"
#include "jobs.h"
#include "kselftest_harness.h"

#define DRAWN		12	/* programs of each kind */
#define MAX		40000	/* waits of a program */
#define ENDS		4000

/**
 * struct program - a program that launches work and waits for it
 * @sync: its waits
 * @end: times at which the program's minibatches end, ns
 * @waits, @ends: their numbers
 * @z: state of the random numbers
 * @now: time, ms
 * @launch_ms, @gpu_ms: time of a launch on the CPU and on the GPU
 */
struct program {
	struct jetwatt_sync sync[MAX];
	uint64_t end[ENDS];
	size_t waits, ends;
	uint64_t z;
	double now, launch_ms, gpu_ms;
};
static struct program p;

static double between(double low, double high)
{
	return low + (high - low) * job_uniform(&p.z);
}

static int whole(int low, int high)
{
	return low + (int)(job_uniform(&p.z) * (high - low + 1));
}

/* The program is idle for a while, launches work and waits for it. */
static void wait_for(double idle_ms, int launches)
{
	struct jetwatt_sync *s = &p.sync[p.waits++];
	double left;

	p.now += idle_ms * between(0.9, 1.1);
	*s = (struct jetwatt_sync){ .tgid = 7, .tid = 7, .call = JETWATT_SYNC_STREAM,
				    .launches = (uint32_t)launches };
	s->launch_ns = launches ? (uint64_t)(p.now * 1e6) : 0;
	left = launches * p.gpu_ms * between(0.95, 1.05);
	p.now += launches * p.launch_ms * between(0.95, 1.05) + 0.01;
	s->enter_ns = (uint64_t)(p.now * 1e6);
	p.now += fmax(left - launches * p.launch_ms, 0.005);
	s->exit_ns = (uint64_t)(p.now * 1e6);
}

static void end(void)
{
	p.end[p.ends++] = p.sync[p.waits - 1].exit_ns;
}

/* A mixture of experts in training: one or two waits per layer in the forward pass, three or four in
 * the backward pass. */
static void experts(void)
{
	int layers = whole(4, 24), expert = whole(8, 40), dense = whole(40, 120), two = whole(0, 1);
	double fetch = between(1, 20), optimizer = between(1.1, 2);

	for (int step = 0; step < 90; step++) {
		wait_for(fetch, dense / 2);
		for (int i = 1; i < layers; i++) {
			if (two)
				wait_for(0.1, whole(expert, expert + 4));
			wait_for(0.1, dense);
		}
		for (int i = 0; i < layers; i++) {
			wait_for(0.1, whole(expert, expert + 2));
			wait_for(0.1, expert / 2);
			if (two)
				wait_for(0.1, expert / 3);
			wait_for(0.1, (int)((dense + 2 * expert) * (i + 1 < layers ? 1 : optimizer)));
		}
		end();
	}
}

/* A detector: the backbone, then waits for its proposals, whose number differs. */
static void detector(void)
{
	int backbone = whole(250, 900), least = whole(10, 40), post[60];
	double fetch = between(2, 20);

	for (int i = 0; i < 60; i++)
		post[i] = whole(0, 1) ? whole(1, 8) : whole(1, 60);

	for (int step = 0; step < 120; step++) {
		int proposals = least + whole(0, least / 3);

		wait_for(fetch, backbone);
		for (int i = 0; i < proposals; i++)
			wait_for(0.05, post[i]);
		end();
	}
}

/* Speculative decoding: the model, then many short waits for the candidates. */
static void speculative(void)
{
	int model = whole(300, 900), least = whole(20, 40);


	for (int step = 0; step < 90; step++) {
		wait_for(0.1, model);
		for (int i = 0, n = least + whole(0, least / 2); i < n; i++)
			wait_for(0.02, whole(1, 3));
		end();
	}
}

/* Every tenth minibatch also computes values for the log and writes them. */
static void logs(void)
{
	int step_launches = whole(100, 900), waits = whole(1, 3);
	double fetch = between(0.2, 2), writes = between(2, 20);

	for (int step = 0; step < 400; step++) {
		int first = step % 10 == 9 ? step_launches * 3 / 2 : step_launches;

		wait_for(step % 10 ? fetch : fetch + writes, first);
		for (int i = 1; i < waits; i++)
			wait_for(0.1, step_launches / (i + 1));
		end();
	}
}

/* The data loader is slow: its processes deliver one batch each, and then the program waits. */
static void slow_input(void)
{
	int step_launches = whole(30, 900), processes = whole(2, 8);
	double wait = between(5, 60);

	for (int step = 0; step < 400; step++) {
		wait_for(step % processes ? 0.3 : wait, step_launches);
		end();
	}
}

/* A server of a language model that decodes with CUDA graphs: a prompt, then one minibatch per token. */
static void server(void)
{
	int prompt = whole(300, 900), tokens = whole(20, 90), sampling = whole(6, 25);
	double gpu = p.gpu_ms;

	for (int request = 0; p.ends + (size_t)tokens < 2000; request++) {
		p.gpu_ms = gpu;
		wait_for(1, prompt);
		end();
		for (int i = 0; i < tokens; i++) {
			p.gpu_ms = 0.5 * gpu * prompt / sampling;
			wait_for(0.2, sampling);
			end();
		}
	}
}

#define TOLERANCE	.25	/* fraction of a minibatch by which a boundary may differ */

static const struct {
	const char *name;
	void (*run)(void);
	bool live;	/* true: check the live boundaries too */
} programs[] = {
	{ "experts", experts, true },
	{ "detector", detector, false },
	{ "speculative", speculative, false },
	{ "logs", logs, true },
	{ "slow input", slow_input, true },
	{ "server", server, true },
};

TEST(long_minibatches_of_drawn_programs_are_found)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 20261126;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		double least = 1, least_live = 1;

		for (uint64_t k = 0; k < DRAWN; k++) {
			struct ends e;
			double a, b;

			p.waits = p.ends = 0;
			p.now = 0;
			p.z = seed + 1000 * i + k;
			p.launch_ms = between(0.004, 0.012);
			p.gpu_ms = between(0.01, 0.06);
			programs[i].run();
			e = (struct ends){ p.sync, p.waits, p.end, p.ends };
			a = ends_whole(&e, TOLERANCE);
			b = ends_live(&e, TOLERANCE);
			EXPECT_LE(0.97, a) TH_LOG("%s %llu: F1 %.3f", programs[i].name, (unsigned long long)k, a);
			if (programs[i].live)
				EXPECT_LE(0.94, b) TH_LOG("%s %llu, live: F1 %.3f", programs[i].name,
							  (unsigned long long)k, b);
			least = fmin(least, a);
			least_live = fmin(least_live, b);
		}
		printf("# %-12s F1 at least %.3f, live %.3f\n", programs[i].name, least, least_live);
	}
}

/* The minibatches of the mixtures of experts all have the same number of waits. */
TEST(waits_per_long_minibatch_are_counted)
{
	for (uint64_t k = 0; k < DRAWN; k++) {
		struct jetwatt_batch_bound *b = calloc(2 * MAX, sizeof(*b));
		struct jetwatt_batch_info info;

		ASSERT_NE(NULL, b);
		p.waits = p.ends = 0;
		p.now = 0;
		p.z = 20261127 + k;
		p.launch_ms = between(0.004, 0.012);
		p.gpu_ms = between(0.01, 0.06);
		experts();
		EXPECT_LT(0, jetwatt_batch_segment(p.sync, p.waits, b, &info));
		EXPECT_EQ((double)p.waits / (double)p.ends, info.period_syncs);
		free(b);
	}
}

TEST_HARNESS_MAIN
