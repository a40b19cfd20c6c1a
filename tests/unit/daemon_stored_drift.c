// SPDX-License-Identifier: GPL-2.0-only
/* Drift between the stored rows of earlier jobs: the job has changed for good, for example because its
 * program has a new version under the same command line. */
#include "learner_plant.h"
#include "plan/drift.h"

#define READINGS	60	/* readings of the held mode in a run */
#define GAP_NS		5000000000ull

/* Search until the learner wants no further mode. */
static void search(FIXTURE_DATA(learner) *self)
{
	struct jetwattd_terms t = terms(&self->p);
	int n = 0;

	self->p.tries = 0;
	jetwattd_learner_resume(&self->l, &t);
	while (n++ < STEPS && step(self) > 0)
		;
}

/* Run the job as jetwattd does: begin with the stored rows, search, then hold the best mode; two consecutive
 * readings that differ from the mode's row are a drift. Return: the number of drifts. */
static int run(FIXTURE_DATA(learner) *self)
{
	struct jetwattd_prior prior = { .key = KEY, .row = self->p.db, .rows = self->p.nr_db };
	int was_drifts = self->p.drifts, deviations = 0;
	struct plant *p = &self->p;

	begin(self, &prior);
	search(self);
	for (int i = 0; i < READINGS; i++, p->now_ns += GAP_NS) {
		struct jetwattd_terms t = terms(p);
		struct jetwattd_reading got;
		struct jetwatt_row was;

		if (jetwattd_learner_is_due(&self->l, &t))
			search(self);
		if (!best(self))
			continue;
		was = *best(self);
		measure(p, &was.mode, EXACT_S, &got);
		if (!jetwatt_rows_differ(&got.m.row, &was)) {
			deviations = 0;
			if (jetwattd_wants_power(&self->l, &got.m.row, 0) ||
			    jetwattd_wants_time(&self->l, &got.m.row))
				jetwattd_learner_reading(&self->l, &got);
		} else if (++deviations == 2) {
			deviations = 0;
			jetwattd_learner_relearn(&self->l, &got, &was);
			handle_news(self);
			search(self);
		}
		handle_news(self);
	}
	return p->drifts - was_drifts;
}

/* Begin a run with the stored rows. Return: error of the best mode's time, as a share. */
static double first_error(FIXTURE_DATA(learner) *self)
{
	struct jetwattd_prior prior = { .key = KEY, .row = self->p.db, .rows = self->p.nr_db };
	const struct jetwatt_row *row;

	begin(self, &prior);
	row = best(self);
	return row ? fabs(row->time_ms / time_ms(&self->p, &row->mode) - 1) : INFINITY;
}

static struct jetwatt_row db[DB_ROWS];

static void start(FIXTURE_DATA(learner) *self)
{
	self->p.db = db;
	self->p.nr_db = 0;
	self->p.policy.most = 1000;
	self->p.policy.learn_s = 0;
	self->p.policy.learn_j = 1e9;
}

/* The job changes between two runs: the second run finds the drift, and later runs begin with what the job is
 * now. */
TEST_F(learner, a_drift_is_found_once)
{
	static const struct {
		double time, power;
	} then[] = { { 1.6, 1 }, { 0.6, 1 }, { 1.08, 1 }, { 1.6, 1.1 }, { 1, 1.12 }, { 1, 0.9 } };

	for (size_t k = 0; k < sizeof(then) / sizeof(then[0]); k++) {
		int found[6] = { 0 };

		start(self);
		self->p.by = self->p.by_w = 1;
		for (int i = 0; i < 6; i++) {
			if (i == 1) {
				self->p.by = then[k].time;
				self->p.by_w = then[k].power;
			}
			if (i > 1)
				EXPECT_GT(0.05, first_error(self)) TH_LOG("%zu, run %d", k, i);
			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			found[i] = run(self);
		}
		EXPECT_EQ(0, found[0]) TH_LOG("%zu", k);
		EXPECT_LE(1, found[1]) TH_LOG("%zu", k);
		for (int i = 2; i < 6; i++)
			EXPECT_EQ(0, found[i]);
		EXPECT_GT(0.05, loss(self)) TH_LOG("%zu: %g", k, loss(self));
	}
}

/* Return: 1 if the mode of row @i has two or more earlier rows and no later one. */
static int is_last_of_three(size_t i, size_t n)
{
	int earlier = 0, later = 0;

	for (size_t k = 0; k < n; k++)
		if (jetwatt_mode_same(&db[k].mode, &db[i].mode)) {
			earlier += k < i;
			later += k > i;
		}
	return earlier >= 2 && !later;
}

/* If the job does not change, all stored rows stay rows, also beside a wrong time and an outlier of power. */
TEST_F(learner, a_wrong_reading_is_no_drift)
{
	struct jetwattd_prior prior = { .key = KEY, .row = db };
	struct jetwatt_row *row;
	size_t n;

	start(self);
	for (int i = 0; i < 3; i++) {
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		EXPECT_EQ(0, run(self));
	}
	n = self->p.nr_db;
	ASSERT_LT(10, n);
	prior.rows = n;
	begin(self, &prior);
	EXPECT_EQ(n, self->l.known.nr_rows);
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_row keep = db[i];

		row = &db[i];
		/* A last reading after two others cannot be told from a drift. */
		if (is_last_of_three(i, n))
			continue;
		row->time_ms *= 0.7;
		begin(self, &prior);
		EXPECT_EQ(n, self->l.known.nr_rows) TH_LOG("time of row %zu", i);
		*row = keep;
		row->power_w *= 0.85;
		begin(self, &prior);
		EXPECT_EQ(n, self->l.known.nr_rows) TH_LOG("power of row %zu", i);
		*row = keep;
	}
}

/* Of several drifts the last one counts, and the rows between the last two are the prior. */
TEST_F(learner, the_last_drift_counts)
{
	start(self);
	for (int i = 0; i < 6; i++) {
		self->p.by = i / 2 == 1 ? 1.8 : 1;
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		run(self);
	}
	EXPECT_GT(0.05, first_error(self));
	for (size_t i = 0; i < self->l.known.nr_rows; i++) {
		const struct jetwatt_row *row = &self->l.known.row[i];

		EXPECT_GT(0.1, fabs(log(row->time_ms / time_ms(&self->p, &row->mode))));
	}
}

TEST_HARNESS_MAIN
