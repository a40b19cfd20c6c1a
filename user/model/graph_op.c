// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of operators. Operations per element are those of Pagoda (arXiv 2509.20189): ReLU 1,
 * sigmoid 4, tanh and swish 5, softmax 7, erf 8, batch normalisation 2, other listed operators 1.
 * Operators that the paper does not list are composed of operators in the list: GELU is an erf and
 * four more operations; a layer normalisation is two reductions, a subtraction, a square, a square
 * root and a batch normalisation.
 */
#include "model/graph_op.h"

#include <stdlib.h>
#include <string.h>

#define SAME		jetwatt_shape_same
#define BROADCAST	jetwatt_shape_broadcast
#define REDUCE		jetwatt_shape_reduce
#define FREE		JETWATT_COST_FREE
#define MOVE		JETWATT_COST_MOVE
#define OUT		JETWATT_COST_OUT
#define IN		JETWATT_COST_IN

/* Sorted by name. */
static const struct jetwatt_graph_op op[] = {
	{ "Abs", SAME, OUT, 1 },
	{ "Add", BROADCAST, OUT, 1 },
	{ "And", BROADCAST, OUT, 1 },
	{ "ArgMax", jetwatt_shape_arg, IN, 1 },
	{ "ArgMin", jetwatt_shape_arg, IN, 1 },
	{ "AveragePool", jetwatt_shape_pool, JETWATT_COST_POOL, 0 },
	{ "BatchNormalization", SAME, OUT, 2 },
	{ "Cast", SAME, MOVE, 0 },
	{ "CastLike", SAME, MOVE, 0 },
	{ "Ceil", SAME, OUT, 1 },
	{ "Celu", SAME, OUT, 5 },
	{ "Clip", SAME, OUT, 1 },
	{ "Concat", jetwatt_shape_concat, MOVE, 0 },
	{ "Constant", jetwatt_shape_constant, FREE, 0 },
	{ "ConstantOfShape", jetwatt_shape_fill, MOVE, 0 },
	{ "Conv", jetwatt_shape_conv, JETWATT_COST_CONV, 0 },
	{ "ConvInteger", jetwatt_shape_conv_integer, JETWATT_COST_CONV, 0 },
	{ "ConvTranspose", jetwatt_shape_deconv, JETWATT_COST_DECONV, 0 },
	{ "Cos", SAME, OUT, 1 },
	{ "CumSum", SAME, OUT, 1 },
	{ "DepthToSpace", jetwatt_shape_blocks, MOVE, 0 },
	{ "DequantizeLinear", SAME, OUT, 2 },
	{ "Div", BROADCAST, OUT, 1 },
	{ "Dropout", SAME, FREE, 0 },
	{ "Elu", SAME, OUT, 5 },
	{ "Equal", BROADCAST, OUT, 1 },
	{ "Erf", SAME, OUT, 8 },
	{ "Exp", SAME, OUT, 1 },
	{ "Expand", jetwatt_shape_expand, MOVE, 0 },
	{ "Flatten", jetwatt_shape_flatten, FREE, 0 },
	{ "Floor", SAME, OUT, 1 },
	{ "GRU", jetwatt_shape_rnn, JETWATT_COST_RNN, 3 },
	{ "Gather", jetwatt_shape_gather, JETWATT_COST_ROWS, 0 },
	{ "GatherElements", jetwatt_shape_indices, JETWATT_COST_ROWS, 0 },
	{ "Gelu", SAME, OUT, 12 },
	{ "Gemm", jetwatt_shape_gemm, JETWATT_COST_GEMM, 0 },
	{ "GlobalAveragePool", jetwatt_shape_global, IN, 1 },
	{ "GlobalMaxPool", jetwatt_shape_global, IN, 1 },
	{ "Greater", BROADCAST, OUT, 1 },
	{ "GreaterOrEqual", BROADCAST, OUT, 1 },
	{ "GroupNormalization", SAME, OUT, 7 },
	{ "HardSigmoid", SAME, OUT, 4 },
	{ "HardSwish", SAME, OUT, 5 },
	{ "Identity", SAME, FREE, 0 },
	{ "If", NULL, JETWATT_COST_INSIDE, 0 },
	{ "InstanceNormalization", SAME, OUT, 7 },
	{ "LRN", SAME, OUT, 7 },
	{ "LSTM", jetwatt_shape_rnn, JETWATT_COST_RNN, 4 },
	{ "LayerNormalization", SAME, OUT, 7 },
	{ "LeakyRelu", SAME, OUT, 1 },
	{ "Less", BROADCAST, OUT, 1 },
	{ "LessOrEqual", BROADCAST, OUT, 1 },
	{ "Log", SAME, OUT, 1 },
	{ "LogSoftmax", SAME, OUT, 7 },
	{ "Loop", NULL, JETWATT_COST_INSIDE, 0 },
	{ "MatMul", jetwatt_shape_matmul, JETWATT_COST_MATMUL, 0 },
	{ "MatMulInteger", jetwatt_shape_matmul, JETWATT_COST_MATMUL, 0 },
	{ "Max", BROADCAST, OUT, 1 },
	{ "MaxPool", jetwatt_shape_pool, JETWATT_COST_POOL, -1 },
	{ "Mean", BROADCAST, OUT, 1 },
	{ "Min", BROADCAST, OUT, 1 },
	{ "Mish", SAME, OUT, 10 },
	{ "Mod", BROADCAST, OUT, 1 },
	{ "Mul", BROADCAST, OUT, 1 },
	{ "Neg", SAME, OUT, 1 },
	{ "Not", SAME, OUT, 1 },
	{ "Or", BROADCAST, OUT, 1 },
	{ "PRelu", SAME, OUT, 1 },
	{ "Pad", jetwatt_shape_pad, MOVE, 0 },
	{ "Pow", BROADCAST, OUT, 1 },
	{ "QuantizeLinear", SAME, OUT, 2 },
	{ "RNN", jetwatt_shape_rnn, JETWATT_COST_RNN, 1 },
	{ "Range", jetwatt_shape_range, MOVE, 0 },
	{ "Reciprocal", SAME, OUT, 1 },
	{ "ReduceL1", REDUCE, IN, 1 },
	{ "ReduceL2", REDUCE, IN, 2 },
	{ "ReduceLogSumExp", REDUCE, IN, 2 },
	{ "ReduceMax", REDUCE, IN, 1 },
	{ "ReduceMean", REDUCE, IN, 1 },
	{ "ReduceMin", REDUCE, IN, 1 },
	{ "ReduceProd", REDUCE, IN, 1 },
	{ "ReduceSum", REDUCE, IN, 1 },
	{ "ReduceSumSquare", REDUCE, IN, 2 },
	{ "Relu", SAME, OUT, 1 },
	{ "Reshape", jetwatt_shape_reshape, FREE, 0 },
	{ "Resize", jetwatt_shape_resize, JETWATT_COST_RESIZE, 0 },
	{ "Round", SAME, OUT, 1 },
	{ "Scan", NULL, JETWATT_COST_INSIDE, 0 },
	{ "ScatterElements", SAME, MOVE, 0 },
	{ "ScatterND", SAME, MOVE, 0 },
	{ "Selu", SAME, OUT, 5 },
	{ "Shape", jetwatt_shape_shape, FREE, 0 },
	{ "Sigmoid", SAME, OUT, 4 },
	{ "Sign", SAME, OUT, 1 },
	{ "Sin", SAME, OUT, 1 },
	{ "Size", jetwatt_shape_shape, FREE, 0 },
	{ "Slice", jetwatt_shape_slice, JETWATT_COST_ROWS, 0 },
	{ "Softmax", SAME, OUT, 7 },
	{ "Softplus", SAME, OUT, 5 },
	{ "Softsign", SAME, OUT, 3 },
	{ "SpaceToDepth", jetwatt_shape_blocks, MOVE, 0 },
	{ "Split", jetwatt_shape_split, MOVE, 0 },
	{ "Sqrt", SAME, OUT, 1 },
	{ "Squeeze", jetwatt_shape_squeeze, FREE, 0 },
	{ "Sub", BROADCAST, OUT, 1 },
	{ "Sum", BROADCAST, OUT, 1 },
	{ "Tanh", SAME, OUT, 5 },
	{ "ThresholdedRelu", SAME, OUT, 1 },
	{ "Tile", jetwatt_shape_tile, MOVE, 0 },
	{ "TopK", jetwatt_shape_topk, IN, 1 },
	{ "Transpose", jetwatt_shape_transpose, MOVE, 0 },
	{ "Trilu", SAME, MOVE, 0 },
	{ "Unsqueeze", jetwatt_shape_unsqueeze, FREE, 0 },
	{ "Upsample", jetwatt_shape_resize, JETWATT_COST_RESIZE, 0 },
	{ "Where", BROADCAST, OUT, 1 },
	{ "Xor", BROADCAST, OUT, 1 },
};

static int graph_op_by_name(const void *a, const void *b)
{
	return strcmp(a, ((const struct jetwatt_graph_op *)b)->name);
}

const struct jetwatt_graph_op *jetwatt_graph_op_find(const struct jetwatt_graph *g,
						     const struct jetwatt_graph_node *n)
{
	const char *domain = jetwatt_graph_text(g, n->domain);

	/* An operator of another domain may have the same name and another meaning. */
	if (*domain && strcmp(domain, "ai.onnx"))
		return NULL;
	return bsearch(jetwatt_graph_text(g, n->op), op, sizeof(op) / sizeof(op[0]), sizeof(op[0]),
		       graph_op_by_name);
}
