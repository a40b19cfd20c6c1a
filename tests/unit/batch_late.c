// SPDX-License-Identifier: GPL-2.0-only
/* Minibatches of one wait each that are late because their process was kept from its CPU. */
#include "batch/batch.h"

#include <stdlib.h>

#include "kselftest_harness.h"

#define USUAL_GAP	1.8
#define USUAL_WAIT	27.5
#define BEFORE		200	/* usual minibatches before what is unusual, and after it */
#define MOST		8

/* Gap and wait in ms, of the minibatches that are unusual; the first gap of 0 ends them. */
struct unusual {
	const char *name;
	double ms[MOST][2];
	uint32_t call;		/* 0: the job's own */
	int minibatches;	/* how many of them are minibatches, -1: all */
};

static const struct unusual unusual[] = {
	/* The loader has made up for it by the next one. */
	{ "one wait ends late", { { 1.8, 42.1 }, { 0.1, 27.4 } }, 0, -1 },
	{ "three end late", { { 1.8, 37.8 }, { 0.1, 35.4 }, { 0.1, 37.9 }, { 0.1, 27.4 } }, 0, -1 },
	{ "one is given late, two end late", { { 12.3, 17 }, { 1.8, 41.5 }, { 0.1, 40.3 }, { 0.1, 27.4 } }, 0, -1 },
	{ "the GPU was done before it was waited for", { { 42.6, 0.1 } }, 0, -1 },
	{ "one ends late, two are given late", { { 1.8, 50.2 }, { 28.4, 0.7 }, { 23.5, 6.1 } }, 0, -1 },
	/* No minibatches: a checkpoint's copies, and waits of another kind. */
	{ "copies after a pause", { { 200, 0.4 }, { 0.3, 0.4 }, { 0.3, 0.4 }, { 0.3, 0.4 } }, 0, 0 },
	{ "another call", { { 12.3, 17 }, { 1.8, 41.5 }, { 0.1, 40.3 } }, JETWATT_SYNC_CONTEXT, 0 },
};

struct waits {
	struct jetwatt_sync sync[2 * BEFORE + MOST];
	size_t n;
	double now_ms;
	uint64_t seed;
};

/* 0.98 to 1.02 */
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
		.tgid = 100, .tid = 100, .call = call,
	};
	w->now_ms += gap + wait;
}

static void usual(struct waits *w)
{
	for (int i = 0; i < BEFORE; i++)
		wait_once(w, USUAL_GAP * jitter(w), USUAL_WAIT * jitter(w), JETWATT_SYNC_POLLFD);
}

TEST(late)
{
	static struct jetwatt_batch_bound b[2 * (2 * BEFORE + MOST)];
	struct jetwatt_batch_info info;

	for (size_t u = 0; u < sizeof(unusual) / sizeof(unusual[0]); u++) {
		const struct unusual *what = &unusual[u];
		struct waits w = { .now_ms = 5, .seed = u };
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

TEST_HARNESS_MAIN
