// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatches to the operations of the chosen predictor, or to cross-validation around it.
 */
#include "model/estimator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/crossval.h"

const struct jetwatt_predictor *jetwatt_estimator_by(const struct jetwatt_estimator *e)
{
	return e && e->by ? e->by : jetwatt_predictor_at(0);
}

int jetwatt_estimator_learn(struct jetwatt_estimator *e, const struct jetwatt_corpus *c, size_t n,
			    uint64_t seed)
{
	const struct jetwatt_predictor *by = jetwatt_estimator_by(e);

	jetwatt_estimator_forget(e);
	return by->prior ? by->prior(&e->prior, c, n, seed) : -ENOTSUP;
}

int jetwatt_estimator_add_cross_device(struct jetwatt_estimator *e, const struct jetwatt_row *row, size_t n,
			   uint64_t seed)
{
	const struct jetwatt_predictor *by = jetwatt_estimator_by(e);

	return by->add_cross_device ? by->add_cross_device(&e->prior, row, n, seed) : -ENOTSUP;
}

int jetwatt_estimator_cross_device_agrees(const struct jetwatt_estimator *e, const struct jetwatt_row *row,
				size_t n)
{
	const struct jetwatt_predictor *by = jetwatt_estimator_by(e);

	return e && e->prior && by->cross_device_agrees && by->cross_device_agrees(e->prior, row, n);
}

int jetwatt_estimator_references_cover(const struct jetwatt_estimator *e, const struct jetwatt_mode *mode,
			       size_t n)
{
	const struct jetwatt_predictor *by = jetwatt_estimator_by(e);
	struct jetwatt_mode lo, hi;

	if (!e || !e->prior || !by->references_cover || !n)
		return 0;
	lo = hi = mode[0];
	for (size_t i = 1; i < n; i++) {
		jetwatt_mode_lower(&lo, &mode[i]);
		jetwatt_mode_raise(&hi, &mode[i]);
	}
	return by->references_cover(e->prior, &lo, &hi);
}

void jetwatt_estimator_forget(struct jetwatt_estimator *e)
{
	if (e->prior)
		jetwatt_estimator_by(e)->prior_free(e->prior);
	e->prior = NULL;
}

int jetwatt_estimator_enough(const struct jetwatt_estimator *e, size_t n)
{
	return n >= jetwatt_estimator_by(e)->min_rows || (e && e->prior);
}

static struct jetwatt_fitted *fitted_new(const struct jetwatt_predictor *by)
{
	struct jetwatt_fitted *f = calloc(1, sizeof(*f));

	if (f)
		f->by = by;
	return f;
}

/* Set @seen, @n, @lo and @hi of @f: from the fitted model if the predictor has the operation @seen,
 * else from @row. */
static int fitted_note_rows(struct jetwatt_fitted *f, const struct jetwatt_row *row, size_t n)
{
	const struct jetwatt_seen_mode *own = NULL;

	f->n = f->by->seen && f->model ? f->by->seen(f->model, &own) : n;
	f->seen = calloc(f->n ? f->n : 1, sizeof(*f->seen));
	if (!f->seen)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		const struct jetwatt_seen_mode *s = &f->seen[i];

		if (own)
			f->seen[i] = own[i];
		else
			f->seen[i] = (struct jetwatt_seen_mode){ row[i].mode, row[i].batch };
		if (!i)
			f->lo = f->hi = *s;
		jetwatt_mode_lower(&f->lo.mode, &s->mode);
		jetwatt_mode_raise(&f->hi.mode, &s->mode);
		f->lo.batch = s->batch < f->lo.batch ? s->batch : f->lo.batch;
		f->hi.batch = s->batch > f->hi.batch ? s->batch : f->hi.batch;
	}
	return 0;
}

static int fitted_train(struct jetwatt_fitted *f, const struct jetwatt_predictor_input *in)
{
	if (f->by->kind & JETWATT_PREDICTOR_INTERVAL)
		return f->by->fit(&f->model, in);
	return jetwatt_crossval_fit(&f->cross, f->by, in);
}

int jetwatt_estimator_fit(struct jetwatt_fitted **out, const struct jetwatt_estimator *e,
			  const struct jetwatt_row *row, size_t n, size_t max_rows, uint64_t seed)
{
	struct jetwatt_predictor_input in = {
		.sample = { row, NULL, n }, .max_rows = max_rows, .seed = seed,
	};
	struct jetwatt_fitted *f = fitted_new(jetwatt_estimator_by(e));
	uint32_t *batch = calloc(n + 1, sizeof(*batch));
	int err = f && batch ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; i < n && !err; i++) {
		batch[i] = row[i].batch;
		if (batch[i])
			in.sample.batch = batch;
	}
	if (!err && (!f->by->fit ||
		     (in.sample.batch && !(f->by->kind & JETWATT_PREDICTOR_BATCH)) ||
		     (f->by->kind & JETWATT_PREDICTOR_REFERENCE && !(e && e->prior))))
		err = -ENOTSUP;
	if (!err) {
		in.prior = e ? e->prior : NULL;
		in.particles = e && e->particles;
		in.highest = e && e->highest.cores ? e->highest : jetwatt_predictor_highest(row, n);
		err = fitted_train(f, &in);
	}
	if (!err)
		err = fitted_note_rows(f, row, n);
	free(batch);
	if (err) {
		jetwatt_fitted_free(f);
		return err;
	}
	*out = f;
	return 0;
}

int jetwatt_estimator_refit(struct jetwatt_fitted **out, const struct jetwatt_estimator *e,
			    const struct jetwatt_fitted *from, const struct jetwatt_row *row,
			    size_t n, uint64_t seed)
{
	struct jetwatt_fitted *f;
	int err;

	if (!from->by->refit)
		return jetwatt_estimator_fit(out, e, row, n, 0, seed);
	*out = NULL;
	f = fitted_new(from->by);
	err = f ? f->by->refit(&f->model, from->model, row, n) : -ENOMEM;
	if (!err)
		err = fitted_note_rows(f, row, n);
	if (err) {
		jetwatt_fitted_free(f);
		return err;
	}
	*out = f;
	return 0;
}

int jetwatt_fitted_predict(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			   const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	if (f->cross)
		return jetwatt_crossval_predict(f->cross, mode, batch, n, out);
	return f->by->predict(f->model, mode, batch, n, out);
}

double jetwatt_fitted_reference_weight(const struct jetwatt_fitted *f)
{
	return f && f->model && f->by->reference_weight ? f->by->reference_weight(f->model) : 0;
}

void jetwatt_fitted_free(struct jetwatt_fitted *f)
{
	if (!f)
		return;
	if (f->model)
		f->by->free(f->model);
	jetwatt_crossval_free(f->cross);
	free(f->seen);
	free(f);
}

size_t jetwatt_fitted_sizes(const struct jetwatt_fitted *f, uint32_t *size, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n && n < max; i++) {
		uint32_t is = f->seen[i].batch;
		size_t at = 0;

		while (at < n && size[at] < is)
			at++;
		if (!is || (at < n && size[at] == is))
			continue;
		memmove(size + at + 1, size + at, (n++ - at) * sizeof(*size));
		size[at] = is;
	}
	return n;
}

int jetwatt_fitted_beyond(const struct jetwatt_fitted *f, const struct jetwatt_mode *mode,
			  uint32_t batch)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(mode, k) < jetwatt_mode_get(&f->lo.mode, k) ||
		    jetwatt_mode_get(mode, k) > jetwatt_mode_get(&f->hi.mode, k))
			return 1;
	return batch && (batch < f->lo.batch || batch > f->hi.batch);
}

int jetwatt_fitted_save(const struct jetwatt_fitted *f, unsigned char **out, size_t *len)
{
	return f->by->save && f->model ? f->by->save(f->model, out, len) : -ENOTSUP;
}

/* Formats must begin with different words, so that at most one predictor accepts the bytes. */
int jetwatt_fitted_load(struct jetwatt_fitted **out, const unsigned char *in, size_t len)
{
	const struct jetwatt_predictor *by;
	struct jetwatt_fitted *f;
	int err = -EINVAL;

	*out = NULL;
	for (size_t i = 0; err == -EINVAL && (by = jetwatt_predictor_at(i)); i++) {
		if (!by->load)
			continue;
		f = fitted_new(by);
		err = f ? by->load(&f->model, in, len) : -ENOMEM;
		if (!err)
			err = fitted_note_rows(f, NULL, 0);
		if (!err)
			*out = f;
		else
			jetwatt_fitted_free(f);
	}
	return err;
}
