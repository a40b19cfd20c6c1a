// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of the outputs of Shape, Size, ConstantOfShape, Range and Constant.
 */
#include "model/graph_op.h"

#include <math.h>
#include <string.h>

/* Shape, with start and end (from opset 15 on), and Size. */
void jetwatt_shape_shape(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double lo, hi;

	if (!strcmp(jetwatt_graph_text(u->g, u->r.node->op), "Size")) {
		jetwatt_graph_make(u, 0, 64, 0, NULL);
		return;
	}
	if (!x || x->rank < 0)
		return;
	lo = jetwatt_graph_scalar(u->g, u->r.node, "start", 0);
	hi = jetwatt_graph_scalar(u->g, u->r.node, "end", x->rank);
	lo = fmin(fmax(lo < 0 ? lo + x->rank : lo, 0), x->rank);
	hi = fmin(fmax(hi < 0 ? hi + x->rank : hi, lo), x->rank);
	jetwatt_graph_make(u, 0, 64, 1, (int64_t[]){ (int64_t)(hi - lo) });
}

void jetwatt_shape_fill(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(u->g, u->r.node, "value");
	int64_t dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "", 0, dim, JETWATT_GRAPH_RANK), bits = 32;

	if (a && a->value != JETWATT_GRAPH_NONE)
		bits = jetwatt_graph_value_at(u->g, a->value)->bits;
	if (n >= 0)
		jetwatt_graph_make(u, 0, bits, n, dim);
}

void jetwatt_shape_range(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double v[3];

	for (uint32_t i = 0; i < 3; i++) {
		const struct jetwatt_graph_value *y = jetwatt_graph_in(u, i);

		if (!y || !(y->flags & JETWATT_GRAPH_NUMBERS_KNOWN) || y->nr_known != 1)
			return;
		v[i] = *jetwatt_graph_number(u->g, y->known);
	}
	if (v[2] != 0)
		jetwatt_graph_make(u, 0, x->bits, 1, (int64_t[]){
			jetwatt_graph_dim(fmax(ceil((v[1] - v[0]) / v[2]), 0)) });
}

void jetwatt_shape_constant(struct jetwatt_graph_rule *u)
{
	static const struct { const char *name; int bits, list; } kind[] = {
		{ "value_int", 64, 0 }, { "value_ints", 64, 1 }, { "value_float", 32, 0 },
		{ "value_floats", 32, 1 },
	};
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(u->g, u->r.node, "value");

	if (a && a->value != JETWATT_GRAPH_NONE) {
		const struct jetwatt_graph_value *t = jetwatt_graph_value_at(u->g, a->value);

		jetwatt_graph_make(u, 0, t->bits, t->rank, t->dim);
		return;
	}
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		a = jetwatt_graph_find_attr(u->g, u->r.node, kind[i].name);
		if (a)
			jetwatt_graph_make(u, 0, kind[i].bits, kind[i].list,
					   (int64_t[]){ a->count });
	}
}
