/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX operators: rules for the sizes of their outputs, and the kind of their cost. graph_known.c
 * computes the elements of tensors that hold sizes; graph_work.c counts operations and bytes.
 */
#ifndef JETWATT_GRAPH_OP_H
#define JETWATT_GRAPH_OP_H

#include "model/graph.h"

/* The argument of a rule: the graph, and one node with its tensors. */
struct jetwatt_graph_rule {
	struct jetwatt_graph *g;
	struct jetwatt_graph_ref r;
};

/**
 * enum jetwatt_graph_cost - kind of the cost of an operator
 * @JETWATT_COST_FREE: no data moves: the output is another view of the input, a constant or a shape
 * @JETWATT_COST_MOVE: the operator reads its inputs and writes its outputs, but computes nothing
 * @JETWATT_COST_OUT: operations proportional to the elements of the output
 * @JETWATT_COST_IN: operations proportional to the elements of the input
 * @JETWATT_COST_ROWS: the operator reads as many bytes of its source as it writes, however large
 *	the source is
 * @JETWATT_COST_CONV: convolution
 * @JETWATT_COST_DECONV: transposed convolution
 * @JETWATT_COST_POOL: pooling
 * @JETWATT_COST_GEMM: general matrix product
 * @JETWATT_COST_MATMUL: matrix product as numpy defines it
 * @JETWATT_COST_RNN: recurrent layer
 * @JETWATT_COST_RESIZE: interpolation
 * @JETWATT_COST_INSIDE: the cost is that of the graphs nested in the operator
 */
enum jetwatt_graph_cost {
	JETWATT_COST_FREE,
	JETWATT_COST_MOVE,
	JETWATT_COST_OUT,
	JETWATT_COST_IN,
	JETWATT_COST_ROWS,
	JETWATT_COST_CONV,
	JETWATT_COST_DECONV,
	JETWATT_COST_POOL,
	JETWATT_COST_GEMM,
	JETWATT_COST_MATMUL,
	JETWATT_COST_RNN,
	JETWATT_COST_RESIZE,
	JETWATT_COST_INSIDE,
};

/**
 * struct jetwatt_graph_op - an operator
 * @name: name of the operator
 * @shape: function that sets the sizes of the outputs as far as they can be inferred; NULL: the
 *	operator has nested graphs
 * @cost: kind of the cost of a node with this operator
 * @each: operations per element; for a pool, operations per output element beyond one for each
 *	element of the window; for a recurrent layer, the number of gates
 */
struct jetwatt_graph_op {
	const char *name;
	void (*shape)(struct jetwatt_graph_rule *u);
	enum jetwatt_graph_cost cost;
	double each;
};

/* Return: the operator of node @n, NULL if it is unknown. */
const struct jetwatt_graph_op *jetwatt_graph_op_find(const struct jetwatt_graph *g,
						     const struct jetwatt_graph_node *n);

/* --- Helpers of the rules. --- */

/*
 * Read the integers of attribute @attr ("": none), or else of input @input (-1: none), into @out,
 * which has @most entries. Return: the number of integers in @out; -1 if the integers are unknown
 * or more than @most.
 */
int jetwatt_graph_ints(const struct jetwatt_graph_rule *u, const char *attr, int input,
		       int64_t *out, int most);
/* Return: a size as an integer; JETWATT_GRAPH_OPEN if the number is negative, not finite or beyond
 * 1e15. */
int64_t jetwatt_graph_dim(double v);
/* Return: the index of an axis, where a negative number counts from the last axis; -1 if the tensor
 * does not have the axis. */
int jetwatt_graph_axis(double axis, int rank);
/* Return: the tensor of input @i; NULL if the node lacks this input. */
struct jetwatt_graph_value *jetwatt_graph_in(const struct jetwatt_graph_rule *u, uint32_t i);
/* Set bits per element, rank and the @rank sizes @dim of output @i, if the node has this output and
 * @rank is at most JETWATT_GRAPH_RANK. */
void jetwatt_graph_make(struct jetwatt_graph_rule *u, uint32_t i, int bits, int rank,
			const int64_t *dim);

/* Shapes of convolutions, pools, products, recurrent layers and reductions (graph_nn.c). */
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

/* Shapes of the other operators (graph_view.c, graph_made.c). */
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

/*
 * Compute the elements of output 0 if this output is small and all elements that determine it are
 * known (graph_known.c). Return: 0, -ENOMEM, -E2BIG.
 */
int jetwatt_graph_compute(struct jetwatt_graph_rule *u);

#endif
