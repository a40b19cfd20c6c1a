// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of the outputs of operators that keep or broadcast the size of their inputs, or that
 * move, cut, join or resize data.
 */
#include "model/graph_op.h"

#include <math.h>
#include <string.h>

void jetwatt_shape_same(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	static const uint8_t bits[] = { 0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64 };
	double to = jetwatt_graph_scalar(u->g, u->r.node, "to", 0);
	const char *op = jetwatt_graph_text(u->g, u->r.node->op);
	int b;

	if (!x || x->rank < 0)
		return;
	b = to > 0 && to < (double)sizeof(bits) ? bits[(int)to] : x->bits;
	if (!strcmp(op, "QuantizeLinear"))
		b = 8;
	else if (!strcmp(op, "DequantizeLinear"))
		b = 32;
	jetwatt_graph_make(u, 0, b, x->rank, x->dim);
	/* Output 1 of a dropout is its mask. The extra outputs of normalisations in training are
	 * not supported. */
	if (!strcmp(op, "Dropout"))
		jetwatt_graph_make(u, 1, 8, x->rank, x->dim);
}

/* Return: size of an output axis after broadcasting the two input axes. */
static int64_t view_broadcast_size(int64_t a, int64_t b)
{
	return a == 1 ? b : b == 1 ? a : a < 0 ? b : a;
}

void jetwatt_shape_broadcast(struct jetwatt_graph_rule *u)
{
	int rank = 0, bits = 0;
	int64_t dim[JETWATT_GRAPH_RANK];

	for (uint32_t i = 0; i < u->r.ins; i++) {
		const struct jetwatt_graph_value *x = jetwatt_graph_in(u, i);

		if (!x || x->rank < 0)
			return;
		rank = x->rank > rank ? x->rank : rank;
		/* The last input gives the type: the first input of Where is its condition. */
		bits = x->bits;
	}
	for (int d = 0; d < rank; d++) {
		dim[d] = 1;
		for (uint32_t i = 0; i < u->r.ins; i++) {
			const struct jetwatt_graph_value *x = jetwatt_graph_in(u, i);
			int at = d - (rank - x->rank);

			if (at >= 0)
				dim[d] = view_broadcast_size(dim[d], x->dim[at]);
		}
	}
	jetwatt_graph_make(u, 0, bits, rank, dim);
}

void jetwatt_shape_reshape(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "shape", 1, dim, JETWATT_GRAPH_RANK), open = -1;
	int as_is = jetwatt_graph_scalar(u->g, u->r.node, "allowzero", 0) != 0;
	double all = x ? jetwatt_graph_elements(x) : -1, rest = 1;

	if (!x || n < 0)
		return;
	for (int i = 0; i < n; i++) {
		if (!dim[i] && !as_is)
			dim[i] = i < x->rank ? x->dim[i] : JETWATT_GRAPH_OPEN;
		else if (dim[i] == -1)
			open = i;
		if (i != open)
			rest *= (double)dim[i];
	}
	if (open >= 0)
		dim[open] = all >= 0 && rest > 0 ? jetwatt_graph_dim(floor(all / rest)) :
			    JETWATT_GRAPH_OPEN;
	jetwatt_graph_make(u, 0, x->bits, n, dim);
}

void jetwatt_shape_flatten(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double a = 1, b = 1, axis = jetwatt_graph_scalar(u->g, u->r.node, "axis", 1);
	int open = 0;

	if (!x || x->rank < 0)
		return;
	if (axis < 0)
		axis += x->rank;
	for (int i = 0; i < x->rank; i++) {
		open |= (x->dim[i] < 0) << (i >= axis);
		if (i < axis)
			a *= (double)x->dim[i];
		else
			b *= (double)x->dim[i];
	}
	jetwatt_graph_make(u, 0, x->bits, 2, (int64_t[]){
		open & 1 ? JETWATT_GRAPH_OPEN : jetwatt_graph_dim(a),
		open & 2 ? JETWATT_GRAPH_OPEN : jetwatt_graph_dim(b) });
}

void jetwatt_shape_transpose(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t perm[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n;

	if (!x || x->rank < 0)
		return;
	n = jetwatt_graph_ints(u, "perm", -1, perm, JETWATT_GRAPH_RANK);
	for (int i = 0; i < x->rank; i++) {
		int64_t from = n == x->rank ? perm[i] : x->rank - 1 - i;

		if (from < 0 || from >= x->rank)
			return;
		dim[i] = x->dim[from];
	}
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_squeeze(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t axis[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "axes", 1, axis, JETWATT_GRAPH_RANK), rank = 0, gone = 0;

	if (!x || x->rank < 0 || (n < 0 && jetwatt_graph_in(u, 1)))
		return;
	for (int i = 0; i < n; i++) {
		int a = jetwatt_graph_axis((double)axis[i], x->rank);

		if (a < 0)
			return;
		gone |= 1 << a;
	}
	for (int i = 0; i < x->rank; i++)
		if (n > 0 ? !(gone >> i & 1) : x->dim[i] != 1)
			dim[rank++] = x->dim[i];
	jetwatt_graph_make(u, 0, x->bits, rank, dim);
}

void jetwatt_shape_unsqueeze(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t axis[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "axes", 1, axis, JETWATT_GRAPH_RANK), rank, new = 0, from = 0;

	if (!x || x->rank < 0 || n < 0 || x->rank + n > JETWATT_GRAPH_RANK)
		return;
	rank = x->rank + n;
	for (int i = 0; i < n; i++) {
		int a = jetwatt_graph_axis((double)axis[i], rank);

		if (a < 0 || new >> a & 1)
			return;
		new |= 1 << a;
	}
	for (int i = 0; i < rank; i++)
		dim[i] = new >> i & 1 ? 1 : x->dim[from++];
	jetwatt_graph_make(u, 0, x->bits, rank, dim);
}

void jetwatt_shape_concat(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *y;
	int64_t dim[JETWATT_GRAPH_RANK];
	double sum = 0;
	int a;

	if (!x || x->rank < 1 || u->r.node->in > JETWATT_GRAPH_OPERANDS)
		return;
	a = jetwatt_graph_axis(jetwatt_graph_scalar(u->g, u->r.node, "axis", 0), x->rank);
	if (a < 0)
		return;
	memcpy(dim, x->dim, sizeof(dim));
	for (uint32_t i = 0; i < u->r.ins; i++) {
		y = jetwatt_graph_in(u, i);
		if (!y || y->rank != x->rank)
			return;
		sum = sum < 0 || y->dim[a] < 0 ? -1 : sum + (double)y->dim[a];
		for (int d = 0; d < x->rank; d++)
			dim[d] = dim[d] < 0 ? y->dim[d] : dim[d];
	}
	dim[a] = jetwatt_graph_dim(sum);
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_split(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t part[JETWATT_GRAPH_OPERANDS], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "split", 1, part, JETWATT_GRAPH_OPERANDS), a;
	int64_t outs = u->r.node->out, each;

	if (!x || x->rank < 1 || (n < 0 && jetwatt_graph_in(u, 1)))
		return;
	a = jetwatt_graph_axis(jetwatt_graph_scalar(u->g, u->r.node, "axis", 0), x->rank);
	if (a < 0)
		return;
	memcpy(dim, x->dim, sizeof(dim));
	each = x->dim[a] < 0 ? JETWATT_GRAPH_OPEN : (x->dim[a] + outs - 1) / (outs ? outs : 1);
	for (uint32_t i = 0; i < u->r.outs; i++) {
		dim[a] = n > (int)i ? part[i] : each;
		if (n < 0 && each > 0 && i + 1 == outs)
			dim[a] = x->dim[a] - each * (outs - 1);
		jetwatt_graph_make(u, i, x->bits, x->rank, dim);
	}
}

void jetwatt_shape_slice(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t begin[JETWATT_GRAPH_RANK], end[JETWATT_GRAPH_RANK], axis[JETWATT_GRAPH_RANK];
	int64_t step[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "starts", 1, begin, JETWATT_GRAPH_RANK), ne, na, ns;

	if (!x || x->rank < 0)
		return;
	ne = jetwatt_graph_ints(u, "ends", 2, end, JETWATT_GRAPH_RANK);
	na = jetwatt_graph_ints(u, "axes", 3, axis, JETWATT_GRAPH_RANK);
	ns = jetwatt_graph_ints(u, "steps", 4, step, JETWATT_GRAPH_RANK);
	memcpy(dim, x->dim, sizeof(dim));
	if (n < 0 || ne != n || (na < 0 ? jetwatt_graph_in(u, 3) != NULL : na != n) ||
	    (ns < 0 ? jetwatt_graph_in(u, 4) != NULL : ns != n)) {
		/* If starts, ends, axes or steps are unknown, the sizes of all axes become unknown. */
		for (int i = 0; i < x->rank; i++)
			dim[i] = JETWATT_GRAPH_OPEN;
		n = 0;
	}
	for (int i = 0; i < n; i++) {
		int a = jetwatt_graph_axis((double)(na < 0 ? i : axis[i]), x->rank);
		double by = ns < 0 ? 1 : (double)step[i], size, lo = (double)begin[i], hi = (double)end[i];

		if (a < 0 || by == 0)
			return;
		size = (double)x->dim[a];
		if (size < 0)
			continue;
		lo = lo < 0 ? lo + size : lo;
		hi = hi < 0 ? hi + size : hi;
		lo = fmin(fmax(lo, 0), by > 0 ? size : size - 1);
		hi = fmin(fmax(hi, by > 0 ? 0 : -1), size);
		dim[a] = jetwatt_graph_dim(fmax(ceil((hi - lo) / by), 0));
	}
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_gather(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *at = jetwatt_graph_in(u, 1);
	int64_t dim[2 * JETWATT_GRAPH_RANK];
	int a, rank = 0;

	if (!x || !at || x->rank < 1 || at->rank < 0)
		return;
	a = jetwatt_graph_axis(jetwatt_graph_scalar(u->g, u->r.node, "axis", 0), x->rank);
	if (a < 0 || x->rank - 1 + at->rank > JETWATT_GRAPH_RANK)
		return;
	for (int i = 0; i < a; i++)
		dim[rank++] = x->dim[i];
	for (int i = 0; i < at->rank; i++)
		dim[rank++] = at->dim[i];
	for (int i = a + 1; i < x->rank; i++)
		dim[rank++] = x->dim[i];
	jetwatt_graph_make(u, 0, x->bits, rank, dim);
}

void jetwatt_shape_indices(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *at = jetwatt_graph_in(u, 1);

	if (x && at && at->rank >= 0)
		jetwatt_graph_make(u, 0, x->bits, at->rank, at->dim);
}

void jetwatt_shape_expand(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t want[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "", 1, want, JETWATT_GRAPH_RANK), rank;

	if (!x || x->rank < 0 || n < 0)
		return;
	rank = n > x->rank ? n : x->rank;
	for (int i = 0; i < rank; i++) {
		int a = i - (rank - x->rank), b = i - (rank - n);

		dim[i] = view_broadcast_size(a >= 0 ? x->dim[a] : 1, b >= 0 ? want[b] : 1);
	}
	jetwatt_graph_make(u, 0, x->bits, rank, dim);
}

void jetwatt_shape_tile(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t by[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "", 1, by, JETWATT_GRAPH_RANK);

	if (!x || x->rank < 0 || n != x->rank)
		return;
	for (int i = 0; i < n; i++)
		dim[i] = x->dim[i] < 0 ? JETWATT_GRAPH_OPEN :
			 jetwatt_graph_dim((double)x->dim[i] * (double)by[i]);
	jetwatt_graph_make(u, 0, x->bits, n, dim);
}

void jetwatt_shape_pad(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t pads[2 * JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "pads", 1, pads, 2 * JETWATT_GRAPH_RANK);

	if (!x || x->rank < 0 || n != 2 * x->rank || jetwatt_graph_in(u, 3))
		return;
	for (int i = 0; i < x->rank; i++)
		dim[i] = x->dim[i] < 0 ? JETWATT_GRAPH_OPEN :
			 jetwatt_graph_dim((double)x->dim[i] + (double)pads[i] +
					   (double)pads[x->rank + i]);
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

/* Inputs of Upsample and Resize 10: X, scales; of Resize from 11 on: X, roi, scales, sizes. */
void jetwatt_shape_resize(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	const struct jetwatt_graph_value *s = jetwatt_graph_in(u, u->r.node->in > 2 ? 2 : 1);
	const struct jetwatt_graph_attr *by = jetwatt_graph_find_attr(u->g, u->r.node, "scales");
	int64_t size[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	const double *scale = NULL;

	if (!x || x->rank < 0)
		return;
	if (jetwatt_graph_ints(u, "", 3, size, JETWATT_GRAPH_RANK) == x->rank) {
		jetwatt_graph_make(u, 0, x->bits, x->rank, size);
		return;
	}
	if (by && by->nr == (uint32_t)x->rank)
		scale = jetwatt_graph_number(u->g, by->number);
	else if (s && s->flags & JETWATT_GRAPH_NUMBERS_KNOWN && s->nr_known == x->rank)
		scale = jetwatt_graph_number(u->g, s->known);
	if (!scale)
		return;
	for (int i = 0; i < x->rank; i++)
		dim[i] = x->dim[i] < 0 ? JETWATT_GRAPH_OPEN :
			 jetwatt_graph_dim(floor((double)x->dim[i] * scale[i]));
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_topk(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t k, dim[JETWATT_GRAPH_RANK];
	int a;

	if (!x || x->rank < 1)
		return;
	a = jetwatt_graph_axis(jetwatt_graph_scalar(u->g, u->r.node, "axis", -1), x->rank);
	if (a < 0)
		return;
	memcpy(dim, x->dim, sizeof(dim));
	dim[a] = jetwatt_graph_ints(u, "k", 1, &k, 1) == 1 ? jetwatt_graph_dim((double)k) :
		 JETWATT_GRAPH_OPEN;
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
	jetwatt_graph_make(u, 1, 64, x->rank, dim);
}

/* DepthToSpace and SpaceToDepth. */
void jetwatt_shape_blocks(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double b = jetwatt_graph_scalar(u->g, u->r.node, "blocksize", 0);

	if (!x || x->rank != 4 || !(b >= 1) || jetwatt_graph_elements(x) < 0)
		return;
	if (!strcmp(jetwatt_graph_text(u->g, u->r.node->op), "SpaceToDepth"))
		b = 1 / b;
	jetwatt_graph_make(u, 0, x->bits, 4, (int64_t[]){
		x->dim[0], jetwatt_graph_dim(floor((double)x->dim[1] / b / b)),
		jetwatt_graph_dim(floor((double)x->dim[2] * b)),
		jetwatt_graph_dim(floor((double)x->dim[3] * b)) });
}
