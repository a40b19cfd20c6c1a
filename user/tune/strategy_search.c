// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the rows of a job to the measurements that a strategy sees.
 */
#include "tune/strategy_search.h"

/* For openblas_set_num_threads(): one thread, because jetwatt shares the measured machine. */
#include <cblas.h>
#include <errno.h>
#include <string.h>

#include "util/error.h"

static int seek_failed(const struct jetwatt_strategy_search *s, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), jetwatt_error_advice(-err),
				 "strategy %s cannot continue", s->strategy->name);
}

/* Set @c to the cell that @row measured: its mode and its minibatch size. Return: 1 on success; 0
 * if the mode or the size is no candidate. */
static int seek_cell_of(const struct jetwatt_strategy_search *s, const struct jetwatt_row *row,
			struct jetwatt_cell *c)
{
	const struct jetwatt_workload_data *t = &s->known.work[0];

	*c = (struct jetwatt_cell){ .work = 0 };
	while (c->mode < s->known.n && !jetwatt_mode_same(&s->known.mode[c->mode], &row->mode))
		c->mode++;
	/* With one size, rows without a size have that size. */
	while ((t->sizes > 1 || row->batch) && c->size < t->sizes && t->size[c->size] != row->batch)
		c->size++;
	return c->mode < s->known.n && c->size < t->sizes;
}

int jetwatt_strategy_search_open(struct jetwatt_strategy_search *s, enum jetwatt_slice_kind kind, const uint32_t *size,
		      size_t sizes)
{
	const struct jetwatt_tuner *l = s->learn;
	int err = jetwatt_observed_init(&s->known, kind, l->mode, l->nr_modes, &size, &sizes);

	openblas_set_num_threads(1);
	s->known.work[0].by = &l->by;
	for (size_t i = 0; i < l->nr_rows && !err; i++) {
		struct jetwatt_cell c;

		if (seek_cell_of(s, &l->row[i], &c))
			err = jetwatt_observed_add(&s->known, &c, l->row[i].time_ms,
						   l->row[i].power_w);
	}
	if (!err && s->strategy->new)
		err = s->strategy->new(&s->state, &s->known, JETWATT_TUNER_SEED);
	return err ? seek_failed(s, err) : 0;
}

int jetwatt_strategy_search_next(struct jetwatt_strategy_search *s, struct jetwatt_cell *c)
{
	int err = s->strategy->next(s->state, &s->known, &s->q, s->max_modes, c);

	return err == 1 ? -ENODATA : err ? seek_failed(s, err) : 0;
}

int jetwatt_strategy_search_add(struct jetwatt_strategy_search *s, const struct jetwatt_cell *c)
{
	const struct jetwatt_row *row = &s->learn->row[s->learn->nr_rows - 1];
	int err = jetwatt_observed_add(&s->known, c, row->time_ms, row->power_w);

	return err ? seek_failed(s, err) : 0;
}

void jetwatt_strategy_search_close(struct jetwatt_strategy_search *s)
{
	if (s->strategy && s->strategy->free)
		s->strategy->free(s->state);
	jetwatt_observed_free(&s->known);
}
