// SPDX-License-Identifier: GPL-2.0-only
/* Prediction from few rows: its accuracy and its stated uncertainty on simulated boards, the bounds of
 * physics, and invalid rows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "model/fit.h"
#include "model/particles.h"
#include "synth.h"

#define BOARDS	10
#define ROWS	4
/* Number of modes of a board that are predicted. */
#define TESTED	300

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Figures of predictions: errors of the logarithms, stated standard deviations, and the share of errors
 * within two of these; each for time and power. */
struct figures {
	double error[2], sd[2], within[2];
};

/* Predict modes of a board from ROWS rows, those at the given positions in the grid. */
static int predict_board(uint64_t seed, int kind, struct figures *f)
{
	static const double at[ROWS] = { 0.31, 0.52, 0.68, 0.93 };
	double error[2][TESTED], sd[2][TESTED];
	struct jetwatt_prediction p[TESTED];
	struct jetwatt_mode mode[TESTED];
	struct jetwatt_row *row, few[ROWS];
	struct jetwatt_model *m = NULL;
	struct synth w;
	long n;
	int err;

	synth_make(&w, seed, kind);
	n = synth_rows(&w, &row, 0, seed);
	if (n < 0)
		return (int)n;
	for (int i = 0; i < ROWS; i++)
		few[i] = row[(long)(at[i] * n)];
	for (long i = 0; i < TESTED; i++)
		mode[i] = row[i * n / TESTED].mode;
	err = jetwatt_fit(&m, few, ROWS, NULL, seed);
	if (!err)
		err = jetwatt_fit_particles(m, few, ROWS, NULL, seed);
	if (!err)
		err = jetwatt_model_predict(m, mode, TESTED, p);
	*f = (struct figures){ .within = { 0 } };
	for (long i = 0; i < TESTED && !err; i++) {
		const struct jetwatt_row *r = &row[i * n / TESTED];

		error[0][i] = fabs(log(p[i].time_ms / r->time_ms));
		error[1][i] = fabs(log(p[i].power_w / r->power_w));
		sd[0][i] = p[i].time_sd;
		sd[1][i] = p[i].power_sd;
		for (int k = 0; k < 2; k++)
			f->within[k] += error[k][i] < 2 * sd[k][i] ? 1.0 / TESTED : 0;
	}
	for (int k = 0; k < 2 && !err; k++) {
		qsort(error[k], TESTED, sizeof(double), by_value);
		qsort(sd[k], TESTED, sizeof(double), by_value);
		f->error[k] = error[k][TESTED / 2];
		f->sd[k] = sd[k][TESTED / 2];
	}
	jetwatt_model_free(m);
	free(row);
	return err;
}

/* Surfaces alone state standard deviations of log time of 0.5 to 1.5 after four rows. */
TEST(four_rows_predict_a_board)
{
	struct figures all = { .within = { 0 } };

	for (int b = 0; b < BOARDS; b++) {
		struct figures f;

		ASSERT_EQ(0, predict_board(b + 1, b % 3, &f));
		TH_LOG("board %d: time %.3f (sd %.3f, within %.2f), power %.3f (sd %.3f, within %.2f)", b,
		       f.error[0], f.sd[0], f.within[0], f.error[1], f.sd[1], f.within[1]);
		for (int k = 0; k < 2; k++) {
			all.error[k] += f.error[k] / BOARDS;
			all.sd[k] += f.sd[k] / BOARDS;
			all.within[k] += f.within[k] / BOARDS;
		}
	}
	EXPECT_LT(all.error[0], 0.3);
	EXPECT_LT(all.error[1], 0.12);
	EXPECT_LT(all.sd[0], 0.4);
	EXPECT_LT(all.sd[1], 0.15);
	EXPECT_GT(all.within[0], 0.8);
	EXPECT_GT(all.within[1], 0.8);
}

/* Each part of a time is constant or in inverse proportion to clocks and cores. */
TEST(times_keep_to_the_bounds_of_physics)
{
	static const struct jetwatt_row row = { .mode = { 8, 1000000, 600000000, 2000000000 }, .time_ms = 100,
						.power_w = 25 };
	static const struct { struct jetwatt_mode mode; double least, most; } bound[] = {
		{ { 8, 2000000, 600000000, 2000000000 }, 35, 101 },
		{ { 8, 1000000, 1200000000, 2000000000 }, 49, 101 },
		{ { 8, 1000000, 600000000, 1000000000 }, 99, 202 },
	};
	struct jetwatt_particle_prior time, power;
	struct jetwatt_particles *p;

	jetwatt_prior_of_particles(NULL, &jetwatt_time_form, &time);
	jetwatt_prior_of_particles(NULL, &jetwatt_power_form, &power);
	ASSERT_EQ(0, jetwatt_particles_fit(&p, &row, 1, &time, &power, 1));
	for (size_t i = 0; i < sizeof(bound) / sizeof(*bound); i++) {
		struct jetwatt_prediction out;
		struct jetwatt_features x;

		ASSERT_EQ(0, jetwatt_features_of(&x, &bound[i].mode));
		ASSERT_EQ(0, jetwatt_particles_predict(p, &x, 1, &out));
		EXPECT_GT(out.time_ms, bound[i].least * 0.95);
		EXPECT_LT(out.time_ms, bound[i].most * 1.05);
		EXPECT_LT(out.time_sd, 0.4);
	}
	jetwatt_particles_free(p);
}

TEST(same_seed_same_prediction)
{
	struct figures a, b;

	ASSERT_EQ(0, predict_board(5, SYNTH_ORIN, &a));
	ASSERT_EQ(0, predict_board(5, SYNTH_ORIN, &b));
	EXPECT_EQ(0, memcmp(&a, &b, sizeof(a)));
}

TEST(invalid_modes_are_refused)
{
	static const struct jetwatt_row row = { .mode = { 8, 0, 600000000, 2000000000 }, .time_ms = 100,
						.power_w = 25 };
	struct jetwatt_particle_prior time, power;
	struct jetwatt_particles *p;

	jetwatt_prior_of_particles(NULL, &jetwatt_time_form, &time);
	jetwatt_prior_of_particles(NULL, &jetwatt_power_form, &power);
	EXPECT_EQ(-EINVAL, jetwatt_particles_fit(&p, &row, 1, &time, &power, 1));
	EXPECT_EQ(NULL, p);
}

/* Shuffled rows agree with no parameters: the scatter grows, and the fit ends. */
TEST(contradictory_rows_are_fitted)
{
	struct jetwatt_row row[JETWATT_PARTICLES_ROWS];
	struct jetwatt_particle_prior time, power;
	struct jetwatt_prediction out;
	struct jetwatt_particles *p;
	struct jetwatt_features x;

	for (unsigned int i = 0; i < JETWATT_PARTICLES_ROWS; i++)
		row[i] = (struct jetwatt_row){ .mode = { 8, 1000000 + i, 600000000, 2000000000 },
					       .time_ms = i % 2 ? 1 : 1e6, .power_w = i % 3 ? 1 : 1e3 };
	jetwatt_prior_of_particles(NULL, &jetwatt_time_form, &time);
	jetwatt_prior_of_particles(NULL, &jetwatt_power_form, &power);
	ASSERT_EQ(0, jetwatt_particles_fit(&p, row, JETWATT_PARTICLES_ROWS, &time, &power, 3));
	ASSERT_EQ(0, jetwatt_features_of(&x, &row[0].mode));
	ASSERT_EQ(0, jetwatt_particles_predict(p, &x, 1, &out));
	EXPECT_TRUE(isfinite(out.time_ms) && isfinite(out.power_w));
	EXPECT_GT(out.time_sd, 0.05);
	jetwatt_particles_free(p);
}

TEST_HARNESS_MAIN
