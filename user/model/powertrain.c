// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training and transfer of the PowerTrain networks: tables of rows, and the parameters of training.
 */
#include "model/powertrain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE	JETWATT_NET_INPUTS_MAX
#define MODE_INPUTS	4
/* Largest number of rows used for training: about twice the modes of the largest board. More rows
 * only take longer. */
#define ROWS_MAX	60000

/* Table of rows as inputs and targets of the networks, in sorted order. */
struct powertrain_table {
	double *x, *time, *power;
	size_t n, inputs;
	unsigned int epochs;
};

struct powertrain_entry {
	double x[STRIDE], time, power;
};

static int powertrain_by_entry(const void *a, const void *b)
{
	const double *x = a, *y = b;

	for (size_t d = 0; d < sizeof(struct powertrain_entry) / sizeof(double); d++)
		if (x[d] != y[d])
			return x[d] < y[d] ? -1 : 1;
	return 0;
}

static int powertrain_row_valid(const struct jetwatt_row *r)
{
	return isfinite(r->time_ms) && r->time_ms > 0 && isfinite(r->power_w) && r->power_w > 0 &&
	       jetwatt_mode_whole(&r->mode);
}

static void powertrain_table_free(struct powertrain_table *t)
{
	free(t->x);
	*t = (struct powertrain_table){ 0 };
}

/* Sort the rows, because the networks must not depend on the order of the rows. Return: 0, -EINVAL,
 * -ENOMEM. */
static int powertrain_table_make(struct powertrain_table *t, const struct jetwatt_corpus *c)
{
	struct powertrain_entry *e;

	*t = (struct powertrain_table){ .n = c->n, .inputs = c->batch ? STRIDE : MODE_INPUTS };
	if (!c->n)
		return -EINVAL;
	for (size_t i = 0; i < c->n; i++)
		if (!powertrain_row_valid(&c->row[i]))
			return -EINVAL;
	e = malloc(c->n * sizeof(*e));
	t->x = malloc(c->n * (STRIDE + 2) * sizeof(double));
	if (!e || !t->x) {
		free(e);
		powertrain_table_free(t);
		return -ENOMEM;
	}
	t->time = t->x + c->n * STRIDE;
	t->power = t->time + c->n;
	for (size_t i = 0; i < c->n; i++) {
		jetwatt_net_point(e[i].x, &c->row[i].mode, c->batch ? c->batch[i] : 0);
		e[i].time = c->row[i].time_ms;
		e[i].power = c->row[i].power_w;
	}
	qsort(e, c->n, sizeof(*e), powertrain_by_entry);
	t->n = c->n < ROWS_MAX ? c->n : ROWS_MAX;
	for (size_t i = 0; i < t->n; i++) {
		const struct powertrain_entry *is = &e[i * c->n / t->n];

		memcpy(t->x + i * STRIDE, is->x, sizeof(is->x));
		t->time[i] = is->time;
		t->power[i] = is->power;
	}
	free(e);
	return 0;
}

static struct jetwatt_nn_training powertrain_training(uint64_t seed)
{
	return (struct jetwatt_nn_training){
		.epochs = 100, .batch = 32, .rate = 1e-3, .dropout = 0.1, .validation = 0.1,
		.loss = JETWATT_NN_MSE, .seed = seed,
	};
}

/* Raise the number of epochs to @steps steps of the optimiser, as if none of the @n rows were held
 * out: 100 epochs of ten rows are too few. */
static void powertrain_min_steps(struct jetwatt_nn_training *how, size_t n, size_t steps)
{
	size_t each = (n + how->batch - 1) / how->batch;

	if (how->epochs * each < steps)
		how->epochs = (steps + each - 1) / each;
}

static struct jetwatt_nn_training powertrain_plain_training(size_t n, uint64_t seed)
{
	struct jetwatt_nn_training how = powertrain_training(seed);

	how.batch = 4;
	how.dropout = 0.35;
	how.loss = JETWATT_NN_MAPE;
	powertrain_min_steps(&how, n, 6000);
	return how;
}

static struct jetwatt_nn_training powertrain_transfer_training(size_t n, uint64_t seed)
{
	struct jetwatt_nn_training how = powertrain_training(seed);

	how.batch = 16;
	powertrain_min_steps(&how, n, 600);
	return how;
}

static int powertrain_train(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
			    int reference, uint64_t seed)
{
	struct jetwatt_nn_training how;
	struct powertrain_table t;
	int err = powertrain_table_make(&t, c);

	*pt = (struct jetwatt_powertrain){ .inputs = t.inputs };
	if (err)
		return err;
	for (size_t i = 0; i < c->n; i++)
		jetwatt_mode_raise(&pt->highest, &c->row[i].mode);
	how = reference ? powertrain_training(seed) : powertrain_plain_training(t.n, seed);
	err = jetwatt_net_fit(&pt->time, t.x, t.time, t.n, t.inputs, 1, &how);
	if (!err)
		err = jetwatt_net_fit(&pt->power, t.x, t.power, t.n, t.inputs, 1, &how);
	powertrain_table_free(&t);
	if (err)
		jetwatt_powertrain_free(pt);
	return err;
}

int jetwatt_powertrain_reference(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
				 uint64_t seed)
{
	return powertrain_train(pt, c, 1, seed);
}

int jetwatt_powertrain_plain(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
			     uint64_t seed)
{
	return powertrain_train(pt, c, 0, seed);
}

int jetwatt_powertrain_transfer(struct jetwatt_powertrain *pt,
				const struct jetwatt_powertrain *from,
				const struct jetwatt_corpus *c, const struct jetwatt_mode *highest,
				uint64_t seed)
{
	struct jetwatt_nn_training how;
	struct powertrain_table t;
	int err = powertrain_table_make(&t, c);

	*pt = (struct jetwatt_powertrain){ .inputs = from->inputs, .highest = *highest };
	if (err)
		return err;
	how = powertrain_transfer_training(t.n, seed);
	if (memcmp(highest, &from->highest, sizeof(*highest)))
		how.loss = JETWATT_NN_MAPE;
	err = jetwatt_net_transfer(&pt->time, &from->time, t.x, t.time, t.n, &how);
	if (!err)
		err = jetwatt_net_transfer(&pt->power, &from->power, t.x, t.power, t.n, &how);
	powertrain_table_free(&t);
	if (err)
		jetwatt_powertrain_free(pt);
	return err;
}

int jetwatt_powertrain_predict(const struct jetwatt_powertrain *pt,
			       const struct jetwatt_mode *mode, const uint32_t *batch, size_t n,
			       struct jetwatt_prediction *out)
{
	double *x, *time, *power;
	int err;

	for (size_t i = 0; i < n; i++)
		if (!jetwatt_mode_whole(&mode[i]))
			return -EINVAL;
	x = calloc(n ? n : 1, (STRIDE + 2) * sizeof(*x));
	if (!x)
		return -ENOMEM;
	time = x + n * STRIDE;
	power = time + n;
	for (size_t i = 0; i < n; i++)
		jetwatt_net_point(x + i * STRIDE, &mode[i], batch ? batch[i] : 0);
	err = jetwatt_net_predict(&pt->time, x, n, time);
	if (!err)
		err = jetwatt_net_predict(&pt->power, x, n, power);
	for (size_t i = 0; i < n && !err; i++)
		out[i] = (struct jetwatt_prediction){ time[i], power[i], 0, 0 };
	free(x);
	return err;
}

void jetwatt_powertrain_free(struct jetwatt_powertrain *pt)
{
	jetwatt_net_free(&pt->time);
	jetwatt_net_free(&pt->power);
}
