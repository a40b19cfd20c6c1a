// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job that became another one while it was learned: which of the readings before were of
 * the other one, and what is kept of them. The board answers a look with the time that the mode
 * takes now.
 */
#include "../../user/daemon/drift.c"

#include "kselftest_harness.h"

#define MODES	60
#define ROWS	13
#define NOISE	0.01

static double factor = 1;
static int looks, looked_again, hot;
static uint64_t state = 1;

const struct jetwatt_measure_limits jetwattd_quick;

/* As in tune/tuner.c, which needs a board. */
int jetwatt_learn_add(struct jetwatt_learn *l, const struct jetwatt_row *row)
{
	struct jetwatt_row *more = reallocarray(l->row, l->nr_rows + 1, sizeof(*row)), copy = *row;

	if (!more)
		return 1;
	l->row = more;
	l->row[l->nr_rows++] = copy;
	return 0;
}

const struct jetwatt_row *jetwatt_learn_row(const struct jetwatt_learn *l, const struct jetwatt_mode *mode)
{
	for (size_t i = l->nr_rows; i-- > 0;)
		if (jetwatt_mode_same(&l->row[i].mode, mode))
			return &l->row[i];
	return NULL;
}

static double noise(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + NOISE * ((double)(state >> 33) / 4294967296.0 - 0.25);
}

/* A job whose GPU and CPU parts overlap in part. */
static struct jetwatt_row row_of(const struct jetwatt_mode *m, double by)
{
	double gpu = 40e9 / m->gpu_hz, cpu = 60e6 / m->cpu_khz / m->cores;

	return (struct jetwatt_row){
		.mode = *m, .time_ms = by * noise() * (fmax(gpu, cpu) + 0.3 * fmin(gpu, cpu)),
		.power_w = noise() * (6 + 12e-9 * m->gpu_hz + 1.5e-6 * m->cpu_khz * m->cores),
		.time_sd = NOISE, .power_sd = NOISE,
	};
}

enum jetwattd_outcome jetwattd_look_again(struct jetwattd_run *r, const struct jetwatt_mode *mode,
					  const struct jetwatt_measure_limits *limits,
					  struct jetwattd_reading *got)
{
	(void)r;
	(void)limits;
	looks++;
	looked_again++;
	got->m.row = row_of(mode, factor);
	return JETWATTD_MEASURED;
}

enum jetwattd_outcome jetwattd_look(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				    const struct jetwatt_measure_limits *limits,
				    struct jetwattd_reading *got)
{
	/* Where the board is. */
	jetwattd_look_again(r, &r->d->act.mode, limits, got);
	looked_again--;
	got->m.row.mode = *mode;
	return JETWATTD_MEASURED;
}

int jetwattd_keep(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	return jetwatt_learn_add(&r->learn, &got->m.row);
}

int jetwattd_throttled(struct jetwattd_run *r, const struct jetwatt_mode *mode)
{
	(void)r;
	(void)mode;
	return hot;
}

double jetwattd_limit(struct jetwattd *d)
{
	return d->cap.budget_w;
}

const struct jetwatt_row *jetwattd_within(struct jetwattd_run *r, double watts,
					  const struct jetwatt_mode *but)
{
	for (size_t i = 0; i < r->learn.nr_rows; i++)
		if (r->learn.row[i].power_w < watts && !jetwatt_mode_same(&r->learn.row[i].mode, but))
			return &r->learn.row[i];
	return NULL;
}

static double before_ms;

double jetwattd_minibatch_jumped(const struct jetwattd_minibatch *m)
{
	(void)m;
	return before_ms;
}

void jetwattd_allowance_again(struct jetwattd_run *r)
{
	(void)r;
}

void jetwattd_say(struct jetwattd *d, const char *text, ...)
{
	(void)d;
	(void)text;
}

FIXTURE(another) {
	struct jetwattd d;
	struct jetwattd_run run;
	struct jetwatt_mode mode[MODES];
	unsigned char out[MODES];
};

FIXTURE_SETUP(another)
{
	struct jetwattd_run *r = &self->run;

	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	for (int i = 0; i < MODES; i++)
		self->mode[i] = (struct jetwatt_mode){ 2 + 2 * (i % 5), 422400 + 300000 * (i / 5 % 4),
						       300000000 + 300000000ull * (i / 20), 2133000000 };
	self->d.cap.budget_w = 100;
	r->d = &self->d;
	r->out = self->out;
	r->learn.mode = self->mode;
	r->learn.nr_modes = MODES;
	looks = looked_again = hot = 0;
	before_ms = 0;
	factor = 1;
}

FIXTURE_TEARDOWN(another)
{
	jetwatt_estimator_forget(&self->run.learn.by);
	free(self->run.learn.row);
	pthread_mutex_destroy(&self->d.lock);
}

/* @old readings of a job that takes @by times as long, and the rest as it is now. */
static void learned(FIXTURE_DATA(another) *self, size_t old, double by)
{
	struct jetwattd_run *r = &self->run;

	r->learn.nr_rows = 0;
	jetwatt_estimator_forget(&r->learn.by);
	for (size_t i = 0; i < ROWS; i++) {
		struct jetwatt_row row = row_of(&self->mode[(i * 37 + 11) % MODES], i < old ? by : 1);

		/* Left before it was read. */
		if (i == 2 || i == 7)
			row.time_sd = JETWATTD_NO_TIME;
		jetwatt_learn_add(&r->learn, &row);
	}
	looks = looked_again = 0;
}

/* Of the readings that are left, how many are not of the job as it is? */
static int wrong(FIXTURE_DATA(another) *self)
{
	int n = 0;

	for (size_t i = 0; i < self->run.learn.nr_rows; i++) {
		const struct jetwatt_row *row = &self->run.learn.row[i];

		n += whole(row) && fabs(log(row->time_ms / row_of(&row->mode, factor).time_ms)) > 0.05;
	}
	return n;
}

TEST_F(another, nothing_has_changed)
{
	learned(self, 0, 1);
	EXPECT_EQ(0, jetwattd_was_another(&self->run));
	EXPECT_EQ(1, looks);
	EXPECT_EQ(ROWS, self->run.learn.nr_rows);
	EXPECT_EQ(0, self->d.count.drifts);
}

TEST_F(another, the_first_were_of_another_one)
{
	static const double times[] = { 0.4, 0.7, 1.3, 2.3 };

	for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
		for (size_t old = 1; old <= ROWS; old++) {
			double by = times[k];

			learned(self, old, by);
			EXPECT_EQ(1, jetwattd_was_another(&self->run)) TH_LOG("%zu of them, %g", old, by);
			EXPECT_EQ(0, wrong(self)) TH_LOG("%zu of them, %g", old, by);
			EXPECT_GE(6, looks) TH_LOG("%zu of them, %g", old, by);
			/* Of what is now nothing is lost. */
			EXPECT_LE(ROWS - old, self->run.learn.nr_rows) TH_LOG("%zu of them, %g", old, by);
		}
}

/* What was read of the other one says what to expect of this one. */
TEST_F(another, what_was_known_counts)
{
	struct jetwatt_prediction p;
	struct jetwatt_fitted *m;

	learned(self, ROWS, 2);
	ASSERT_EQ(1, jetwattd_was_another(&self->run));
	ASSERT_TRUE(jetwatt_estimator_foretells(&self->run.learn.by, self->run.learn.row,
						self->run.learn.nr_rows));
	ASSERT_EQ(0, jetwatt_estimator_fit(&m, &self->run.learn.by, self->run.learn.row,
					   self->run.learn.nr_rows, 0, 1));
	for (int i = 0; i < MODES; i++) {
		ASSERT_EQ(0, jetwatt_fitted_predict(m, &self->mode[i], NULL, 1, &p));
		EXPECT_GT(0.25, fabs(log(p.time_ms / row_of(&self->mode[i], 1).time_ms))) TH_LOG("mode %d", i);
	}
	jetwatt_fitted_free(m);
}

TEST_F(another, it_is_only_hot)
{
	learned(self, ROWS, 0.5);
	hot = 1;
	EXPECT_EQ(0, jetwattd_was_another(&self->run));
	EXPECT_EQ(ROWS, self->run.learn.nr_rows);
}

/* Minibatches become others while a mode is read: the reading is of both. */
TEST_F(another, it_changes_in_a_reading)
{
	struct jetwattd_run *r = &self->run;
	struct jetwatt_row *last;

	learned(self, ROWS, 2);
	last = &r->learn.row[ROWS - 1];
	self->d.act.mode = last->mode;
	self->d.act.applied = 1;
	before_ms = last->time_ms;
	last->time_ms *= 0.7;
	EXPECT_EQ(1, jetwattd_another(r, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_EQ(1, r->learn.nr_rows);
	EXPECT_EQ(0, wrong(self));
	/* In a mode that has been left for what it draws: another one tells. */
	learned(self, ROWS, 2);
	self->d.act.mode = r->learn.row[0].mode;
	self->d.act.applied = 1;
	before_ms = r->learn.row[ROWS - 1].time_ms;
	r->learn.row[ROWS - 1].time_ms *= 0.7;
	EXPECT_EQ(1, jetwattd_another(r, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_LT(0, looked_again);
	EXPECT_EQ(looks, looked_again);
	EXPECT_EQ(0, wrong(self));
	/* Or one of them was only odd. */
	learned(self, 0, 1);
	last = &r->learn.row[ROWS - 1];
	self->d.act.mode = last->mode;
	self->d.act.applied = 1;
	before_ms = 1.5 * last->time_ms;
	EXPECT_EQ(0, jetwattd_another(r, (size_t)(((ROWS - 1) * 37 + 11) % MODES), NULL));
	EXPECT_EQ(ROWS, r->learn.nr_rows);
}

/* A mode that is foretold to take as long as it takes needs no second look. */
TEST_F(another, only_what_is_strange_is_looked_at_again)
{
	struct jetwatt_prediction foretold = { .time_sd = 0.05, .power_sd = 0.05 };
	struct jetwattd_run *r = &self->run;
	size_t i = ((ROWS - 1) * 37 + 11) % MODES;

	learned(self, 0, 1);
	foretold.time_ms = r->learn.row[ROWS - 1].time_ms * 1.1;
	EXPECT_EQ(0, jetwattd_another(r, i, &foretold));
	EXPECT_EQ(0, looks);
	foretold.time_ms *= 2;
	EXPECT_EQ(0, jetwattd_another(r, i, &foretold));
	EXPECT_EQ(1, looks);
	EXPECT_EQ(ROWS, r->learn.nr_rows);
	/* But the last, and some before, they were of another one. */
	for (size_t old = 1; old < ROWS; old++) {
		learned(self, old, 2);
		EXPECT_EQ(1, jetwattd_another(r, i, &foretold)) TH_LOG("%zu", old);
		EXPECT_LE(ROWS - old, r->learn.nr_rows) TH_LOG("%zu", old);
		EXPECT_EQ(0, wrong(self)) TH_LOG("%zu", old);
		EXPECT_GE(6, looks) TH_LOG("%zu", old);
	}
}

TEST_HARNESS_MAIN
