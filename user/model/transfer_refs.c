// SPDX-License-Identifier: GPL-2.0-only
/* The references of a prior, and what they predict for each mode. */
#include "model/transfer_refs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The references cover a range of a knob if each end is within this factor of their own range. */
#define COVER_FACTOR	1.5

struct jetwatt_transfer *jetwatt_transfer_new(size_t n)
{
	struct jetwatt_transfer *t = calloc(1, sizeof(*t) + n * sizeof(t->ref[0]));

	if (t)
		t->users = 1;
	return t;
}

/* Return: the mode whose log power is closest to @power, the mean log power of the rows. */
static struct jetwatt_mode transfer_middle_of(const struct jetwatt_row *row, size_t n, double power)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		if (fabs(log(row[i].power_w) - power) < fabs(log(row[at].power_w) - power))
			at = i;
	return row[at].mode;
}

void jetwatt_transfer_add(struct jetwatt_transfer *t, struct jetwatt_model *m,
			  const struct jetwatt_row *row, size_t n)
{
	double mean[SIDES] = { 0 };

	for (size_t i = 0; i < n; i++) {
		mean[TIME] += log(row[i].time_ms) / n;
		mean[POWER] += log(row[i].power_w) / n;
	}
	t->ref[t->n].m = m;
	t->ref[t->n].lo = t->ref[t->n].hi = row[0].mode;
	for (size_t i = 1; i < n; i++) {
		jetwatt_mode_lower(&t->ref[t->n].lo, &row[i].mode);
		jetwatt_mode_raise(&t->ref[t->n].hi, &row[i].mode);
	}
	t->ref[t->n].middle = transfer_middle_of(row, n, mean[POWER]);
	memcpy(t->ref[t->n++].mean, mean, sizeof(mean));
}

int jetwatt_transfer_covers(const struct jetwatt_transfer *t, const struct jetwatt_mode *lo,
			    const struct jetwatt_mode *hi)
{
	struct jetwatt_mode low = t->ref[0].lo, high = t->ref[0].hi;

	for (size_t r = 1; r < t->n; r++) {
		jetwatt_mode_lower(&low, &t->ref[r].lo);
		jetwatt_mode_raise(&high, &t->ref[r].hi);
	}
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(&low, k) > COVER_FACTOR * jetwatt_mode_get(lo, k) ||
		    COVER_FACTOR * jetwatt_mode_get(&high, k) < jetwatt_mode_get(hi, k))
			return 0;
	return 1;
}

size_t jetwatt_transfer_count(const struct jetwatt_transfer *t)
{
	return t ? t->n : 0;
}

struct jetwatt_transfer *jetwatt_transfer_get(struct jetwatt_transfer *t)
{
	if (t)
		__atomic_add_fetch(&t->users, 1, __ATOMIC_RELAXED);
	return t;
}

static void said_forget(struct jetwatt_transfer *t)
{
	free(t->mode);
	free(t->said);
	jetwatt_mode_index_close(&t->index);
	t->mode = NULL;
	t->said = NULL;
	t->modes = t->max = 0;
}

void jetwatt_transfer_put(struct jetwatt_transfer *t)
{
	if (!t || __atomic_sub_fetch(&t->users, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < t->n; i++)
		jetwatt_model_free(t->ref[i].m);
	said_forget(t);
	free(t);
}

struct jetwatt_mode jetwatt_transfer_middle(const struct jetwatt_transfer *t)
{
	return t->ref[0].middle;
}

/* Allocate memory for predictions of @more further modes. */
static int said_reserve(struct jetwatt_transfer *t, size_t more)
{
	struct jetwatt_prediction *of;
	struct jetwatt_mode *mode;

	if (t->modes + more <= t->max)
		return 0;
	t->max = t->modes + t->modes / 4 + more;
	mode = reallocarray(t->mode, t->max, sizeof(*mode));
	t->mode = mode ? mode : t->mode;
	of = reallocarray(t->said, t->max, t->n * sizeof(*of));
	t->said = of ? of : t->said;
	jetwatt_mode_index_close(&t->index);
	if (!mode || !of || jetwatt_mode_index_open(&t->index, t->max))
		return -ENOMEM;
	for (size_t i = 0; i < t->modes; i++)
		jetwatt_mode_index_add(&t->index, t->mode, i);
	return 0;
}

/* Set @said as jetwatt_transfer_said() does, without the stored predictions. */
static int said_compute(const struct jetwatt_transfer *t, const struct jetwatt_mode *mode, size_t n,
			struct jetwatt_prediction *said)
{
	struct jetwatt_prediction *one = malloc(n * sizeof(*one));
	int err = one ? 0 : -ENOMEM;

	for (size_t r = 0; r < t->n && !err; r++) {
		err = jetwatt_model_predict(t->ref[r].m, mode, n, one);
		for (size_t i = 0; i < n && !err; i++)
			said[i * t->n + r] = one[i];
	}
	free(one);
	return err;
}

/* Predict the modes that have no stored prediction. After an error, forget all predictions. */
static int said_store(struct jetwatt_transfer *t, const struct jetwatt_mode *mode, size_t n)
{
	size_t was = t->modes, fresh = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		fresh += jetwatt_mode_index_find(&t->index, t->mode, &mode[i]) < 0;
	if (!fresh)
		return 0;
	err = said_reserve(t, fresh);
	for (size_t i = 0; i < n && !err; i++) {
		if (jetwatt_mode_index_find(&t->index, t->mode, &mode[i]) >= 0)
			continue;
		t->mode[t->modes] = mode[i];
		jetwatt_mode_index_add(&t->index, t->mode, t->modes++);
	}
	if (!err)
		err = said_compute(t, t->mode + was, t->modes - was, t->said + was * t->n);
	if (err)
		said_forget(t);
	return err;
}

int jetwatt_transfer_said(struct jetwatt_transfer *t, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *said)
{
	int err;

	if (!n || !t->n)
		return 0;
	if (__atomic_test_and_set(&t->busy, __ATOMIC_ACQUIRE))
		return said_compute(t, mode, n, said);
	err = said_store(t, mode, n);
	for (size_t i = 0; i < n && !err; i++) {
		size_t at = (size_t)jetwatt_mode_index_find(&t->index, t->mode, &mode[i]);

		memcpy(said + i * t->n, t->said + at * t->n, t->n * sizeof(*said));
	}
	__atomic_clear(&t->busy, __ATOMIC_RELEASE);
	return err;
}
