/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prediction from few rows: a sample from the posterior distribution of the parameters of the
 * parametric means of time and power (form.h). A surface (surface.h) describes this distribution by
 * its maximum and curvature there, which is accurate once some ten rows determine the parameters. With
 * fewer rows the distribution is wide, and the parametric means are strongly curved: a linear
 * extrapolation claims times that no parameters would give. Each particle is one physically possible
 * workload, so no prediction exceeds what the formula permits.
 */
#ifndef JETWATT_PARTICLES_H
#define JETWATT_PARTICLES_H

#include "model/surface.h"

/* Largest number of rows for which particles are used. */
#define JETWATT_PARTICLES_ROWS	7

/**
 * struct jetwatt_particle_prior - prior of the parameters of a parametric mean
 * @part: normal distributions of the parameters; each has the same weight
 * @n: number of entries of @part, 1 or 2
 */
struct jetwatt_particle_prior {
	struct jetwatt_param_prior part[2];
	int n;
};

/* A sample of parameters, of time and of power. */
struct jetwatt_particles;

/**
 * jetwatt_particles_fit() - draw from the posterior distribution of the parameters
 * @p: set to the sample, or to NULL on error
 * @row: measured rows, finite and positive, without minibatch size
 * @n: number of rows, 1 to JETWATT_PARTICLES_ROWS
 * @time, @power: priors of the parameters of jetwatt_time_form and jetwatt_power_form
 * @seed: seed of the random numbers
 *
 * Return: 0; -EINVAL if a required knob of a mode is 0; -EDOM if the particles are degenerate; -ENOMEM.
 */
int jetwatt_particles_fit(struct jetwatt_particles **p, const struct jetwatt_row *row, size_t n,
			  const struct jetwatt_particle_prior *time,
			  const struct jetwatt_particle_prior *power, uint64_t seed);
/* Free a sample. @p may be NULL. */
void jetwatt_particles_free(struct jetwatt_particles *p);

/**
 * jetwatt_particles_predict() - predict modes
 * @p: the sample
 * @x: the modes; their member @rate is changed
 * @n: number of modes
 * @out: for each mode the medians, and the standard deviations of the logarithms, which contain the
 *	scatter of the rows about the parametric means
 *
 * Return: 0, -ENOMEM.
 */
int jetwatt_particles_predict(const struct jetwatt_particles *p, struct jetwatt_features *x, size_t n,
			      struct jetwatt_prediction *out);

#endif
