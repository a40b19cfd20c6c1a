// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model as bytes: little-endian, doubles as IEEE 754 binary64.
 *
 *	magic "jwmodel\n", u32 version, u32 rows, f64 reference time
 *	rows: u32 cores, cpu_khz; u64 gpu_hz, emc_hz; u32 batch
 *	time, then power: u32 parameters; theta, mu, sd of each; amp, noise, rough,
 *		lengths; scale; rows: value, its error, heaviness, rough, rate
 *	u32 CRC-32 (as zlib's) of all before
 *
 * Version 2, of a model with values of optional knobs: u32 number of these behind the rows'
 * number; u64 of each at the end of a row; more lengths, of their features.
 *
 * Only what cannot be computed from the rest is in it: matrices are made anew,
 * so a file cannot hold ones that contradict each other. What a model has heard of
 * other boards (twin.h) and workloads (transfer.h) stays with its prior.
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
/* Parameters are logarithms of shares; none is e^60. */
#define THETA_MAX	60

/* Bytes on their way out or in; @bad once there were too few, or a wrong one. */
struct bytes {
	unsigned char *at;
	size_t left;
	int bad;
};

static void put(struct bytes *b, uint64_t v, int size)
{
	for (int i = 0; i < size; i++)
		*b->at++ = v >> 8 * i;
}

static uint64_t get(struct bytes *b, size_t size)
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

static void put_real(struct bytes *b, double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	put(b, u, 8);
}

static double get_real(struct bytes *b, double lo, double hi)
{
	uint64_t u = get(b, 8);
	double v;

	memcpy(&v, &u, sizeof(v));
	if (!(v >= lo && v <= hi))
		b->bad = 1;
	return b->bad ? 1 : v;
}

/* What a surface has to keep: put and get in one, so that they agree. */
static void real(struct bytes *b, int in, double *v, double lo, double hi)
{
	if (in)
		*v = get_real(b, lo, hi);
	else
		put_real(b, *v);
}

static void surface(struct bytes *b, int in, struct jetwatt_surface *s, int optional)
{
	int np = s->form->np;

	if (!in)
		put(b, np, 4);
	else if (get(b, 4) != (uint64_t)np)
		b->bad = 1;
	for (int k = 0; k < np; k++) {
		real(b, in, &s->theta[k], -THETA_MAX, THETA_MAX);
		real(b, in, &s->belief.mu[k], -THETA_MAX, THETA_MAX);
		real(b, in, &s->belief.sd[k], 1e-3, THETA_MAX);
	}
	real(b, in, &s->gp.amp, 1e-9, 1e3);
	real(b, in, &s->gp.noise, 1e-9, 1e3);
	real(b, in, &s->gp.rough, 0, 1e6);
	for (int d = 0; in && d < JETWATT_FEATURES; d++)
		s->gp.len[d] = JETWATT_GP_LEN;
	for (int d = 0; d <= JETWATT_BATCH + optional; d++)
		real(b, in, &s->gp.len[d], 1e-6, 1e6);
	real(b, in, &s->scale, 1e-3, 1e3);
	for (size_t i = 0; i < s->n && !b->bad; i++) {
		real(b, in, &s->y[i], -700, 700);
		real(b, in, &s->sd[i], 1e-9, 1e3);
		real(b, in, &s->heavy[i], 1, 1e3);
		real(b, in, &s->x[i].rough, 0, 1e3);
		real(b, in, &s->x[i].rate, 1e-300, 1e300);
	}
}

static size_t surface_len(const struct jetwatt_form *f, size_t n, int optional)
{
	return 4 + 8 * (3 * f->np + 3 + JETWATT_BATCH + 1 + optional + 1 + 5 * n);
}

static size_t model_len(size_t n, int optional)
{
	return MAGIC_LEN + 16 + (optional ? 4 : 0) + (ROW_LEN + 8 * optional) * n +
	       surface_len(&jetwatt_roof, n, optional) +
	       surface_len(&jetwatt_watts, n, optional) + 4;
}

static enum jetwatt_knob optional_knob(int i)
{
	return (enum jetwatt_knob)(JETWATT_DIMS + i);
}

/* How many optional knobs have to be in the file. */
static int optional_of(const struct jetwatt_model *m)
{
	for (size_t i = 0; i < m->time->n; i++)
		for (int k = 0; k < OPTIONAL; k++)
			if (jetwatt_mode_get(&m->seen[i].mode, optional_knob(k)))
				return OPTIONAL;
	return 0;
}

/* A mode: its first two members have 4 bytes. */
static void put_mode(struct bytes *b, const struct jetwatt_mode *m)
{
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_DIMS; k = JETWATT_KNOB_NEXT(k))
		put(b, jetwatt_mode_get(m, k), jetwatt_knob_row(k)->max > UINT32_MAX ? 8 : 4);
}

static void get_mode(struct bytes *b, struct jetwatt_mode *m)
{
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_DIMS; k = JETWATT_KNOB_NEXT(k))
		jetwatt_mode_set(m, k, get(b, jetwatt_knob_row(k)->max > UINT32_MAX ? 8 : 4));
}

int jetwatt_model_save(const struct jetwatt_model *m, unsigned char **out, size_t *len)
{
	int optional = optional_of(m);
	size_t n = m->time->n;
	struct bytes b;

	*len = model_len(n, optional);
	*out = malloc(*len);
	if (!*out)
		return -ENOMEM;
	memcpy(*out, MAGIC, MAGIC_LEN);
	b = (struct bytes){ *out + MAGIC_LEN, 0, 0 };
	put(&b, optional ? VERSION_OPTIONAL : VERSION, 4);
	put(&b, n, 4);
	if (optional)
		put(&b, optional, 4);
	put_real(&b, m->at_ref);
	for (size_t i = 0; i < n; i++) {
		put_mode(&b, &m->seen[i].mode);
		put(&b, m->seen[i].batch, 4);
		for (int k = 0; k < optional; k++)
			put(&b, jetwatt_mode_get(&m->seen[i].mode, optional_knob(k)), 8);
	}
	surface(&b, 0, m->time, optional);
	surface(&b, 0, m->power, optional);
	put(&b, crc32(0, *out, b.at - *out), 4);
	return 0;
}

static int read_points(struct jetwatt_model *m, struct bytes *b, size_t n, int optional)
{
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_seen_mode *s = &m->seen[i];
		int err;

		get_mode(b, &s->mode);
		s->batch = get(b, 4);
		for (int k = 0; k < optional; k++)
			jetwatt_mode_set(&s->mode, optional_knob(k), get(b, 8));
		err = jetwatt_point_of(&m->time->x[i], &s->mode);
		if (err)
			return err;
		jetwatt_point_batch(&m->time->x[i], s->batch);
		m->power->x[i] = m->time->x[i];
	}
	return 0;
}

static int read_model(struct jetwatt_model *m, struct bytes *b, size_t n, int optional)
{
	int err;

	m->at_ref = get_real(b, -700, 700);
	m->seen = calloc(n, sizeof(*m->seen));
	m->time = jetwatt_surface_new(&jetwatt_roof, n);
	m->power = jetwatt_surface_new(&jetwatt_watts, n);
	if (!m->seen || !m->time || !m->power)
		return -ENOMEM;
	err = read_points(m, b, n, optional);
	if (err)
		return err;
	surface(b, 1, m->time, optional);
	surface(b, 1, m->power, optional);
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
	version = get(&b, 4);
	if (version != VERSION && version != VERSION_OPTIONAL)
		return -EPROTONOSUPPORT;
	n = get(&b, 4);
	if (version == VERSION_OPTIONAL)
		optional = get(&b, 4);
	/* Of a jetwatt that has more knobs. */
	if (optional > OPTIONAL)
		return -EPROTONOSUPPORT;
	if (!n || n > JETWATT_FIT_MAX || len != model_len(n, (int)optional) ||
	    get(&sum, 4) != crc32(0, in, len - 4))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	err = read_model(m, &b, n, (int)optional);
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
