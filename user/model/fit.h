/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fitted model, as user/plan sees it: any number of rows from one on.
 */
#ifndef JETWATT_FIT_H
#define JETWATT_FIT_H

#include "model/surface.h"

/* Relative error of a figure that comes without one. What of its scatter is the
 * measurement's nobody knows then: it counts as the mode's own, which the
 * process learns and predictions include. */
#define JETWATT_SD_UNKNOWN	0.003

/**
 * struct jetwatt_model - both surfaces
 * @at_ref: the time form's logarithm where all features are 1
 * @seen: the modes of their points
 * @heard, @nr_heard: of other boards' rows what they would be here, by mode
 * @like: what other workloads say of this one, NULL: nothing; @trust: its share in time and power
 */
struct jetwatt_model {
	struct jetwatt_surface *time, *power;
	double at_ref;
	struct jetwatt_seen_mode *seen;
	struct jetwatt_row *heard;
	size_t nr_heard;
	struct jetwatt_transferred *like;
	double trust[2];
};

/* Are all rows of one batch size? */
static inline int jetwatt_one_batch(const struct jetwatt_row *row, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (row[i].batch != row[0].batch)
			return 0;
	return 1;
}

/* As jetwatt_model_fit_prior(), from one row on: beliefs fill in what is missing. */
int jetwatt_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		const struct jetwatt_prior *prior, uint64_t seed);

/* To at most @most of the rows, evenly chosen. */
int jetwatt_fit_few(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n, size_t most,
		    const struct jetwatt_prior *prior, uint64_t seed);

/**
 * jetwatt_prior_fit() - fit with what the references let expect
 * @prior: NULL: only that of the form
 *
 * Each reference is a belief, their mean is one, and so is none of them: each
 * counts as far as it foretells the points.
 * Return: as jetwatt_surface_fit().
 */
int jetwatt_prior_fit(struct jetwatt_surface **s, const struct jetwatt_form *form,
		      const struct jetwatt_point *x, const double *y, const double *sd, size_t n,
		      const struct jetwatt_prior *prior);

struct jetwatt_twin;

/* What its references have to say of time and power, as far as @m's own rows bear it out.
 * Return: 0, -EDOM, -ENOMEM. */
int jetwatt_prior_tell(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n,
		       struct jetwatt_model *m);
/* Were they measured from @lo to @hi of each knob, or nearly so? */
int jetwatt_prior_covers(const struct jetwatt_prior *p, const struct jetwatt_mode *lo,
			 const struct jetwatt_mode *hi);
/* A row that stands for none: in the middle, with the doubt of not having been measured.
 * Return: 0; -ENODATA: there are no references. */
int jetwatt_prior_row(const struct jetwatt_prior *p, struct jetwatt_row *row);

/* Return: NULL: it knows of no twin. */
const struct jetwatt_twin *jetwatt_prior_has(const struct jetwatt_prior *p);

/* What the forms alone say: no process, no spread, a fraction of the cost of
 * jetwatt_model_predict(). @time_ms, @power_w: n entries. Return: 0, -EINVAL. */
int jetwatt_model_outline(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  double *time_ms, double *power_w);

/* jetwatt_point's rate for a mode that takes @time_ms. */
double jetwatt_model_rate(const struct jetwatt_model *m, double time_ms);
/* What jetwatt_point wants to know beside the knobs: of the time that the mode
 * takes, and of how it comes about. */
void jetwatt_model_point(const struct jetwatt_model *m, double time_ms, struct jetwatt_point *x);

#endif
