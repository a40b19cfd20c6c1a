// SPDX-License-Identifier: GPL-2.0-only
/* Reads an exported trace into arrays for a plot. */
#include "timeline.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct growing {
	double *v;
	size_t n, room;
};

static int push(struct growing *g, double x)
{
	if (g->n == g->room) {
		size_t room = g->room ? 2 * g->room : 4096;
		double *v = realloc(g->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->v = v;
		g->room = room;
	}
	g->v[g->n++] = x;
	return 0;
}

struct reading {
	struct growing t, w, bound, mark;
	json_t *total;	/* for each rail, true: it is part of the total */
	double start_ns;
};

static json_t *totals(const json_t *header)
{
	json_t *rails = json_object_get(header, "rails"), *total = json_array(), *rail;
	size_t i;

	json_array_foreach(rails, i, rail)
		json_array_append(total, json_object_get(rail, "in_total"));
	return total;
}

static double watts(const struct reading *r, const json_t *uw)
{
	double sum = 0;

	for (size_t i = 0; i < json_array_size(uw); i++)
		if (json_is_true(json_array_get(r->total, i)))
			sum += json_number_value(json_array_get(uw, i));
	return sum * 1e-6;
}

static int line(struct reading *r, const json_t *j)
{
	const char *type = json_string_value(json_object_get(j, "type"));
	double t = json_number_value(json_object_get(j, "t_ns"));
	int err = 0;

	if (!type)
		return 0;
	if (!strcmp(type, "header")) {
		json_decref(r->total);
		r->total = totals(j);
	} else if (!strcmp(type, "power")) {
		if (!r->start_ns)
			r->start_ns = t;
		err = push(&r->t, (t - r->start_ns) * 1e-9);
		if (!err)
			err = push(&r->w, watts(r, json_object_get(j, "uw")));
	} else if (!strcmp(type, "mode") && r->start_ns) {
		err = push(&r->mark, (t - r->start_ns) * 1e-9);
	} else if (!strcmp(type, "minibatch") && r->start_ns) {
		t = json_number_value(json_object_get(j, "end_ns"));
		err = push(&r->bound, (t - r->start_ns) * 1e-9);
	}
	return err;
}

int timeline_read(struct timeline *t, const char *path)
{
	FILE *f = fopen(path, "r");
	struct reading r = { .total = NULL };
	char *text = NULL;
	size_t cap = 0;
	int err = f ? 0 : -errno;

	while (!err && getline(&text, &cap, f) > 0) {
		json_t *j = json_loads(text, 0, NULL);

		if (j)
			err = line(&r, j);
		json_decref(j);
	}
	free(text);
	json_decref(r.total);
	if (f)
		fclose(f);
	*t = (struct timeline){
		.t_s = r.t.v, .w = r.w.v, .n = r.w.n,
		.bound_s = r.bound.v, .bounds = r.bound.n,
		.mark_s = r.mark.v, .marks = r.mark.n,
	};
	return err;
}

void timeline_free(struct timeline *t)
{
	free(t->t_s);
	free(t->w);
	free(t->bound_s);
	free(t->mark_s);
}
