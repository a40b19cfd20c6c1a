// SPDX-License-Identifier: GPL-2.0-only
/* The record of the decision about each wait: it agrees with the bounds and names the rule that
 * decided. SEED= draws other jobs. */
#include "minibatch/minibatch.h"

#include "jobs.h"
#include "kselftest_harness.h"

#define MS	1000000ull
#define TRIES	20	/* maximum number of jobs of a shape that are drawn until a rule occurs */

static size_t seen[JETWATT_RULES];

static uint64_t seed(void)
{
	const char *s = getenv("SEED");

	return s ? strtoull(s, NULL, 0) : 20260101;
}

/* struct found - the waits of a job, the bounds found in them, and the decision records of the
 * waits */
struct found {
	struct job j;
	struct jetwatt_batch_bound *bound;
	struct jetwatt_batch_why *why;
	struct jetwatt_batch_info info;
	int n;
};

static void find(struct found *f)
{
	job_sort(&f->j);
	f->bound = calloc(2 * f->j.waits + 1, sizeof(*f->bound));
	f->why = malloc(f->j.waits * sizeof(*f->why));
	if (!f->bound || !f->why)
		abort();
	/* Fill the records with a pattern, so that the test detects records that are not
	 * written. */
	memset(f->why, 0xee, f->j.waits * sizeof(*f->why));
	f->n = jetwatt_batch_segment_why(f->j.sync, f->j.waits, f->bound, &f->info, f->why);
	for (size_t i = 0; i < f->j.waits; i++)
		if (f->why[i].rule < JETWATT_RULES)
			seen[f->why[i].rule]++;
}

static void release(struct found *f)
{
	free(f->bound);
	free(f->why);
	job_free(&f->j);
}

static size_t count(const struct found *f, int rule)
{
	size_t n = 0;

	for (size_t i = 0; i < f->j.waits; i++)
		n += f->why[i].rule == rule;
	return n;
}

/* Compute the minibatch boundaries from the decision records alone. Return: number of boundaries;
 * -1: the records are inconsistent. */
static int rebuild(const struct found *f, uint32_t tgid, struct jetwatt_batch_bound *out)
{
	const struct jetwatt_sync *s = f->j.sync;
	uint64_t start_ns = 0;
	uint32_t inside = 0;
	int n = 0;

	for (size_t i = 0; i < f->j.waits; i++) {
		const struct jetwatt_batch_why *w = &f->why[i];

		if (s[i].tgid != tgid)
			continue;
		if (!start_ns)
			start_ns = s[i].enter_ns;
		inside += w->minibatch != JETWATT_BATCH_NONE;
		if (!w->ends != !w->end_ns || (w->ends && w->minibatch == JETWATT_BATCH_NONE))
			return -1;
		for (int e = 0; e < w->ends; e++) {
			/* If a wait ends several minibatches, its record describes only the first
			 * bound, because the other minibatches contain no wait. */
			out[n++] = (struct jetwatt_batch_bound){ .start_ns = e ? 0 : start_ns,
				.end_ns = e ? 0 : w->end_ns, .syncs = e ? 0 : inside,
				.flags = e || w->end_ns != s[i].exit_ns ? JETWATT_BATCH_INFERRED : 0 };
			inside = 0;
		}
		start_ns = w->ends > 1 ? 0 : w->ends ? w->end_ns : start_ns;
		if (w->ends > 1)
			start_ns = UINT64_MAX;
	}
	return n;
}

/* Return what is wrong with the records of a process; NULL: nothing. */
static const char *wrong(const struct found *f, uint32_t tgid)
{
	struct jetwatt_batch_bound *own = calloc(2 * f->j.waits + 1, sizeof(*own));
	int n = rebuild(f, tgid, own), at = 0;
	const char *what = n < 0 ? "a record contradicts itself, or names no minibatch" : NULL;

	for (int i = 0; i < f->n && !what; i++) {
		const struct jetwatt_batch_bound *b = &f->bound[i], *o = &own[at];

		if (b->tgid != tgid)
			continue;
		if (at++ >= n)
			what = "no record contains the end of a minibatch";
		else if (b->syncs != o->syncs)
			what = "other waits inside";
		else if (o->end_ns && b->end_ns != o->end_ns)
			what = "ends at another time";
		else if (o->end_ns && o->start_ns != UINT64_MAX && b->start_ns != o->start_ns)
			what = "begins at another time";
		else if (o->flags & JETWATT_BATCH_INFERRED && !(b->flags & JETWATT_BATCH_INFERRED))
			what = "an end that is not marked as inferred";
	}
	free(own);
	return what ? what : at != n ? "more ends than minibatches" : NULL;
}

/* Return what is wrong with the record of a single wait, compared with that wait and its bound;
 * NULL: nothing. */
static const char *strange(const struct found *f)
{
	uint64_t last[2] = { 0 };

	for (size_t i = 0; i < f->j.waits; i++) {
		const struct jetwatt_batch_why *w = &f->why[i];
		const struct jetwatt_sync *s = &f->j.sync[i];
		uint64_t *free_from = &last[s->tgid == f->j.sync[0].tgid];

		if (w->rule >= JETWATT_RULES || !isfinite(w->score))
			return "no rule, or no score";
		if (w->minibatch != JETWATT_BATCH_NONE &&
		    (w->minibatch >= (uint32_t)f->n || f->bound[w->minibatch].tgid != s->tgid ||
		     s->exit_ns > f->bound[w->minibatch].end_ns))
			return "the record names a minibatch that does not contain the wait";
		if (!count(f, JETWATT_RULE_LEFT_OUT) &&
		    w->gap_ns != (*free_from && s->enter_ns > *free_from ? s->enter_ns - *free_from : 0))
			return "another gap";
		*free_from = s->exit_ns;
	}
	return NULL;
}

#define AGREE(f, ...)							\
	do {								\
		const char *what_ = strange(f);				\
		for (uint32_t t_ = 0; t_ < 2 && !what_; t_++)		\
			what_ = wrong(f, t_ ? 200 : 100);		\
		EXPECT_EQ(NULL, what_) TH_LOG(__VA_ARGS__);		\
	} while (0)

/* Draw job @number of kind @kind. Of each four jobs, one runs beside another job, and one has a
 * thread with unrelated waits. */
static void draw(struct found *f, int kind, int number)
{
	uint64_t z = seed() * 1000003 + (uint64_t)kind * 1009 + (uint64_t)number, y = z + 5;
	struct job_shape h = job_draw(&z, kind), other = job_draw(&y, (kind + 3) % JOB_KINDS);

	job_alloc(&f->j);
	job_make(&f->j, &h, 100, 5, z);
	if (number % 4 == 2)
		job_make(&f->j, &other, 200, 50, y);
	for (double now = 20; number % 4 == 3 && now < 15000; now += 40 + 300 * job_uniform(&y))
		f->j.sync[f->j.waits++] = (struct jetwatt_sync){ .enter_ns = (uint64_t)(now * 1e6),
			.exit_ns = (uint64_t)((now + 3) * 1e6), .tgid = 100, .tid = 177 };
	find(f);
}

/* The decision records agree with the bounds, and the bounds are the same whether or not records
 * are requested. */
TEST(records_agree_with_bounds)
{
	size_t inferred = 0, none = 0;

	for (int kind = 0; kind < JOB_KINDS; kind++)
		for (int i = 0; i < 8; i++) {
			struct jetwatt_batch_bound *plain;
			struct jetwatt_batch_info info;
			struct found f;
			int n;

			draw(&f, kind, i);
			plain = calloc(2 * f.j.waits + 1, sizeof(*plain));
			n = jetwatt_batch_segment(f.j.sync, f.j.waits, plain, &info);
			ASSERT_EQ(n, f.n);
			EXPECT_EQ(0, memcmp(plain, f.bound, (size_t)n * sizeof(*plain)));
			EXPECT_EQ(info.period_syncs, f.info.period_syncs);
			AGREE(&f, "kind %d, %d: %s", kind, i, what_);
			for (size_t w = 0; w < f.j.waits; w++) {
				inferred += f.why[w].ends && f.why[w].end_ns != f.j.sync[w].exit_ns;
				none += f.why[w].minibatch == JETWATT_BATCH_NONE;
			}
			free(plain);
			release(&f);
		}
	printf("# %zu ends of minibatches without a recorded wait, %zu waits in no minibatch\n", inferred, none);
	EXPECT_GT(inferred, 10);
	EXPECT_GT(none, 100);
}

/* The job spans several windows of waits, and its last minibatch has not ended. */
TEST(records_agree_over_several_windows)
{
	static const struct job_shape h = { .k = 3, .minibatches = 5000, .switch_every = 700, .uneven = 2 };
	struct found f;

	job_alloc(&f.j);
	job_make(&f.j, &h, 100, 5, seed());
	f.j.waits--;
	find(&f);
	AGREE(&f, "%s", what_);
	ASSERT_EQ(4999, f.n);
	for (size_t i = 0; i < f.j.waits; i++) {
		const struct jetwatt_batch_why *w = &f.why[i];

		EXPECT_EQ(i % 3, w->phase);
		EXPECT_EQ(3, w->period);
		EXPECT_EQ(i % 3 == 2, w->ends);
		EXPECT_EQ(i < 14997 ? i / 3 : JETWATT_BATCH_NONE, w->minibatch);
	}
	EXPECT_EQ(JETWATT_RULE_LAST, f.why[14998].rule);
	EXPECT_EQ(2.0f / 3, f.why[14998].score);
	EXPECT_LT(14000, count(&f, JETWATT_RULE_TEMPLATE));
	release(&f);
}

/* If an extra wait is in the stream or a wait is missing, the record at that place names the rule
 * for this disturbance. */
TEST(rule_names_the_disturbance)
{
	struct job_shape h = { .k = 2, .minibatches = 300, .log_every = 10 };
	struct found f;
	size_t at = 0, hit = 0;

	job_alloc(&f.j);
	job_make(&f.j, &h, 100, 5, seed());
	find(&f);
	for (int m = 0; m < h.minibatches; m++) {
		at += 2;
		if (m % 10 != 9)
			continue;
		/* The extra wait belongs to the minibatch that it follows and is its last wait, so
		 * the wait before it is not the end. */
		hit += f.why[at - 1].rule == JETWATT_RULE_EXTRA && !f.why[at - 1].ends &&
		       f.why[at].ends == 1 && f.why[at].phase == 2 &&
		       f.why[at].minibatch == f.why[at - 1].minibatch;
		at++;
	}
	EXPECT_EQ(at, f.j.waits);
	EXPECT_LE(29, hit);
	EXPECT_LE(count(&f, JETWATT_RULE_EXTRA), 30);
	AGREE(&f, "%s", what_);
	release(&f);

	/* A wait of every 50th minibatch is lost, and the next wait reports the loss. */
	h.log_every = 0;
	job_alloc(&f.j);
	job_make(&f.j, &h, 100, 5, seed());
	for (size_t m = 25; m < 300; m += 50)
		f.j.sync[2 * m + 1].lost = 1;
	for (size_t i = 0, kept = 0; i < 600; i++)
		if (i % 100 != 50 || (f.j.waits--, 0))
			f.j.sync[kept++] = f.j.sync[i];
	find(&f);
	for (size_t m = 25, gone = 0; m < 300; m += 50, gone++) {
		const struct jetwatt_batch_why *w = &f.why[2 * m - 1 - gone];

		EXPECT_EQ(JETWATT_RULE_MISSING, w->rule);
		EXPECT_EQ(1, w->missing);
		EXPECT_EQ(1, w->ends);
		EXPECT_EQ(1, w[1].phase);
	}
	EXPECT_EQ(6, count(&f, JETWATT_RULE_MISSING));
	AGREE(&f, "%s", what_);
	release(&f);
}

TEST(score_is_low_in_doubtful_decisions)
{
	struct job_shape h = { .k = 3, .minibatches = 200 };
	double odd = 0, usual = 0;
	struct found f;

	job_alloc(&f.j);
	job_make(&f.j, &h, 100, 5, seed());
	/* The job stalls for 100 ms before wait 301 (from 0), in the 101st minibatch. */
	for (size_t i = 301; i < f.j.waits; i++) {
		f.j.sync[i].enter_ns += 100 * MS;
		f.j.sync[i].exit_ns += 100 * MS;
	}
	find(&f);
	AGREE(&f, "%s", what_);
	odd = f.why[300].score;
	for (size_t i = 1; i + 1 < f.j.waits; i++)
		usual += f.why[i].score / (double)(f.j.waits - 2);
	printf("# score %.2f, of others %.2f\n", odd, usual);
	EXPECT_LT(odd, -2);
	EXPECT_GT(usual, 1);
	release(&f);
	/* With too few waits for a period, the gaps decide: a minibatch begins at a longer gap. */
	h.minibatches = 10;
	job_alloc(&f.j);
	job_make(&f.j, &h, 100, 5, seed());
	find(&f);
	EXPECT_EQ(29, count(&f, JETWATT_RULE_GAP));
	for (size_t i = 2; i < 28; i++)
		EXPECT_GT(f.why[i].score, 0.9);
	AGREE(&f, "%s", what_);
	release(&f);
}

/* Create a job with marks: waits after the last mark are in no minibatch. */
static void make_marks(struct job *j, uint64_t z)
{
	(void)z;
	for (uint64_t i = 0; i < 12; i++) {
		int mark = i % 3 == 2;

		j->sync[j->waits++] = (struct jetwatt_sync){ .enter_ns = (mark ? 20 * i - 38 : 20 * i + 1) * MS,
			.exit_ns = (20 * i + 10) * MS, .tgid = 100, .tid = 100,
			.call = mark ? JETWATT_SYNC_MARK : JETWATT_SYNC_POLLFD };
	}
	j->waits--;
}

/* Create a job in which the waits of 30 minibatches take 1 to 10 ms at random, all later ones 27 ms. */
static void make_stretched(struct job *j, uint64_t z)
{
	static const struct job_shape h = { .k = 3, .minibatches = 300 };
	uint64_t now;

	job_make(j, &h, 100, 5, z);
	now = j->sync[449].exit_ns;
	for (size_t i = 450; i < 900; i++) {
		uint64_t gap = j->sync[i].enter_ns - j->sync[i - 1].exit_ns, wait = 27 * MS;

		if (i < 540) {
			gap = (uint64_t)((i % 3 ? 1 : 8) * (0.8 + 0.4 * job_uniform(&z)) * 1e6);
			wait = (uint64_t)(exp(log(10) * job_uniform(&z)) * 1e6);
		}
		j->sync[i].enter_ns = now + gap;
		now = j->sync[i].exit_ns = now + gap + wait;
	}
}

/* A job with three waits per minibatch, of which only the first has launches before it. */
static void make_launches(struct job *j, uint64_t z)
{
	static const struct job_shape h = { .k = 3, .minibatches = 60, .launches = 40 };

	job_make(j, &h, 100, 5, z);
	for (size_t i = 0; i < j->waits; i++)
		if (i % 3) {
			j->sync[i].launches = 0;
			j->sync[i].launch_ns = 0;
		}
}

/* Minibatches of one wait, and a checkpoint with a wait for each parameter. */
static void make_saved(struct job *j, uint64_t z)
{
	uint64_t now = 1000 * MS;

	for (int i = 0; i < 140; i++) {
		bool copy = i >= 60 && i < 100;

		now += copy ? MS / 50 : 8 * MS;
		j->sync[j->waits++] = (struct jetwatt_sync){ .enter_ns = now,
			.exit_ns = now + (uint64_t)((copy ? 0.05 + 0.4 * job_uniform(&z) : 50) * MS), .tgid = 100,
			.tid = 100, .call = JETWATT_SYNC_STREAM };
		now = j->sync[j->waits - 1].exit_ns;
	}
}

/* A job with twelve waits per minibatch; most launches are before the last one. */
static void make_many(struct job *j, uint64_t z)
{
	static const struct job_shape h = { .k = 12, .minibatches = 20, .launches = 40 };

	job_make(j, &h, 100, 5, z);
	for (size_t i = 0; i < j->waits; i++)
		j->sync[i].launches = i % 12 == 11 ? 900 : 10 + (uint32_t)(i * 7 % 12) * 11 % 60;
}

/* A job with two waits per minibatch after equal gaps of 20 ms: launches begin 15 ms after the
 * start of the first gap, and 1 ms after the start of the second one. */
static void make_idle(struct job *j, uint64_t z)
{
	for (uint64_t i = 0; i < 20; i++)
		j->sync[j->waits++] = (struct jetwatt_sync){ .enter_ns = (30 * i + 20) * MS + job_uniform(&z) * 1e5,
			.exit_ns = (30 * i + 30) * MS, .launch_ns = (30 * i + (i % 2 ? 1 : 15)) * MS,
			.launches = i % 2 ? 200 : 40, .tgid = 100, .tid = 100, .call = JETWATT_SYNC_STREAM };
}

/* Steps of two, three or four waits in irregular order; the GPU pauses for 2 ms between two steps and for 0.1 ms
 * within a step. */
static void make_steps(struct job *j, uint64_t z)
{
	uint64_t now = 0;

	for (int i = 0; i < 60; i++)
		for (int w = 0, n = 2 + (int)(3 * job_uniform(&z)); w < n; w++) {
			uint64_t launch = now + (w ? MS / 10 : 2 * MS);

			now = launch + (w ? 5 : 30) * MS;
			j->sync[j->waits++] = (struct jetwatt_sync){ .enter_ns = launch + MS / 10, .exit_ns = now,
				.launch_ns = launch, .launches = (uint32_t)(100 * n + w), .tgid = 100, .tid = 100,
				.call = JETWATT_SYNC_STREAM };
		}
}

TEST(every_rule_is_reached)
{
	static const struct {
		int rule;
		struct job_shape h;
		void (*make)(struct job *j, uint64_t z);
	} cases[] = {
		{ JETWATT_RULE_MARK, { 0 }, make_marks },
		{ JETWATT_RULE_NO_LAUNCH, { 0 }, make_launches },
		{ JETWATT_RULE_PART, { 0 }, make_many },
		{ JETWATT_RULE_BURST, { 0 }, make_saved },
		{ JETWATT_RULE_SINGLE, { .k = 1, .minibatches = 30 }, NULL },
		{ JETWATT_RULE_GAP, { .k = 4, .minibatches = 9 }, NULL },
		{ JETWATT_RULE_IDLE, { 0 }, make_idle },
		{ JETWATT_RULE_WAIT, { .k = 3, .load = 0.05, .inner = 0.05, .uneven = 3, .minibatches = 12 }, NULL },
		{ JETWATT_RULE_CALLER, { .k = 2, .load = 0.055, .inner = 0.05, .calls = 2, .noise = 0.25 }, NULL },
		{ JETWATT_RULE_TEMPLATE, { .k = 4 }, NULL },
		{ JETWATT_RULE_SPEED, { .k = 2, .switch_every = 40, .uneven = 2 }, NULL },
		{ JETWATT_RULE_MISSING, { .k = 3, .lost = 0.02, .losses_reported = 1 }, NULL },
		{ JETWATT_RULE_RESTART, { 0 }, make_stretched },
		{ JETWATT_RULE_EXTRA, { .k = 2, .accumulate = 4, .optimizer = 0.1, .extra = 1 }, NULL },
		{ JETWATT_RULE_EVALUATION, { .k = 3, .eval_every = 40, .eval_len = 15, .eval_k = 1 }, NULL },
		{ JETWATT_RULE_NO_CYCLE, { .k = 3, .save_every = 50, .save_waits = 10 }, NULL },
		{ JETWATT_RULE_CAUGHT_UP, { .k = 1, .stall = 0.2, .stall_by = 3, .switch_every = 40,
					    .minibatches = 600 }, NULL },
		{ JETWATT_RULE_ALIKE, { .k = 1, .stall = 0.2, .stall_by = 3, .switch_every = 40,
					.minibatches = 600 }, NULL },
		{ JETWATT_RULE_REGAINED, { 0 }, make_stretched },
		{ JETWATT_RULE_PAUSE, { 0 }, make_steps },
		{ JETWATT_RULE_LAST, { .k = 1, .minibatches = 1 }, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = jetwatt_batch_rule_name(cases[i].rule);
		size_t times = 0;

		/* Some rules occur rarely even in the job shape that is made for them, so several
		 * jobs are drawn. */
		for (uint64_t at = 0; !times && at < TRIES; at++) {
			struct found f;

			job_alloc(&f.j);
			if (cases[i].make)
				cases[i].make(&f.j, seed() + at);
			else
				job_make(&f.j, &cases[i].h, 100, 5, seed() + i + 100 * at);
			find(&f);
			times = count(&f, cases[i].rule);
			if (cases[i].make != make_marks)
				AGREE(&f, "%s: %s", name, what_);
			release(&f);
		}
		EXPECT_LT(0, times) TH_LOG("%s", name);
	}
	for (int i = 0; i < 32; i++) {
		struct found f;

		draw(&f, i % JOB_KINDS, 3 + 4 * (i / JOB_KINDS));
		release(&f);
	}
	for (int rule = 0; rule < JETWATT_RULES; rule++) {
		printf("# %-12s %zu\n", jetwatt_batch_rule_name(rule), seen[rule]);
		EXPECT_LT(0, seen[rule]) TH_LOG("%s", jetwatt_batch_rule_name(rule));
	}
}

TEST(marks_are_the_rule_of_their_waits)
{
	struct found f;

	job_alloc(&f.j);
	make_marks(&f.j, 0);
	find(&f);
	ASSERT_EQ(3, f.n);
	EXPECT_EQ(f.j.waits, count(&f, JETWATT_RULE_MARK));
	for (size_t i = 0; i < f.j.waits; i++) {
		const struct jetwatt_batch_why *w = &f.why[i];

		EXPECT_EQ(i < 9 ? i / 3 : JETWATT_BATCH_NONE, w->minibatch);
		EXPECT_EQ(i < 9 && i % 3 == 2, w->ends);
		EXPECT_EQ(w->ends ? f.j.sync[i].exit_ns : 0, w->end_ns);
	}
	release(&f);
}

TEST(rules_have_distinct_names)
{
	for (int a = 0; a < JETWATT_RULES; a++) {
		ASSERT_NE(NULL, jetwatt_batch_rule_name(a));
		EXPECT_LT(10, strlen(jetwatt_batch_rule_says(a)));
		EXPECT_LT(0, strlen(jetwatt_batch_rule_score(a)));
		for (int b = 0; b < a; b++)
			EXPECT_NE(0, strcmp(jetwatt_batch_rule_name(a), jetwatt_batch_rule_name(b)));
	}
	EXPECT_NE(NULL, jetwatt_batch_rule_name(-1));
	EXPECT_NE(NULL, jetwatt_batch_rule_name(JETWATT_RULES));
}

TEST_HARNESS_MAIN
