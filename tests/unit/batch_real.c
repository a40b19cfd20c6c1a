// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatch boundaries in the waits of real programs: tests/trace/gpu, whose README says how they
 * were recorded. Compared with the times at which the programs themselves had finished their
 * minibatches.
 */
#include "minibatch/minibatch.h"

#include "ends.h"
#include "kselftest_harness.h"
#include "recording.h"

/* The recorded program notes the end of a minibatch a little after the wait, or a little before the
 * wait if the wait is for a value of the program's log. */
#define TOLERANCE	.25
#define LATE		.9	/* tolerance for recordings with live_late */

static const struct {
	const char *name;
	double whole, live;	/* minimum of F1 */
	bool live_late;		/* the live result reports an end within the next minibatch */
} recordings[] = {
	{ "actor-learner", .98, .98 },
	{ "cupy", .98, .98 },
	{ "jax", .97, .98 },
	{ "lightning", .97, .97 },
	{ "llm-batching", .97, .97 },
	{ "llm-graphs", .98, .98 },
	{ "llm-server", .97, .97 },
	{ "numba", .98, .98 },
	{ "pytorch-compile", .99, .97 },
	{ "pytorch-dataloader", .98, .98 },
	{ "pytorch-detection", .99, .99 },
	{ "pytorch-detection-inference", .98, .96, true },
	{ "pytorch-fp16", .99, .98 },
	{ "pytorch-gpt2", .99, .98 },
	{ "pytorch-graph", .98, .98 },
	{ "pytorch-lstm", .98, .98 },
	{ "pytorch-moe", .98, .98 },
	{ "pytorch-pipelined", .98, .98 },
	{ "pytorch-slow-input", .98, .97 },
	{ "pytorch-vit", .98, .98 },
	{ "transformers-assisted", .96, .96 },
	{ "transformers-generate", .97, .97 },
	{ "transformers-trainer", .97, .97 },
};

TEST(boundaries_of_real_programs_are_found)
{
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		struct ends e;
		double a, b;

		ASSERT_TRUE(read_recording(recordings[i].name)) TH_LOG("%s", recordings[i].name);
		e = (struct ends){ rec.sync, rec.waits, rec.end, rec.ends };
		a = ends_whole(&e, TOLERANCE);
		b = ends_live(&e, recordings[i].live_late ? LATE : TOLERANCE);
		EXPECT_LE(recordings[i].whole, a) TH_LOG("%s: F1 %.4f", recordings[i].name, a);
		EXPECT_LE(recordings[i].live, b) TH_LOG("%s, live: F1 %.4f", recordings[i].name, b);
	}
}

/* Training minibatches, 8 of an evaluation, and a checkpoint that copies 148 parameters to the host
 * one by one. The first minibatch is not counted. */
TEST(a_checkpoint_is_no_minibatch)
{
	static struct jetwatt_batch_bound b[2 * MAX];
	struct jetwatt_batch_info info;
	int n, minibatches = 0, others = 0;

	ASSERT_TRUE(read_recording("pytorch-evaluation"));
	n = jetwatt_batch_segment(rec.sync, rec.waits, b, &info);
	for (int i = 1; i < n; i++) {
		if (b[i].kind != JETWATT_BATCH_OTHER) {
			minibatches++;
			continue;
		}
		others++;
		EXPECT_LT(140, b[i].syncs);
	}
	EXPECT_EQ(36, minibatches);
	EXPECT_EQ(1, others);
}

TEST_HARNESS_MAIN
