// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other workloads say about a new one: the parameters of their forms, not
 * their figures, so that they may come from other boards with other steps.
 */
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/transfer.h"
#include "model/twin.h"

/* More rows teach nothing more about a few parameters. */
#define ROWS_MAX	160
/* How far a parameter may be from a reference's, in widths of no reference. */
#define NEAR		0.35
/* Before anything is measured the references together are as likely to be of use as
 * none of them is. */
#define ODDS		1.0
/* A reference leaves such a share of its own variance open at most. */
#define UNTOLD		0.25
/* Before anything is measured, the weighted sum of other workloads is this many times as likely to
 * foretell this one as a form that has only beliefs of it. */
#define LIKE		3.0
/* Standard deviations of the row that stands for none, as logarithms. */
#define UNKNOWN_TIME	3.0
#define UNKNOWN_POWER	0.2

struct jetwatt_prior {
	struct jetwatt_twin twin;
	struct jetwatt_transfer *transfer;
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
	if (!err) {
		p->transfer = jetwatt_transfer_new(n);
		err = p->transfer ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_model *m = NULL;

		err = jetwatt_fit_few(&m, ref[i].row, ref[i].n, ROWS_MAX, NULL, seed);
		if (err)
			break;
		/* Rows that do not even foretell each other foretell nothing else. */
		if (m->time->untold > UNTOLD || m->power->untold > UNTOLD) {
			jetwatt_model_free(m);
			continue;
		}
		memcpy(p->ref[p->n].time, m->time->theta, sizeof(m->time->theta));
		memcpy(p->ref[p->n++].power, m->power->theta, sizeof(m->power->theta));
		if (jetwatt_one_batch(ref[i].row, ref[i].n))
			jetwatt_transfer_add(p->transfer, m, ref[i].row, ref[i].n);
		else
			jetwatt_model_free(m);
	}
	if (err) {
		jetwatt_prior_free(p);
		return err;
	}
	*out = p;
	return 0;
}

int jetwatt_prior_twin(struct jetwatt_prior **p, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	struct jetwatt_twin twin;
	int err = jetwatt_twin_learn(&twin, row, n, seed);

	if (!err && !*p)
		*p = calloc(1, sizeof(**p));
	if (!err && !*p) {
		jetwatt_twin_forget(&twin);
		err = -ENOMEM;
	}
	if (err)
		return err;
	jetwatt_twin_forget(&(*p)->twin);
	(*p)->twin = twin;
	return 0;
}

const struct jetwatt_twin *jetwatt_prior_has(const struct jetwatt_prior *p)
{
	return p && p->twin.m ? &p->twin : NULL;
}

int jetwatt_prior_fits(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n)
{
	return p && jetwatt_twin_fits(&p->twin, row, n);
}

void jetwatt_prior_free(struct jetwatt_prior *p)
{
	if (p) {
		jetwatt_twin_forget(&p->twin);
		jetwatt_transfer_put(p->transfer);
	}
	free(p);
}

int jetwatt_prior_covers(const struct jetwatt_prior *p, const struct jetwatt_mode *lo,
			 const struct jetwatt_mode *hi)
{
	return p && jetwatt_transfer_count(p->transfer) &&
	       jetwatt_transfer_covers(p->transfer, lo, hi);
}

int jetwatt_prior_row(const struct jetwatt_prior *p, struct jetwatt_row *row)
{
	struct jetwatt_transferred *f;
	struct jetwatt_prediction said;
	int err;

	if (!p || !jetwatt_transfer_count(p->transfer))
		return -ENODATA;
	err = jetwatt_transfer_fit(&f, p->transfer, NULL, 0);
	if (err)
		return err;
	*row = (struct jetwatt_row){ .mode = jetwatt_transfer_middle(p->transfer),
				     .time_sd = UNKNOWN_TIME, .power_sd = UNKNOWN_POWER };
	err = jetwatt_transferred_predict(f, &row->mode, 1, &said);
	jetwatt_transferred_free(f);
	if (err)
		return err;
	row->time_ms = said.time_ms;
	row->power_w = said.power_w;
	return 0;
}

/* The share of one whose evidence is so much more than the other's. */
static double share(double more)
{
	return 1 / (1 + exp(-more) / LIKE);
}

int jetwatt_prior_tell(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n,
		       struct jetwatt_model *m)
{
	double time, power;
	int err;

	for (size_t i = 0; i < n; i++)
		if (row[i].batch)
			return 0;
	if (!p || !jetwatt_transfer_count(p->transfer))
		return 0;
	err = jetwatt_transfer_fit(&m->like, p->transfer, row, n);
	if (err)
		return err;
	jetwatt_transferred_evidence(m->like, &time, &power);
	m->trust[0] = n ? share(time - m->time->evidence) : 1;
	m->trust[1] = n ? share(power - m->power->evidence) : 1;
	return 0;
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

/* A belief, and how well it foretells what was measured. */
struct candidate {
	struct jetwatt_belief belief;
	double evidence;
};

/* Each of @n as far as its evidence goes; where they differ, none is sure (the
 * moments of their mixture). The first one is no reference. */
static void mix(struct jetwatt_belief *out, const struct candidate *c, size_t n, int np)
{
	double top = c[0].evidence, sum = 0;

	for (size_t i = 1; i < n; i++)
		top = fmax(top, c[i].evidence);
	*out = (struct jetwatt_belief){ 0 };
	for (size_t i = 0; i < n; i++) {
		double w = exp(c[i].evidence - top) * (i ? ODDS / (n - 1) : 1);

		sum += w;
		for (int k = 0; k < np; k++) {
			double by = c[i].belief.mu[k] - out->mu[k], sd = c[i].belief.sd[k];

			/* West's running moments; sd is the variance till the end. */
			out->mu[k] += by * w / sum;
			out->sd[k] += (sd * sd - out->sd[k]) * w / sum +
				      by * by * w / sum * (1 - w / sum);
		}
	}
	for (int k = 0; k < np; k++)
		out->sd[k] = sqrt(out->sd[k]);
}

int jetwatt_prior_fit(struct jetwatt_surface **out, const struct jetwatt_form *form,
		      const struct jetwatt_point *x, const double *y, const double *sd, size_t n,
		      const struct jetwatt_prior *prior)
{
	size_t refs = prior ? prior->n : 0, nr = 1 + refs + (refs > 1);
	struct jetwatt_belief mixed;
	struct candidate *c;
	int err = 0;

	if (!refs)
		return jetwatt_surface_fit(out, form, x, y, sd, n, NULL);
	*out = NULL;
	c = calloc(nr, sizeof(*c));
	if (!c)
		return -ENOMEM;
	/* None, each, and all together if there are several. */
	jetwatt_surface_belief(form, &c[0].belief);
	for (size_t i = 0; i < refs; i++)
		believe(&c[1 + i].belief, prior, i, 1, form);
	if (refs > 1)
		believe(&c[1 + refs].belief, prior, 0, refs, form);
	for (size_t i = 0; i < nr && !err; i++) {
		struct jetwatt_surface *s;

		err = jetwatt_surface_fit(&s, form, x, y, sd, n, &c[i].belief);
		if (err)
			break;
		c[i].evidence = s->evidence;
		jetwatt_surface_free(s);
	}
	if (!err) {
		mix(&mixed, c, nr, form->np);
		err = jetwatt_surface_fit(out, form, x, y, sd, n, &mixed);
	}
	free(c);
	return err;
}
