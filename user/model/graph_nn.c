// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of the outputs of convolutions, pools, products, recurrent layers and reductions.
 */
#include "model/graph_op.h"

#include <math.h>
#include <string.h>

/* Return: size of an output axis of a convolution or pool; see Conv and MaxPool in ONNX's
 * Operators.md. @up: round up (ceil_mode). */
static int64_t nn_window_size(const char *pad, double in, double kernel, double stride,
			      double dilation, double pads, int up)
{
	double reach = (kernel - 1) * dilation + 1, out;

	if (in < 0 || !(stride >= 1) || !(dilation >= 1) || !(kernel >= 1))
		return JETWATT_GRAPH_OPEN;
	if (!strncmp(pad, "SAME", 4))
		return jetwatt_graph_dim(ceil(in / stride));
	if (!strcmp(pad, "VALID"))
		pads = 0;
	out = (in + pads - reach) / stride + 1;
	return jetwatt_graph_dim(up ? ceil(out) : floor(out));
}

/* Set the entries of @v that the file does not give, from @have on (from 0 if @have is negative),
 * to @other. @v has @n entries. */
static void nn_defaults(int64_t *v, int have, int n, int64_t other)
{
	for (int i = have < 0 ? 0 : have; i < n; i++)
		v[i] = other;
}

/* Set the output size of a sliding-window operator (convolution or pool). @w: weights, whose first
 * axis is the number of output channels; NULL: a pool. @bits: bits of an output element; 0: as many
 * as an element of the input has. */
static void nn_sliding_window(struct jetwatt_graph_rule *u, const struct jetwatt_graph_value *w,
			      int bits)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	const struct jetwatt_graph_attr *pad = jetwatt_graph_find_attr(u->g, u->r.node, "auto_pad");
	int64_t k[JETWATT_GRAPH_RANK], s[JETWATT_GRAPH_RANK], d[JETWATT_GRAPH_RANK];
	int64_t p[2 * JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n, have, up = jetwatt_graph_scalar(u->g, u->r.node, "ceil_mode", 0) != 0;

	if (!x || x->rank < 3 || (w && w->rank != x->rank))
		return;
	n = x->rank - 2;
	have = jetwatt_graph_ints(u, "kernel_shape", -1, k, n);
	if (w)
		for (int i = 0; i < n; i++)
			k[i] = w->dim[2 + i];
	else if (have != n)
		return;
	nn_defaults(s, jetwatt_graph_ints(u, "strides", -1, s, n), n, 1);
	nn_defaults(d, jetwatt_graph_ints(u, "dilations", -1, d, n), n, 1);
	nn_defaults(p, jetwatt_graph_ints(u, "pads", -1, p, 2 * n), 2 * n, 0);
	dim[0] = x->dim[0];
	dim[1] = w ? w->dim[0] : x->dim[1];
	for (int i = 0; i < n; i++)
		dim[2 + i] = nn_window_size(pad ? jetwatt_graph_text(u->g, pad->text) : "",
					    (double)x->dim[2 + i], (double)k[i], (double)s[i],
					    (double)d[i], (double)p[i] + (double)p[n + i], up);
	jetwatt_graph_make(u, 0, bits ? bits : x->bits, x->rank, dim);
	if (!w)
		jetwatt_graph_make(u, 1, 64, x->rank, dim);
}

void jetwatt_shape_conv(struct jetwatt_graph_rule *u)
{
	if (jetwatt_graph_in(u, 1))
		nn_sliding_window(u, jetwatt_graph_in(u, 1), 0);
}

void jetwatt_shape_conv_integer(struct jetwatt_graph_rule *u)
{
	if (jetwatt_graph_in(u, 1))
		nn_sliding_window(u, jetwatt_graph_in(u, 1), 32);
}

void jetwatt_shape_pool(struct jetwatt_graph_rule *u)
{
	nn_sliding_window(u, NULL, 0);
}

void jetwatt_shape_deconv(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *w = jetwatt_graph_in(u, 1);
	const struct jetwatt_graph_attr *pad = jetwatt_graph_find_attr(u->g, u->r.node, "auto_pad");
	int64_t s[JETWATT_GRAPH_RANK], d[JETWATT_GRAPH_RANK], p[2 * JETWATT_GRAPH_RANK];
	int64_t o[JETWATT_GRAPH_RANK], want[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	double groups = jetwatt_graph_scalar(u->g, u->r.node, "group", 1);
	int n, same = pad && !strncmp(jetwatt_graph_text(u->g, pad->text), "SAME", 4), given;

	if (!x || !w || x->rank < 3 || w->rank != x->rank)
		return;
	n = x->rank - 2;
	nn_defaults(s, jetwatt_graph_ints(u, "strides", -1, s, n), n, 1);
	nn_defaults(d, jetwatt_graph_ints(u, "dilations", -1, d, n), n, 1);
	nn_defaults(p, jetwatt_graph_ints(u, "pads", -1, p, 2 * n), 2 * n, 0);
	nn_defaults(o, jetwatt_graph_ints(u, "output_padding", -1, o, n), n, 0);
	given = jetwatt_graph_ints(u, "output_shape", -1, want, n) == n;
	dim[0] = x->dim[0];
	dim[1] = w->dim[1] < 0 ? JETWATT_GRAPH_OPEN : jetwatt_graph_dim((double)w->dim[1] * groups);
	for (int i = 0; i < n; i++) {
		double in = (double)x->dim[2 + i], k = (double)w->dim[2 + i], out;

		out = (double)s[i] * (in - 1) + (double)o[i] + (k - 1) * (double)d[i] + 1 -
		      (double)p[i] - (double)p[n + i];
		if (same)
			out = in * (double)s[i];
		dim[2 + i] = given	     ? want[i] :
			     in < 0 || k < 0 ? JETWATT_GRAPH_OPEN :
					       jetwatt_graph_dim(out);
	}
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_global(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t dim[JETWATT_GRAPH_RANK];

	if (!x || x->rank < 2)
		return;
	for (int i = 0; i < x->rank; i++)
		dim[i] = i < 2 ? x->dim[i] : 1;
	jetwatt_graph_make(u, 0, x->bits, x->rank, dim);
}

void jetwatt_shape_gemm(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *a = jetwatt_graph_in(u, 0), *b = jetwatt_graph_in(u, 1);
	int ta = jetwatt_graph_scalar(u->g, u->r.node, "transA", 0) != 0;
	int tb = jetwatt_graph_scalar(u->g, u->r.node, "transB", 0) != 0;

	if (a && b && a->rank == 2 && b->rank == 2)
		jetwatt_graph_make(u, 0, a->bits, 2, (int64_t[]){ a->dim[ta], b->dim[!tb] });
}

/* Matrix product as in numpy: a vector is a row or a column matrix, and its extra axis is removed
 * from the output. */
void jetwatt_shape_matmul(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *a = jetwatt_graph_in(u, 0), *b = jetwatt_graph_in(u, 1);
	int64_t dim[JETWATT_GRAPH_RANK];
	int n, rank = 0;

	if (!a || !b || a->rank < 1 || b->rank < 1)
		return;
	n = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 0; i < n - 2; i++) {
		int ia = i - (n - a->rank), ib = i - (n - b->rank);
		int64_t da = ia >= 0 ? a->dim[ia] : 1, db = ib >= 0 ? b->dim[ib] : 1;

		dim[rank++] = da == 1 ? db : db == 1 ? da : da < 0 ? db : da;
	}
	if (a->rank > 1)
		dim[rank++] = a->dim[a->rank - 2];
	if (b->rank > 1)
		dim[rank++] = b->dim[b->rank - 1];
	jetwatt_graph_make(u, 0, u->r.ins > 2 ? 32 : a->bits, rank, dim);
}

/* Input: [steps, batch, features], or [batch, steps, features] with layout 1. */
void jetwatt_shape_rnn(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *r = jetwatt_graph_in(u, 2);
	int64_t dirs, h, steps, batch;
	int swapped = jetwatt_graph_scalar(u->g, u->r.node, "layout", 0) != 0;

	if (!x || !r || x->rank != 3 || r->rank != 3)
		return;
	dirs = r->dim[0];
	h = r->dim[2];
	steps = x->dim[swapped];
	batch = x->dim[!swapped];
	if (swapped)
		jetwatt_graph_make(u, 0, x->bits, 4, (int64_t[]){ batch, steps, dirs, h });
	else
		jetwatt_graph_make(u, 0, x->bits, 4, (int64_t[]){ steps, dirs, batch, h });
	for (uint32_t i = 1; i < 3; i++)
		jetwatt_graph_make(u, i, x->bits, 3, swapped ? (int64_t[]){ batch, dirs, h } :
				   (int64_t[]){ dirs, batch, h });
}

void jetwatt_shape_reduce(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int keep = jetwatt_graph_scalar(u->g, u->r.node, "keepdims", 1) != 0;
	int64_t axis[JETWATT_GRAPH_RANK], dim[JETWATT_GRAPH_RANK];
	int n = jetwatt_graph_ints(u, "axes", 1, axis, JETWATT_GRAPH_RANK), rank = 0, gone = 0;

	if (!x || x->rank < 0 || (n < 0 && jetwatt_graph_in(u, 1)))
		return;
	/* If the file gives no axes, all axes are reduced, unless noop_with_empty_axes is set. */
	if (n <= 0)
		gone = jetwatt_graph_scalar(u->g, u->r.node, "noop_with_empty_axes", 0) ? 0 : ~0;
	for (int i = 0; i < n; i++) {
		int a = jetwatt_graph_axis((double)axis[i], x->rank);

		if (a < 0)
			return;
		gone |= 1 << a;
	}
	for (int i = 0; i < x->rank; i++) {
		if (!(gone >> i & 1))
			dim[rank++] = x->dim[i];
		else if (keep)
			dim[rank++] = 1;
	}
	jetwatt_graph_make(u, 0, x->bits, rank, dim);
}

void jetwatt_shape_arg(struct jetwatt_graph_rule *u)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int keep = jetwatt_graph_scalar(u->g, u->r.node, "keepdims", 1) != 0;
	int64_t dim[JETWATT_GRAPH_RANK];
	int a, rank = 0;

	if (!x || x->rank < 1)
		return;
	a = jetwatt_graph_axis(jetwatt_graph_scalar(u->g, u->r.node, "axis", 0), x->rank);
	for (int i = 0; i < x->rank; i++)
		if (i != a)
			dim[rank++] = x->dim[i];
		else if (keep)
			dim[rank++] = 1;
	jetwatt_graph_make(u, 0, 64, rank, dim);
}
