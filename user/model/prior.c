// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other workloads say about a new one: the parameters of their forms, not
 * their figures, so that they may come from other boards with other steps.
 */
#include "fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More rows teach nothing more about a few parameters. */
#define ROWS_MAX	160
/* How far a parameter may be from a reference's, in widths of no reference. */
#define NEAR		0.35
/* Odds of 20 to 1 ("strong", Kass and Raftery, JASA 1995), as a logarithm: the
 * first reference to be believed has to beat none by so much. */
#define STRONG		3.0

struct jetwatt_prior {
	size_t n;
	struct {
		double time[JETWATT_PARAMS_MAX], power[JETWATT_PARAMS_MAX];
	} ref[];
};

int jetwatt_prior_learn(struct jetwatt_prior **out, const struct jetwatt_reference *ref, size_t n,
			uint64_t seed)
{
	struct jetwatt_prior *p = calloc(1, sizeof(*p) + n * sizeof(p->ref[0]));
	int err = p ? 0 : -ENOMEM;

	*out = NULL;
	if (!err && !n)
		err = -ENODATA;
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_model *m = NULL;

		err = jetwatt_fit_few(&m, ref[i].row, ref[i].n, ROWS_MAX, seed);
		if (err)
			break;
		memcpy(p->ref[i].time, m->time->theta, sizeof(m->time->theta));
		memcpy(p->ref[i].power, m->power->theta, sizeof(m->power->theta));
		p->n++;
		jetwatt_model_free(m);
	}
	if (err) {
		free(p);
		return err;
	}
	*out = p;
	return 0;
}

void jetwatt_prior_free(struct jetwatt_prior *p)
{
	free(p);
}

static const double *theta_of(const struct jetwatt_prior *p, size_t i,
			      const struct jetwatt_form *form)
{
	return form == &jetwatt_roof ? p->ref[i].time : p->ref[i].power;
}

/* Of @n references from the @first on: their mean, as near as they are to each other. */
static void believe(struct jetwatt_belief *b, const struct jetwatt_prior *p, size_t first, size_t n,
		    const struct jetwatt_form *form)
{
	jetwatt_surface_belief(form, b);
	for (int k = 0; k < form->np; k++) {
		double mean = 0, var = 0, near = NEAR * form->sd[k];

		for (size_t i = first; i < first + n; i++)
			mean += theta_of(p, i, form)[k] / n;
		for (size_t i = first; i < first + n; i++)
			var += pow(theta_of(p, i, form)[k] - mean, 2) / n;
		/* How long a minibatch takes is nobody else's business. */
		if (form->own == k)
			continue;
		b->mu[k] = mean;
		b->sd[k] = fmin(sqrt(near * near + var), form->sd[k]);
	}
}

int jetwatt_prior_fit(struct jetwatt_surface **best, const struct jetwatt_form *form,
		      const struct jetwatt_point *x, const double *y, const double *sd, size_t n,
		      const struct jetwatt_prior *prior)
{
	int err = jetwatt_surface_fit(best, form, x, y, sd, n, NULL);
	size_t refs = prior ? prior->n : 0;
	double bar = STRONG;

	/* Each, and all together if there are several. */
	for (size_t i = 0; i < refs + (refs > 1) && !err; i++) {
		struct jetwatt_surface *s;
		struct jetwatt_belief b;

		believe(&b, prior, i < refs ? i : 0, i < refs ? 1 : refs, form);
		err = jetwatt_surface_fit(&s, form, x, y, sd, n, &b);
		if (err)
			break;
		if (s->evidence > (*best)->evidence + bar) {
			bar = 0;
			jetwatt_surface_free(*best);
			*best = s;
		} else {
			jetwatt_surface_free(s);
		}
	}
	if (err) {
		jetwatt_surface_free(*best);
		*best = NULL;
	}
	return err;
}
