/* SPDX-License-Identifier: GPL-2.0-only */
/* For onnx.c, onnx_function.c and onnx_tensor.c alone: a file being read. */
#ifndef JETWATT_ONNX_READ_H
#define JETWATT_ONNX_READ_H

#include "store/onnx.h"
#include "store/wire.h"

/* Functions of a file, and what one reads and makes. */
#define JETWATT_ONNX_FUNCTIONS	4096
#define JETWATT_ONNX_FORMALS	128

/* @text: where its message lies */
struct jetwatt_onnx_function {
	uint32_t domain, name;
	struct jetwatt_wire_field text;
};

/**
 * struct jetwatt_onnx_call - a function whose nodes are being read in place of a node that calls it
 * @outer: that the node itself is in, NULL: the network
 * @nr: names that mean nothing outside get it behind them; @depth: of calls in calls
 * @formal, @actual: @n names of the function's, and of the caller's
 */
struct jetwatt_onnx_call {
	const struct jetwatt_onnx_call *outer;
	const struct jetwatt_onnx_function *function;
	struct jetwatt_wire_field node;
	uint32_t nr, depth, n;
	uint32_t formal[JETWATT_ONNX_FORMALS], actual[JETWATT_ONNX_FORMALS];
};

/* @at: where it is, for messages; @calls: so far */
struct jetwatt_onnx {
	struct jetwatt_wire wire;
	struct jetwatt_graph *g;
	uint64_t at;
	struct jetwatt_onnx_function *function;
	uint32_t functions, calls;
	const struct jetwatt_onnx_call *call;
};

#define EACH_FIELD(o, f, pos, stop, rc) \
	for (; ((rc) = jetwatt_wire_next(&(o)->wire, &(pos), (stop), &(f))) > 0;)

/* Field numbers of NodeProto. */
enum { NODE_IN = 1, NODE_OUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTR = 5, NODE_DOMAIN = 7 };
enum { ATTR_NAME = 1 };

/* TensorProto.DataType, as far as numbers of that type are read. */
enum { JETWATT_ONNX_FLOAT = 1, JETWATT_ONNX_INT32 = 6, JETWATT_ONNX_INT64 = 7,
       JETWATT_ONNX_BOOL = 9, JETWATT_ONNX_DOUBLE = 11 };
/* A double holds them all, and so does a sum of some. */
#define JETWATT_ONNX_DIM_MAX	1000000000000000ull

/* A text; and a name, as the call that is being read has it. Return: 0; negative errno. */
int jetwatt_onnx_text(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);
int jetwatt_onnx_name(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);
int jetwatt_onnx_node(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body);

/* onnx_tensor.c */
/* Bits of an element; 0: it has no size of its own, or @type is none. */
int jetwatt_onnx_bits(uint64_t type);
/* A number, or many of them packed, to the graph's. Return: 0; negative errno. */
int jetwatt_onnx_numbers(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, int wire,
			 int type, uint32_t *nr, uint32_t *count);
/* A tensor, and a sparse one, to the graph's values. Return: 0; negative errno. */
int jetwatt_onnx_tensor(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
			uint32_t *value);
int jetwatt_onnx_sparse(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body);

/* A function of the file. Return: 0; negative errno. */
int jetwatt_onnx_function(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m);
/* The function that node @m calls. Return: 1; 0: none; negative errno. */
int jetwatt_onnx_called(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			const struct jetwatt_onnx_function **fn);
/* Its nodes, in place of node @m. Return: 0; negative errno. */
int jetwatt_onnx_expand(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
			const struct jetwatt_onnx_function *fn);
/* The attribute that @ref means in the call being read: the caller's, or the function's own.
 * *@outer: whose names it has. Return: 1; 0: neither has it; negative errno. */
int jetwatt_onnx_refer(struct jetwatt_onnx *o, uint32_t ref, struct jetwatt_wire_field *attr,
		       const struct jetwatt_onnx_call **outer);

#endif
