// SPDX-License-Identifier: GPL-2.0-only
/* Search strategies on simulated boards, for four kinds of workload: training, inference, training
 * with inference, and two inferences. The strategy als, whose networks train for long, is tested by
 * host/eval. */
#include <math.h>

#include "kselftest_harness.h"
#include "plan/strategy.h"
#include "synth.h"

#define SIZES	4
#define THIN	37

static const uint32_t one[1] = { 16 }, size[SIZES] = { 1, 4, 16, 64 };

/* struct board - two workloads on every THIN-th mode of a simulated board */
struct board {
	struct jetwatt_mode *mode;
	double *time[2], *power[2];
	size_t n;
};

/* Return the workload at a minibatch size of @items: work is proportional to the size, the number
 * of launches is constant. */
static struct synth sized(const struct synth *w, int items)
{
	struct synth v = *w;
	double part = items / 16.0;

	for (int k = 0; k < SYNTH_KERNELS; k++) {
		v.flop[k] *= part;
		v.bytes[k] *= part;
	}
	v.items = items;
	return v;
}

static void board_free(struct board *b)
{
	free(b->mode);
	for (int w = 0; w < 2; w++) {
		free(b->time[w]);
		free(b->power[w]);
	}
}

static int board_make(struct board *b, enum jetwatt_slice_kind kind, uint64_t seed)
{
	*b = (struct board){ 0 };
	for (int w = 0; w < 2; w++) {
		int trains = !w && jetwatt_slice_trains(kind);
		struct synth synth, same;

		synth_make(&synth, seed, SYNTH_ORIN);
		if (w) {
			/* The second workload runs on the same board, but has other FLOP, bytes and
			 * launches. */
			synth_make(&same, seed + 500, SYNTH_ORIN);
			memcpy(synth.flop, same.flop, sizeof(same.flop));
			memcpy(synth.bytes, same.bytes, sizeof(same.bytes));
			memcpy(synth.launch, same.launch, sizeof(same.launch));
		}
		/* Inference has a third of the work of training, and a data loader with a
		 * twentieth of the CPU cycles. */
		if (!trains) {
			for (int k = 0; k < SYNTH_KERNELS; k++) {
				synth.flop[k] /= 3;
				synth.bytes[k] /= 3;
				synth.launch[k] /= 3;
			}
			synth.item_cycles /= 20;
		}
		b->time[w] = calloc(SIZES * 1000, sizeof(double));
		b->power[w] = calloc(SIZES * 1000, sizeof(double));
		if (!b->time[w] || !b->power[w])
			return -ENOMEM;
		for (int z = 0; z < (trains ? 1 : SIZES); z++) {
			struct synth v = sized(&synth, trains ? 16 : size[z]);
			struct jetwatt_row *row;
			long n = synth_rows(&v, &row, 0, seed);

			if (n < 0)
				return n;
			b->n = n / THIN;
			if (!b->mode)
				b->mode = calloc(b->n, sizeof(*b->mode));
			for (size_t i = 0; i < b->n && b->mode; i++) {
				b->mode[i] = row[i * THIN].mode;
				b->time[w][z * b->n + i] = row[i * THIN].time_ms;
				b->power[w][z * b->n + i] = row[i * THIN].power_w;
			}
			free(row);
			if (!b->mode)
				return -ENOMEM;
		}
	}
	return 0;
}

struct tally {
	size_t runs, solved, over, most, twice, training;
	double excess, ratio, modes;
};

static int begin(struct jetwatt_observed *k, enum jetwatt_slice_kind kind, const struct board *b)
{
	const uint32_t *sizes[] = { jetwatt_slice_trains(kind) ? one : size, size };
	const size_t nr[] = { jetwatt_slice_trains(kind) ? 1 : SIZES, SIZES };

	return jetwatt_observed_init(k, kind, b->mode, b->n, sizes, nr);
}

static int add(struct tally *t, const struct jetwatt_strategy *s, void *state,
	       struct jetwatt_observed *k, const struct board *b,
	       const struct jetwatt_slice_query *q, size_t most)
{
	struct jetwatt_slice_work all[2];
	struct jetwatt_slice_plan best, got;
	int err = 0;

	for (size_t w = 0; w < k->works; w++)
		all[w] = (struct jetwatt_slice_work){ k->work[w].size, k->work[w].sizes,
						      b->time[w], b->power[w] };
	if (!jetwatt_slice_find(k->kind, all, b->n, q, &best))
		return 0;
	while (!err) {
		struct jetwatt_cell c;

		err = s->next(state, k, q, most, &c);
		if (err)
			break;
		t->twice += jetwatt_observed_has(k, &c);
		err = jetwatt_observed_add(k, &c, b->time[c.work][jetwatt_observed_at(k, &c)],
					b->power[c.work][jetwatt_observed_at(k, &c)]);
	}
	if (err < 0)
		return err;
	t->runs++;
	t->modes += k->modes;
	t->most = k->modes > t->most ? k->modes : t->most;
	if (!jetwatt_observed_best(k, q, &got))
		return 0;
	t->solved++;
	t->over += got.power_w > q->power_w;
	if (k->kind == JETWATT_SLICE_TRAIN)
		t->excess += got.time_ms / best.time_ms - 1;
	else
		t->excess += got.latency_ms / best.latency_ms - 1;
	if (best.throughput_hz > 0) {
		t->training++;
		t->ratio += got.throughput_hz / best.throughput_hz;
	}
	return 0;
}

/* Draw a query: a power budget within the board's range, a latency limit of 100 to 2000 ms, and a
 * rate of 10 to 80 requests per second. */
static struct jetwatt_slice_query question(const struct board *b, uint64_t *s)
{
	double lo = INFINITY, hi = 0;

	for (size_t i = 0; i < b->n; i++) {
		lo = fmin(lo, b->power[0][i]);
		hi = fmax(hi, b->power[0][i]);
	}
	return (struct jetwatt_slice_query){ lo * pow(hi / lo, 0.2 + 0.7 * search_uniform(s)),
					     synth_between(s, 100, 2000), synth_between(s, 10, 80) };
}

static int run(struct tally *t, const struct jetwatt_strategy *s, enum jetwatt_slice_kind kind,
	       size_t most, int reuse, uint64_t first, int boards, int queries)
{
	int err = 0;

	*t = (struct tally){ 0 };
	for (uint64_t seed = first; seed < first + boards && !err; seed++) {
		uint64_t rng = seed * 31;
		struct jetwatt_observed k = { 0 };
		struct board b;
		void *state = NULL;

		err = board_make(&b, kind, seed);
		if (!err)
			err = begin(&k, kind, &b);
		for (int i = 0; i < queries && !err; i++) {
			struct jetwatt_slice_query q = question(&b, &rng);

			if (!i || !(reuse || s->shared)) {
				if (s->free)
					s->free(state);
				state = NULL;
				if (s->new)
					err = s->new(&state, &k, seed);
			}
			jetwatt_observed_query(&k, !(reuse || s->shared));
			if (!err)
				err = add(t, s, state, &k, &b, &q, most);
		}
		if (s->free)
			s->free(state);
		jetwatt_observed_free(&k);
		board_free(&b);
	}
	return err;
}

static const char *const name[] = { "training", "inference", "training beside inference",
				    "two inferences" };

static void model_guided(struct __test_metadata *_metadata, enum jetwatt_slice_kind kind)
{
	struct tally t;

	ASSERT_EQ(0, run(&t, &jetwatt_strategy_auto, kind, 15, 0, 1, 3, 3));
	TH_LOG("%s: %zu queries, %zu solved, %.1f modes; excess %.2f %%, throughput %.3f",
	       name[kind], t.runs, t.solved, t.modes / t.runs, 100 * t.excess / t.solved,
	       t.training ? t.ratio / t.training : NAN);
	EXPECT_LT(5, t.runs);
	EXPECT_EQ(t.runs, t.solved);
	EXPECT_EQ(0, t.over);
	EXPECT_EQ(0, t.twice);
	EXPECT_GE(15, t.most);
	if (kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		EXPECT_LT(0.93, t.ratio / t.training);
	} else {
		EXPECT_GT(0.03, t.excess / t.solved);
	}
}

TEST(training_is_solved_with_few_modes)
{
	model_guided(_metadata, JETWATT_SLICE_TRAIN);
}

TEST(inference_is_solved_with_few_modes)
{
	model_guided(_metadata, JETWATT_SLICE_INFER);
}

TEST(training_and_inference_are_solved_with_few_modes)
{
	model_guided(_metadata, JETWATT_SLICE_TRAIN_AND_INFER);
}

TEST(two_inferences_are_solved_with_few_modes)
{
	model_guided(_metadata, JETWATT_SLICE_TWO_INFER);
}

TEST(earlier_measurements_serve_later_queries)
{
	struct tally t, cold;

	ASSERT_EQ(0, run(&t, &jetwatt_strategy_auto, JETWATT_SLICE_TRAIN_AND_INFER, 15, 1, 21, 1, 12));
	ASSERT_EQ(0, run(&cold, &jetwatt_strategy_auto, JETWATT_SLICE_TRAIN_AND_INFER, 15, 0, 21, 1, 3));
	TH_LOG("%.1f modes a query (cold %.1f), throughput %.3f", t.modes / t.runs,
	       cold.modes / cold.runs, t.ratio / t.training);
	EXPECT_EQ(t.runs, t.solved);
	EXPECT_EQ(0, t.over);
	EXPECT_GT(0.6 * cold.modes / cold.runs, t.modes / t.runs);
	EXPECT_LT(0.95, t.ratio / t.training);
}

TEST(gradient_descent_solves_most_queries)
{
	for (int kind = JETWATT_SLICE_TRAIN; kind <= JETWATT_SLICE_TWO_INFER; kind++) {
		struct tally t;

		ASSERT_EQ(0, run(&t, &jetwatt_strategy_gmd, kind, 15, 0, 1, 6, 6));
		TH_LOG("%s: %zu queries, %zu solved, %.1f modes; excess %.1f %%", name[kind], t.runs,
		       t.solved, t.modes / t.runs, 100 * t.excess / t.solved);
		EXPECT_LT(t.runs * 3 / 4, t.solved);
		EXPECT_EQ(0, t.over);
		EXPECT_EQ(0, t.twice);
		EXPECT_GE(15, t.most);
	}
}

TEST_HARNESS_MAIN
