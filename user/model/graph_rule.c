// SPDX-License-Identifier: GPL-2.0-only
/* What the rules of operators share: reading inputs and attributes of a node, and setting the size
 * of an output. */
#include "model/graph_op.h"

struct jetwatt_graph_value *jetwatt_graph_in(const struct jetwatt_graph_rule *u, uint32_t i)
{
	return i < u->r.ins ? u->r.in[i] : NULL;
}

int64_t jetwatt_graph_dim(double v)
{
	return v >= 0 && v < 1e15 ? (int64_t)v : JETWATT_GRAPH_OPEN;
}

int jetwatt_graph_axis(double axis, int rank)
{
	if (axis < 0)
		axis += rank;
	return axis >= 0 && axis < rank ? (int)axis : -1;
}

int jetwatt_graph_ints(const struct jetwatt_graph_rule *u, const char *attr, int input,
		       int64_t *out, int most)
{
	const struct jetwatt_graph_attr *a = *attr ? jetwatt_graph_find_attr(u->g, u->r.node, attr) : NULL;
	const struct jetwatt_graph_value *v = input < 0 ? NULL : jetwatt_graph_in(u, (uint32_t)input);
	uint32_t n, from;

	if (a) {
		n = a->count;
		from = a->number;
	} else if (v && v->flags & JETWATT_GRAPH_NUMBERS_KNOWN && v->rank <= 1) {
		n = v->nr_known;
		from = v->known;
	} else {
		return -1;
	}
	if (n > (uint32_t)most || (a && n > a->nr))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		double d = *jetwatt_graph_number(u->g, from + i);

		/* Limit the number, so that it fits int64_t: in Slice, the largest integer as end
		 * stands for "to the end of the axis". */
		out[i] = d >= 9e15 ? (int64_t)9e15 : d <= -9e15 ? (int64_t)-9e15 : (int64_t)d;
	}
	return (int)n;
}

void jetwatt_graph_make(struct jetwatt_graph_rule *u, uint32_t i, int bits, int rank,
			const int64_t *dim)
{
	struct jetwatt_graph_value *v = i < u->r.outs ? u->r.out[i] : NULL;

	if (!v || rank > JETWATT_GRAPH_RANK)
		return;
	v->bits = (uint8_t)bits;
	v->rank = (int8_t)rank;
	for (int d = 0; d < rank; d++)
		v->dim[d] = dim[d] < 0 ? JETWATT_GRAPH_OPEN : dim[d];
}
