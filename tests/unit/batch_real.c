// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minibatch boundaries in the waits of real programs: tests/trace/gpu, whose README says how they
 * were recorded. Compared with the times at which the programs themselves had finished their
 * minibatches.
 */
#include "minibatch/minibatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define MAX	1536
#define US	1000ull

static struct recording {
	struct jetwatt_sync sync[MAX];
	uint64_t end[MAX];
	size_t waits, ends;
} rec;

static uint32_t call_of(const char *name)
{
	static const char *const names[JETWATT_SYNC_CALLS] = {
		[JETWATT_SYNC_STREAM] = "stream", [JETWATT_SYNC_EVENT] = "event",
		[JETWATT_SYNC_CONTEXT] = "context", [JETWATT_SYNC_COPY] = "copy",
		[JETWATT_SYNC_CALLBACK] = "callback",
	};

	for (uint32_t i = 0; i < JETWATT_SYNC_CALLS; i++)
		if (names[i] && !strcmp(name, names[i]))
			return i;
	return JETWATT_SYNC_CALLS;
}

/* Read a recording into @rec. Return: whether each of its lines was understood. */
static bool read_recording(const char *name)
{
	unsigned long long start, length, first, end;
	unsigned int tid, launches;
	char path[96], line[128], call[16];
	bool good = true;
	FILE *f;

	snprintf(path, sizeof(path), "tests/trace/gpu/%s", name);
	f = fopen(path, "re");
	rec.waits = rec.ends = 0;
	while (f && good && fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		if (sscanf(line, "end %llu", &end) == 1 && rec.ends < MAX) {
			rec.end[rec.ends++] = end * US;
			continue;
		}
		good = rec.waits < MAX && sscanf(line, "%llu %llu %u %15s %u %llu", &start, &length, &tid, call,
						 &launches, &first) == 6;
		if (!good)
			break;
		rec.sync[rec.waits++] = (struct jetwatt_sync){
			.enter_ns = start * US, .exit_ns = (start + length) * US, .tgid = 1, .tid = tid,
			.call = call_of(call), .launches = launches, .launch_ns = first * US,
		};
	}
	if (f)
		fclose(f);
	return f && good && rec.waits && rec.ends;
}

/*
 * Compare boundaries with the ends that the program noted. The program notes an end a little after
 * the wait, or a little before it if the wait is for the next line of its log. @tolerance: fraction
 * of a minibatch by which they may differ. Return: F1.
 */
static double f1(const uint64_t *at, size_t n, double tolerance)
{
	uint64_t mean = (rec.end[rec.ends - 1] - rec.end[0]) / (rec.ends - 1), near = (uint64_t)(tolerance * (double)mean);
	size_t hits = 0, next = 1, said = 0;

	for (size_t i = 0; i < n; i++) {
		if (at[i] < rec.end[0] + near)
			continue;
		said++;
		while (next < rec.ends && rec.end[next] + near < at[i])
			next++;
		if (next < rec.ends && rec.end[next] <= at[i] + near) {
			hits++;
			next++;
		}
	}
	return 2.0 * (double)hits / (double)(said + rec.ends - 1);
}

static double whole(void)
{
	static struct jetwatt_batch_bound b[2 * MAX];
	static uint64_t at[2 * MAX];
	struct jetwatt_batch_info info;
	size_t count = 0;
	int n = jetwatt_batch_segment(rec.sync, rec.waits, b, &info);

	for (int i = 0; i < n; i++)
		if (b[i].kind != JETWATT_BATCH_OTHER)
			at[count++] = b[i].end_ns;
	return f1(at, count, .25);
}

/* F1 of the boundaries that are found while the job runs, from its second half on. */
static double live(double tolerance)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	uint64_t from = rec.end[rec.ends / 2];
	static uint64_t at[MAX];
	size_t count = 0, before = 0;

	for (size_t i = 0; t && i < rec.waits; i++) {
		if (jetwatt_batch_track_add(t, &rec.sync[i], 0) > 0 && rec.sync[i].exit_ns > from)
			at[count++] = rec.sync[i].exit_ns;
		jetwatt_batch_track_learn(t);
	}
	jetwatt_batch_track_free(t);
	while (rec.end[before] < from)
		before++;
	memmove(rec.end, rec.end + before, (rec.ends - before) * sizeof(*rec.end));
	rec.ends -= before;
	return f1(at, count, tolerance);
}

static const struct {
	const char *name;
	double whole, live;	/* minimum of F1 */
	bool live_late;		/* live, a minibatch is said to end in the middle of the next one */
} recordings[] = {
	{ "cupy", .98, .98 },
	{ "jax", .97, .98 },
	{ "lightning", .97, .97 },
	{ "llm-batching", .97, .97 },
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

TEST(boundaries_of_real_programs)
{
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		double a, b;

		ASSERT_TRUE(read_recording(recordings[i].name)) TH_LOG("%s", recordings[i].name);
		a = whole();
		b = live(recordings[i].live_late ? .9 : .25);
		EXPECT_LE(recordings[i].whole, a) TH_LOG("%s: F1 %.4f", recordings[i].name, a);
		EXPECT_LE(recordings[i].live, b) TH_LOG("%s, live: F1 %.4f", recordings[i].name, b);
	}
}

/* 28 training minibatches, then 8 of an evaluation, and a checkpoint that copies 148 parameters to
 * the host one by one. */
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
