/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of the ONNX reader (onnx.c, onnx_function.c, onnx_name.c, onnx_tensor.c). */
#ifndef JETWATT_ONNX_READ_H
#define JETWATT_ONNX_READ_H

#include "store/onnx.h"
#include "store/wire.h"

/* Maximum number of functions in a file; maximum number of inputs and outputs of a function,
 * together. */
#define JETWATT_ONNX_FUNCTIONS	4096
#define JETWATT_ONNX_FORMALS	128

/**
 * struct jetwatt_onnx_function - a function that the file defines
 * @domain, @name: offsets of its domain and name in @text of struct jetwatt_graph
 * @text: position of its FunctionProto in the file
 */
struct jetwatt_onnx_function {
	uint32_t domain, name;
	struct jetwatt_wire_field text;
};

/**
 * struct jetwatt_onnx_call - a call that is being expanded: the nodes of a function replace the
 *	node that calls it
 * @outer: the call whose function contains the calling node; NULL: the network itself
 * @function: the called function
 * @node: the calling node
 * @nr: sequence number of the call, appended to names that are local to the function
 * @depth: nesting depth of calls, from 1
 * @formal, @actual: names of inputs and outputs in the function, and in the calling node
 * @n: number of those names
 */
struct jetwatt_onnx_call {
	const struct jetwatt_onnx_call *outer;
	const struct jetwatt_onnx_function *function;
	struct jetwatt_wire_field node;
	uint32_t nr, depth, n;
	uint32_t formal[JETWATT_ONNX_FORMALS], actual[JETWATT_ONNX_FORMALS];
};

/**
 * struct jetwatt_onnx - a file that is being read
 * @wire: the bytes of the file
 * @g: the graph to fill
 * @at: offset of the current field in the file, for error messages
 * @function, @functions: functions that the file defines, and their number
 * @calls: number of calls of functions whose expansion has begun
 * @call: the call that is being expanded; NULL: none
 */
struct jetwatt_onnx {
	struct jetwatt_wire wire;
	struct jetwatt_graph *g;
	uint64_t at;
	struct jetwatt_onnx_function *function;
	uint32_t functions, calls;
	const struct jetwatt_onnx_call *call;
};

/* Loop over the fields of a message: the variable @f gets each field from @pos to @stop.
 * After the loop, @rc is 0 if the message ended, or a negative errno. */
#define EACH_FIELD(o, f, pos, stop, rc) \
	for (; ((rc) = jetwatt_wire_next(&(o)->wire, &(pos), (stop), &(f))) > 0;)

/* Field numbers of NodeProto. */
enum { NODE_IN = 1, NODE_OUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTR = 5, NODE_DOMAIN = 7 };
enum { ATTR_NAME = 1 };

/* TensorProto.DataType: the types of elements whose values are read. */
enum { JETWATT_ONNX_FLOAT = 1, JETWATT_ONNX_INT32 = 6, JETWATT_ONNX_INT64 = 7,
       JETWATT_ONNX_BOOL = 9, JETWATT_ONNX_DOUBLE = 11 };
/* Largest dimension. A double represents an integer up to this size exactly, and also a sum of
 * several such integers. */
#define JETWATT_ONNX_DIM_MAX	1000000000000000ull

/* onnx_name.c */
/* Read a string field into the graph. *@id: offset of the text in the graph. Return: 0; negative
 * errno. */
int jetwatt_onnx_text(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);
/* Read the name of a value. Within a function, replace the name by that in the calling node, or
 * append the number of the call. Return: 0; negative errno. */
int jetwatt_onnx_name(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id);

/* onnx_tensor.c */
/* Return the size of an element in bits; 0 if the type has no fixed size, or if @type is not a
 * known type. */
int jetwatt_onnx_bits(uint64_t type);
/* Read a number, or a packed field of numbers, into the graph. @wire: encoding of one number.
 * *@nr: number of numbers stored in the graph so far, JETWATT_GRAPH_KNOWN at most; increased.
 * *@count: increased by the count of numbers in the file. NULL: a packed field is read only up to
 * the first number that is not stored. Return: 0; negative errno. */
int jetwatt_onnx_numbers(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, int wire,
			 int type, uint32_t *nr, uint32_t *count);
/* Read a TensorProto into a value of the graph. @named: 1: nodes can refer to the tensor by its name;
 * 0: the tensor is in an attribute, where its name says nothing. Return: 0; negative errno. */
int jetwatt_onnx_tensor(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
			int named, uint32_t *value);
/* Read a SparseTensorProto into a value of the graph. Return: 0; negative errno. */
int jetwatt_onnx_sparse(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body);

/* onnx_function.c: add a FunctionProto to the file's functions. Return: 0; negative errno. */
int jetwatt_onnx_function(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m);
/* Find the function that node @m calls. Return: 1 on success; 0: the node calls none; negative
 * errno. */
int jetwatt_onnx_called(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			const struct jetwatt_onnx_function **fn);
/* Prepare the call @c of the function @fn by node @m: map the names of its inputs and outputs to
 * those in the node. Return: 0; -E2BIG: calls are nested too deeply, or there are too many names;
 * other negative errno. */
int jetwatt_onnx_bind(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
		      const struct jetwatt_onnx_function *fn, struct jetwatt_onnx_call *c);
/* Find the attribute that @ref refers to in the call that is being expanded: an attribute of the
 * calling node, or the default of the function. *@outer: the call whose names the attribute uses.
 * Return: 1 on success; 0: no such attribute; negative errno. */
int jetwatt_onnx_resolve_attr(struct jetwatt_onnx *o, uint32_t ref, struct jetwatt_wire_field *attr,
		       const struct jetwatt_onnx_call **outer);

#endif
