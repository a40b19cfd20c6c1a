// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sequential Monte Carlo (Del Moral, Doucet and Jasra 2006, doi 10.1111/j.1467-9868.2006.00553.x): particles
 * are drawn from the prior and moved to the posterior distribution in steps, in each of which the
 * exponent of the likelihood grows as far as half of the particles still count. Then the particles are
 * resampled and moved by random-walk Metropolis steps with their own covariance.
 */
#include "model/particles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/linalg.h"
#include "model/random.h"

/* Number of particles; each THIN-th is used for predictions, because those of many modes cost time. */
#define PARTICLES	256
#define THIN		8
#define USED		(PARTICLES / THIN)
/* Metropolis steps of each particle while the exponent of the likelihood is below 1, and at 1. */
#define MOVES		4
#define LAST_MOVES	15
/* Dimensions of a particle: the parameters, and the logarithm of the scatter of the rows. */
#define DIMS		(JETWATT_PARAMS_MAX + 1)
/* Prior of the scatter of the rows about the parametric mean of time and of power: medians, and the standard
 * deviation of the logarithm. The logarithms have Student's t distribution with FREEDOM degrees of freedom. */
static const double scatter[] = { 0.05, 0.03 };
#define SCATTER_SD	0.6
#define FREEDOM		4
/* Least standard error of a row, which is added to the scatter in quadrature. */
#define ROW_SD		0.01
/* Standard deviation of a parameter that references say nothing about (form.h, @own), around the
 * value that the rows suggest. */
#define OWN_SD		2.0
/* The exponent of the likelihood is found by this many bisections. */
#define BISECTIONS	25

/**
 * struct cloud - the particles of time or of power
 * @form: the parametric mean
 * @at: the particles: np parameters, then the logarithm of the scatter
 * @mean: mean over the particles of the parametric mean where all features are at their reference
 *	values
 */
struct cloud {
	const struct jetwatt_form *form;
	double at[PARTICLES][DIMS];
	double mean;
};

struct jetwatt_particles {
	struct cloud time, power;
};

/**
 * struct smc - state of a fit
 * @c: the particles
 * @prior: prior of the parameters; @centre: of the parameter @own, from the rows; @log_sd: for each part,
 *	sum of the logarithms of the standard deviations
 * @x, @y, @sd: points, their measured logarithms and standard errors
 * @n: number of points
 * @use: the dimensions that matter for these points, @dims of them
 * @step: Cholesky factor of the covariance of the particles in the dimensions @use
 * @fits, @near: log likelihood and log prior density of each particle
 * @rng: state of the random numbers; @spare: a normal random number that draw_normal() has left, NAN: none
 */
struct smc {
	struct cloud *c;
	const struct jetwatt_particle_prior *prior;
	double centre, log_sd[2];
	const struct jetwatt_features *x;
	const double *y, *sd;
	size_t n;
	int use[DIMS], dims;
	double step[DIMS * DIMS], fits[PARTICLES], near[PARTICLES];
	uint64_t rng;
	double spare;
};

/* Return: a random number with the standard normal distribution. Each second call returns the other number
 * of a pair (Box and Muller 1958). */
static double draw_normal(struct smc *s)
{
	double r, angle, spare = s->spare;

	s->spare = NAN;
	if (!isnan(spare))
		return spare;
	r = sqrt(-2 * log(1 - jetwatt_random_unit(&s->rng)));
	angle = 2 * M_PI * jetwatt_random_unit(&s->rng);
	s->spare = r * sin(angle);
	return r * cos(angle);
}

static double log_likelihood(const struct smc *s, const double *at)
{
	const struct jetwatt_form *form = s->c->form;
	double coef[JETWATT_PARAMS_MAX], own = exp(2 * at[form->np]), variances = 1, far = 1;

	/* JETWATT_PARTICLES_ROWS factors do not overflow, and a product needs one logarithm. */
	form->prepare(at, coef);
	for (size_t i = 0; i < s->n; i++) {
		double r = s->y[i] - form->eval(coef, &s->x[i], NULL);
		double sd = fmax(s->sd[i], ROW_SD), v = own + sd * sd;

		variances *= v;
		far *= 1 + r * r / (FREEDOM * v);
	}
	return -log(variances) / 2 - (FREEDOM + 1) / 2.0 * log(far);
}

/* Return: log density of the normal distribution @part of the prior, up to a constant. */
static double log_normal(const struct smc *s, int part, const double *at)
{
	const struct jetwatt_param_prior *p = &s->prior->part[part];
	const struct jetwatt_form *form = s->c->form;
	double sum = 0;

	for (int k = 0; k < form->np; k++) {
		double mu = k == form->own ? s->centre : p->mu[k];
		double sd = k == form->own ? OWN_SD : p->sd[k], z = (at[k] - mu) / sd;

		sum += z * z;
	}
	return -sum / 2 - s->log_sd[part];
}

static double log_prior(const struct smc *s, const double *at)
{
	int np = s->c->form->np;
	double z = (at[np] - log(scatter[s->c->form->own < 0])) / SCATTER_SD;
	double a = log_normal(s, 0, at), b;

	if (s->prior->n > 1) {
		b = log_normal(s, 1, at);
		a = fmax(a, b) + log1p(exp(-fabs(a - b)));
	}
	return a - z * z / 2;
}

/* Find the dimensions that matter: without a minibatch size, several parameters have no effect. */
static void find_dimensions(struct smc *s)
{
	const struct jetwatt_form *form = s->c->form;
	double coef[JETWATT_PARAMS_MAX], grad[JETWATT_PARAMS_MAX];

	form->prepare(s->prior->part[0].mu, coef);
	form->eval(coef, &s->x[0], grad);
	for (int k = 0; k < form->np; k++)
		if (grad[k] != 0)
			s->use[s->dims++] = k;
	s->use[s->dims++] = form->np;
}

/* Draw the particles from the prior. The parameter @own is set so that the rows have no mean error. */
static void draw_prior(struct smc *s)
{
	const struct jetwatt_form *form = s->c->form;
	double coef[JETWATT_PARAMS_MAX];

	for (size_t i = 0; i < PARTICLES; i++) {
		const struct jetwatt_param_prior *p = &s->prior->part[i % s->prior->n];
		double *at = s->c->at[i], mean = 0;

		for (int k = 0; k < form->np; k++)
			at[k] = p->mu[k] + p->sd[k] * draw_normal(s);
		at[form->np] = log(scatter[form->own < 0]) + SCATTER_SD * draw_normal(s);
		if (form->own < 0)
			continue;
		at[form->own] = 0;
		form->prepare(at, coef);
		for (size_t j = 0; j < s->n; j++)
			mean += (s->y[j] - form->eval(coef, &s->x[j], NULL)) / s->n;
		at[form->own] = mean;
		s->centre += mean / PARTICLES;
	}
}

/* Return: how many particles count if the exponent of the likelihood grows by @more. */
static double particles_left(const struct smc *s, double more, double *weight)
{
	double top = -INFINITY, sum = 0, squares = 0;

	for (size_t i = 0; i < PARTICLES; i++)
		top = fmax(top, s->fits[i]);
	for (size_t i = 0; i < PARTICLES; i++) {
		weight[i] = exp(more * (s->fits[i] - top));
		sum += weight[i];
		squares += weight[i] * weight[i];
	}
	for (size_t i = 0; i < PARTICLES; i++)
		weight[i] /= sum;
	return sum * sum / squares;
}

/* Return: by how much the exponent of the likelihood may grow, at most @most. */
static double choose_growth(const struct smc *s, double most, double *weight)
{
	double lo = 0, hi = most;

	if (particles_left(s, most, weight) >= PARTICLES / 2)
		return most;
	for (int i = 0; i < BISECTIONS; i++) {
		double mid = (lo + hi) / 2;

		if (particles_left(s, mid, weight) >= PARTICLES / 2)
			lo = mid;
		else
			hi = mid;
	}
	/* At least a little, so that the loop of the caller ends. */
	lo = fmax(lo, 1e-3 * most);
	particles_left(s, lo, weight);
	return lo;
}

/* Systematic resampling. */
static void resample(struct smc *s, const double *weight)
{
	double (*old)[DIMS] = malloc(sizeof(s->c->at)), fits[PARTICLES];
	double u = jetwatt_random_unit(&s->rng) / PARTICLES, sum = 0;
	size_t from = 0;

	if (!old)
		return;
	memcpy(old, s->c->at, sizeof(s->c->at));
	memcpy(fits, s->fits, sizeof(fits));
	for (size_t i = 0; i < PARTICLES; i++, u += 1.0 / PARTICLES) {
		while (from < PARTICLES - 1 && sum + weight[from] < u)
			sum += weight[from++];
		memcpy(s->c->at[i], old[from], sizeof(old[from]));
		s->fits[i] = fits[from];
	}
	free(old);
}

/* Set @step from the covariance of the particles. Return: 0, -EDOM. */
static int find_step(struct smc *s)
{
	int d = s->dims;
	double mean[DIMS] = { 0 };

	for (size_t i = 0; i < PARTICLES; i++)
		for (int a = 0; a < d; a++)
			mean[a] += s->c->at[i][s->use[a]] / PARTICLES;
	memset(s->step, 0, sizeof(s->step));
	for (size_t i = 0; i < PARTICLES; i++)
		for (int a = 0; a < d; a++)
			for (int b = 0; b <= a; b++)
				s->step[a * d + b] += (s->c->at[i][s->use[a]] - mean[a]) *
						      (s->c->at[i][s->use[b]] - mean[b]) / PARTICLES;
	for (int a = 0; a < d; a++)
		s->step[a * d + a] += 1e-8;
	return jetwatt_linalg_chol(s->step, d);
}

/* One Metropolis step of each particle, with the exponent @power of the likelihood. */
static void move_all(struct smc *s, double power)
{
	static const double scale[] = { 0.3, 0.6, 1 };
	int d = s->dims;

	for (size_t i = 0; i < PARTICLES; i++) {
		double by = 2.38 / sqrt(d) * scale[jetwatt_random(&s->rng) % 3];
		double to[DIMS], z[DIMS], fits, near;

		memcpy(to, s->c->at[i], sizeof(to));
		for (int a = 0; a < d; a++) {
			z[a] = draw_normal(s);
			for (int b = 0; b <= a; b++)
				to[s->use[a]] += by * s->step[a * d + b] * z[b];
		}
		near = log_prior(s, to);
		fits = log_likelihood(s, to);
		if (log(1 - jetwatt_random_unit(&s->rng)) >
		    power * (fits - s->fits[i]) + near - s->near[i] || !isfinite(fits))
			continue;
		memcpy(s->c->at[i], to, sizeof(to));
		s->fits[i] = fits;
		s->near[i] = near;
	}
}

static int smc_run(struct smc *s)
{
	double weight[PARTICLES], power = 0, coef[JETWATT_PARAMS_MAX];
	struct jetwatt_features ref = { .rate = 1, .v = { 1, 1, 1, 1, 1 } };
	int err = 0;

	find_dimensions(s);
	draw_prior(s);
	for (int part = 0; part < s->prior->n; part++)
		for (int k = 0; k < s->c->form->np; k++)
			s->log_sd[part] += log(k == s->c->form->own ? OWN_SD : s->prior->part[part].sd[k]);
	for (size_t i = 0; i < PARTICLES; i++)
		s->fits[i] = log_likelihood(s, s->c->at[i]);
	while (power < 1 && !err) {
		power += choose_growth(s, 1 - power, weight);
		resample(s, weight);
		for (size_t i = 0; i < PARTICLES; i++)
			s->near[i] = log_prior(s, s->c->at[i]);
		for (int k = 0; k < (power < 1 ? MOVES : LAST_MOVES) && !err; k++) {
			err = k % 10 ? 0 : find_step(s);
			if (!err)
				move_all(s, power);
		}
	}
	s->c->mean = 0;
	for (size_t i = 0; i < PARTICLES; i++) {
		s->c->form->prepare(s->c->at[i], coef);
		s->c->mean += s->c->form->eval(coef, &ref, NULL) / PARTICLES;
	}
	return err;
}

int jetwatt_particles_fit(struct jetwatt_particles **out, const struct jetwatt_row *row, size_t n,
			  const struct jetwatt_particle_prior *time,
			  const struct jetwatt_particle_prior *power, uint64_t seed)
{
	struct jetwatt_features x[JETWATT_PARTICLES_ROWS] = { 0 };
	double y[JETWATT_PARTICLES_ROWS], sd[JETWATT_PARTICLES_ROWS];
	struct jetwatt_particles *p = calloc(1, sizeof(*p));
	struct smc *s = calloc(1, sizeof(*s));
	int err = p && s ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		err = jetwatt_features_of(&x[i], &row[i].mode);
		y[i] = log(row[i].time_ms);
		sd[i] = row[i].time_sd;
	}
	if (!err) {
		p->time.form = &jetwatt_time_form;
		*s = (struct smc){ .c = &p->time, .prior = time, .x = x, .y = y, .sd = sd, .n = n, .rng = seed,
				   .spare = NAN };
		err = smc_run(s);
	}
	for (size_t i = 0; i < n && !err; i++) {
		x[i].rate = exp(p->time.mean) / row[i].time_ms;
		y[i] = log(row[i].power_w);
		sd[i] = row[i].power_sd;
	}
	if (!err) {
		p->power.form = &jetwatt_power_form;
		*s = (struct smc){ .c = &p->power, .prior = power, .x = x, .y = y, .sd = sd, .n = n, .rng = ~seed,
				   .spare = NAN };
		err = smc_run(s);
	}
	free(s);
	if (err) {
		free(p);
		p = NULL;
	}
	*out = p;
	return err;
}

void jetwatt_particles_free(struct jetwatt_particles *p)
{
	free(p);
}

/* Sums over the particles of the logarithms and of their squares, for a mode. */
struct moments {
	double sum[2], squares[2];
};

static void add_moment(struct moments *m, int power, double v)
{
	m->sum[power] += v;
	m->squares[power] += v * v;
}

/* Return: standard deviation of the logarithms of @n particles, with the scatter @own about each. */
static double moments_sd(const struct moments *m, int power, int n, double own)
{
	double mean = m->sum[power] / n;

	return sqrt(fmax(m->squares[power] / n - mean * mean, 0) + own);
}

int jetwatt_particles_predict(const struct jetwatt_particles *p, struct jetwatt_features *x, size_t n,
			      struct jetwatt_prediction *out)
{
	struct moments *m = calloc(n, sizeof(*m));
	double own[2] = { 0 };

	if (!m)
		return -ENOMEM;
	for (size_t i = 0; i < PARTICLES; i += THIN) {
		double time[JETWATT_PARAMS_MAX], power[JETWATT_PARAMS_MAX];

		p->time.form->prepare(p->time.at[i], time);
		p->power.form->prepare(p->power.at[i], power);
		own[0] += exp(2 * p->time.at[i][p->time.form->np]) / USED;
		own[1] += exp(2 * p->power.at[i][p->power.form->np]) / USED;
		for (size_t j = 0; j < n; j++) {
			double v = p->time.form->eval(time, &x[j], NULL);

			add_moment(&m[j], 0, v);
			x[j].rate = exp(p->time.mean - v);
			add_moment(&m[j], 1, p->power.form->eval(power, &x[j], NULL));
		}
	}
	for (size_t j = 0; j < n; j++)
		out[j] = (struct jetwatt_prediction){
			.time_ms = exp(m[j].sum[0] / USED), .time_sd = moments_sd(&m[j], 0, USED, own[0]),
			.power_w = exp(m[j].sum[1] / USED), .power_sd = moments_sd(&m[j], 1, USED, own[1]),
		};
	free(m);
	return 0;
}
