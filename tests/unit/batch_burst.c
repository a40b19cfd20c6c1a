// SPDX-License-Identifier: GPL-2.0-only
/* Checkpoints with a wait for each parameter, in jobs whose launches are not traced. */
#include "minibatch/minibatch.h"

#include "jobs.h"
#include "kselftest_harness.h"

#define MS	1000000.0
#define EVERY	80	/* minibatches between two checkpoints */

struct job_now {
	struct job j;
	double ns;
	uint64_t seed;
};

static void add_wait(struct job_now *t, double gap_ms, double wait_ms)
{
	struct jetwatt_sync *s = &t->j.sync[t->j.waits++];

	t->ns += gap_ms * MS * (1 + 0.03 * job_normal(&t->seed));
	*s = (struct jetwatt_sync){ .enter_ns = t->ns, .tgid = 100, .tid = 100, .call = JETWATT_SYNC_POLLFD };
	t->ns += wait_ms * MS * (1 + 0.03 * job_normal(&t->seed));
	s->exit_ns = t->ns;
}

/* Simulate @minibatches of @k waits in 60 ms. After every EVERY of them there are @many short waits of
 * @least_ms, or longer by up to @vary_ms. */
static struct job simulate(int k, int minibatches, int many, double least_ms, double vary_ms)
{
	struct job_now t = { .ns = 1000 * MS, .seed = 7 };

	job_alloc(&t.j);
	for (int m = 0; m < minibatches; m++) {
		for (int i = 0; i < k; i++)
			add_wait(&t, i ? 1 : 7, 50.0 / k);
		if (m % EVERY == EVERY / 2)
			for (int i = 0; i < many; i++)
				add_wait(&t, 0.02, least_ms + vary_ms * job_uniform(&t.seed));
	}
	return t.j;
}

/* Return: number of training minibatches. @ms: set to their mean time. */
static int find(const struct job *j, double *ms)
{
	struct jetwatt_batch_bound *b = calloc(2 * j->waits, sizeof(*b));
	struct jetwatt_batch_info info;
	int n, found = 0;

	if (!b)
		abort();
	n = jetwatt_batch_segment(j->sync, j->waits, b, &info);
	*ms = 0;
	for (int i = 0; i < n; i++)
		if (b[i].kind == JETWATT_BATCH_TRAIN) {
			*ms += (double)(b[i].end_ns - b[i].start_ns) / MS;
			found++;
		}
	*ms /= found;
	free(b);
	return found;
}

TEST(waits_of_checkpoints_are_no_minibatches)
{
	static const struct {
		int k, many;
	} jobs[] = { { 1, 60 }, { 1, 300 }, { 2, 161 }, { 3, 300 }, { 4, 600 } };

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct job j = simulate(jobs[i].k, 800, jobs[i].many, 0.03, 0.5);
		double ms;

		EXPECT_EQ(800, find(&j, &ms)) TH_LOG("%d waits, %d in checkpoints", jobs[i].k, jobs[i].many);
		EXPECT_LT(57, ms);
		EXPECT_GT(64, ms);
		job_free(&j);
	}
}

/* Short waits that are alike, or longer than 1 ms, may be minibatches. */
TEST(short_minibatches_stay)
{
	static const struct {
		double least_ms, vary_ms;
	} waits[] = { { 0.4, 0 }, { 0.9, 1.1 } };

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct job j = simulate(1, 400, 150, waits[i].least_ms, waits[i].vary_ms);
		double ms;

		EXPECT_EQ(400 + 5 * 150, find(&j, &ms)) TH_LOG("%.1f ms", waits[i].least_ms);
		job_free(&j);
	}
}

TEST_HARNESS_MAIN
