// SPDX-License-Identifier: GPL-2.0-only
/*
 * File format of a model: little-endian, doubles as IEEE 754 binary64.
 *
 *	magic "jwmodel\n", u32 version, u32 rows, f64 log time at the reference point
 *	rows: u32 cores, cpu_khz; u64 gpu_hz, emc_hz; u32 batch
 *	time, then power: u32 number of parameters; theta, prior mean and prior sd of each;
 *		amplitude, nugget, growth, length scales; calibration factor; for each row: value,
 *		standard error, outlier weight, sensitivity, rate
 *	u32 CRC-32 (as zlib computes it) of all bytes before it
 *
 * Version 2, for models with optional knobs: u32 number of optional knobs after the number of rows,
 * a u64 for each of them at the end of a row, and the length scales of their features.
 *
 * Matrices are computed on loading, so a file cannot contain matrices that contradict its rows.
 * Transferred rows (cross_device.h) and references (transfer.h) are not part of the file.
 */
#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC		"jwmodel\n"
#define MAGIC_LEN	8
#define VERSION		1
#define VERSION_OPTIONAL	2
#define OPTIONAL	(JETWATT_KNOBS - JETWATT_DIMS)
#define ROW_LEN		28
/* Bound of the absolute value of a parameter; parameters are logarithms. */
#define THETA_MAX	60
/* Bound of a standard error, so that its square is finite. */
#define SD_MAX		1e150

/**
 * struct bytes - cursor for writing or reading a saved model
 * @at: next byte
 * @left: number of bytes left to read
 * @bad: set when a value is out of range or not the expected one, or the bytes run out
 */
struct bytes {
	unsigned char *at;
	size_t left;
	int bad;
};

static void save_put(struct bytes *b, uint64_t v, int size)
{
	for (int i = 0; i < size; i++)
		*b->at++ = v >> 8 * i;
}

static uint64_t save_get(struct bytes *b, size_t size)
{
	uint64_t v = 0;

	if (b->left < size) {
		b->bad = 1;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		v |= (uint64_t)*b->at++ << 8 * i;
	b->left -= size;
	return v;
}

static void save_put_real(struct bytes *b, double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	save_put(b, u, 8);
}

static double save_get_real(struct bytes *b, double lo, double hi)
{
	uint64_t u = save_get(b, 8);
	double v;

	memcpy(&v, &u, sizeof(v));
	if (!(v >= lo && v <= hi))
		b->bad = 1;
	return b->bad ? 1 : v;
}

/* Write the number *@v to @b or, if @in is 1, read it from @b. One function does both, so that the
 * writer and the reader have the same format. */
static void save_real(struct bytes *b, int in, double *v, double lo, double hi)
{
	if (in)
		*v = save_get_real(b, lo, hi);
	else
		save_put_real(b, *v);
}

/* Write the numbers of a response surface, or read them if @in is set. */
static void save_surface(struct bytes *b, int in, struct jetwatt_surface *s, int optional)
{
	int np = s->form->np;

	if (!in)
		save_put(b, np, 4);
	else if (save_get(b, 4) != (uint64_t)np)
		b->bad = 1;
	for (int k = 0; k < np; k++) {
		save_real(b, in, &s->theta[k], -THETA_MAX, THETA_MAX);
		save_real(b, in, &s->prior.mu[k], -THETA_MAX, THETA_MAX);
		save_real(b, in, &s->prior.sd[k], 1e-3, THETA_MAX);
	}
	save_real(b, in, &s->gp.amp, 1e-9, 1e3);
	save_real(b, in, &s->gp.noise, 1e-9, 1e3);
	save_real(b, in, &s->gp.growth, 0, 1e6);
	for (int d = 0; in && d < JETWATT_FEATURES; d++)
		s->gp.len[d] = JETWATT_GP_LEN;
	for (int d = 0; d <= JETWATT_BATCH + optional; d++)
		save_real(b, in, &s->gp.len[d], 1e-6, 1e6);
	save_real(b, in, &s->calibration, 1e-3, 1e3);
	for (size_t i = 0; i < s->n && !b->bad; i++) {
		save_real(b, in, &s->y[i], -700, 700);
		save_real(b, in, &s->sd[i], 0, SD_MAX);
		save_real(b, in, &s->outlier_weight[i], 1, 1e3);
		save_real(b, in, &s->x[i].cpu_sensitivity, 0, 1e3);
		save_real(b, in, &s->x[i].rate, 1e-300, 1e300);
	}
}

static size_t save_surface_len(const struct jetwatt_form *f, size_t n, int optional)
{
	return 4 + 8 * (3 * f->np + 3 + JETWATT_BATCH + 1 + optional + 1 + 5 * n);
}

static size_t save_model_len(size_t n, int optional)
{
	return MAGIC_LEN + 16 + (optional ? 4 : 0) + (ROW_LEN + 8 * optional) * n +
	       save_surface_len(&jetwatt_time_form, n, optional) +
	       save_surface_len(&jetwatt_power_form, n, optional) + 4;
}

static enum jetwatt_knob optional_knob(int i)
{
	return (enum jetwatt_knob)(JETWATT_DIMS + i);
}

/* Return: number of optional knobs in the file; 0 if no mode sets an optional knob. */
static int save_optional_knobs(const struct jetwatt_model *m)
{
	for (size_t i = 0; i < m->time->n; i++)
		for (int k = 0; k < OPTIONAL; k++)
			if (jetwatt_mode_get(&m->seen[i].mode, optional_knob(k)))
				return OPTIONAL;
	return 0;
}

/* Write the knobs of a mode that are not optional: cores and CPU clock in 4 bytes each, the other
 * knobs in 8. */
static void save_put_mode(struct bytes *b, const struct jetwatt_mode *m)
{
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_DIMS; k = JETWATT_KNOB_NEXT(k))
		save_put(b, jetwatt_mode_get(m, k), jetwatt_knob_row(k)->max > UINT32_MAX ? 8 : 4);
}

static void save_get_mode(struct bytes *b, struct jetwatt_mode *m)
{
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_DIMS; k = JETWATT_KNOB_NEXT(k))
		jetwatt_mode_set(m, k, save_get(b, jetwatt_knob_row(k)->max > UINT32_MAX ? 8 : 4));
}

int jetwatt_model_save(const struct jetwatt_model *m, unsigned char **out, size_t *len)
{
	int optional = save_optional_knobs(m);
	size_t n = m->time->n;
	struct bytes b;

	if (n > JETWATT_FIT_MAX)
		return -EFBIG;
	*len = save_model_len(n, optional);
	*out = malloc(*len);
	if (!*out)
		return -ENOMEM;
	memcpy(*out, MAGIC, MAGIC_LEN);
	b = (struct bytes){ *out + MAGIC_LEN, 0, 0 };
	save_put(&b, optional ? VERSION_OPTIONAL : VERSION, 4);
	save_put(&b, n, 4);
	if (optional)
		save_put(&b, optional, 4);
	save_put_real(&b, m->at_ref);
	for (size_t i = 0; i < n; i++) {
		save_put_mode(&b, &m->seen[i].mode);
		save_put(&b, m->seen[i].batch, 4);
		for (int k = 0; k < optional; k++)
			save_put(&b, jetwatt_mode_get(&m->seen[i].mode, optional_knob(k)), 8);
	}
	save_surface(&b, 0, m->time, optional);
	save_surface(&b, 0, m->power, optional);
	save_put(&b, crc32(0, *out, b.at - *out), 4);
	return 0;
}

static int load_points(struct jetwatt_model *m, struct bytes *b, size_t n, int optional)
{
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_seen_mode *s = &m->seen[i];
		int err;

		save_get_mode(b, &s->mode);
		s->batch = save_get(b, 4);
		for (int k = 0; k < optional; k++)
			jetwatt_mode_set(&s->mode, optional_knob(k), save_get(b, 8));
		err = jetwatt_features_of(&m->time->x[i], &s->mode);
		if (err)
			return err;
		jetwatt_features_batch(&m->time->x[i], s->batch);
		m->power->x[i] = m->time->x[i];
	}
	return 0;
}

static int load_model(struct jetwatt_model *m, struct bytes *b, size_t n, int optional)
{
	int err;

	m->at_ref = save_get_real(b, -700, 700);
	m->seen = calloc(n, sizeof(*m->seen));
	m->time = jetwatt_surface_new(&jetwatt_time_form, n);
	m->power = jetwatt_surface_new(&jetwatt_power_form, n);
	if (!m->seen || !m->time || !m->power)
		return -ENOMEM;
	err = load_points(m, b, n, optional);
	if (err)
		return err;
	save_surface(b, 1, m->time, optional);
	save_surface(b, 1, m->power, optional);
	if (b->bad)
		return -EINVAL;
	err = jetwatt_surface_restore(m->time);
	return err ? err : jetwatt_surface_restore(m->power);
}

int jetwatt_model_load(struct jetwatt_model **out, const unsigned char *in, size_t len)
{
	struct jetwatt_model *m;
	struct bytes b, sum;
	uint64_t version, optional = 0;
	size_t n;
	int err;

	*out = NULL;
	if (len < MAGIC_LEN + 20 || memcmp(in, MAGIC, MAGIC_LEN))
		return -EINVAL;
	b = (struct bytes){ (unsigned char *)in + MAGIC_LEN, len - MAGIC_LEN, 0 };
	sum = (struct bytes){ (unsigned char *)in + len - 4, 4, 0 };
	version = save_get(&b, 4);
	if (version != VERSION && version != VERSION_OPTIONAL)
		return -EPROTONOSUPPORT;
	n = save_get(&b, 4);
	if (version == VERSION_OPTIONAL)
		optional = save_get(&b, 4);
	/* The file was written by a newer jetwatt that has more optional knobs. */
	if (optional > OPTIONAL)
		return -EPROTONOSUPPORT;
	if (!n || n > JETWATT_FIT_MAX || len != save_model_len(n, (int)optional) ||
	    save_get(&sum, 4) != crc32(0, in, len - 4))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	err = load_model(m, &b, n, (int)optional);
	if (err) {
		jetwatt_model_free(m);
		return err == -EDOM ? -EINVAL : err;
	}
	*out = m;
	return 0;
}

size_t jetwatt_model_rows(const struct jetwatt_model *m)
{
	return m->time->n;
}
