/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A network as its layers: what each reads and makes, how large that is, and so
 * how many operations and bytes it takes. Nothing of it is ever computed, but for
 * the few numbers that say how large other tensors are.
 */
#ifndef JETWATT_GRAPH_H
#define JETWATT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_GRAPH_RANK	8
/* Numbers kept of a tensor: enough for shapes, axes, pads and scales. */
#define JETWATT_GRAPH_KNOWN	64
/* Graphs within graphs. */
#define JETWATT_GRAPH_DEPTH	16
/* What a graph may hold, so that no file makes us large: the largest networks
 * have some 100,000 layers. */
#define JETWATT_GRAPH_NODES	(1u << 18)
#define JETWATT_GRAPH_VALUES	(1u << 19)
#define JETWATT_GRAPH_NUMBERS	(1u << 22)
#define JETWATT_GRAPH_TEXT	(32u << 20)

#define JETWATT_GRAPH_NONE	UINT32_MAX

/* Sizes that are not known, and those that have a name: -2 - its text. */
#define JETWATT_GRAPH_OPEN	(-1)
static inline int64_t jetwatt_graph_named(uint32_t text)
{
	return -2 - (int64_t)text;
}

enum {
	JETWATT_GRAPH_WEIGHT = 1,	/* stored with the network */
	JETWATT_GRAPH_EXTERNAL = 2,	/* in another file */
	JETWATT_GRAPH_INPUT = 4,	/* given when it runs */
	JETWATT_GRAPH_NUMBERS_KNOWN = 8,
	JETWATT_GRAPH_LIVE = 16,	/* depends on an input */
	JETWATT_GRAPH_LATER = 32,	/* made by a node that comes later */
	JETWATT_GRAPH_GUESSED = 64,	/* its size is what the file says, not what follows */
};

/**
 * struct jetwatt_graph_value - a tensor
 * @name: text; @body: where the name is valid
 * @bits: of an element, 0: not known; @rank: -1: not known
 * @known: of its numbers, the first of @nr_known; see JETWATT_GRAPH_NUMBERS_KNOWN
 */
struct jetwatt_graph_value {
	uint32_t name, body, known;
	uint16_t flags;
	uint8_t bits, nr_known;
	int8_t rank;
	int64_t dim[JETWATT_GRAPH_RANK];
};

/**
 * struct jetwatt_graph_attr - of a node
 * @number, @nr: its numbers, one for a scalar; @count: how many there were
 * @text: of a string; @value: of a tensor; @body: of a graph; else NONE
 * @next: of the same node
 */
struct jetwatt_graph_attr {
	uint32_t name, number, nr, count, text, value, body, next;
};

/**
 * struct jetwatt_graph_node - a layer
 * @op, @name, @domain: texts
 * @operand: the first of @in names of what it reads, and @out of what it makes
 * @attr: its latest attribute
 * @next: in the same body
 */
struct jetwatt_graph_node {
	uint32_t op, name, domain, operand, in, out, attr, body, next;
};

/**
 * struct jetwatt_graph_body - the network, or a graph within one of its nodes
 * @input, @output: the first of @in and @out names
 */
struct jetwatt_graph_body {
	uint32_t parent, first, last, input, in, output, out, depth;
};

/* An array that grows. */
struct jetwatt_graph_array {
	void *at;
	uint32_t n, room;
};

/* What the user says of sizes that the file leaves open. */
struct jetwatt_graph_size {
	const char *name;
	int64_t size;
};

/**
 * struct jetwatt_graph_open - an input's size that the file leaves open
 * @name: text of its own, NONE: none; @taken: what it was taken for
 * @said: by the user
 */
struct jetwatt_graph_open {
	uint32_t value, name;
	int axis, said;
	int64_t taken;
};

struct jetwatt_graph {
	struct jetwatt_graph_array text, value, node, attr, body, operand, number, open;
	uint32_t *hash, hashes;		/* of texts */
	uint32_t *named, nameds;	/* of values, by body and name */
	uint32_t texts, functions;
	const struct jetwatt_graph_size *size;
	size_t sizes;
};

static inline const char *jetwatt_graph_text(const struct jetwatt_graph *g, uint32_t text)
{
	return text == JETWATT_GRAPH_NONE ? "" : (const char *)g->text.at + text;
}

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

/* --- building one (graph.c); all return 0 or more, -ENOMEM, or -E2BIG --- */

void jetwatt_graph_init(struct jetwatt_graph *g);
void jetwatt_graph_free(struct jetwatt_graph *g);
/* The same text has one number. */
int jetwatt_graph_intern(struct jetwatt_graph *g, const char *s, size_t len, uint32_t *text);
int jetwatt_graph_add_body(struct jetwatt_graph *g, uint32_t parent, uint32_t *body);
int jetwatt_graph_add_node(struct jetwatt_graph *g, uint32_t body, uint32_t *node);
int jetwatt_graph_add_attr(struct jetwatt_graph *g, uint32_t node,
			   const struct jetwatt_graph_attr *a);
int jetwatt_graph_add_operand(struct jetwatt_graph *g, uint32_t text);
int jetwatt_graph_add_number(struct jetwatt_graph *g, double v);
int jetwatt_graph_add_open(struct jetwatt_graph *g, const struct jetwatt_graph_open *o);
/* A value of that name in that body: the one there is, or a new one of no size. */
int jetwatt_graph_add_value(struct jetwatt_graph *g, uint32_t body, uint32_t name, uint32_t *value);

/* --- looking at one --- */

/* The value that @name means in @body: there, or in a body around it. */
uint32_t jetwatt_graph_find(const struct jetwatt_graph *g, uint32_t body, uint32_t name);
const struct jetwatt_graph_attr *jetwatt_graph_find_attr(const struct jetwatt_graph *g,
							 const struct jetwatt_graph_node *n,
							 const char *name);
/* A scalar attribute, @other: there is none. */
double jetwatt_graph_scalar(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			    const char *name, double other);
/* Elements; negative: not known. */
double jetwatt_graph_elements(const struct jetwatt_graph_value *v);
double jetwatt_graph_bytes(const struct jetwatt_graph_value *v);

/**
 * struct jetwatt_graph_ref - a node with what it reads and makes
 * @in, @out: values; NULL: there is none
 */
#define JETWATT_GRAPH_OPERANDS	64
struct jetwatt_graph_ref {
	const struct jetwatt_graph_node *node;
	struct jetwatt_graph_value *in[JETWATT_GRAPH_OPERANDS], *out[JETWATT_GRAPH_OPERANDS];
	uint32_t ins, outs;
};
void jetwatt_graph_refer(const struct jetwatt_graph *g, const struct jetwatt_graph_node *n,
			 struct jetwatt_graph_ref *r);

/* --- sizes of all tensors (graph_shape.c) --- */

/**
 * jetwatt_graph_infer() - from the inputs' sizes to those of all that is made
 * @bad: the node at fault
 *
 * Sizes that are open are taken as @g's list of sizes has them, else as 1. *
 * Return: 0; -ELOOP: a node reads what only it or a later one makes; -ENOMEM, -E2BIG.
 */
int jetwatt_graph_infer(struct jetwatt_graph *g, uint32_t *bad);

/* --- operations and bytes (graph_work.c) --- */

enum jetwatt_graph_doubt {
	JETWATT_GRAPH_SURE,
	JETWATT_GRAPH_UNKNOWN_OP,	/* its bytes are counted, its operations are not */
	JETWATT_GRAPH_UNKNOWN_SIZE,	/* nothing is counted */
	JETWATT_GRAPH_ONCE,		/* a loop whose turns nobody knows: counted once */
	JETWATT_GRAPH_BRANCH,		/* of its branches the heavier one is counted */
	JETWATT_GRAPH_DECLARED,		/* counted by sizes that only the file vouches for */
};

/**
 * struct jetwatt_work - of a layer, at the file's minibatch size
 * @node: index; @times: that it runs (in loops)
 * @flop: floating-point operations
 * @param_bytes: of weights that it reads; @bytes: of all else that it reads and writes
 * @live: depends on an input, so it grows with the minibatch
 */
struct jetwatt_work {
	uint32_t node;
	enum jetwatt_graph_doubt doubt;
	int live;
	double times, flop, param_bytes, bytes;
};

/* Layers in the order in which they run, without those that move nothing. Return: 0,
 * -ENOMEM. Caller frees. */
int jetwatt_graph_work(const struct jetwatt_graph *g, struct jetwatt_work **work, size_t *n);

/* The same for minibatches of @batch times the file's size; training is three times
 * the forward pass, in operations and in bytes. */
void jetwatt_graph_scale(struct jetwatt_work *work, size_t n, double batch, int train);

/* Bytes of all weights, each once. */
double jetwatt_graph_params(const struct jetwatt_graph *g);

/* Items of a minibatch, as the file has it: 1 where it leaves that open. */
double jetwatt_graph_batch(const struct jetwatt_graph *g);

#endif
