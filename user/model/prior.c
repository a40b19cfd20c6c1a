// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priors from other workloads. A reference contributes the fitted parameters of its parametric
 * means, not its measurements, so it may come from another board with other frequency levels.
 * References with one minibatch size also contribute a weighted sum of their predictions
 * (transfer.c). Rows of the same workload from other devices are in a struct jetwatt_cross_device.
 */
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/particles.h"
#include "model/transfer.h"
#include "model/cross_device.h"

/* Largest number of rows of a reference that are fitted: more rows do not improve the estimate of
 * some 30 parameters. */
#define ROWS_MAX	160
/* Standard deviation of a parameter around its value in a reference, as a share of its standard
 * deviation in the default prior. */
#define NEAR		0.35
/* Least standard deviation of a parameter of the board around its mean in the references. */
#define BOARD_SD	0.15
/* Prior odds of all references together against the default prior: 1, equally likely. */
#define ODDS		1.0
/* Largest @unexplained of a usable reference: the share of the variance of the reference's rows
 * that leave-one-out predictions do not explain. */
#define UNEXPLAINED	0.25
/* Prior odds of the weighted sum of references against the parametric mean with its Gaussian
 * process. */
#define LIKE		3.0
/* Standard deviations of log time and log power of the predicted row that replaces measurements. */
#define UNKNOWN_TIME	3.0
#define UNKNOWN_POWER	0.2

/**
 * struct jetwatt_prior - prior knowledge about a workload
 * @cross_device: rows of the same workload from other devices
 * @transfer: models of the references of one minibatch size, whose predictions are added with
 *	weights; NULL: nothing was learned from references
 * @n: number of references in @ref
 * @ref: fitted parameters of both parametric means, for each reference
 */
struct jetwatt_prior {
	struct jetwatt_cross_device cross_device;
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

		err = jetwatt_fit_subset(&m, ref[i].row, ref[i].n, ROWS_MAX, NULL, seed);
		if (err)
			break;
		/* A reference whose rows do not predict each other does not help to predict another
		 * workload, so it is left out. */
		if (m->time->unexplained > UNEXPLAINED || m->power->unexplained > UNEXPLAINED) {
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

int jetwatt_prior_add_cross_device(struct jetwatt_prior **p, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	struct jetwatt_cross_device profile;
	int err = jetwatt_cross_device_learn(&profile, row, n, seed);

	if (!err && !*p)
		*p = calloc(1, sizeof(**p));
	if (!err && !*p) {
		jetwatt_cross_device_free(&profile);
		err = -ENOMEM;
	}
	if (err)
		return err;
	jetwatt_cross_device_free(&(*p)->cross_device);
	(*p)->cross_device = profile;
	return 0;
}

const struct jetwatt_cross_device *jetwatt_prior_cross_device(const struct jetwatt_prior *p)
{
	return p && p->cross_device.m ? &p->cross_device : NULL;
}

int jetwatt_prior_agrees(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n)
{
	return p && jetwatt_cross_device_agrees(&p->cross_device, row, n);
}

void jetwatt_prior_free(struct jetwatt_prior *p)
{
	if (p) {
		jetwatt_cross_device_free(&p->cross_device);
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

/* Return: the posterior weight of the weighted sum of references. @evidence_gain: log evidence of
 * the weighted sum of references minus the log evidence of the parametric mean with its Gaussian
 * process. */
static double prior_reference_weight(double evidence_gain)
{
	return 1 / (1 + exp(-evidence_gain) / LIKE);
}

int jetwatt_prior_mix_references(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n,
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
	m->trust[0] = n ? prior_reference_weight(time - m->time->evidence) : 1;
	m->trust[1] = n ? prior_reference_weight(power - m->power->evidence) : 1;
	return 0;
}

static const double *prior_theta(const struct jetwatt_prior *p, size_t i,
				 const struct jetwatt_form *form)
{
	return form == &jetwatt_time_form ? p->ref[i].time : p->ref[i].power;
}

/* Set @b to the prior from @n references, the first of which is @first: the mean of their
 * parameters, with a variance that includes their scatter. The standard deviation never exceeds
 * that of the default prior. */
static void prior_from_references(struct jetwatt_param_prior *b, const struct jetwatt_prior *p,
				  size_t first, size_t n, const struct jetwatt_form *form)
{
	jetwatt_surface_default_prior(form, b);
	for (int k = 0; k < form->np; k++) {
		double mean = 0, var = 0, near = NEAR * form->sd[k];

		for (size_t i = first; i < first + n; i++)
			mean += prior_theta(p, i, form)[k] / n;
		for (size_t i = first; i < first + n; i++)
			var += pow(prior_theta(p, i, form)[k] - mean, 2) / n;
		/* The scale of the time differs between workloads: keep the default prior. */
		if (form->own == k)
			continue;
		b->mu[k] = mean;
		b->sd[k] = fmin(sqrt(near * near + var), form->sd[k]);
	}
}

/*
 * In contrast to prior_from_references(), the default prior counts like one more reference, because
 * particles find out by themselves which of the parameters the references foretell.
 */
void jetwatt_prior_of_particles(const struct jetwatt_prior *p, const struct jetwatt_form *form,
				struct jetwatt_particle_prior *out)
{
	struct jetwatt_param_prior *b = &out->part[1];
	size_t n = p ? p->n : 0;

	*out = (struct jetwatt_particle_prior){ .n = n ? 2 : 1 };
	jetwatt_surface_default_prior(form, &out->part[0]);
	for (int k = 0; k < form->np && n; k++) {
		int board = form->of_board >> k & 1;
		double mean = board ? 0 : form->mu[k] / (n + 1), var, first = form->mu[k];

		for (size_t i = 0; i < n; i++)
			mean += prior_theta(p, i, form)[k] / (n + !board);
		var = board ? BOARD_SD * BOARD_SD :
			      (form->sd[k] * form->sd[k] + (first - mean) * (first - mean)) / (n + 1);
		for (size_t i = 0; i < n; i++)
			var += pow(prior_theta(p, i, form)[k] - mean, 2) / (n + !board);
		b->mu[k] = mean;
		b->sd[k] = sqrt(var);
	}
}

/**
 * struct prior_candidate - one of the priors that are averaged
 * @prior: the prior
 * @evidence: log evidence of the measured points under this prior
 */
struct prior_candidate {
	struct jetwatt_param_prior prior;
	double evidence;
};

/* Bayesian model averaging: set @out to the mean and standard deviation of the mixture of @n
 * candidates, weighted by evidence. If the candidates differ, the standard deviation grows. The
 * first entry of the candidates is the default prior. */
static void prior_average(struct jetwatt_param_prior *out, const struct prior_candidate *c, size_t n,
			  int np)
{
	double top = c[0].evidence, sum = 0;

	for (size_t i = 1; i < n; i++)
		top = fmax(top, c[i].evidence);
	*out = (struct jetwatt_param_prior){ 0 };
	for (size_t i = 0; i < n; i++) {
		double w = exp(c[i].evidence - top) * (i ? ODDS / (n - 1) : 1);

		sum += w;
		for (int k = 0; k < np; k++) {
			double by = c[i].prior.mu[k] - out->mu[k], sd = c[i].prior.sd[k];

			/* Weighted running moments (West 1979); @sd holds the variance until the
			 * end of the loop. */
			out->mu[k] += by * w / sum;
			out->sd[k] += (sd * sd - out->sd[k]) * w / sum +
				      by * by * w / sum * (1 - w / sum);
		}
	}
	for (int k = 0; k < np; k++)
		out->sd[k] = sqrt(out->sd[k]);
}

int jetwatt_prior_fit(struct jetwatt_surface **out, const struct jetwatt_form *form,
		      const struct jetwatt_features *x, const double *y, const double *sd, size_t n,
		      const struct jetwatt_prior *prior)
{
	size_t refs = prior ? prior->n : 0, nr = 1 + refs + (refs > 1);
	struct jetwatt_param_prior mixed;
	struct prior_candidate *c;
	int err = 0;

	if (!refs)
		return jetwatt_surface_fit(out, form, x, y, sd, n, NULL);
	*out = NULL;
	c = calloc(nr, sizeof(*c));
	if (!c)
		return -ENOMEM;
	/* Candidates: the default prior, each reference, and if there are several their mean. */
	jetwatt_surface_default_prior(form, &c[0].prior);
	for (size_t i = 0; i < refs; i++)
		prior_from_references(&c[1 + i].prior, prior, i, 1, form);
	if (refs > 1)
		prior_from_references(&c[1 + refs].prior, prior, 0, refs, form);
	for (size_t i = 0; i < nr && !err; i++) {
		struct jetwatt_surface *s;

		err = jetwatt_surface_fit(&s, form, x, y, sd, n, &c[i].prior);
		if (err)
			break;
		c[i].evidence = s->evidence;
		jetwatt_surface_free(s);
	}
	if (!err) {
		prior_average(&mixed, c, nr, form->np);
		err = jetwatt_surface_fit(out, form, x, y, sd, n, &mixed);
	}
	free(c);
	return err;
}
