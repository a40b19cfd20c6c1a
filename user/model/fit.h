/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The default model inside user/model/: two response surfaces, transferred rows, and a share of a
 * weighted sum of references. In contrast to jetwatt_model_fit(), a fit accepts one row.
 */
#ifndef JETWATT_FIT_H
#define JETWATT_FIT_H

#include "model/surface.h"

/*
 * Relative standard error assumed for a measurement whose standard error is unknown. This standard
 * error is small on purpose: the Gaussian process then attributes the unknown scatter to its
 * nugget, the part that is peculiar to a mode, and the standard deviations of predictions include
 * the nugget.
 */
#define JETWATT_SD_UNKNOWN	0.003

/**
 * struct jetwatt_model - a fitted model
 * @time: surface of log time
 * @power: surface of log power
 * @at_ref: parametric mean of log time where all features are at their reference values (lg = 0)
 * @seen: modes of the rows that the model was fitted to, one per point
 * @transferred: transferred rows: measurements of other boards, converted to this board; sorted by
 *	mode
 * @nr_transferred: number of transferred rows
 * @like: prediction by a weighted sum of the references (transfer.h); NULL: not used
 * @trust: weight of the references' prediction @like in the mixture, 0 to 1, for time and for power
 * @few: prediction from few rows (particles.h); NULL: not used
 * @few_share: weight of the prediction @few in the mixture, 0 to 1
 */
struct jetwatt_model {
	struct jetwatt_surface *time, *power;
	double at_ref;
	struct jetwatt_seen_mode *seen;
	struct jetwatt_row *transferred;
	size_t nr_transferred;
	struct jetwatt_transferred *like;
	double trust[2];
	struct jetwatt_particles *few;
	double few_share;
};

/* Return: 1 if all rows have the same minibatch size, else 0. */
static inline int jetwatt_one_batch(const struct jetwatt_row *row, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (row[i].batch != row[0].batch)
			return 0;
	return 1;
}

/*
 * Fit as jetwatt_model_fit_prior() does, but without a @prior one row is enough: the default priors
 * of the parametric means supply what the rows do not determine.
 */
int jetwatt_fit(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		const struct jetwatt_prior *prior, uint64_t seed);

/*
 * Fit as jetwatt_fit() does, but to an evenly spread selection of at most @max_rows rows, and
 * without rows of other devices.
 */
int jetwatt_fit_subset(struct jetwatt_model **m, const struct jetwatt_row *row, size_t n,
		    size_t max_rows, const struct jetwatt_prior *prior, uint64_t seed);

/*
 * Add a prediction from few rows (particles.h) to @m, which jetwatt_fit() has fitted to the same arguments:
 * nothing is added if there are more than JETWATT_PARTICLES_ROWS rows, if one has a minibatch size, if
 * @m has transferred rows, or if more than two references predict this workload. Return: 0, -ENOMEM, -EINVAL.
 */
int jetwatt_fit_particles(struct jetwatt_model *m, const struct jetwatt_row *row, size_t n,
			  const struct jetwatt_prior *prior, uint64_t seed);

/**
 * jetwatt_prior_fit() - fit a response surface with the references as priors
 * @s: set to the new response surface, or to NULL on error
 * @form: the parametric mean
 * @x: feature vectors of the measured points
 * @y: logarithms measured there
 * @sd: standard errors of @y
 * @n: number of points
 * @prior: the references; NULL: only the default prior of @form
 *
 * Candidate priors of the surface's parameters are the default prior, one for each reference, and
 * the mean of several references. Each candidate prior is weighted by its evidence, that is by how
 * well it predicts the measured points.
 *
 * Return: as jetwatt_surface_fit().
 */
int jetwatt_prior_fit(struct jetwatt_surface **s, const struct jetwatt_form *form,
		      const struct jetwatt_features *x, const double *y, const double *sd, size_t n,
		      const struct jetwatt_prior *prior);

struct jetwatt_cross_device;

/*
 * Set @like and @trust of @m from the references of @p and the @n rows of this workload. @m stays
 * unchanged if @p has no references of one minibatch size or a row has a size. Return: 0, -EINVAL
 * if a required knob is 0, -EDOM, -ENOMEM.
 */
int jetwatt_prior_mix_references(const struct jetwatt_prior *p, const struct jetwatt_row *row, size_t n,
		       struct jetwatt_model *m);
struct jetwatt_particle_prior;

/* Set @out to the default prior of @form, and to one that the references of @p suggest, if there are any.
 * @p may be NULL. */
void jetwatt_prior_of_particles(const struct jetwatt_prior *p, const struct jetwatt_form *form,
				struct jetwatt_particle_prior *out);
/*
 * Return: 1 if the references of @p cover the range of every knob from @lo to @hi, up to a factor
 * of 1.5; else 0.
 */
int jetwatt_prior_covers(const struct jetwatt_prior *p, const struct jetwatt_mode *lo,
			 const struct jetwatt_mode *hi);
/*
 * Set @row to a predicted row that is used if nothing has been measured: of the modes of the first
 * reference, the one whose log power is closest to the mean, with large standard errors. Return: 0;
 * -ENODATA if @p has no references of one minibatch size; -ENOMEM.
 */
int jetwatt_prior_row(const struct jetwatt_prior *p, struct jetwatt_row *row);

/* Return: the rows of other devices in @p; NULL if @p has no rows of other devices. */
const struct jetwatt_cross_device *jetwatt_prior_cross_device(const struct jetwatt_prior *p);

/**
 * jetwatt_model_mean() - predict with the parametric means only
 * @m: the model
 * @mode: modes to predict
 * @n: number of modes
 * @time_ms: @n times of a minibatch, in milliseconds
 * @power_w: @n powers, in watts
 *
 * Uses no Gaussian process and gives no standard deviation; costs a fraction of
 * jetwatt_model_predict().
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0.
 */
int jetwatt_model_mean(const struct jetwatt_model *m, const struct jetwatt_mode *mode, size_t n,
			  double *time_ms, double *power_w);

/* Return: @rate of struct jetwatt_features for a mode with a minibatch time of @time_ms. */
double jetwatt_model_rate(const struct jetwatt_model *m, double time_ms);
/* Set the members @rate and @cpu_sensitivity of the feature vector @x. @time_ms: time of a minibatch
 * in this mode. */
void jetwatt_model_features(const struct jetwatt_model *m, double time_ms, struct jetwatt_features *x);

#endif
