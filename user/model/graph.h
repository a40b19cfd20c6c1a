/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graph of a network (read from ONNX by user/store/onnx.c): layers, tensors, their sizes, and
 * from these the floating-point operations and bytes of each layer. The network is never run; only
 * the few numbers that determine the sizes of other tensors are computed.
 */
#ifndef JETWATT_GRAPH_H
#define JETWATT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

/* Largest number of axes of a tensor. */
#define JETWATT_GRAPH_RANK	8
/* Largest number of values kept of a tensor or attribute: shapes, axes, pads, scales. */
#define JETWATT_GRAPH_KNOWN	64
/* Largest number of levels of graphs: the network, and bodies of If, Loop and Scan inside it. */
#define JETWATT_GRAPH_DEPTH	16
/*
 * Limits of nodes, tensors, numbers and bytes of text, so that no file makes the process use much
 * memory. The largest networks have about 100,000 layers.
 */
#define JETWATT_GRAPH_NODES	(1u << 18)
#define JETWATT_GRAPH_VALUES	(1u << 19)
#define JETWATT_GRAPH_NUMBERS	(1u << 22)
#define JETWATT_GRAPH_TEXT	(32u << 20)

/* Index that means none. */
#define JETWATT_GRAPH_NONE	UINT32_MAX

/*
 * Size of an unknown axis without a name. An unknown axis with a name has the size -2 minus the
 * offset of its name in @text of struct jetwatt_graph; see jetwatt_graph_named().
 */
#define JETWATT_GRAPH_OPEN	(-1)
static inline int64_t jetwatt_graph_named(uint32_t text)
{
	return -2 - (int64_t)text;
}

/* Flags of a tensor. */
enum {
	JETWATT_GRAPH_WEIGHT = 1,	/* the tensor is a weight or another constant */
	JETWATT_GRAPH_EXTERNAL = 2,	/* the numbers of that weight are in another file */
	/* the tensor is an input of the network or of a nested graph */
	JETWATT_GRAPH_INPUT = 4,
	JETWATT_GRAPH_NUMBERS_KNOWN = 8,	/* the elements of the tensor are known */
	JETWATT_GRAPH_LIVE = 16,	/* the tensor depends on an input of the network */
	/* the tensor is the output of a node that inference has not reached yet */
	JETWATT_GRAPH_LATER = 32,
	/* the size is the one that the file declares, because a known operator gave none */
	JETWATT_GRAPH_GUESSED = 64,
};

/**
 * struct jetwatt_graph_value - a tensor
 * @name: offset of the tensor's name in @text of struct jetwatt_graph; JETWATT_GRAPH_NONE: no name
 * @body: index in @body of struct jetwatt_graph of the graph in which the name is valid
 * @known: index in @number of struct jetwatt_graph of the first of the tensor's @nr_known known
 *	elements
 * @flags: flags of the tensor, from JETWATT_GRAPH_WEIGHT to JETWATT_GRAPH_GUESSED
 * @bits: number of bits of a tensor element; 0: unknown
 * @nr_known: number of elements of the tensor whose values are known, valid with
 *	JETWATT_GRAPH_NUMBERS_KNOWN
 * @rank: number of axes; -1: unknown
 * @dim: size of each axis; negative: unknown
 */
struct jetwatt_graph_value {
	uint32_t name, body, known;
	uint16_t flags;
	uint8_t bits, nr_known;
	int8_t rank;
	int64_t dim[JETWATT_GRAPH_RANK];
};

/**
 * struct jetwatt_graph_attr - an attribute of a node
 * @name: offset of the attribute's name in @text of struct jetwatt_graph
 * @number: index in @number of struct jetwatt_graph of the first number of the attribute (a scalar
 *	has one number)
 * @nr: number of numbers of the attribute that the graph stores
 * @count: number of numbers that the attribute has in the file
 * @text: offset in @text of struct jetwatt_graph of a string attribute's value
 * @value: index in @value of struct jetwatt_graph of a tensor attribute's value
 * @body: index in @body of struct jetwatt_graph of a graph attribute's value
 * @next: index of the node's previous attribute in the file; JETWATT_GRAPH_NONE: there is none
 *
 * @text, @value and @body are JETWATT_GRAPH_NONE if the attribute has another type.
 */
struct jetwatt_graph_attr {
	uint32_t name, number, nr, count, text, value, body, next;
};

/**
 * struct jetwatt_graph_node - a layer
 * @op: offset of the operator's name in @text of struct jetwatt_graph
 * @name: offset of the node's name in @text
 * @domain: offset of the operator's domain in @text
 * @operand: index in @operand of struct jetwatt_graph of the first of @in names that the node
 *	reads; @out names that the node writes follow
 * @in: number of inputs
 * @out: number of outputs
 * @attr: index of the node's last attribute, the head of the list of its attributes
 * @body: index of the graph that contains the node
 * @next: index of the next node of this graph; JETWATT_GRAPH_NONE: there is none
 */
struct jetwatt_graph_node {
	uint32_t op, name, domain, operand, in, out, attr, body, next;
};

/**
 * struct jetwatt_graph_body - the network (index 0), or a graph nested in one of its nodes
 * @parent: index of the enclosing graph; JETWATT_GRAPH_NONE: none
 * @first: index of the first node; JETWATT_GRAPH_NONE: none
 * @last: index of the last node; JETWATT_GRAPH_NONE: none
 * @input: index in @operand of struct jetwatt_graph of the first of the graph's @in names of inputs
 * @in: number of inputs
 * @output: index in @operand of struct jetwatt_graph of the first of the graph's @out names of
 *	outputs
 * @out: number of outputs
 * @depth: nesting depth of the graph; 0: the network itself
 */
struct jetwatt_graph_body {
	uint32_t parent, first, last, input, in, output, out, depth;
};

/* A growing array: @n entries in use, @capacity allocated. */
struct jetwatt_graph_array {
	void *at;
	uint32_t n, capacity;
};

/* A size given by the user for an axis that the file leaves open; @name: see
 * jetwatt_graph_infer(). */
struct jetwatt_graph_size {
	const char *name;
	int64_t size;
};

/**
 * struct jetwatt_graph_open - an axis of an input whose size the file leaves open
 * @value: index of the input in @value of struct jetwatt_graph
 * @name: offset of the axis's name in @text of struct jetwatt_graph; JETWATT_GRAPH_NONE: no name
 * @axis: index of the axis in the shape of the input
 * @said: 1: the user gave the size of the axis
 * @taken: the size that is used for the axis
 */
struct jetwatt_graph_open {
	uint32_t value, name;
	int axis, said;
	int64_t taken;
};

/**
 * struct jetwatt_graph - a network
 * @text: all texts, each ended by a NUL byte; other members hold a text's offset in @text
 * @value: tensors
 * @node: layers
 * @attr: attributes
 * @body: graphs
 * @operand: offsets in @text of the names that nodes and graphs read and write
 * @number: elements of small tensors, and numbers of attributes
 * @open: axes that the file leaves open
 * @hash: hash table of texts
 * @hashes: number of slots of @hash
 * @named: hash table that finds a tensor by graph and name
 * @nameds: number of slots of @named
 * @texts: number of texts
 * @functions: number of model-local functions of the file
 * @size: sizes of axes given by the user; owned by the caller
 * @sizes: number of entries of @size
 */
struct jetwatt_graph {
	struct jetwatt_graph_array text, value, node, attr, body, operand, number, open;
	uint32_t *hash, hashes;
	uint32_t *named, nameds;
	uint32_t texts, functions;
	const struct jetwatt_graph_size *size;
	size_t sizes;
};

/* Return: the string of text @text, "" for JETWATT_GRAPH_NONE. */
static inline const char *jetwatt_graph_text(const struct jetwatt_graph *g, uint32_t text)
{
	return text == JETWATT_GRAPH_NONE ? "" : (const char *)g->text.at + text;
}

/* Defines jetwatt_graph_TYPE_at(): the entry with index i; the pointer is valid until the array
 * grows. */
#define JETWATT_GRAPH_AT(type)								\
static inline struct jetwatt_graph_##type *jetwatt_graph_##type##_at(			\
	const struct jetwatt_graph *g, uint32_t i)					\
{											\
	return (struct jetwatt_graph_##type *)g->type.at + i;				\
}
JETWATT_GRAPH_AT(value)
JETWATT_GRAPH_AT(node)
JETWATT_GRAPH_AT(attr)
JETWATT_GRAPH_AT(body)
JETWATT_GRAPH_AT(open)

static inline uint32_t *jetwatt_graph_operand(const struct jetwatt_graph *g, uint32_t i)
{
	return (uint32_t *)g->operand.at + i;
}

static inline double *jetwatt_graph_number(const struct jetwatt_graph *g, uint32_t i)
{
	return (double *)g->number.at + i;
}

/* --- Building a graph (graph.c). Functions return 0; -ENOMEM; -E2BIG if a limit is exceeded.
 * --- */

/* Make @g empty. */
void jetwatt_graph_init(struct jetwatt_graph *g);
/* Free the contents of @g and make it empty. */
void jetwatt_graph_free(struct jetwatt_graph *g);
/* Set @text to the offset in @g->text of the text @s, which is added if it is new. */
int jetwatt_graph_intern(struct jetwatt_graph *g, const char *s, size_t len, uint32_t *text);
int jetwatt_graph_add_body(struct jetwatt_graph *g, uint32_t parent, uint32_t *body);
int jetwatt_graph_add_node(struct jetwatt_graph *g, uint32_t body, uint32_t *node);
int jetwatt_graph_add_attr(struct jetwatt_graph *g, uint32_t node,
			   const struct jetwatt_graph_attr *a);
int jetwatt_graph_add_operand(struct jetwatt_graph *g, uint32_t text);
int jetwatt_graph_add_number(struct jetwatt_graph *g, double v);
int jetwatt_graph_add_open(struct jetwatt_graph *g, const struct jetwatt_graph_open *o);
/* Set @value to the index of the tensor @name of @body. If there is none, or @name is
 * JETWATT_GRAPH_NONE, create one with an unknown size. */
int jetwatt_graph_add_value(struct jetwatt_graph *g, uint32_t body, uint32_t name, uint32_t *value);

/* --- Reading a graph. --- */

/*
 * Return: the index of the tensor that @name refers to in @body: of this graph or an enclosing one;
 * JETWATT_GRAPH_NONE if there is none.
 */
uint32_t jetwatt_graph_find(const struct jetwatt_graph *g, uint32_t body, uint32_t name);
/* Return: the attribute @name of node @n, NULL if it has none. */
const struct jetwatt_graph_attr *jetwatt_graph_find_attr(const struct jetwatt_graph *g,
							 const struct jetwatt_graph_node *n,
							 const char *name);
/* Return: the first number of the attribute @name of node @n; @other if the node has no such
 * attribute, or one without numbers. */
double jetwatt_graph_scalar(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			    const char *name, double other);
/*
 * jetwatt_graph_elements() returns the number of elements of a tensor, jetwatt_graph_bytes() the
 * number of bytes, with 32 bits for an element of an unknown type; negative: unknown.
 */
double jetwatt_graph_elements(const struct jetwatt_graph_value *v);
double jetwatt_graph_bytes(const struct jetwatt_graph_value *v);

/**
 * struct jetwatt_graph_ref - a node with its tensors
 * @node: the node
 * @in: tensors that the node reads; NULL: absent (an optional input), or not found
 * @out: tensors that the node writes; NULL: absent (an optional output)
 * @ins: number of entries of @in, at most JETWATT_GRAPH_OPERANDS
 * @outs: number of entries of @out, at most JETWATT_GRAPH_OPERANDS
 */
#define JETWATT_GRAPH_OPERANDS	64
struct jetwatt_graph_ref {
	const struct jetwatt_graph_node *node;
	struct jetwatt_graph_value *in[JETWATT_GRAPH_OPERANDS], *out[JETWATT_GRAPH_OPERANDS];
	uint32_t ins, outs;
};
/* Set @r to node @n and its tensors. */
void jetwatt_graph_refer(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			 struct jetwatt_graph_ref *r);

/* --- Sizes of all tensors (graph_shape.c). --- */

/**
 * jetwatt_graph_infer() - infer the sizes of all tensors from those of the inputs
 * @g: the graph
 * @bad: if an error is returned, set to the node at fault; JETWATT_GRAPH_NONE: no single node
 *
 * An axis of an input that the file leaves open gets the size that @g->size has for the axis's name
 * or for "INPUT.AXIS", else 1.
 *
 * Return: 0; -ELOOP if a node reads its own output or that of a later node; -ENOMEM; -E2BIG.
 */
int jetwatt_graph_infer(struct jetwatt_graph *g, uint32_t *bad);

/* --- Operations and bytes (graph_work.c). --- */

/* How the operations and bytes of a layer were counted. */
enum jetwatt_graph_doubt {
	JETWATT_GRAPH_SURE,		/* exactly */
	/* the operator is unknown: only the bytes of tensors of known size are counted */
	JETWATT_GRAPH_UNKNOWN_OP,
	/* a tensor size is unknown, or there are too many tensors: nothing is counted */
	JETWATT_GRAPH_UNKNOWN_SIZE,
	/* the number of iterations of a loop is unknown: the loop is counted once */
	JETWATT_GRAPH_ONCE,
	/* the layer is a conditional: the branch with more work is counted */
	JETWATT_GRAPH_BRANCH,
	/* counted from tensor sizes that the file declares, not inferred */
	JETWATT_GRAPH_DECLARED,
};

/**
 * struct jetwatt_work - work of a layer, at the minibatch size of the file
 * @node: index of the node
 * @doubt: how the operations and bytes of the layer were counted
 * @live: 1: the layer depends on an input of the network, so its work grows with the minibatch size
 * @times: number of executions of the layer, more than 1 in loops
 * @flop: floating-point operations of one execution of the layer
 * @param_bytes: bytes of weights that one execution reads; 0 for Gather, GatherElements and Slice
 * @bytes: bytes of all other tensors, and of the weights that Gather, GatherElements and Slice read,
 *	that one execution reads or writes
 */
struct jetwatt_work {
	uint32_t node;
	enum jetwatt_graph_doubt doubt;
	int live;
	double times, flop, param_bytes, bytes;
};

/*
 * Compute the work of all layers in execution order, without layers that move no data or compute
 * shapes. Return: 0, -ENOMEM. The caller frees @work.
 */
int jetwatt_graph_work(const struct jetwatt_graph *g, struct jetwatt_work **work, size_t *n);

/*
 * Scale @work to minibatches that are @batch times as large as in the file, and multiply it by the
 * number of executions @times. @train: training takes three times the operations and bytes of the
 * forward pass (Pagoda, arXiv 2509.20189).
 */
void jetwatt_graph_scale(struct jetwatt_work *work, size_t n, double batch, int train);

/* Return: bytes of all weights, each counted once, without tensors of 64-bit elements. */
double jetwatt_graph_params(const struct jetwatt_graph *g);

/* Return: samples in a minibatch, by the first input (of a recurrent network, by the input of its
 * first recurrent layer); 1 if this size is unknown. */
double jetwatt_graph_batch(const struct jetwatt_graph *g);

#endif
