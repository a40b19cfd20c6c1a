// SPDX-License-Identifier: GPL-2.0-only
/* Phases: kinds of minibatches. Tested with made-up servers and training jobs, and with recordings
 * of real programs. */
#include "minibatch/phases.h"

#include <math.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "phase_labels.h"
#include "recording.h"

#define STEPS	3000
#define SEEDS	3

/**
 * struct job - a made-up job with one or two kinds of minibatches
 * @ms, @most: shortest and longest time of a minibatch of each kind, ms; times are distributed
 *	log-uniformly between them, and then changed according to the members below
 * @growth: factor by which the time of the first kind grows between two minibatches of the second
 *	kind
 * @sd: standard deviation of the logarithm of a minibatch's time
 * @launches: number of launches before the first wait of a minibatch of each kind; 0: not traced
 * @waits: waits per minibatch
 * @every: mean number of minibatches of the first kind between those of the second; 0: none
 * @block: number of successive minibatches of the second kind
 * @slow: fraction of the minibatches that are disturbed and take up to three times as long
 * @speeds: true: the power mode changes four times
 * @idle_ms: longest pause of a server before the second kind
 * @most_ms: longest time of any minibatch; 0: no limit
 * @kinds: number of kinds
 */
struct job {
	const char *name;
	double ms[2], most[2], growth, sd;
	unsigned int launches[2];
	int waits, every, block;
	double slow, idle_ms, most_ms;
	bool speeds;
	int kinds;
};

static const struct job jobs[] = {
	{ "server, decode by CUDA graphs", { 40, 90 }, { 40, 2500 }, 1.3, .01, { 1, 265 }, 1, 100, 1, .kinds = 2 },
	{ "short prompts, decode by CUDA graphs", { 40, 42 }, { 40, 90 }, 1.1, .01, { 1, 265 }, 1, 60, 1, .kinds = 2 },
	{ "the same launches in prefill and decode", { 45, 250 }, { 45, 3000 }, 1.2, .02, { 700, 700 }, 1, 80, 1, .kinds = 2 },
	{ "launches not traced", { 45, 250 }, { 45, 3000 }, 1.2, .02, { 0, 0 }, 1, 80, 1, .kinds = 2 },
	{ "batches of several sizes", { 45, 250 }, { 80, 2500 }, 1, .03, { 700, 720 }, 1, 40, 1, .kinds = 2 },
	{ "chunks of 512 tokens", { 42, 230 }, { 42, 260 }, 1.1, .02, { 1, 300 }, 1, 60, 5, .kinds = 2 },
	{ "full chunks and the rest of prompts", { 14, 60 }, { 15, 2500 }, 1, .01, { 48, 48 }, 1, 20, 1, .most_ms = 1070, .kinds = 2 },
	{ "idle between requests", { 40, 90 }, { 40, 900 }, 1.1, .01, { 1, 265 }, 1, 100, 1, .idle_ms = 3000, .kinds = 2 },
	{ "draft and verification: two waits a step", { 60, 300 }, { 60, 1500 }, 1, .02, { 40, 300 }, 2, 50, 1, .kinds = 2 },
	{ "training with evaluation", { 120, 35 }, { 120, 35 }, 1, .02, { 1150, 330 }, 1, 100, 8, .kinds = 2 },
	{ "actor and learner", { 5, 150 }, { 5, 150 }, 1, .03, { 20, 73 }, 1, 8, 1, .kinds = 2 },
	{ "training", { 90, 0 }, { 90, 0 }, 1, .05, { 500, 0 }, 1, .kinds = 1 },
	{ "training, launches not traced", { 90, 0 }, { 90, 0 }, 1, .05, { 0, 0 }, 1, .kinds = 1 },
	{ "training beside other processes", { 90, 0 }, { 90, 0 }, 1, .03, { 500, 0 }, 1, .slow = .02, .kinds = 1 },
	{ "training on sequences of all lengths", { 60, 0 }, { 400, 0 }, 1, .02, { 500, 0 }, 1, .kinds = 1 },
	{ "training in several power modes", { 90, 0 }, { 90, 0 }, 1, .02, { 500, 0 }, 1, .speeds = true, .kinds = 1 },
};

static struct jetwatt_sync sync_of[2 * STEPS];
static struct jetwatt_batch_bound bound[4 * STEPS];
static uint8_t truth[STEPS];
static uint64_t seed, end[STEPS];

static double draw(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(seed >> 33) / (1ull << 31);
}

/* Return a random factor with median 1 whose logarithm has the standard deviation @sd. */
static double jitter(double sd)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += draw();
	return exp(sd * sum);
}

/* Return the time of minibatch @i of kind @kind, which is the @since-th of its kind in succession. */
static double time_of(const struct job *j, int kind, int i, int since)
{
	static const double speed[] = { 1, 1.9, .7, 1.4, 1 };
	double ms = j->ms[kind] * pow(j->most[kind] / j->ms[kind], draw()) * jitter(j->sd);

	if (!kind && j->every)
		ms *= pow(j->growth, fmin(1, (double)since / j->every));
	if (j->most_ms > 0)
		ms = fmin(ms, j->most_ms * jitter(.003));
	if (draw() < j->slow)
		ms *= 1 + 2 * draw();
	return ms * (j->speeds ? speed[5 * i / STEPS] : 1);
}

/* Append one minibatch to @sync_of. */
static size_t append(const struct job *j, int kind, double ms, size_t n, double *now)
{
	if (kind)
		*now += j->idle_ms * draw();
	for (int w = 0; w < j->waits; w++) {
		double part = ms * (w ? .3 : j->waits > 1 ? .7 : 1);

		sync_of[n++] = (struct jetwatt_sync){
			.enter_ns = (uint64_t)((*now + .4 * part) * 1e6),
			.exit_ns = (uint64_t)((*now + part) * 1e6), .tgid = 7, .tid = 7,
			.call = JETWATT_SYNC_STREAM, .launches = w ? 3 : j->launches[kind],
			.launch_ns = j->launches[kind] ? (uint64_t)((*now + .03 * part) * 1e6) : 0,
		};
		*now += part;
	}
	return n;
}

static size_t make(const struct job *j)
{
	double now = 1000;
	size_t n = 0;

	for (int i = 0, kind = 0, since = 0; i < STEPS; i++, since++) {
		if (j->every && (kind ? since >= j->block : draw() * j->every < 1 && since)) {
			kind = !kind;
			since = 0;
		}
		n = append(j, kind, time_of(j, kind, i, since), n, &now);
		truth[i] = (uint8_t)kind;
		end[i] = sync_of[n - 1].exit_ns;
	}
	return n;
}

TEST(kinds_of_made_up_jobs)
{
	for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++)
		for (uint64_t s = 1; s <= SEEDS; s++) {
			struct jetwatt_batch_info info;
			size_t n;
			double right;
			int bounds, phases;

			seed = s;
			n = make(&jobs[j]);
			bounds = jetwatt_batch_segment(sync_of, n, bound, &info);
			ASSERT_LT(0, bounds);
			phases = jetwatt_batch_phases(bound, (size_t)bounds);
			right = labelled_right(bound, bounds, truth, end, STEPS);
			EXPECT_EQ(jobs[j].kinds, phases) TH_LOG("%s, seed %d", jobs[j].name, (int)s);
			EXPECT_LE(.99, right) TH_LOG("%s, seed %d: %.4f", jobs[j].name, (int)s, right);
		}
}

TEST(phases_of_real_programs_are_found)
{
	static const char *const names[] = { "actor-learner", "llm-graphs" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct jetwatt_batch_info info;
		double right;
		int bounds;

		ASSERT_TRUE(read_recording(names[i]));
		bounds = jetwatt_batch_segment(rec.sync, rec.waits, bound, &info);
		ASSERT_LT(0, bounds);
		EXPECT_EQ(2, jetwatt_batch_phases(bound, (size_t)bounds)) TH_LOG("%s", names[i]);
		right = labelled_right(bound, bounds, (const uint8_t *)rec.kind, rec.end, rec.ends);
		EXPECT_LE(.99, right) TH_LOG("%s: %.4f", names[i], right);
	}
}

TEST(intervals_without_minibatch_have_no_phase)
{
	struct jetwatt_batch_bound b[] = {
		{ .start_ns = 0, .end_ns = 10, .kind = JETWATT_BATCH_OTHER },
		{ .start_ns = 10, .end_ns = 20, .kind = JETWATT_BATCH_TRAIN },
		{ .start_ns = 20, .end_ns = 20, .kind = JETWATT_BATCH_TRAIN },
		{ .start_ns = 20, .end_ns = 40, .kind = JETWATT_BATCH_OTHER, .launches = 3 },
	};

	EXPECT_EQ(0, jetwatt_batch_phases(b, 0));
	EXPECT_EQ(0, jetwatt_batch_phases(b, 1));
	EXPECT_EQ(0, b[0].phase);
	EXPECT_EQ(1, jetwatt_batch_phases(b, 4));
	EXPECT_EQ(0, b[0].phase);
	EXPECT_EQ(1, b[1].phase);
	EXPECT_EQ(0, b[2].phase);
	EXPECT_EQ(0, b[3].phase);
}

/* A training step that prints its loss waits twice more. */
TEST(steps_with_a_further_wait_are_of_the_same_kind)
{
	static struct jetwatt_batch_bound b[200];

	for (unsigned int i = 0; i < 200; i++)
		b[i] = (struct jetwatt_batch_bound){ .start_ns = i * 100000, .end_ns = i * 100000 + 90000 + i % 10,
						     .launches = 500, .syncs = i % 10 ? 1 : 3 };
	EXPECT_EQ(1, jetwatt_batch_phases(b, 200));
}

/* If a job has more kinds of minibatches than phases exist, each minibatch nevertheless belongs to
 * one of the phases. */
TEST(at_most_six_phases)
{
	static struct jetwatt_batch_bound b[200];

	for (unsigned int i = 0; i < 200; i++)
		b[i] = (struct jetwatt_batch_bound){ .start_ns = i * 100000, .end_ns = i * 100000 + 1000 * (1 + i % 10),
						     .launches = 1u << i % 10, .syncs = 1 };
	EXPECT_EQ(JETWATT_PHASES_MAX, jetwatt_batch_phases(b, 200));
	for (unsigned int i = 0; i < 200; i++)
		EXPECT_TRUE(b[i].phase >= 1 && b[i].phase <= JETWATT_PHASES_MAX);
}

TEST_HARNESS_MAIN
