// SPDX-License-Identifier: GPL-2.0-only
/* Descending profiles: no measured mode has a higher CPU or GPU clock than the one before. Also
 * tested: how well such a profile predicts the modes that it did not measure. */
#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"
#include "plan/plan.h"
#include "synth.h"

#define MOST	20

FIXTURE(board) {
	struct jetwatt_row *row, seen[MOST];
	struct jetwatt_mode *mode;
	size_t n;
};

FIXTURE_SETUP(board)
{
	struct synth w;

	synth_make(&w, 7, SYNTH_ORIN);
	self->n = synth_rows(&w, &self->row, 0, 7);
	self->mode = calloc(self->n, sizeof(*self->mode));
	ASSERT_NE(NULL, self->mode);
	for (size_t i = 0; i < self->n; i++)
		self->mode[i] = self->row[i].mode;
}

FIXTURE_TEARDOWN(board)
{
	free(self->row);
	free(self->mode);
}

/* Extend a profile of @from rows by the modes that the plan chooses, until the plan stops or the
 * profile has MOST rows. Return: number of rows. */
static size_t walk(struct jetwatt_row *seen, const struct jetwatt_row *row,
		   const struct jetwatt_mode *mode, size_t n, size_t from)
{
	struct jetwatt_plan_next p;

	while (from < MOST && !jetwatt_plan_descend(mode, n, seen, from, MOST, &p))
		seen[from++] = row[p.index];
	return from;
}

TEST_F(board, clocks_never_rise_and_other_knobs_vary)
{
	unsigned int emc = 0, cores = 0;
	const struct jetwatt_row *s = self->seen;

	ASSERT_EQ(MOST, walk(self->seen, self->row, self->mode, self->n, 0));
	for (int i = 1; i < MOST; i++) {
		EXPECT_LE(s[i].mode.cpu_khz, s[i - 1].mode.cpu_khz);
		EXPECT_LE(s[i].mode.gpu_hz, s[i - 1].mode.gpu_hz);
		EXPECT_NE(0, memcmp(&s[i].mode, &s[i - 1].mode, sizeof(s[i].mode)));
		emc += s[i].mode.emc_hz != s[i - 1].mode.emc_hz;
		cores += s[i].mode.cores != s[i - 1].mode.cores;
	}
	/* The profile starts near the highest clocks, ends near the lowest ones, and changes EMC
	 * and cores more than five times. */
	EXPECT_EQ(1300500000, s[0].mode.gpu_hz);
	EXPECT_LT(s[MOST - 1].mode.gpu_hz, 220000000);
	EXPECT_LT(2000000, s[0].mode.cpu_khz);
	EXPECT_LT(s[MOST - 1].mode.cpu_khz, 300000);
	EXPECT_LT(5, emc);
	EXPECT_LT(5, cores);
}

TEST_F(board, interrupted_profile_continues_below)
{
	struct jetwatt_row whole[MOST];
	struct jetwatt_plan_next p;

	ASSERT_EQ(MOST, walk(self->seen, self->row, self->mode, self->n, 0));
	memcpy(whole, self->seen, sizeof(whole));
	ASSERT_EQ(MOST, walk(self->seen, self->row, self->mode, self->n, 8));
	EXPECT_EQ(0, memcmp(whole, self->seen, sizeof(whole)));
	EXPECT_EQ(1, jetwatt_plan_descend(self->mode, self->n, self->seen, MOST, MOST, &p));
	EXPECT_EQ(-EINVAL, jetwatt_plan_descend(self->mode, 0, NULL, 0, MOST, &p));
	/* The profile is at the lowest clocks, so no further mode follows. */
	self->seen[0] = self->row[0];
	for (size_t i = 0; i < self->n; i++)
		if (self->mode[i].cpu_khz <= self->seen[0].mode.cpu_khz &&
		    self->mode[i].gpu_hz <= self->seen[0].mode.gpu_hz)
			self->seen[0] = self->row[i];
	EXPECT_EQ(1, jetwatt_plan_descend(&self->seen[0].mode, 1, self->seen, 1, MOST, &p));
}

TEST_F(board, descending_profile_predicts_well)
{
	struct jetwatt_prediction *p = calloc(self->n, sizeof(*p));
	struct jetwatt_model *m = NULL;
	double time = 0, power = 0;

	ASSERT_NE(NULL, p);
	ASSERT_EQ(MOST, walk(self->seen, self->row, self->mode, self->n, 0));
	ASSERT_EQ(0, jetwatt_model_fit(&m, self->seen, MOST, 1));
	ASSERT_EQ(0, jetwatt_model_predict(m, self->mode, self->n, p));
	for (size_t i = 0; i < self->n; i++) {
		time += fabs(p[i].time_ms / self->row[i].time_ms - 1) / self->n;
		power += fabs(p[i].power_w / self->row[i].power_w - 1) / self->n;
	}
	TH_LOG("mean error of predicted time %.1f %%, of power %.1f %%", 100 * time, 100 * power);
	EXPECT_LT(time, 0.25);
	EXPECT_LT(power, 0.15);
	jetwatt_model_free(m);
	free(p);
}

TEST(uncertainty_is_that_of_modes_in_question)
{
	static const struct jetwatt_prediction p[] = {
		{ 100, 15, 0.01, 0.02 }, { 60, 25, 0.04, 0.03 }, { 65, 27, 0.01, 0.02 },
		{ 50, 40, 0.5, 0.5 },
	};

	/* Without a budget, the mean over all four modes: (0.02 + 0.04 + 0.02 + 0.5) / 4. With a
	 * budget of 25 W, the mean over the second and the third mode. */
	EXPECT_LT(fabs(jetwatt_plan_uncertainty(p, 4, 0) - 1.96 * 0.145), 1e-9);
	EXPECT_LT(fabs(jetwatt_plan_uncertainty(p, 4, 25) - 1.96 * 0.03), 1e-9);
	/* No mode is within a budget of 10 W, so the mean is over all four modes. */
	EXPECT_LT(fabs(jetwatt_plan_uncertainty(p, 4, 10) - 1.96 * 0.145), 1e-9);
	EXPECT_EQ(0, jetwatt_plan_uncertainty(p, 0, 25));
}

/* The clock of the CPU or of the GPU cannot be raised before the next boot, whatever else a mode lowers. */
TEST(no_mode_follows_that_raises_one_clock)
{
	const struct jetwatt_row seen = { .mode = { 4, 1000000, 600000000, 2133000000 }, .time_ms = 10, .power_w = 20 };
	const struct jetwatt_mode mode[] = { seen.mode, { 4, 2000000, 300000000, 665600000 },
					     { 4, 500000, 900000000, 665600000 }, { 4, 500000, 600000000, 665600000 } };
	struct jetwatt_plan_next next;

	EXPECT_EQ(1, jetwatt_plan_descend(mode, 3, &seen, 1, MOST, &next));
	ASSERT_EQ(0, jetwatt_plan_descend(mode, 4, &seen, 1, MOST, &next));
	EXPECT_EQ(3, next.index);
}

TEST_HARNESS_MAIN
