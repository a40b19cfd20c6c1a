// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that an ONNX file defines. Each call is expanded: onnx.c reads the nodes of the
 * function again, with the names of the calling node for its inputs and outputs.
 */
#include "store/onnx_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of FunctionProto. */
enum { FN_NAME = 1, FN_IN = 4, FN_OUT = 5, FN_DOMAIN = 10, FN_DEFAULT = 11 };

int jetwatt_onnx_function(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m)
{
	struct jetwatt_onnx_function *fn;
	struct jetwatt_wire_field f;
	uint64_t at = m->at;
	int rc;

	if (!o->function)
		o->function = malloc(JETWATT_ONNX_FUNCTIONS * sizeof(*o->function));
	if (!o->function)
		return -ENOMEM;
	if (o->functions == JETWATT_ONNX_FUNCTIONS)
		return -E2BIG;
	fn = &o->function[o->functions];
	*fn = (struct jetwatt_onnx_function){ JETWATT_GRAPH_NONE, JETWATT_GRAPH_NONE, *m };
	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr == FN_NAME)
			rc = jetwatt_onnx_text(o, &f, &fn->name);
		else if (f.nr == FN_DOMAIN)
			rc = jetwatt_onnx_text(o, &f, &fn->domain);
		if (rc < 0)
			return rc;
	}
	if (!rc && fn->name != JETWATT_GRAPH_NONE)
		o->functions++;
	return rc;
}

int jetwatt_onnx_called(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			const struct jetwatt_onnx_function **fn)
{
	uint32_t op = JETWATT_GRAPH_NONE, domain = JETWATT_GRAPH_NONE;
	struct jetwatt_wire_field f;
	uint64_t at = m->at;
	int rc = 0;

	if (!o->functions)
		return 0;
	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr == NODE_OP)
			rc = jetwatt_onnx_text(o, &f, &op);
		else if (f.nr == NODE_DOMAIN)
			rc = jetwatt_onnx_text(o, &f, &domain);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < o->functions && !rc; i++)
		if (o->function[i].name == op &&
		    !strcmp(jetwatt_graph_text(o->g, o->function[i].domain),
			    jetwatt_graph_text(o->g, domain))) {
			*fn = &o->function[i];
			return 1;
		}
	return rc;
}

/* Read the names in the fields with number @nr of the message @m by the function @read, @max
 * names at most. Return: number of names; negative errno. */
static int onnx_names(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t nr,
		      uint32_t *id, uint32_t max,
		      int (*read)(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f,
				  uint32_t *id))
{
	struct jetwatt_wire_field f;
	uint64_t at = m->at;
	int rc, n = 0;

	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr != nr)
			continue;
		if ((uint32_t)n == max)
			return -E2BIG;
		rc = read(o, &f, &id[n++]);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : n;
}

/* Map the names in field @formals of the function to those in field @actuals of the calling
 * node. */
static int onnx_bind_names(struct jetwatt_onnx *o, struct jetwatt_onnx_call *c, uint32_t formals,
			   uint32_t actuals)
{
	uint32_t *formal = c->formal + c->n, *actual = c->actual + c->n, none;
	uint32_t capacity = JETWATT_ONNX_FORMALS - c->n;
	int n = onnx_names(o, &c->function->text, formals, formal, capacity, jetwatt_onnx_text), m,
	    rc;

	if (n < 0)
		return n;
	m = onnx_names(o, &c->node, actuals, actual, capacity, jetwatt_onnx_name);
	if (m < 0)
		return m;
	rc = jetwatt_graph_intern(o->g, "", 0, &none);
	/* Inputs and outputs that the node leaves out get an empty name. */
	for (; m < n && !rc; m++)
		actual[m] = none;
	c->n += (uint32_t)n;
	return rc;
}

int jetwatt_onnx_bind(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
		      const struct jetwatt_onnx_function *fn, struct jetwatt_onnx_call *c)
{
	int rc;

	*c = (struct jetwatt_onnx_call){ .outer = o->call, .function = fn, .node = *m,
					 .nr = ++o->calls,
					 .depth = o->call ? o->call->depth + 1 : 1 };
	rc = c->depth > JETWATT_GRAPH_DEPTH ? -E2BIG : onnx_bind_names(o, c, FN_IN, NODE_IN);
	return rc ? rc : onnx_bind_names(o, c, FN_OUT, NODE_OUT);
}

/* Find the attribute named @ref in fields @nr of @m. Return: 1 on success; 0: none; negative errno.
 */
static int onnx_find_attribute(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m,
			       uint32_t nr, uint32_t ref, struct jetwatt_wire_field *attr)
{
	struct jetwatt_wire_field f, part;
	uint64_t at = m->at, in;
	uint32_t name;
	int rc;

	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr != nr || f.type != JETWATT_WIRE_BYTES)
			continue;
		in = f.at;
		EACH_FIELD(o, part, in, f.end, rc) {
			if (part.nr != ATTR_NAME)
				continue;
			rc = jetwatt_onnx_text(o, &part, &name);
			if (rc)
				return rc;
			if (name == ref) {
				*attr = f;
				return 1;
			}
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

int jetwatt_onnx_resolve_attr(struct jetwatt_onnx *o, uint32_t ref, struct jetwatt_wire_field *attr,
		       const struct jetwatt_onnx_call **outer)
{
	int rc;

	*outer = o->call ? o->call->outer : NULL;
	if (!o->call)
		return 0;
	rc = onnx_find_attribute(o, &o->call->node, NODE_ATTR, ref, attr);
	return rc ? rc : onnx_find_attribute(o, &o->call->function->text, FN_DEFAULT, ref, attr);
}
