// SPDX-License-Identifier: GPL-2.0-only
/* Rooflines of a simulated board, fitted to noisy kernels, and the modes chosen with them. */
#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"
#include "plan/roofs.h"
#include "search_run.h"

#define GPUS	7
#define EMCS	4
#define CPUS	2
#define MODES	(GPUS * EMCS * CPUS)
#define KERNELS	12
/* Relative noise of a measurement that lasts a few seconds. */
#define NOISE	0.004

static const double gpu_ghz[GPUS] = { 0.3, 0.5, 0.7, 0.9, 1.0, 1.15, 1.3 };
static const double emc_ghz[EMCS] = { 0.204, 0.6656, 2.133, 3.199 };

struct truth {
	double flop_s, byte_s, eps_flop, eps_mem, pi0;
};

/* Return the true roofs of a mode. The voltage is constant at low clocks; memory bandwidth is also
 * limited by the GPU clock; the CPU draws power but does not affect time. Mode 0 is the lowest. */
static struct truth truth(int mode)
{
	int g = mode / CPUS / EMCS, e = mode / CPUS % EMCS;
	double f = gpu_ghz[g], v = fmax(0.6, 0.42 + 0.45 * f);

	return (struct truth){ 0.7 * 4096e9 * f, fmin(0.78 * 64e9 * emc_ghz[e], 192e9 * f),
			       5.5e-12 * v * v, 42e-12, 8 + 3.5 * v * v * f + 0.75 * emc_ghz[e] +
				(mode % CPUS ? 4 : 0.8) };
}

static double time_s(const struct truth *t, double flop, double bytes)
{
	return fmax(flop / t->flop_s, bytes / t->byte_s);
}

static double energy_j(const struct truth *t, double flop, double bytes)
{
	return t->eps_flop * flop + t->eps_mem * bytes + t->pi0 * time_s(t, flop, bytes);
}

/* The kernels have operational intensities from 0.06 to 2100 FLOP per byte. */
static void kernels(const struct truth *t, struct jetwatt_roofs_kernel *k, double noise, uint64_t *s)
{
	for (int i = 0; i < KERNELS; i++) {
		double bytes = 1e8, flop = bytes * pow(2.6, i - 3), ms = 1e3 * time_s(t, flop, bytes);

		k[i] = (struct jetwatt_roofs_kernel){ flop, bytes, ms * exp(noise * search_normal(s)),
						      energy_j(t, flop, bytes) / ms * 1e3 *
						      exp(noise * search_normal(s)) };
	}
}

/* Fit all modes. Return: as jetwatt_roofs_fit(). */
static int fit(struct jetwatt_roofs *r, double noise, uint64_t *s)
{
	struct jetwatt_roofs_kernel *k = calloc(MODES * KERNELS, sizeof(*k));
	struct jetwatt_mode mode[MODES];
	int err;

	for (int i = 0; i < MODES; i++) {
		struct truth t = truth(i);

		mode[i] = (struct jetwatt_mode){ i % CPUS ? 12 : 4, i % CPUS ? 2200000 : 1100000,
						 gpu_ghz[i / CPUS / EMCS] * 1e9,
						 emc_ghz[i / CPUS % EMCS] * 1e9 };
		kernels(&t, k + i * KERNELS, noise, s);
	}
	err = jetwatt_roofs_fit(mode, MODES, k, KERNELS, r);
	free(k);
	return err;
}

TEST(exact_kernels_give_exact_roofs)
{
	struct jetwatt_roofs r[MODES];
	uint64_t s = 1;

	ASSERT_EQ(0, fit(r, 0, &s));
	for (int i = 0; i < MODES; i++) {
		struct truth t = truth(i);

		EXPECT_LT(fabs(r[i].flop_s / t.flop_s - 1), 1e-9);
		EXPECT_LT(fabs(r[i].byte_s / t.byte_s - 1), 1e-9);
		EXPECT_LT(fabs(r[i].eps_flop / t.eps_flop - 1), 1e-5);
		EXPECT_LT(fabs(r[i].eps_mem / t.eps_mem - 1), 1e-5);
		EXPECT_LT(fabs(r[i].pi0 / t.pi0 - 1), 1e-5);
		EXPECT_LT(r[i].energy_off, 1e-6);
	}
}

/* Fit roofs to kernels with the noise of real measurements, and check the mean error of each roof
 * over all modes. */
TEST(noisy_kernels_give_small_errors)
{
	double off[5] = { 0 };
	uint64_t s = 7;
	int n = 0;

	for (int round = 0; round < 10; round++) {
		struct jetwatt_roofs r[MODES];

		ASSERT_EQ(0, fit(r, NOISE, &s));
		for (int i = 0; i < MODES; i++, n++) {
			struct truth t = truth(i);

			off[0] += fabs(r[i].flop_s / t.flop_s - 1);
			off[1] += fabs(r[i].byte_s / t.byte_s - 1);
			off[2] += fabs(r[i].eps_flop / t.eps_flop - 1);
			off[3] += fabs(r[i].eps_mem / t.eps_mem - 1);
			off[4] += fabs(r[i].pi0 / t.pi0 - 1);
		}
	}
	fprintf(stderr, "# off by %.2f, %.2f, %.2f, %.2f, %.2f %%\n", 100 * off[0] / n, 100 * off[1] / n,
		100 * off[2] / n, 100 * off[3] / n, 100 * off[4] / n);
	EXPECT_LT(off[0] / n, 0.01);
	EXPECT_LT(off[1] / n, 0.01);
	for (int i = 2; i < 5; i++)
		EXPECT_LT(off[i] / n, 0.05);
}

TEST(time_and_energy_balance)
{
	/* Without constant power, the energy balance is B_eps = eps_mem / eps_flop, 5 FLOP per byte
	 * here. */
	struct jetwatt_roofs r = { .flop_s = 1e12, .byte_s = 1e11, .eps_flop = 1e-11, .eps_mem = 5e-11 };

	EXPECT_EQ(10, jetwatt_roofs_time_balance(&r));
	EXPECT_LT(fabs(jetwatt_roofs_energy_balance(&r) - 5), 1e-9);
	/* If all power is constant, the energy balance equals half of the time balance. */
	r.eps_flop = r.eps_mem = 0;
	r.pi0 = 10;
	EXPECT_LT(fabs(jetwatt_roofs_energy_balance(&r) - 5), 1e-9);
}

TEST(invalid_kernels_are_refused)
{
	struct jetwatt_roofs_kernel k[KERNELS];
	struct jetwatt_mode mode = { 4, 1100000, 900000000, 2133000000 };
	struct truth t = truth(30);
	struct jetwatt_roofs r;
	uint64_t s = 3;

	kernels(&t, k, 0, &s);
	EXPECT_EQ(-ENODATA, jetwatt_roofs_fit(&mode, 1, k, 3, &r));
	/* All four kernels are memory-bound, so the compute roof is unknown. */
	EXPECT_EQ(-ENODATA, jetwatt_roofs_fit(&mode, 1, k, 4, &r));
	EXPECT_EQ(0, jetwatt_roofs_fit(&mode, 1, k, KERNELS, &r));
	k[2].power_w = NAN;
	EXPECT_EQ(-EINVAL, jetwatt_roofs_fit(&mode, 1, k, KERNELS, &r));
	k[2].power_w = 0;
	EXPECT_EQ(-EINVAL, jetwatt_roofs_fit(&mode, 1, k, KERNELS, &r));
}

/* For a workload with one bottleneck, choose a mode with roofs fitted to noisy kernels. Compared
 * with the mode of the highest clocks, the chosen mode truly takes at most 3 % more time and at
 * least 10 % less energy. */
static void tuned(struct __test_metadata *_metadata, double flop, double bytes)
{
	struct jetwatt_work work[2] = { { .flop = 0.7 * flop, .bytes = 0.4 * bytes },
					{ .flop = 0.3 * flop, .bytes = 0.5 * bytes,
					  .param_bytes = 0.1 * bytes } };
	struct jetwatt_roofs_cost c[MODES];
	struct jetwatt_roofs_choice a;
	struct jetwatt_roofs r[MODES];
	uint64_t s = 11;
	double time[2] = { 0 }, energy[2] = { 0 };

	ASSERT_EQ(0, fit(r, NOISE, &s));
	for (int i = 0; i < MODES; i++)
		jetwatt_roofs_cost(&r[i], work, 2, &c[i]);
	jetwatt_roofs_tune(c, MODES, 0.03, &a);
	for (int which = 0; which < 2; which++) {
		/* Compare the chosen mode with the mode that has all clocks at their highest
		 * level. */
		size_t at = which ? a.tuned : MODES - 1;
		struct truth t = truth(at);

		for (int l = 0; l < 2; l++) {
			double b = work[l].bytes + work[l].param_bytes;

			time[which] += time_s(&t, work[l].flop, b);
			energy[which] += energy_j(&t, work[l].flop, b);
		}
	}
	fprintf(stderr, "# %+.1f %% time, %+.1f %% energy\n", 100 * (time[1] / time[0] - 1),
	       100 * (energy[1] / energy[0] - 1));
	EXPECT_LE(time[1], 1.03 * time[0]);
	EXPECT_LE(energy[1], 0.9 * energy[0]);
}

TEST(memory_bound_workload_is_tuned)
{
	tuned(_metadata, 1e9, 1e9);
}

TEST(compute_bound_workload_is_tuned)
{
	tuned(_metadata, 2e11, 1e8);
}

/* Racing to halt pays if a mode with the least time has the least energy, even if another mode is as
 * fast and draws more. */
TEST(racing_to_halt)
{
	static const struct jetwatt_roofs_cost equal[] = { { 1, 5, 0 }, { 1, 8, 0 }, { 2, 6, 0 } };
	static const struct jetwatt_roofs_cost slower[] = { { 1, 8, 0 }, { 2, 6, 0 } };
	struct jetwatt_roofs_choice a;

	jetwatt_roofs_tune(equal, 3, 0.03, &a);
	EXPECT_EQ(1, a.fastest);
	EXPECT_EQ(0, a.frugal);
	EXPECT_EQ(0, a.tuned);
	EXPECT_TRUE(a.race);
	jetwatt_roofs_tune(slower, 2, 0.03, &a);
	EXPECT_FALSE(a.race);
}

TEST_HARNESS_MAIN
