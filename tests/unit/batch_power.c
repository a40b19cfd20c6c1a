// SPDX-License-Identifier: GPL-2.0-only
/* Energy between two minibatch boundaries, and the time at which the power has settled after a
 * switch of the mode. SEED= draws other signals. */
#include "energy/energy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define MS	1000000ull
#define S	1000000000ull

static struct jetwatt_power at(uint64_t t, int64_t a, int64_t b)
{
	struct jetwatt_power p = { .time_ns = t, .nr = 3, .valid = 7 };

	p.uw[0] = a;
	p.uw[1] = 999999999;	/* fed by another rail, so it must not be added */
	p.uw[2] = b;
	return p;
}

static double near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) + 1e-6;
}

TEST(energy_integrates_power_between_bounds)
{
	const int rail[] = { 0, 2 };
	struct jetwatt_power p[8];
	uint64_t covered;
	double uj;

	/* The first rail draws 3 W until 110 ms, then rises to 5 W within 10 ms; the second rail
	 * draws 1 W. */
	p[0] = at(100 * MS, 3000000, 1000000);
	p[1] = at(110 * MS, 3000000, 1000000);
	p[2] = at(120 * MS, 5000000, 1000000);
	p[3] = at(130 * MS, 5000000, 1000000);
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 100 * MS, 110 * MS, &uj, &covered), 0);
	EXPECT_TRUE(near(uj, 40000));
	EXPECT_EQ(covered, 10 * MS);
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 110 * MS, 120 * MS, &uj, NULL), 0);
	EXPECT_TRUE(near(uj, 50000));
	/* Both bounds are between samples: power is interpolated to 4.5 W at 112.5 ms and 5.5 W
	 * at 117.5 ms. */
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 112500000, 117500000, &uj, &covered), 0);
	EXPECT_TRUE(near(uj, 25000));
	EXPECT_EQ(covered, 5 * MS);
	/* The energy of an interval is the sum of the energies of its parts. */
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 103 * MS, 127 * MS, &uj, NULL), 0);
	EXPECT_TRUE(near(uj, 28000 + 50000 + 42000));
	/* The second rail alone has 30 mJ; an empty set of rails has no energy. */
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail + 1, 1, 100 * MS, 130 * MS, &uj, NULL), 0);
	EXPECT_TRUE(near(uj, 30000));
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 0, 100 * MS, 130 * MS, &uj, NULL), 0);
	EXPECT_TRUE(near(uj, 0));
	/* An interval is refused if it starts before the first sample or ends after the last one,
	 * if there are no samples at all, or if it ends before it starts. */
	EXPECT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 99 * MS, 120 * MS, &uj, NULL), -ENODATA);
	EXPECT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 120 * MS, 131 * MS, &uj, NULL), -ENODATA);
	EXPECT_EQ(jetwatt_batch_energy(p, 0, rail, 2, 1, 2, &uj, NULL), -ENODATA);
	EXPECT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 120 * MS, 110 * MS, &uj, NULL), -ENODATA);
	/* An interval of length 0 has no energy. */
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 115 * MS, 115 * MS, &uj, &covered), 0);
	EXPECT_TRUE(near(uj, 0));
	EXPECT_EQ(covered, 0);
	/* Over a gap between samples, the power is interpolated, but @covered does not include the
	 * gap. */
	p[2].gap = 1;
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 105 * MS, 125 * MS, &uj, &covered), 0);
	EXPECT_TRUE(near(uj, 20000 + 50000 + 30000));
	EXPECT_EQ(covered, 10 * MS);
	/* Two samples with the same time must not cause a division by 0. */
	p[2] = p[1];
	ASSERT_EQ(jetwatt_batch_energy(p, 4, rail, 2, 105 * MS, 125 * MS, &uj, NULL), 0);
	EXPECT_TRUE(isfinite(uj));
}

static uint64_t next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double uniform(uint64_t *s)
{
	return (double)(next(s) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *s)
{
	return sqrt(-2 * log(1 - uniform(s))) * cos(6.283185307179586 * uniform(s));
}

static uint64_t seed(void)
{
	const char *s = getenv("SEED");

	return s ? strtoull(s, NULL, 0) : 20260101;
}

/*
 * struct signal - power after a switch at time 0
 * @from, @to, @tau_s: mean power before and after the switch, in W; time constant of the change, in
 * s
 * @swing: amplitude of the power within a minibatch, in W
 * @batch_s, @jitter: length of minibatches, in s, and its relative standard deviation
 * @noise, @lsb: standard deviation of the noise and resolution of a sample, in W
 * @rate: samples per second
 */
struct signal {
	const char *name;
	double from, to, tau_s, swing, batch_s, jitter, noise, lsb, rate;
};

static size_t make(const struct signal *g, double seconds, uint64_t s, uint64_t *t, double *w)
{
	double batch_from = -uniform(&s) * g->batch_s, batch_len = g->batch_s;
	size_t n = (size_t)(seconds * g->rate);

	for (size_t i = 0; i < n; i++) {
		double now = (double)i / g->rate, mean, phase;

		while (now >= batch_from + batch_len) {
			batch_from += batch_len;
			batch_len = g->batch_s * fmax(0.3, 1 + g->jitter * normal(&s));
		}
		phase = (now - batch_from) / batch_len;
		mean = g->to + (g->from - g->to) * (g->tau_s > 0 ? exp(-now / g->tau_s) : 0);
		/* The GPU computes for 70 % of a minibatch. */
		w[i] = mean + g->swing * (phase < 0.3 ? -1.4 : 0.6) + g->noise * normal(&s);
		w[i] = g->lsb > 0 ? g->lsb * round(w[i] / g->lsb) : w[i];
		t[i] = 5 * S + (uint64_t)(now * 1e9);
	}
	return n;
}

/* For each signal, check the time at which settling is reported, and the bias: the error that the
 * rest of the decay causes in the mean from the settled time on. */
TEST(settling_time_and_its_error)
{
	static const struct signal g[] = {
		{ "flat", 20, 20, 0, 0, 0.1, 0, 0.3, 0.38, 345 },
		{ "flat, swing", 20, 20, 0, 5, 0.08, 0.03, 0.3, 0.38, 345 },
		{ "step 0.3 s", 45, 20, 0.3, 5, 0.08, 0.03, 0.3, 0.38, 345 },
		{ "step 1 s", 45, 20, 1, 5, 0.08, 0.03, 0.3, 0.38, 345 },
		{ "step 2 s", 45, 20, 2, 5, 0.08, 0.03, 0.3, 0.38, 345 },
		{ "step up 1 s", 15, 50, 1, 6, 0.3, 0.03, 0.3, 0.38, 345 },
		{ "step up 0.5 s, 150 Hz", 15, 50, 0.5, 6, 0.3, 0.03, 0.3, 0.38, 150 },
		{ "small step 1 s", 22, 20, 1, 5, 0.2, 0.03, 0.3, 0.38, 500 },
		{ "1 s minibatches", 40, 20, 0.5, 6, 1, 0.02, 0.3, 0.38, 345 },
		{ "3 s minibatches", 40, 20, 0.5, 6, 3, 0.02, 0.3, 0.38, 345 },
		{ "3 s minibatches 2 s", 30, 15, 2, 4, 3, 0.02, 0.3, 0.38, 150 },
		{ "coarse", 12, 9, 0.7, 0.3, 0.05, 0.02, 0.1, 0.76, 345 },
		{ "jitter 20 %", 40, 20, 0.7, 5, 0.15, 0.2, 0.3, 0.38, 345 },
	};
	enum { ROUNDS = 10, MOST = 60 * 500 };
	uint64_t *t = calloc(MOST, sizeof(*t));
	double *w = calloc(MOST, sizeof(*w));

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %llu\n", (unsigned long long)seed());
	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		/* If a minibatch lasts a second or more, its length must be known: without it, a
		 * level within the minibatch looks like the settled power. */
		for (int known = g[i].batch_s >= 1; known < 2; known++) {
			double worst = 0, answer = 0, from = 0;
			int never = 0;

			for (int r = 0; r < ROUNDS; r++) {
				size_t n = make(&g[i], 55, seed() + (uint64_t)r * 97 + i, t, w), m;
				uint64_t batch = known ? (uint64_t)(g[i].batch_s * 1e9) : 0;
				double span, start, left;
				long k = -1;

				/* Check for settling again and again while samples arrive, as a
				 * caller does. */
				for (m = 64; m < n && k < 0; m += (size_t)(g[i].rate / 4))
					k = known ? jetwatt_batch_settled_over(t, w, m, batch)
						  : jetwatt_batch_settled(t, w, m);
				if (k < 0) {
					never++;
					continue;
				}
				start = (double)k / g[i].rate;
				span = (double)m / g[i].rate - start;
				left = g[i].tau_s > 0 ? (g[i].from - g[i].to) * g[i].tau_s / span *
				       (exp(-start / g[i].tau_s) - exp(-(start + span) / g[i].tau_s)) : 0;
				worst = fmax(worst, fabs(left) / g[i].to);
				answer += (double)m / g[i].rate / ROUNDS;
				from += start / ROUNDS;
			}
			printf("# %-22s %-7s known after %5.2f s: settled at %5.2f s, worst bias %.2f %%, never %d\n",
			       g[i].name, known ? "known" : "", answer, from, 100 * worst, never);
			EXPECT_EQ(never, 0) TH_LOG("%s", g[i].name);
			EXPECT_LT(worst, 0.02) TH_LOG("%s", g[i].name);
			EXPECT_LT(answer, 3 + 5 * g[i].tau_s + 4 * g[i].batch_s) TH_LOG("%s", g[i].name);
		}
	}
	free(t);
	free(w);
}

/* The final level of power that is predicted from the decay is within its stated error. With a
 * known time constant, the prediction is available in less than half of the settling time. */
TEST(final_level_is_predicted_from_the_decay)
{
	enum { SWITCHES = 40, FIRST = 4, MOST = 10 * 500 };
	static const double taus[] = { 0.15, 0.3, 0.7, 1.2 };
	uint64_t *t = calloc(MOST, sizeof(*t));
	double *w = calloc(MOST, sizeof(*w));

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %llu\n", (unsigned long long)seed());
	for (size_t k = 0; k < sizeof(taus) / sizeof(taus[0]); k++) {
		struct jetwatt_batch_decay known = { { 0 } };
		double after[2] = { 0 }, sum = 0, off = 0, beyond = 0;
		uint64_t own = seed() + k;
		int never = 0;

		for (int i = 0; i < SWITCHES; i++) {
			double from = 10 + 40 * uniform(&own), to = 10 + 40 * uniform(&own);
			struct signal g = { "", from, to, taus[k], 5, 0.03 + 0.1 * uniform(&own), 0.03,
					    0.3, 0.38, 200 };
			size_t n = make(&g, 8, seed() + (uint64_t)i * 31 + k, t, w), m;
			struct jetwatt_batch_level l;
			int found = 0;

			for (m = 100; m < n && !found; m += 50)
				found = !jetwatt_batch_level(t, w, m, (uint64_t)(g.batch_s * 1e9), &known, &l) &&
					l.sd < 0.012 * l.w;
			if (!found) {
				never++;
				continue;
			}
			jetwatt_batch_decay_add(&known, &l.decay);
			after[i >= FIRST] += (double)m / g.rate;
			sum++;
			off += (l.w / to - 1) * (l.w / to - 1);
			beyond += fabs(l.w - to) > 3 * l.sd;
		}
		printf("# %.2f s: told after %.2f s, then %.2f s; off by %.2f %% rms, %.0f of %.0f by 3 sd, never %d\n",
		       taus[k], after[0] / FIRST, after[1] / (SWITCHES - FIRST), 100 * sqrt(off / sum), beyond,
		       sum, never);
		EXPECT_GE(1, never) TH_LOG("%g s", taus[k]);
		EXPECT_GT(0.015, sqrt(off / sum)) TH_LOG("%g s", taus[k]);
		EXPECT_GE(2, beyond) TH_LOG("%g s", taus[k]);
		EXPECT_GT(1.1 + 1.3 * taus[k], after[1] / (SWITCHES - FIRST)) TH_LOG("%g s", taus[k]);
	}
	free(t);
	free(w);
}

/* A signal that keeps falling must not be reported as settled, and a few samples are not enough to
 * report settling. */
TEST(drifting_power_is_not_settled)
{
	struct signal g = { "ramp", 60, 10, 30, 5, 0.08, 0.03, 0.3, 0.38, 345 };
	size_t n = 345 * 10;
	uint64_t *t = calloc(n, sizeof(*t));
	double *w = calloc(n, sizeof(*w));

	make(&g, 10, seed(), t, w);
	EXPECT_EQ(jetwatt_batch_settled(t, w, n), -ENODATA);
	EXPECT_EQ(jetwatt_batch_settled_over(t, w, n, 80 * MS), -ENODATA);
	for (size_t i = 0; i < 40; i++)
		EXPECT_EQ(jetwatt_batch_settled(t, w, i), -ENODATA);
	EXPECT_EQ(jetwatt_batch_settled_over(t, w, n, 30 * S), -ENODATA);
	for (size_t i = 0; i < n; i++)
		t[i] = 5 * S;
	EXPECT_EQ(jetwatt_batch_settled(t, w, n), -ENODATA);
	for (size_t i = 0; i < n; i++) {
		t[i] = i * 3 * MS;
		w[i] = 0;
	}
	EXPECT_GE(jetwatt_batch_settled(t, w, n), 0);
	free(t);
	free(w);
}

TEST_HARNESS_MAIN
