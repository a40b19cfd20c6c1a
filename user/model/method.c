// SPDX-License-Identifier: GPL-2.0-only
#include "model/method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/linreg.h"
#include "model/powertrain.h"

/* --- auto: jetwatt_model -------------------------------------------------- */
static int auto_prior(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed)
{
	struct jetwatt_reference *ref = calloc(n, sizeof(*ref));
	struct jetwatt_prior *p = NULL;
	int err = -ENOMEM;

	for (size_t i = 0; ref && i < n; i++)
		ref[i] = (struct jetwatt_reference){ c[i].row, c[i].n };
	if (ref)
		err = jetwatt_prior_learn(&p, ref, n, seed);
	free(ref);
	*prior = p;
	return err;
}

static void auto_prior_free(void *prior)
{
	jetwatt_prior_free(prior);
}

static int auto_fit(void **model, const struct jetwatt_method_input *in)
{
	struct jetwatt_model *m = NULL;
	int err = jetwatt_model_fit_prior(&m, in->sample.row, in->sample.n, in->prior, in->seed);

	*model = m;
	return err;
}

static int auto_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			size_t n, struct jetwatt_prediction *out)
{
	return jetwatt_model_predict_batch(model, mode, batch, n, out);
}

static void auto_free(void *model)
{
	jetwatt_model_free(model);
}

/* --- powertrain: several references ---------------------------------------- */
struct prior {
	size_t n;
	struct jetwatt_powertrain pt[];
};

static void powertrain_prior_free(void *prior)
{
	struct prior *p = prior;

	for (size_t i = 0; p && i < p->n; i++)
		jetwatt_powertrain_free(&p->pt[i]);
	free(p);
}

static int powertrain_prior(void **prior, const struct jetwatt_corpus *c, size_t n, uint64_t seed)
{
	struct prior *p = calloc(1, sizeof(*p) + n * sizeof(p->pt[0]));
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

/* Mean of both relative errors on the rows that it was tuned on. */
static int misfit(const struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c, double *sum)
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

/* The paper has one reference; of several the one that ends nearest is kept. */
static int powertrain_fit(void **model, const struct jetwatt_method_input *in)
{
	const struct prior *p = in->prior;
	struct jetwatt_powertrain *best = malloc(sizeof(*best)), try;
	double least = 0, sum = 0;
	int err = best ? 0 : -ENOMEM, found = 0;

	for (size_t i = 0; i < p->n && !err; i++) {
		err = jetwatt_powertrain_transfer(&try, &p->pt[i], &in->sample, &in->most, in->seed);
		if (err)
			break;
		err = p->n > 1 ? misfit(&try, &in->sample, &sum) : 0;
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

/* --- nn and linreg ---------------------------------------------------------- */
static int nn_fit(void **model, const struct jetwatt_method_input *in)
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

static int linreg_fit(void **model, const struct jetwatt_method_input *in)
{
	struct jetwatt_linreg *l = malloc(sizeof(*l));
	int err = l ? jetwatt_linreg_fit(l, in->sample.row, in->sample.n, &in->most) : -ENOMEM;

	if (err) {
		free(l);
		l = NULL;
	}
	*model = l;
	return err;
}

static int linreg_predict(const void *model, const struct jetwatt_mode *mode,
			  const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	(void)batch;
	jetwatt_linreg_predict(model, mode, n, out);
	return 0;
}

static const struct jetwatt_method methods[] = {
	{
		.name = "auto", .does = "physical form and Gaussian process",
		.kind = JETWATT_METHOD_INTERVAL | JETWATT_METHOD_BATCH,
		.prior = auto_prior, .prior_free = auto_prior_free, .fit = auto_fit, .predict = auto_predict, .free = auto_free,
	}, {
		.name = "powertrain", .does = "networks transferred from a reference workload",
		.kind = JETWATT_METHOD_REFERENCE | JETWATT_METHOD_BATCH,
		.prior = powertrain_prior, .prior_free = powertrain_prior_free,
		.fit = powertrain_fit, .predict = powertrain_predict, .free = powertrain_free,
	}, {
		.name = "nn", .does = "the same networks from scratch",
		.kind = JETWATT_METHOD_BATCH,
		.fit = nn_fit, .predict = powertrain_predict, .free = powertrain_free,
	}, {
		.name = "linreg", .does = "linear regression on four representative modes",
		.kind = JETWATT_METHOD_OWN_MODES,
		.fit = linreg_fit, .predict = linreg_predict, .free = free,
	}, {
		.name = "rnd", .does = "the best of what was measured",
		.kind = JETWATT_METHOD_OBSERVED,
	}, {
		.name = "maxn", .does = "always the highest mode",
		.kind = JETWATT_METHOD_FIXED,
	},
};

#define NR (sizeof(methods) / sizeof(methods[0]))

const struct jetwatt_method *jetwatt_methods(size_t *n)
{
	*n = NR;
	return methods;
}

const struct jetwatt_method *jetwatt_method_find(const char *name)
{
	for (size_t i = 0; i < NR; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

struct jetwatt_mode jetwatt_method_most(const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_mode most = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_mode *m = &row[i].mode;

		most.cores = m->cores > most.cores ? m->cores : most.cores;
		most.cpu_khz = m->cpu_khz > most.cpu_khz ? m->cpu_khz : most.cpu_khz;
		most.gpu_hz = m->gpu_hz > most.gpu_hz ? m->gpu_hz : most.gpu_hz;
		most.emc_hz = m->emc_hz > most.emc_hz ? m->emc_hz : most.emc_hz;
	}
	return most;
}
