/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that build neural networks as ONNX files in memory. */
#ifndef TESTS_ONNX_FILE_H
#define TESTS_ONNX_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* struct out - a protobuf message (ONNX's encoding) that is being written */
struct out {
	unsigned char *b;
	size_t n;
};

static inline void out_raw(struct out *o, const void *data, size_t len)
{
	o->b = realloc(o->b, o->n + len + 1);
	memcpy(o->b + o->n, data, len);
	o->n += len;
}

static inline void out_varint(struct out *o, uint64_t v)
{
	unsigned char c;

	do {
		c = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		out_raw(o, &c, 1);
		v >>= 7;
	} while (v);
}

static inline void out_int(struct out *o, int field, uint64_t v)
{
	out_varint(o, (uint64_t)field << 3);
	out_varint(o, v);
}

static inline void out_bytes(struct out *o, int field, const void *data, size_t len)
{
	out_varint(o, (uint64_t)field << 3 | 2);
	out_varint(o, len);
	out_raw(o, data, len);
}

static inline void out_text(struct out *o, int field, const char *s)
{
	out_bytes(o, field, s, strlen(s));
}

/* Append the message @inner as a field of the message @o, and free @inner. */
static inline void out_message(struct out *o, int field, struct out *inner)
{
	out_bytes(o, field, inner->b ? inner->b : (const void *)"", inner->n);
	free(inner->b);
	*inner = (struct out){ NULL, 0 };
}

/* Append one field for each word of a list like "a,b,,c"; words may be empty. */
static inline void out_words(struct out *o, int field, const char *words)
{
	const char *end;

	for (; *words; words = *end ? end + 1 : end) {
		end = strchrnul(words, ',');
		out_bytes(o, field, words, end - words);
	}
}

/* Append attributes to a node: "axis=1 pads=1,1,1,1 mode=linear". In a function, "axis=@a" takes
 * the value of attribute a of the node that calls the function. */
static inline void out_attrs(struct out *node, const char *text)
{
	char copy[256], *save, *word;

	strcpy(copy, text);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct out a = { NULL, 0 };
		char *value = strchr(word, '=') + 1, *end;

		value[-1] = '\0';
		out_text(&a, 1, word);
		strtoll(value, &end, 10);
		if (*value == '@')
			out_text(&a, 21, value + 1);
		else if (!*end)
			out_int(&a, 3, strtoll(value, NULL, 10));
		else if (*end != ',')
			out_text(&a, 4, value);
		else
			for (; *value; value = *end ? end + 1 : end)
				out_int(&a, 8, strtoll(value, &end, 10));
		out_message(node, 5, &a);
	}
}

/* Append a node with an attribute @name that is the graph @body; NULL: none. */
static inline void out_node_with(struct out *g, const char *op, const char *in, const char *made,
				 const char *attrs, const char *name, struct out *body)
{
	struct out n = { NULL, 0 }, a = { NULL, 0 };

	out_words(&n, 1, in);
	out_words(&n, 2, made);
	out_text(&n, 4, op);
	out_attrs(&n, attrs);
	if (body) {
		out_text(&a, 1, name);
		out_message(&a, 6, body);
		out_message(&n, 5, &a);
	}
	out_message(g, 1, &n);
}

static inline void out_node(struct out *g, const char *op, const char *in, const char *made,
			    const char *attrs)
{
	out_node_with(g, op, in, made, attrs, NULL, NULL);
}

/* Append a weight tensor of type @type (1: float, 7: int64). The tensor has no data, unless @value
 * is given. */
static inline void out_weight(struct out *g, const char *name, int type, const char *dims,
			      const int64_t *value, int n)
{
	struct out t = { NULL, 0 };
	char *end;

	for (; *dims; dims = *end ? end + 1 : end)
		out_int(&t, 1, strtoll(dims, &end, 10));
	out_int(&t, 2, type);
	out_text(&t, 8, name);
	if (n)
		out_bytes(&t, 9, value, n * sizeof(*value));
	out_message(g, 5, &t);
}

/* Append an input (@field 11) or an output (@field 12) to a graph. In @dims, a word that is not a
 * number is the name of an open dimension. */
static inline void out_value(struct out *g, int field, const char *name, const char *dims)
{
	struct out v = { NULL, 0 }, type = { NULL, 0 }, tensor = { NULL, 0 }, shape = { NULL, 0 };
	const char *end;

	out_int(&tensor, 1, 1);
	for (; *dims; dims = *end ? end + 1 : end) {
		struct out d = { NULL, 0 };

		end = strchrnul(dims, ',');
		if (*dims >= '0' && *dims <= '9')
			out_int(&d, 1, strtoll(dims, NULL, 10));
		else
			out_bytes(&d, 2, dims, end - dims);
		out_message(&shape, 1, &d);
	}
	out_message(&tensor, 2, &shape);
	out_message(&type, 1, &tensor);
	out_text(&v, 1, name);
	out_message(&v, 2, &type);
	out_message(g, field, &v);
}

/* Return the function @name of domain "own" with the nodes @nodes, built like those of a graph;
 * @nodes is freed. */
static inline struct out out_function(const char *name, const char *in, const char *made, struct out *nodes)
{
	struct out fn = { NULL, 0 };

	out_text(&fn, 1, name);
	out_words(&fn, 4, in);
	out_words(&fn, 5, made);
	/* In ONNX's protobuf schema, nodes are field 1 of a graph, but field 7 of a function. */
	for (size_t at = 0; at < nodes->n;) {
		size_t len = 0;
		int shift = 0;

		do
			len |= (size_t)(nodes->b[++at] & 0x7f) << shift;
		while (shift += 7, nodes->b[at] & 0x80);
		out_bytes(&fn, 7, nodes->b + at + 1, len);
		at += 1 + len;
	}
	free(nodes->b);
	*nodes = (struct out){ NULL, 0 };
	out_text(&fn, 10, "own");
	return fn;
}

/* A node that calls a function. */
static inline void out_call(struct out *g, const char *name, const char *in, const char *made,
			    const char *attrs)
{
	struct out n = { NULL, 0 };

	out_words(&n, 1, in);
	out_words(&n, 2, made);
	out_text(&n, 4, name);
	out_attrs(&n, attrs);
	out_text(&n, 7, "own");
	out_message(g, 1, &n);
}

/* Return the ONNX file of graph @g, in memory; frees @g. */
static inline struct out out_model(struct out *g)
{
	struct out m = { NULL, 0 };

	out_int(&m, 1, 8);
	out_message(&m, 7, g);
	return m;
}

#endif
