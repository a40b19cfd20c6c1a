// SPDX-License-Identifier: GPL-2.0-only
/*
 * The predictors "powertrain" (transfer from one of several references) and "nn" (the same networks
 * trained on the rows alone).
 */
#include "model/powertrain.h"

#include <errno.h>
#include <stdlib.h>

#include "model/predictor.h"

/* The networks of @n references. */
struct powertrain_prior {
	size_t n;
	struct jetwatt_powertrain pt[];
};

static void powertrain_prior_free(void *prior)
{
	struct powertrain_prior *p = prior;

	for (size_t i = 0; p && i < p->n; i++)
		jetwatt_powertrain_free(&p->pt[i]);
	free(p);
}

static int powertrain_learn(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed)
{
	struct powertrain_prior *p = calloc(1, sizeof(*p) + n * sizeof(p->pt[0]));
	int err = p ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		err = jetwatt_powertrain_reference(&p->pt[i], &c[i], seed);
		p->n += !err;
	}
	if (err) {
		powertrain_prior_free(p);
		p = NULL;
	}
	*prior = p;
	return err;
}

static void powertrain_free(void *model)
{
	if (model)
		jetwatt_powertrain_free(model);
	free(model);
}

/* Set @sum to the summed relative errors of time and power on the rows of the transfer. */
static int powertrain_misfit(const struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
			     double *sum)
{
	struct jetwatt_prediction p;
	int err = 0;

	*sum = 0;
	for (size_t i = 0; i < c->n && !err; i++) {
		double t, w;

		err = jetwatt_powertrain_predict(pt, &c->row[i].mode, c->batch ? &c->batch[i] : NULL,
						 1, &p);
		t = p.time_ms / c->row[i].time_ms - 1;
		w = p.power_w / c->row[i].power_w - 1;
		*sum += (t < 0 ? -t : t) + (w < 0 ? -w : w);
	}
	return err;
}

/* Transfer from each reference; keep the networks with the smallest error on the rows (the paper
 * has only one reference). */
static int powertrain_fit(void **model, const struct jetwatt_predictor_input *in)
{
	const struct powertrain_prior *p = in->prior;
	struct jetwatt_powertrain *best = malloc(sizeof(*best)), try;
	double least = 0, sum = 0;
	int err = best ? 0 : -ENOMEM, found = 0;

	for (size_t i = 0; i < p->n && !err; i++)
		if ((p->pt[i].inputs == JETWATT_NET_INPUTS_MAX) != (in->sample.batch != NULL))
			err = -ENOTSUP;
	for (size_t i = 0; i < p->n && !err; i++) {
		err = jetwatt_powertrain_transfer(&try, &p->pt[i], &in->sample, &in->highest,
						  in->seed);
		if (err)
			break;
		err = p->n > 1 ? powertrain_misfit(&try, &in->sample, &sum) : 0;
		if (!err && (!found || sum < least)) {
			if (found)
				jetwatt_powertrain_free(best);
			*best = try;
			least = sum;
			found = 1;
		} else {
			jetwatt_powertrain_free(&try);
		}
	}
	if (err) {
		if (found)
			jetwatt_powertrain_free(best);
		free(best);
		best = NULL;
	}
	*model = best;
	return err;
}

static int powertrain_predict(const void *model, const struct jetwatt_mode *mode,
			      const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	return jetwatt_powertrain_predict(model, mode, batch, n, out);
}

static int nn_fit(void **model, const struct jetwatt_predictor_input *in)
{
	struct jetwatt_powertrain *pt = malloc(sizeof(*pt));
	int err = pt ? jetwatt_powertrain_plain(pt, &in->sample, in->seed) : -ENOMEM;

	if (err) {
		free(pt);
		pt = NULL;
	}
	*model = pt;
	return err;
}

const struct jetwatt_predictor jetwatt_predictor_powertrain = {
	.name = "powertrain",
	.does = "networks transferred from a reference workload",
	.kind = JETWATT_PREDICTOR_REFERENCE | JETWATT_PREDICTOR_BATCH | JETWATT_PREDICTOR_SLOW,
	.min_rows = 1,
	.prior = powertrain_learn,
	.prior_free = powertrain_prior_free,
	.fit = powertrain_fit,
	.predict = powertrain_predict,
	.free = powertrain_free,
};

const struct jetwatt_predictor jetwatt_predictor_nn = {
	.name = "nn", .does = "networks of powertrain, trained from scratch",
	.kind = JETWATT_PREDICTOR_BATCH | JETWATT_PREDICTOR_SLOW, .min_rows = 1,
	.fit = nn_fit, .predict = powertrain_predict, .free = powertrain_free,
};
