// SPDX-License-Identifier: GPL-2.0-only
/* Read the graph of an ONNX file: nodes, attributes, values, subgraphs. Names are in onnx_name.c,
 * functions in onnx_function.c, tensors in onnx_tensor.c. */
#include "store/onnx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/onnx_read.h"

/* Maximum number of bytes that are read; the values of large tensors are skipped. The largest
 * networks have some megabytes of other data. */
#define READ_MAX	(256ull << 20)

/* Field numbers of onnx.proto. */
enum { MODEL_GRAPH = 7, MODEL_FUNCTION = 25 };
enum { FN_NODE = 7 };
enum { GRAPH_NODE = 1, GRAPH_WEIGHT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE = 13,
       GRAPH_SPARSE = 15 };
enum { ATTR_F = 2, ATTR_I = 3, ATTR_S = 4, ATTR_T = 5, ATTR_G = 6, ATTR_FLOATS = 7,
       ATTR_INTS = 8, ATTR_TYPE = 20, ATTR_REF = 21 };
/* AttributeProto.AttributeType: the types of one number. */
enum { ATTR_TYPE_FLOAT = 1, ATTR_TYPE_INT = 2 };

/* Read a TensorShapeProto.Dimension. *@dim: its size; or jetwatt_graph_named() of its name; or
 * JETWATT_GRAPH_OPEN. */
static int onnx_dimension(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, int64_t *dim)
{
	uint64_t at = m->at;
	struct jetwatt_wire_field f;
	uint32_t name;
	int rc;

	*dim = JETWATT_GRAPH_OPEN;
	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr == 1 && f.type == JETWATT_WIRE_VARINT && f.value <= JETWATT_ONNX_DIM_MAX) {
			*dim = (int64_t)f.value;
		} else if (f.nr == 2 && f.end > f.at) {
			rc = jetwatt_onnx_text(o, &f, &name);
			if (rc)
				return rc;
			*dim = jetwatt_graph_named(name);
		}
	}
	return rc;
}

static int onnx_shape(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
		      struct jetwatt_graph_value *v)
{
	uint64_t at = m->at;
	struct jetwatt_wire_field f;
	int rc;

	v->rank = 0;
	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr != 1 || f.type != JETWATT_WIRE_BYTES)
			continue;
		if (v->rank == JETWATT_GRAPH_RANK)
			return -E2BIG;
		rc = onnx_dimension(o, &f, &v->dim[v->rank]);
		if (rc)
			return rc;
		v->rank++;
	}
	return rc;
}

/* Read a ValueInfoProto: its name and, for a tensor, its type and shape. */
static int onnx_value_info(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			   uint32_t body, int flags, uint32_t *name)
{
	struct jetwatt_graph_value t = { .rank = -1 }, *v;
	uint64_t at = m->at, in, inner;
	struct jetwatt_wire_field f, type, part;
	uint32_t value;
	int rc;

	*name = JETWATT_GRAPH_NONE;
	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr == 1) {
			rc = jetwatt_onnx_name(o, &f, name);
			if (rc)
				return rc;
		}
		if (f.nr != 2 || f.type != JETWATT_WIRE_BYTES)
			continue;
		in = f.at;
		EACH_FIELD(o, type, in, f.end, rc) {
			if (type.nr != 1 || type.type != JETWATT_WIRE_BYTES)
				continue;
			inner = type.at;
			EACH_FIELD(o, part, inner, type.end, rc) {
				if (part.nr == 1 && part.type == JETWATT_WIRE_VARINT)
					t.bits = jetwatt_onnx_bits(part.value);
				else if (part.nr == 2 && part.type == JETWATT_WIRE_BYTES)
					rc = onnx_shape(o, &part, &t);
				if (rc < 0)
					return rc;
			}
			if (rc < 0)
				return rc;
		}
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (*name == JETWATT_GRAPH_NONE)
		return 0;
	rc = jetwatt_graph_add_value(o->g, body, *name, &value);
	if (rc)
		return rc;
	v = jetwatt_graph_value_at(o->g, value);
	v->flags |= flags;
	/* Old files list their weights as inputs too: the stored tensor counts. */
	if (v->flags & JETWATT_GRAPH_WEIGHT)
		return 0;
	t.flags = v->flags;
	t.name = v->name;
	t.body = v->body;
	*v = t;
	return 0;
}

static int onnx_graph(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t parent,
		      uint32_t *body);

/* Read an AttributeProto. @ref: set to ref_attr_name, the name of the attribute of the calling node
 * that has the value; JETWATT_GRAPH_NONE: the attribute has its own value. */
static int onnx_read_attribute(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			       uint32_t body, struct jetwatt_graph_attr *a, uint32_t *ref)
{
	uint64_t at = m->at, type = 0;
	struct jetwatt_wire_field f;
	int rc;

	*a = (struct jetwatt_graph_attr){ .name = JETWATT_GRAPH_NONE, .text = JETWATT_GRAPH_NONE,
					  .value = JETWATT_GRAPH_NONE, .body = JETWATT_GRAPH_NONE };
	*ref = JETWATT_GRAPH_NONE;
	a->number = o->g->number.n;
	EACH_FIELD(o, f, at, m->end, rc) {
		o->at = f.at;
		if (f.nr == ATTR_NAME)
			rc = jetwatt_onnx_text(o, &f, &a->name);
		else if (f.nr == ATTR_F || f.nr == ATTR_FLOATS)
			rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_32, JETWATT_ONNX_FLOAT,
						  &a->nr, &a->count);
		else if (f.nr == ATTR_I || f.nr == ATTR_INTS)
			rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_VARINT, JETWATT_ONNX_INT64,
						  &a->nr, &a->count);
		else if (f.nr == ATTR_S && f.type == JETWATT_WIRE_BYTES && f.end - f.at <= 256)
			rc = jetwatt_onnx_text(o, &f, &a->text);
		else if (f.nr == ATTR_T && f.type == JETWATT_WIRE_BYTES)
			rc = jetwatt_onnx_tensor(o, &f, body, 0, &a->value);
		else if (f.nr == ATTR_G && f.type == JETWATT_WIRE_BYTES)
			rc = onnx_graph(o, &f, body, &a->body);
		else if (f.nr == ATTR_TYPE)
			type = f.value;
		else if (f.nr == ATTR_REF)
			rc = jetwatt_onnx_text(o, &f, ref);
		if (rc < 0)
			return rc;
	}
	/* A writer of onnx.proto3 leaves out a number that is 0. */
	if (!rc && (type == ATTR_TYPE_FLOAT || type == ATTR_TYPE_INT) && !a->count && *ref == JETWATT_GRAPH_NONE) {
		a->number = o->g->number.n;
		a->nr = a->count = 1;
		rc = jetwatt_graph_add_number(o->g, 0);
	}
	return rc;
}

static int onnx_attribute(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
			  uint32_t node)
{
	const struct jetwatt_onnx_call *here = o->call;
	struct jetwatt_wire_field resolved = *m;
	struct jetwatt_graph_attr a;
	uint32_t ref, name;
	int rc = onnx_read_attribute(o, m, body, &a, &ref);

	name = a.name;
	/* The value is in an attribute of the calling node, which may in turn refer to an
	 * attribute of its own caller. */
	while (!rc && ref != JETWATT_GRAPH_NONE) {
		const struct jetwatt_onnx_call *outer;

		rc = jetwatt_onnx_resolve_attr(o, ref, &resolved, &outer);
		if (rc <= 0)
			break;
		o->call = outer;
		rc = onnx_read_attribute(o, &resolved, body, &a, &ref);
		a.name = name;
	}
	o->call = here;
	/* No caller has the attribute: leave the attribute out of the node. */
	return rc || ref != JETWATT_GRAPH_NONE ? rc : jetwatt_graph_add_attr(o->g, node, &a);
}

static int onnx_node(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body);

/* Read the nodes of the function @fn in place of node @m. */
static int onnx_expand(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
		       const struct jetwatt_onnx_function *fn)
{
	struct jetwatt_wire_field f;
	struct jetwatt_onnx_call c;
	uint64_t at = fn->text.at;
	int rc = jetwatt_onnx_bind(o, m, fn, &c);

	if (rc)
		return rc;
	o->call = &c;
	EACH_FIELD(o, f, at, fn->text.end, rc) {
		if (f.nr != FN_NODE || f.type != JETWATT_WIRE_BYTES)
			continue;
		rc = onnx_node(o, &f, body);
		if (rc)
			break;
	}
	o->call = c.outer;
	return rc;
}

/* Read a NodeProto into the graph @body. Inputs and outputs of a node must be contiguous in the
 * graph, so read its fields twice. */
static int onnx_node(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body)
{
	const struct jetwatt_onnx_function *fn;
	uint32_t id, nr;
	struct jetwatt_wire_field f;
	struct jetwatt_graph_node n;
	int rc = jetwatt_onnx_called(o, m, &fn);

	if (rc)
		return rc < 0 ? rc : onnx_expand(o, m, body, fn);
	rc = jetwatt_graph_add_node(o->g, body, &nr);
	if (rc)
		return rc;
	n = *jetwatt_graph_node_at(o->g, nr);
	n.operand = o->g->operand.n;
	for (int made = 0; made < 2; made++) {
		uint64_t at = m->at;

		EACH_FIELD(o, f, at, m->end, rc) {
			uint32_t *to = f.nr == NODE_NAME ? &n.name : f.nr == NODE_OP ? &n.op :
				       f.nr == NODE_DOMAIN ? &n.domain : NULL;

			if (f.nr == (made ? NODE_OUT : NODE_IN)) {
				rc = jetwatt_onnx_name(o, &f, &id);
				if (!rc)
					rc = jetwatt_graph_add_operand(o->g, id);
				n.in += !made;
				n.out += made;
			} else if (to && !made) {
				rc = jetwatt_onnx_text(o, &f, to);
			}
			if (rc < 0)
				return rc;
		}
		if (rc < 0)
			return rc;
	}
	*jetwatt_graph_node_at(o->g, nr) = n;
	for (uint64_t at = m->at; (rc = jetwatt_wire_next(&o->wire, &at, m->end, &f)) > 0;) {
		if (f.nr != NODE_ATTR || f.type != JETWATT_WIRE_BYTES)
			continue;
		rc = onnx_attribute(o, &f, body, nr);
		if (rc)
			return rc;
	}
	return rc;
}

static int onnx_graph(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t parent,
		      uint32_t *body)
{
	uint64_t at = m->at;
	uint32_t value, name, ins = 0, outs = 0;
	struct jetwatt_wire_field f;
	int rc = jetwatt_graph_add_body(o->g, parent, body);

	if (rc)
		return rc;
	EACH_FIELD(o, f, at, m->end, rc) {
		o->at = f.at;
		if (f.type != JETWATT_WIRE_BYTES)
			continue;
		if (f.nr == GRAPH_NODE)
			rc = onnx_node(o, &f, *body);
		else if (f.nr == GRAPH_WEIGHT)
			rc = jetwatt_onnx_tensor(o, &f, *body, 1, &value);
		else if (f.nr == GRAPH_SPARSE)
			rc = jetwatt_onnx_sparse(o, &f, *body);
		else if (f.nr == GRAPH_VALUE)
			rc = onnx_value_info(o, &f, *body, 0, &name);
		if (rc < 0)
			return rc;
	}
	/* Read inputs and outputs separately, because their names must be contiguous in the
	 * graph. */
	for (int made = 0; made < 2 && !rc; made++) {
		uint32_t first = o->g->operand.n;

		at = m->at;
		EACH_FIELD(o, f, at, m->end, rc) {
			if (f.type != JETWATT_WIRE_BYTES || f.nr != (made ? GRAPH_OUTPUT : GRAPH_INPUT))
				continue;
			rc = onnx_value_info(o, &f, *body, made ? 0 : JETWATT_GRAPH_INPUT, &name);
			if (!rc)
				rc = name == JETWATT_GRAPH_NONE ? -EBADMSG :
				     jetwatt_graph_add_operand(o->g, name);
			if (rc)
				return rc;
			ins += !made;
			outs += made;
		}
		if (made)
			jetwatt_graph_body_at(o->g, *body)->output = first;
		else
			jetwatt_graph_body_at(o->g, *body)->input = first;
	}
	jetwatt_graph_body_at(o->g, *body)->in = ins;
	jetwatt_graph_body_at(o->g, *body)->out = outs;
	return rc;
}

static int onnx_model(struct jetwatt_onnx *o)
{
	struct jetwatt_wire_field f;
	uint64_t at = 0;
	uint32_t body;
	int rc, graphs = 0;

	/* Functions may come after the graph that calls them, so read them first. */
	EACH_FIELD(o, f, at, o->wire.size, rc) {
		o->at = f.at;
		if (f.nr == MODEL_FUNCTION && f.type == JETWATT_WIRE_BYTES)
			rc = jetwatt_onnx_function(o, &f);
		if (rc < 0)
			return rc;
	}
	o->g->functions = o->functions;
	at = 0;
	EACH_FIELD(o, f, at, o->wire.size, rc) {
		o->at = f.at;
		if (f.nr != MODEL_GRAPH || f.type != JETWATT_WIRE_BYTES || graphs++)
			continue;
		rc = onnx_graph(o, &f, JETWATT_GRAPH_NONE, &body);
		if (rc)
			return rc;
	}
	return rc ? rc : graphs ? 0 : -ENOMSG;
}

static int onnx_read_model(struct jetwatt_onnx *o, struct jetwatt_onnx_error *err)
{
	int rc = onnx_model(o);
	const char *why =
		rc == -ENODATA ? "the file ends in the middle of a field"
		: rc == -E2BIG ? "the file is larger or nested deeper than the limits of the reader"
		: rc == -ENOMSG	 ? "the file contains no network"
		: rc == -EBADMSG ? "not an ONNX file, or a damaged one"
				 : strerror(-rc);

	if (rc)
		snprintf(err->text, sizeof(err->text), "%s", why);
	err->at = o->at;
	return rc == -ENOMSG || rc == -EBADMSG ? -EINVAL : rc;
}

static struct jetwatt_onnx *onnx_reader_new(struct jetwatt_graph *g, int fd, const void *memory,
					    uint64_t size)
{
	struct jetwatt_onnx *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->g = g;
	o->wire.fd = fd;
	o->wire.memory = memory;
	o->wire.size = size;
	o->wire.left = READ_MAX;
	return o;
}

static void onnx_reader_free(struct jetwatt_onnx *o)
{
	if (o)
		free(o->function);
	free(o);
}

int jetwatt_onnx_parse(struct jetwatt_graph *g, const void *data, size_t len,
		       struct jetwatt_onnx_error *err)
{
	struct jetwatt_onnx *o = onnx_reader_new(g, -1, data, len);
	int rc = o ? onnx_read_model(o, err) : -ENOMEM;

	onnx_reader_free(o);
	return rc;
}

int jetwatt_onnx_read(struct jetwatt_graph *g, const char *path, struct jetwatt_onnx_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat st;
	struct jetwatt_onnx *o;

	*err = (struct jetwatt_onnx_error){ 0, "" };
	rc = fd < 0 || fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 :
	     S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE;
	o = rc ? NULL : onnx_reader_new(g, fd, NULL, (uint64_t)st.st_size);
	if (!rc && !o)
		rc = -ENOMEM;
	if (rc)
		snprintf(err->text, sizeof(err->text), "%s", strerror(-rc));
	else
		rc = onnx_read_model(o, err);
	onnx_reader_free(o);
	if (fd >= 0)
		close(fd);
	return rc;
}
