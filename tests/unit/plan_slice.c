// SPDX-License-Identifier: GPL-2.0-only
/* The search for a time-slicing plan, compared with exhaustive search. Also tested: the plan's
 * upper bound on the latency of two servers, compared with a simulated queue. */
#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"
#include "model/random.h"
#include "plan/slice.h"

#define N	300
#define SIZES	4

static const uint32_t size[SIZES] = { 1, 4, 16, 32 };

struct pair_of {
	double time[2][SIZES * N], power[2][SIZES * N];
	struct jetwatt_slice_work work[2];
	struct jetwatt_slice_query q;
	size_t n;
};

static void draw(struct pair_of *d, enum jetwatt_slice_kind kind, uint64_t seed)
{
	uint64_t s = seed * 77 + 1;

	/* The number of modes fills less than one chunk of the search, exactly one, or more than
	 * one. */
	d->n = seed % 3 == 0 ? 7 : seed % 3 == 1 ? 256 : N;
	for (int w = 0; w < 2; w++) {
		int trains = !w && jetwatt_slice_trains(kind);

		d->work[w] = (struct jetwatt_slice_work){ size, trains ? 1 : SIZES, d->time[w],
							  d->power[w] };
		for (size_t i = 0; i < SIZES * N; i++) {
			d->time[w][i] = exp(1 + 4 * jetwatt_random_unit(&s));
			d->power[w][i] = 8 + 40 * jetwatt_random_unit(&s);
			/* A fifth of the modes have unknown values (NAN), and some modes have equal
			 * times. */
			if (jetwatt_random_unit(&s) < 0.2)
				d->time[w][i] = d->power[w][i] = NAN;
			else if (jetwatt_random_unit(&s) < 0.3)
				d->time[w][i] = 20;
		}
	}
	d->q = (struct jetwatt_slice_query){ 8 + 50 * jetwatt_random_unit(&s),
					     50 + 1500 * pow(jetwatt_random_unit(&s), 3),
					     20 + 100 * jetwatt_random_unit(&s) };
}

struct reference {
	int found;
	double good, late;
};

/* Reference implementation: evaluate one combination of sizes and mode, in seconds, directly from
 * the definition of a plan. */
static void look(struct reference *t, enum jetwatt_slice_kind kind, const struct pair_of *d, size_t i,
		 size_t j, size_t m)
{
	double a = d->q.arrival_hz, limit = d->q.latency_ms / 1e3, late = 0, good, power;
	double t0 = d->time[0][i * d->n + m] / 1e3, p0 = d->power[0][i * d->n + m];
	double t1 = d->time[1][j * d->n + m] / 1e3, p1 = d->power[1][j * d->n + m];

	power = jetwatt_slice_works(kind) > 1 ? fmax(p0, p1) : p0;
	if (isnan(p0) || (jetwatt_slice_works(kind) > 1 && isnan(p1)) || power > d->q.power_w)
		return;
	if (kind == JETWATT_SLICE_TRAIN) {
		good = -t0;
	} else if (kind == JETWATT_SLICE_INFER) {
		late = size[i] / a + t0;
		if (late > limit || a * t0 > size[i])
			return;
		good = -late;
	} else if (kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		late = size[j] / a + t1;
		if (late > limit || a * t1 > size[j])
			return;
		good = floor((size[j] / a - t1) / t0) * a / size[j];
	} else {
		late = fmax(size[i], size[j]) / a + t0 + t1;
		if (late > limit || a * (t0 + t1) > size[i] || a * (t0 + t1) > size[j])
			return;
		good = -late;
	}
	if (t->found && (good < t->good - 1e-12 ||
			 (fabs(good - t->good) <= 1e-12 && late >= t->late)))
		return;
	*t = (struct reference){ 1, good, late };
}

TEST(result_equals_exhaustive_search)
{
	static struct pair_of d;
	size_t found = 0, runs = 0, some = 0;

	for (int kind = JETWATT_SLICE_TRAIN; kind <= JETWATT_SLICE_TWO_INFER; kind++)
		for (uint64_t seed = 1; seed <= 150; seed++) {
			struct jetwatt_slice_plan plan;
			struct reference t = { 0 };
			int is;

			draw(&d, kind, seed);
			for (size_t m = 0; m < d.n; m++)
				for (size_t i = 0; i < d.work[0].sizes; i++)
					for (size_t j = 0; j < (kind >= JETWATT_SLICE_TRAIN_AND_INFER ? SIZES : 1);
					     j++)
						look(&t, kind, &d, i, j, m);
			is = jetwatt_slice_find(kind, d.work, d.n, &d.q, &plan);
			runs++;
			ASSERT_EQ(t.found, is) TH_LOG("kind %d seed %d", kind, (int)seed);
			if (!is)
				continue;
			found++;
			EXPECT_LE(plan.power_w, d.q.power_w);
			if (kind == JETWATT_SLICE_TRAIN) {
				EXPECT_EQ(1, fabs(plan.time_ms / 1e3 + t.good) < 1e-9);
				continue;
			}
			EXPECT_EQ(1, fabs(plan.latency_ms / 1e3 - t.late) < 1e-9);
			if (kind == JETWATT_SLICE_TRAIN_AND_INFER) {
				EXPECT_EQ(1, fabs(plan.throughput_hz - t.good) < 1e-9);
				EXPECT_EQ(1, fabs(plan.tau * d.q.arrival_hz / size[plan.size[1]] -
						  t.good) < 1e-9);
				some += plan.tau > 0;
			}
		}
	TH_LOG("%zu of %zu cases have a plan, %zu of them with training", found, runs, some);
	EXPECT_LT(runs / 3, found);
	EXPECT_LT(found, runs);
	EXPECT_LT(20, some);
}

TEST(lower_latency_breaks_a_tie)
{
	/* Minibatch sizes 1 and 2 both allow 10 requests per second; size 1 has the lower
	 * latency. */
	static const uint32_t two[] = { 1, 2 };
	double train[2] = { 50, 50 }, power[2] = { 20, 19 }, time[4] = { 50, 50, 100, 90 };
	double drawn[4] = { 15, 15, 15, 15 };
	struct jetwatt_slice_work work[2] = { { two, 1, train, power }, { two, 2, time, drawn } };
	struct jetwatt_slice_query q = { 30, 1000, 10 };
	struct jetwatt_slice_plan plan;

	ASSERT_EQ(1, jetwatt_slice_find(JETWATT_SLICE_TRAIN_AND_INFER, work, 2, &q, &plan));
	EXPECT_EQ(0, plan.size[1]);
	EXPECT_EQ(1, plan.tau);
	EXPECT_EQ(1, plan.mode);	/* less power */
	EXPECT_EQ(150, plan.latency_ms);
	/* A training minibatch of 10 s leaves no time for training, so the plan is inference
	 * alone. */
	train[0] = train[1] = 1e4;
	ASSERT_EQ(1, jetwatt_slice_find(JETWATT_SLICE_TRAIN_AND_INFER, work, 2, &q, &plan));
	EXPECT_EQ(0, plan.tau);
	EXPECT_EQ(0, plan.throughput_hz);
	q.power_w = 18.5;
	EXPECT_EQ(0, jetwatt_slice_find(JETWATT_SLICE_TRAIN_AND_INFER, work, 2, &q, &plan));
}

/* Simulate two servers that share the board; batches are served in order of arrival. Return: the
 * longest latency, in ms. */
static double play(const double time[2], const uint32_t b[2], double a, const double phase[2])
{
	double free_at = 0, worst = 0, next[2];
	long k[2] = { 0, 0 };

	for (int s = 0; s < 2; s++)
		next[s] = phase[s] + b[s] * 1e3 / a;
	while (k[0] < 2000) {
		int s = next[0] <= next[1] ? 0 : 1;
		double begin = fmax(free_at, next[s]);

		free_at = begin + time[s];
		/* Latency counts from the arrival of a batch's first request, which has waited for
		 * the others. */
		worst = fmax(worst, free_at - (next[s] - b[s] * 1e3 / a));
		k[s]++;
		next[s] = phase[s] + (k[s] + 1) * b[s] * 1e3 / a;
	}
	return worst;
}

TEST(latency_of_two_servers_stays_within_the_bound)
{
	uint64_t s = 5;
	double tight = 0;

	for (int run = 0; run < 400; run++) {
		double time[2] = { 1 + 40 * jetwatt_random_unit(&s), 1 + 40 * jetwatt_random_unit(&s) };
		double power[2] = { 10, 10 }, a = 20 + 100 * jetwatt_random_unit(&s), worst;
		uint32_t one[2] = { size[(int)(SIZES * jetwatt_random_unit(&s))],
				    size[(int)(SIZES * jetwatt_random_unit(&s))] };
		struct jetwatt_slice_work work[2] = { { one, 1, time, power },
						      { one + 1, 1, time + 1, power } };
		struct jetwatt_slice_query q = { 20, 1e6, a };
		double phase[2] = { 0, 1e3 * jetwatt_random_unit(&s) };
		struct jetwatt_slice_plan plan;

		if (!jetwatt_slice_find(JETWATT_SLICE_TWO_INFER, work, 1, &q, &plan))
			continue;
		worst = play(time, one, a, phase);
		EXPECT_LE(worst, plan.latency_ms + 1e-6);
		tight = fmax(tight, worst / plan.latency_ms);
	}
	EXPECT_LT(0.9, tight);
}

TEST(batch_sizes_are_sorted_without_duplicates)
{
	static const uint32_t in[] = { 16, 1, 64, 16, 4, 64, 1 }, want[] = { 1, 4, 16, 64 };
	uint32_t sizes[JETWATT_SLICE_SIZES];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		ASSERT_EQ(0, jetwatt_slice_size(sizes, &n, in[i]));
	ASSERT_EQ(4, n);
	for (size_t i = 0; i < n; i++)
		EXPECT_EQ(want[i], sizes[i]);
	while (n < JETWATT_SLICE_SIZES)
		ASSERT_EQ(0, jetwatt_slice_size(sizes, &n, 100 + n));
	EXPECT_EQ(0, jetwatt_slice_size(sizes, &n, 64));
	EXPECT_EQ(-ENOSPC, jetwatt_slice_size(sizes, &n, 2));
	EXPECT_EQ(JETWATT_SLICE_SIZES, n);
}

TEST_HARNESS_MAIN
