/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX operators: how large what they make is, and what they cost.
 */
#ifndef JETWATT_GRAPH_OP_H
#define JETWATT_GRAPH_OP_H

#include "model/graph.h"

struct jetwatt_graph_rule {
	struct jetwatt_graph *g;
	struct jetwatt_graph_ref r;
};

/**
 * enum jetwatt_graph_cost - what an operator costs
 * @FREE: nothing moves: another look at the same bytes
 * @MOVE: bytes; @OUT: and so many operations for each element made; @IN: read
 */
enum jetwatt_graph_cost {
	JETWATT_COST_FREE,
	JETWATT_COST_MOVE,
	JETWATT_COST_OUT,
	JETWATT_COST_IN,
	JETWATT_COST_ROWS,	/* moves what it makes, however large its source */
	JETWATT_COST_CONV,
	JETWATT_COST_DECONV,
	JETWATT_COST_POOL,
	JETWATT_COST_GEMM,
	JETWATT_COST_MATMUL,
	JETWATT_COST_RNN,
	JETWATT_COST_RESIZE,
	JETWATT_COST_INSIDE,	/* what its graphs cost */
};

/**
 * struct jetwatt_graph_op - an operator
 * @shape: sets the outputs' sizes, as far as it can
 * @each: operations per element, or gates of a recurrent layer
 * @weight: operand that holds the weights of a convolution or product
 */
struct jetwatt_graph_op {
	const char *name;
	void (*shape)(struct jetwatt_graph_rule *u);
	enum jetwatt_graph_cost cost;
	double each;
	int weight;
};

/* Return: NULL: not known. */
const struct jetwatt_graph_op *jetwatt_graph_op_find(const struct jetwatt_graph *g,
						     const struct jetwatt_graph_node *n);

/* --- for rules --- */

/* Whole numbers of an attribute, or else of operand @input (-1: none). Return: how
 * many; -1: they are not known. */
int jetwatt_graph_ints(const struct jetwatt_graph_rule *u, const char *attr, int input,
		       int64_t *out, int most);
/* A size from a sum or product that may have gone anywhere: open if it is none. */
int64_t jetwatt_graph_dim(double v);
/* An axis from the end counted from the start; -1: there is none such. */
int jetwatt_graph_axis(double axis, int rank);
struct jetwatt_graph_value *jetwatt_graph_in(const struct jetwatt_graph_rule *u, uint32_t i);
/* The size of output @i. @dim: @rank of them */
void jetwatt_graph_make(struct jetwatt_graph_rule *u, uint32_t i, int bits, int rank,
			const int64_t *dim);

/* Operators that compute (graph_nn.c). */
void jetwatt_shape_conv(struct jetwatt_graph_rule *u);
void jetwatt_shape_conv_integer(struct jetwatt_graph_rule *u);
void jetwatt_shape_deconv(struct jetwatt_graph_rule *u);
void jetwatt_shape_pool(struct jetwatt_graph_rule *u);
void jetwatt_shape_global(struct jetwatt_graph_rule *u);
void jetwatt_shape_gemm(struct jetwatt_graph_rule *u);
void jetwatt_shape_matmul(struct jetwatt_graph_rule *u);
void jetwatt_shape_rnn(struct jetwatt_graph_rule *u);
void jetwatt_shape_reduce(struct jetwatt_graph_rule *u);
void jetwatt_shape_arg(struct jetwatt_graph_rule *u);

/* Operators that move (graph_view.c). */
void jetwatt_shape_same(struct jetwatt_graph_rule *u);
void jetwatt_shape_broadcast(struct jetwatt_graph_rule *u);
void jetwatt_shape_reshape(struct jetwatt_graph_rule *u);
void jetwatt_shape_flatten(struct jetwatt_graph_rule *u);
void jetwatt_shape_transpose(struct jetwatt_graph_rule *u);
void jetwatt_shape_squeeze(struct jetwatt_graph_rule *u);
void jetwatt_shape_unsqueeze(struct jetwatt_graph_rule *u);
void jetwatt_shape_concat(struct jetwatt_graph_rule *u);
void jetwatt_shape_split(struct jetwatt_graph_rule *u);
void jetwatt_shape_slice(struct jetwatt_graph_rule *u);
void jetwatt_shape_gather(struct jetwatt_graph_rule *u);
void jetwatt_shape_indices(struct jetwatt_graph_rule *u);
void jetwatt_shape_expand(struct jetwatt_graph_rule *u);
void jetwatt_shape_tile(struct jetwatt_graph_rule *u);
void jetwatt_shape_pad(struct jetwatt_graph_rule *u);
void jetwatt_shape_resize(struct jetwatt_graph_rule *u);
void jetwatt_shape_shape(struct jetwatt_graph_rule *u);
void jetwatt_shape_fill(struct jetwatt_graph_rule *u);
void jetwatt_shape_range(struct jetwatt_graph_rule *u);
void jetwatt_shape_topk(struct jetwatt_graph_rule *u);
void jetwatt_shape_blocks(struct jetwatt_graph_rule *u);
void jetwatt_shape_constant(struct jetwatt_graph_rule *u);

/* The numbers of a small output, where those of all inputs are known
 * (graph_known.c). Return: 0, -ENOMEM, -E2BIG. */
int jetwatt_graph_compute(struct jetwatt_graph_rule *u);

#endif
