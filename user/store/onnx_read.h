/* SPDX-License-Identifier: GPL-2.0-only */
/* For onnx.c and onnx_function.c alone: a file being read. */
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

/* A text; and a name, as the call that is being read has it. Return: 0; negative errno. */
int jetwatt_onnx_text(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);
int jetwatt_onnx_name(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);
int jetwatt_onnx_node(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body);

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
