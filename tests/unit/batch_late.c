// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch boundaries of jobs with one to four waits per minibatch. In some jobs the scheduler
 * delays the process; in others, the speed changes with the power mode, and the data loader may be
 * slower than the GPU. */
#include "minibatch/minibatch.h"

#include <stdlib.h>

#include "kselftest_harness.h"

#define USUAL_GAP	1.8
#define USUAL_WAIT	27.5
#define BEFORE		200	/* usual minibatches before the unusual ones, and after */
#define MOST		8

/* @ms: gap before the wait and length of the wait, in ms, of each unusual minibatch; a gap of 0
 * ends the list */
struct unusual {
	const char *name;
	double ms[MOST][2];
	uint32_t call;		/* call of the unusual waits; 0: same call as the usual waits */
	int minibatches;	/* number of the unusual waits that end a minibatch; -1: all */
	uint32_t launches;	/* number of launches before each wait of the job; 0: not traced */
};

static const struct unusual unusual[] = {
	/* In the first three cases, the data loader has finished when a late wait ends, so the next
	 * gap is only 0.1 ms. */
	{ "one wait ends late", { { 1.8, 42.1 }, { 0.1, 27.4 } }, 0, -1 },
	{ "three end late", { { 1.8, 37.8 }, { 0.1, 35.4 }, { 0.1, 37.9 }, { 0.1, 27.4 } }, 0, -1 },
	{ "one is given late, two end late", { { 12.3, 17 }, { 1.8, 41.5 }, { 0.1, 40.3 }, { 0.1, 27.4 } }, 0, -1 },
	{ "the GPU was done before it was waited for", { { 42.6, 0.1 } }, 0, -1 },
	{ "one ends late, two are given late", { { 1.8, 50.2 }, { 28.4, 0.7 }, { 23.5, 6.1 } }, 0, -1 },
	/* The scheduler stops the process for a while: the number of launches shows that the work
	 * of the minibatch is the same. */
	{ "one is delayed at every point", { { 4, 80 }, { 5.5, 28.5 } }, 0, -1, .launches = 2 },
	/* In the following cases, the unusual waits are no training minibatches. */
	{ "copies after a pause", { { 200, 0.4 }, { 0.3, 0.4 }, { 0.3, 0.4 }, { 0.3, 0.4 } }, 0, 0 },
	{ "evaluation by one CUDA graph", { { 2.3, 70.2 } }, 0, 0, .launches = 1 },
	{ "another call", { { 12.3, 17 }, { 1.8, 41.5 }, { 0.1, 40.3 } }, JETWATT_SYNC_CONTEXT, 0 },
};

struct waits {
	struct jetwatt_sync sync[2 * BEFORE + MOST];
	size_t n;
	double now_ms;
	uint64_t seed;
	uint32_t launches;
};

/* Return a random factor of 0.98 to 1.02. */
static double jitter(struct waits *w)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return 0.98 + 0.04 * (double)(w->seed >> 33) / (1ull << 31);
}

static void wait_once(struct waits *w, double gap, double wait, uint32_t call)
{
	w->sync[w->n++] = (struct jetwatt_sync){
		.enter_ns = (uint64_t)((w->now_ms + gap) * 1e6),
		.exit_ns = (uint64_t)((w->now_ms + gap + wait) * 1e6),
		.tgid = 100, .tid = 100, .call = call, .launches = w->launches,
	};
	w->now_ms += gap + wait;
}

static void usual(struct waits *w)
{
	for (int i = 0; i < BEFORE; i++)
		wait_once(w, USUAL_GAP * jitter(w), USUAL_WAIT * jitter(w), JETWATT_SYNC_POLLFD);
}

TEST(late_waits_are_counted_as_minibatches)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (size_t u = 0; u < sizeof(unusual) / sizeof(unusual[0]); u++) {
		const struct unusual *what = &unusual[u];
		struct waits w = { .now_ms = 5, .seed = u, .launches = what->launches };
		int n, train = 0, more = 0;

		usual(&w);
		for (; more < MOST && what->ms[more][0] > 0; more++)
			wait_once(&w, what->ms[more][0], what->ms[more][1],
				  what->call ? what->call : JETWATT_SYNC_POLLFD);
		usual(&w);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(train, 2 * BEFORE + (what->minibatches < 0 ? more : what->minibatches))
			TH_LOG("%s: %d", what->name, train);
	}
}

static double draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(*seed >> 33) / (1ull << 31);
}

/* A job with two waits per minibatch, and two unusual minibatches in its middle. Most of these were
 * disturbed by another process; their values are from ONNX Runtime and PyTorch jobs in a guest. */
struct pairs {
	const char *name;
	double usual[2][2];	/* gap and length of both waits, in ms */
	double unusual[4][2];	/* gaps and lengths in the two unusual minibatches, in ms */
	uint32_t call[2], launches[2];
	uint32_t second;	/* call of the second wait of the unusual minibatches */
	int minibatches;	/* number of unusual minibatches that count as training */
};

#define ONNX_WAITS	.usual = { { 2.9, 26.4 }, { 0.052, 0.358 } }, \
			.call = { JETWATT_SYNC_COPY, JETWATT_SYNC_STREAM }
#define ONNX	ONNX_WAITS, .launches = { 9, 0 }
#define TORCH	.usual = { { 1.45, 65.4 }, { 0.27, 7.1 } }, .call = { JETWATT_SYNC_STREAM, JETWATT_SYNC_STREAM }, \
		.launches = { 15, 4 }

static const struct pairs pairs[] = {
	{ "both disturbed", ONNX, .unusual = { { 2.903, 50.718 }, { 0.044, 7.098 }, { 4.176, 29.258 }, { 0.052, 0.36 } },
	  .second = JETWATT_SYNC_STREAM, .minibatches = 2 },
	{ "from the second wait on", ONNX, .unusual = { { 2.895, 27.072 }, { 0.36, 2.207 }, { 4.574, 21.964 }, { 0.052, 0.41 } },
	  .second = JETWATT_SYNC_STREAM, .minibatches = 2 },
	{ "begins with a long cycle", ONNX, .unusual = { { 2.88, 28.611 }, { 0.045, 6.954 }, { 9.562, 15.455 }, { 0.045, 0.866 } },
	  .second = JETWATT_SYNC_STREAM, .minibatches = 2 },
	{ "told apart by launches", TORCH, .unusual = { { 1.5, 71.055 }, { 4.412, 3.824 }, { 0.905, 60.811 }, { 0.266, 7.238 } },
	  .second = JETWATT_SYNC_STREAM, .minibatches = 2 },
	{ "a pause within a minibatch", TORCH, .unusual = { { 1.471, 72.543 }, { 36.211, 2.846 }, { 1.763, 66.908 }, { 0.459, 7.055 } },
	  .second = JETWATT_SYNC_STREAM, .minibatches = 2 },
	/* Both waits have the same call and no launches are traced, but the disturbed minibatch is
	 * as long as the others. */
	{ "one wait disturbed, minibatches of the same length",
	  .usual = { { 0.85, 66.3 }, { 0.264, 7.15 } },
	  .call = { JETWATT_SYNC_POLLFD, JETWATT_SYNC_POLLFD },
	  .unusual = { { 0.868, 67.005 }, { 1.486, 6.002 }, { 1.056, 68.425 }, { 0.262, 7.38 } },
	  .second = JETWATT_SYNC_POLLFD, .minibatches = 2 },
	{ "both waits disturbed, minibatches of the same length",
	  .usual = { { 39, 3.53 }, { 0.15, 3.53 } },
	  .call = { JETWATT_SYNC_POLLFD, JETWATT_SYNC_POLLFD },
	  .unusual = { { 39.02, 4.157 }, { 0.362, 2.648 }, { 39.378, 3.539 }, { 0.15, 3.545 } },
	  .second = JETWATT_SYNC_POLLFD, .minibatches = 2 },
	{ "in another call", ONNX_WAITS, .launches = { 9, 2 }, .unusual = { { 2.903, 50.718 }, { 0.044, 7.098 }, { 4.176, 29.258 }, { 0.052, 7.1 } },
	  .second = JETWATT_SYNC_CONTEXT },
	{ "an evaluation", ONNX, .unusual = { { 1.2, 8 }, { 0.05, 0.2 }, { 1.2, 8 }, { 0.05, 0.2 } },
	  .second = JETWATT_SYNC_STREAM },
};

static void wait_in(struct waits *w, const struct pairs *p, int which, double gap, double wait, uint32_t call)
{
	uint64_t launch_ns = (uint64_t)((w->now_ms + 0.8 * gap) * 1e6);

	wait_once(w, gap, wait, call);
	w->sync[w->n - 1].launches = p->launches[which];
	w->sync[w->n - 1].launch_ns = p->launches[which] ? launch_ns : 0;
}

static void usual_pairs(struct waits *w, const struct pairs *p, int n)
{
	for (int i = 0; i < 2 * n; i++)
		wait_in(w, p, i % 2, p->usual[i % 2][0] * jitter(w), p->usual[i % 2][1] * jitter(w), p->call[i % 2]);
}

TEST(disturbed_minibatches_of_two_waits_are_counted)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (size_t u = 0; u < sizeof(pairs) / sizeof(pairs[0]); u++) {
		const struct pairs *p = &pairs[u];
		struct waits w = { .now_ms = 5, .seed = u };
		int n, train = 0;

		usual_pairs(&w, p, BEFORE / 4);
		for (int i = 0; i < 4; i++)
			wait_in(&w, p, i % 2, p->unusual[i][0], p->unusual[i][1], i % 2 ? p->second : p->call[0]);
		usual_pairs(&w, p, BEFORE / 4);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(BEFORE / 4 * 2 + p->minibatches, train) TH_LOG("%s", p->name);
	}
}

/* At the start of each minibatch, the program waits for a copy of its input before it launches
 * work. */
TEST(input_belongs_to_its_own_minibatch)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	static const double copy_ms[] = { 0.1, 2, 11 };
	struct jetwatt_batch_info info;

	for (size_t u = 0; u < sizeof(copy_ms) / sizeof(copy_ms[0]); u++) {
		struct waits w = { .now_ms = 5, .seed = u };
		const struct pairs p = { .usual = { { 5, copy_ms[u] }, { 0.5, 24 } },
					 .call = { JETWATT_SYNC_STREAM, JETWATT_SYNC_STREAM }, .launches = { 0, 9 } };
		int n, right = 0;

		usual_pairs(&w, &p, BEFORE / 4);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0, at = 1; i < n; i++) {
			while (at < (int)w.n && w.sync[at].exit_ns < b[i].end_ns)
				at += 2;
			right += b[i].kind == JETWATT_BATCH_TRAIN && b[i].syncs == 2 &&
				 at < (int)w.n && b[i].end_ns == w.sync[at].exit_ns;
		}
		/* The first two minibatches need not be found. */
		EXPECT_LE(BEFORE / 4 - 2, right) TH_LOG("%g ms", copy_ms[u]);
	}
}

/* In the last minibatches of a job, the second wait changes in its gap and in its length. */
TEST(last_minibatches_are_counted)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	static const struct pairs before = { ONNX }, after = {
		.usual = { { 2.9, 26.4 }, { 0.17, 0.264 } }, .call = { JETWATT_SYNC_COPY, JETWATT_SYNC_STREAM },
		.launches = { 9, 0 },
	};
	struct jetwatt_batch_info info;

	for (int last = 1; last < 9; last++) {
		struct waits w = { .now_ms = 5, .seed = 9 };
		int n, train = 0;

		usual_pairs(&w, &before, 54);
		usual_pairs(&w, &after, last);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(54 + last, train) TH_LOG("last %d", last);
	}
}

/* The first wait and the second gap of a job, from which its speed is estimated first, take many
 * values. */
TEST(first_minibatches_are_counted)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	static const struct pairs p = {
		.usual = { { 0.95, 66.8 }, { 0.44, 7 } }, .call = { JETWATT_SYNC_POLLFD, JETWATT_SYNC_POLLFD },
	};
	struct jetwatt_batch_info info;

	for (int k = 0; k < 300; k++) {
		struct waits w = { .now_ms = 5, .seed = 9 };
		double first = 50 + 2 * (k % 15), second = 0.25 + 0.04 * (k / 15);
		int n, train = 0;

		wait_in(&w, &p, 0, 1, first, JETWATT_SYNC_POLLFD);
		wait_in(&w, &p, 1, second, 6.879, JETWATT_SYNC_POLLFD);
		usual_pairs(&w, &p, BEFORE / 4);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(BEFORE / 4 + 1, train) TH_LOG("first wait %g ms, second gap %g ms", first, second);
	}
}

/* The trace begins in the second wait of a minibatch, and its first gap is unusual: ResNet in a guest. */
TEST(first_minibatch_is_incomplete)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (int k = 0; k < 100; k++) {
		struct waits w = { .now_ms = 5, .seed = (uint64_t)k };
		int n, train = 0;

		wait_once(&w, 1, 20 + 1.7 * (k % 10), JETWATT_SYNC_POLLFD);
		wait_once(&w, 1.5 + 0.1 * (k / 10), 0.018, JETWATT_SYNC_POLLFD);
		wait_once(&w, 0.258, 35.783, JETWATT_SYNC_POLLFD);
		for (int i = 0; i < 2 * 58; i++)
			wait_once(&w, (i % 2 ? 0.266 : 1.504) * jitter(&w), (i % 2 ? 35.6 : 0.018) * jitter(&w),
				  JETWATT_SYNC_POLLFD);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN && b[i].syncs == 2 &&
				 b[i].end_ns == w.sync[2 * train + 2].exit_ns;
		EXPECT_EQ(59, train) TH_LOG("first wait %g ms, first gap %g ms", 20 + 1.7 * (k % 10), 1.5 + 0.1 * (k / 10));
	}
}

/* The trace begins in the second wait of a minibatch with three waits: ONNX Runtime jobs in a
 * guest. */
TEST(first_minibatches_of_three_waits_are_counted)
{
	static const double begin_ms[2][5][2] = {
		{ { 1, 29.718 }, { 0.039, 0.018 }, { 2.202, 0.018 }, { 0.104, 27.383 }, { 0.038, 0.037 } },
		{ { 1, 30.088 }, { 0.171, 0.018 }, { 2.573, 0.018 }, { 0.136, 26.23 }, { 0.065, 0.017 } },
	};
	static const double usual_ms[2][3][2] = {
		{ { 2.14, 0.018 }, { 0.104, 26.9 }, { 0.04, 0.018 } },
		{ { 2.157, 0.018 }, { 0.115, 26.8 }, { 0.066, 0.018 } },
	};
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (int k = 0; k < 2; k++) {
		struct waits w = { .now_ms = 5, .seed = 9 };
		int n, train = 0;

		for (int i = 0; i < 5; i++)
			wait_once(&w, begin_ms[k][i][0], begin_ms[k][i][1], JETWATT_SYNC_POLLFD);
		for (int i = 0; i < 3 * 58; i++)
			wait_once(&w, usual_ms[k][i % 3][0] * jitter(&w), usual_ms[k][i % 3][1] * jitter(&w),
				  JETWATT_SYNC_POLLFD);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		/* The incomplete minibatch at the beginning has two waits, so it is not counted
		 * here. */
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN && b[i].syncs == 3;
		EXPECT_EQ(59, train) TH_LOG("sequence %d", k);
	}
}

/* One gap within a minibatch is longer than those between minibatches. */
TEST(one_long_gap_moves_no_boundary)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (int minibatches = 11; minibatches < 60; minibatches++) {
		struct waits w = { .now_ms = 5, .seed = 3 };
		int n, twos = 0, odd = minibatches / 2 * 2 + 1;

		for (int i = 0; i < 2 * minibatches; i++)
			wait_once(&w, (i == odd ? 1.8 : i % 2 ? 0.45 : 0.95) * jitter(&w),
				  (i == odd ? 5.5 : i % 2 ? 7 : 66.5) * jitter(&w), JETWATT_SYNC_POLLFD);
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			twos += b[i].syncs == 2 && b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(minibatches, twos) TH_LOG("%d minibatches", minibatches);
	}
}

/* The data loader stalls before the second minibatch of a job: the long gap must not be taken for
 * the length of a minibatch. */
TEST(minibatches_around_an_early_stall_are_counted)
{
	/* waits per minibatch; first gap, other gaps, waits and the stall, in ms */
	static const struct { int k; double first, other, wait, stall; } jobs[] = {
		{ 3, 2, 0.1, 7, 30 }, { 4, 0.5, 0.1, 30, 30 }, { 4, 0.5, 0.1, 30, 60 },
		{ 4, 2, 0.5, 7, 30 }, { 4, 2, 0.5, 30, 30 },
	};
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++) {
		struct waits w = { .now_ms = 5, .seed = 9 };
		int n, train = 0;

		for (int i = 0; i < 60 * jobs[j].k; i++) {
			double gap = i == jobs[j].k ? jobs[j].stall :
				     i % jobs[j].k ? jobs[j].other : jobs[j].first;

			wait_once(&w, gap * jitter(&w), jobs[j].wait * jitter(&w), JETWATT_SYNC_POLLFD);
		}
		n = jetwatt_batch_segment(w.sync, w.n, b, &info);
		for (int i = 0; i < n; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(60, train) TH_LOG("job %zu: %d", j, train);
	}
}

#define SPEEDS_MOST	2400	/* minibatches */
#define AHEAD_MOST	8

/* Create a job that switches its power mode every 5 to 124 minibatches. The job's data loader runs
 * at most AHEAD_MOST minibatches ahead of the GPU. */
static size_t in_speeds(struct jetwatt_sync *sync, uint64_t seed)
{
	double now = 5, work = 20 + 60 * draw(&seed), load = 60 + 150 * draw(&seed);
	double loaded[SPEEDS_MOST], taken[SPEEDS_MOST];
	size_t n = 0, all = 800 + (size_t)(1600 * draw(&seed)), ahead = 1 + (size_t)(AHEAD_MOST * draw(&seed));

	while (n < all) {
		double gpu = work / (0.3 + 1.1 * draw(&seed)), host = 0.5 + 3 * draw(&seed);
		double loader = load / ((0.4 + 1.9 * draw(&seed)) * (1 + (int)(4 * draw(&seed))));
		size_t to = n + 5 + (size_t)(120 * draw(&seed));

		for (; n < to && n < all; n++) {
			double begun = n ? loaded[n - 1] : 0, given, done;

			if (n >= ahead && taken[n - ahead] > begun)
				begun = taken[n - ahead];
			loaded[n] = begun + loader * (1 + 0.05 * draw(&seed));
			taken[n] = loaded[n] > now ? loaded[n] : now;
			given = taken[n] + host * (0.9 + 0.2 * draw(&seed));
			done = given + gpu * (0.98 + 0.04 * draw(&seed));
			sync[n] = (struct jetwatt_sync){
				.enter_ns = (uint64_t)((given + 0.06) * 1e6), .exit_ns = (uint64_t)((done + 0.04) * 1e6),
				.tgid = 100, .tid = 100, .call = JETWATT_SYNC_POLLFD,
			};
			now = done + 0.04;
		}
	}
	return n;
}

TEST(no_minibatch_is_missed_when_power_modes_change)
{
	static struct jetwatt_batch_bound b[2 * SPEEDS_MOST];
	static struct jetwatt_sync sync[SPEEDS_MOST];
	struct jetwatt_batch_info info;
	size_t missed = 0, all = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		size_t n = in_speeds(sync, seed), train = 0;
		int got = jetwatt_batch_segment(sync, n, b, &info);

		for (int i = 0; i < got; i++)
			train += b[i].kind == JETWATT_BATCH_TRAIN;
		EXPECT_EQ(n, train) TH_LOG("seed %d: %zu of %zu", (int)seed, train, n);
		missed += n - train;
		all += n;
	}
	TH_LOG("%zu of %zu minibatch bounds not found", missed, all);
}

TEST_HARNESS_MAIN
