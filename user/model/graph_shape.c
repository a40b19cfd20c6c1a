// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inference of the sizes of all tensors from the sizes of the network's inputs, operator by
 * operator in the order of the file; ONNX requires this order to be executable. Nested graphs of
 * If, Loop and Scan are visited once.
 */
#include "model/graph_op.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int shape_infer_body(struct jetwatt_graph *g, uint32_t body, uint32_t *bad);

/* Copy the bits per element, the size without the first @drop axes, and the flag
 * JETWATT_GRAPH_LIVE of a tensor to a tensor of another graph. */
static void shape_copy(struct jetwatt_graph_value *to, const struct jetwatt_graph_value *from,
		       int drop)
{
	if (!to || !from || from->rank < drop)
		return;
	to->bits = from->bits;
	to->rank = (int8_t)(from->rank - drop);
	memcpy(to->dim, from->dim + drop, (size_t)to->rank * sizeof(to->dim[0]));
	to->flags = (to->flags & ~JETWATT_GRAPH_LIVE) | (from->flags & JETWATT_GRAPH_LIVE);
}

/* Return: the tensor that an operand refers to in @body, NULL if no such tensor exists. */
static struct jetwatt_graph_value *shape_operand(const struct jetwatt_graph *g, uint32_t body,
						 uint32_t operand)
{
	uint32_t v = jetwatt_graph_find(g, body, *jetwatt_graph_operand(g, operand));

	return v == JETWATT_GRAPH_NONE ? NULL : jetwatt_graph_value_at(g, v);
}

/* Set output @i of the node around a nested graph from the graph's output @v. @stacked: 1: an axis
 * of size @lead is added in front, for the outputs of all iterations. */
static void shape_set_result(struct jetwatt_graph_rule *u, uint32_t i,
			     const struct jetwatt_graph_value *v, int stacked, int64_t lead)
{
	int64_t dim[JETWATT_GRAPH_RANK + 1];

	if (!v || v->rank < 0 || v->rank + stacked > JETWATT_GRAPH_RANK)
		return;
	dim[0] = lead;
	memcpy(dim + stacked, v->dim, (size_t)v->rank * sizeof(dim[0]));
	jetwatt_graph_make(u, i, v->bits, v->rank + stacked, dim);
	if (i < u->r.outs && u->r.out[i])
		u->r.out[i]->flags |= v->flags & JETWATT_GRAPH_LIVE;
}

/* Infer both graphs of an If. */
static int shape_branches(struct jetwatt_graph_rule *u, uint32_t *bad)
{
	static const char *const name[] = { "then_branch", "else_branch" };
	int err = 0;

	for (int k = 0; k < 2 && !err; k++) {
		const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(u->g, u->r.node, name[k]);
		const struct jetwatt_graph_body *b;

		if (!a || a->body == JETWATT_GRAPH_NONE)
			continue;
		err = shape_infer_body(u->g, a->body, bad);
		b = jetwatt_graph_body_at(u->g, a->body);
		for (uint32_t i = 0; i < b->out && i < u->r.outs && !err; i++)
			if (!k || (u->r.out[i] && u->r.out[i]->rank < 0))
				shape_set_result(u, i, shape_operand(u->g, a->body, b->output + i),
						 0, 0);
	}
	return err;
}

/* Infer the graph of a Loop (inputs: number of iterations, condition, carried values) or of a Scan
 * (inputs: carried values, scanned tensors). */
static int shape_iterations(struct jetwatt_graph_rule *u, uint32_t *bad)
{
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(u->g, u->r.node, "body");
	int loop = !strcmp(jetwatt_graph_text(u->g, u->r.node->op), "Loop"), err;
	double scans = jetwatt_graph_scalar(u->g, u->r.node, "num_scan_inputs", 0);
	uint32_t carried, begin = loop ? 2 : 0, over = loop ? 1 : 0, ins = u->r.node->in;
	const struct jetwatt_graph_value *t = jetwatt_graph_in(u, 0);
	int64_t lead = JETWATT_GRAPH_OPEN;
	const struct jetwatt_graph_body *b;

	if (!a || a->body == JETWATT_GRAPH_NONE || !(scans >= 0 && scans <= ins) || ins < begin)
		return 0;
	b = jetwatt_graph_body_at(u->g, a->body);
	carried = ins - begin - (loop ? 0 : (uint32_t)scans);
	for (uint32_t i = begin; i < u->r.ins && i < b->in; i++)
		shape_copy(shape_operand(u->g, a->body, b->input + i), jetwatt_graph_in(u, i),
			   i - begin >= carried);
	if (loop && t && t->flags & JETWATT_GRAPH_NUMBERS_KNOWN && t->nr_known == 1)
		lead = jetwatt_graph_dim(*jetwatt_graph_number(u->g, t->known));
	else if (!loop && carried < u->r.ins && u->r.in[carried] && u->r.in[carried]->rank > 0)
		lead = u->r.in[carried]->dim[0];
	err = shape_infer_body(u->g, a->body, bad);
	b = jetwatt_graph_body_at(u->g, a->body);
	for (uint32_t i = over; i < b->out && !err; i++)
		shape_set_result(u, i - over, shape_operand(u->g, a->body, b->output + i),
				 i - over >= carried, lead);
	return err;
}

static int shape_infer_node(struct jetwatt_graph *g, uint32_t node, uint32_t *bad)
{
	const struct jetwatt_graph_op *op;
	struct jetwatt_graph_rule u = { .g = g };
	struct jetwatt_graph_value said;
	int live = 0, err = 0;

	*bad = node;
	jetwatt_graph_refer(g, jetwatt_graph_node_at(g, node), &u.r);
	op = jetwatt_graph_op_find(g, u.r.node);
	for (uint32_t i = 0; i < u.r.ins; i++) {
		if (u.r.in[i] && u.r.in[i]->flags & JETWATT_GRAPH_LATER)
			return -ELOOP;
		live |= u.r.in[i] ? u.r.in[i]->flags & JETWATT_GRAPH_LIVE : 0;
	}
	for (uint32_t i = 0; i < u.r.outs; i++) {
		struct jetwatt_graph_value *o = u.r.out[i];

		if (o)
			o->flags = (o->flags & ~(JETWATT_GRAPH_NUMBERS_KNOWN | JETWATT_GRAPH_LATER)) | live;
	}
	/* The size of a tensor that the file declares is used only if no size can be inferred. */
	said = u.r.outs && u.r.out[0] ? *u.r.out[0] : (struct jetwatt_graph_value){ .rank = -1 };
	if (u.r.outs && u.r.out[0] && op)
		u.r.out[0]->rank = -1;
	if (op && op->shape)
		op->shape(&u);
	else if (op)
		err = op->name[0] == 'I' ? shape_branches(&u, bad) : shape_iterations(&u, bad);
	if (!err && u.r.outs && u.r.out[0]) {
		struct jetwatt_graph_value *o = u.r.out[0];

		if (jetwatt_graph_elements(o) < 0 && jetwatt_graph_elements(&said) >= 0) {
			memcpy(o->dim, said.dim, sizeof(o->dim));
			o->rank = said.rank;
			o->flags |= JETWATT_GRAPH_GUESSED;
		}
		o->bits = o->bits ? o->bits : said.bits;
		err = op ? jetwatt_graph_compute(&u) : 0;
	}
	if (!err)
		return 0;
	return err;
}

static int shape_infer_body(struct jetwatt_graph *g, uint32_t body, uint32_t *bad)
{
	uint32_t next;
	int err = 0;

	for (uint32_t i = jetwatt_graph_body_at(g, body)->first; i != JETWATT_GRAPH_NONE && !err; i = next) {
		next = jetwatt_graph_node_at(g, i)->next;
		err = shape_infer_node(g, i, bad);
	}
	return err;
}

/* Return: the size of an open axis; @said: set to 1 if the user gave the size. */
static int64_t shape_open_size(struct jetwatt_graph *g, uint32_t name, const char *own, int *said)
{
	for (size_t i = 0; i < g->sizes; i++)
		if (!strcmp(g->size[i].name, own) ||
		    (name != JETWATT_GRAPH_NONE && !strcmp(g->size[i].name, jetwatt_graph_text(g, name)))) {
			*said = 1;
			return g->size[i].size;
		}
	*said = 0;
	return 1;
}

/* Set the sizes of open axes of the inputs, and of all axes with the same names. */
static int shape_close_axes(struct jetwatt_graph *g)
{
	const struct jetwatt_graph_body *b = jetwatt_graph_body_at(g, 0);

	for (uint32_t i = 0; i < b->in; i++) {
		struct jetwatt_graph_value *v = shape_operand(g, 0, b->input + i);

		if (!v || v->flags & JETWATT_GRAPH_WEIGHT)
			continue;
		for (int d = 0; d < v->rank; d++) {
			struct jetwatt_graph_open o = { .axis = d, .name = JETWATT_GRAPH_NONE };
			char own[96];
			int err;

			if (v->dim[d] >= 0)
				continue;
			if (v->dim[d] < JETWATT_GRAPH_OPEN)
				o.name = (uint32_t)(-2 - v->dim[d]);
			snprintf(own, sizeof(own), "%s.%d", jetwatt_graph_text(g, v->name), d);
			o.value = (uint32_t)(v - jetwatt_graph_value_at(g, 0));
			o.taken = v->dim[d] = shape_open_size(g, o.name, own, &o.said);
			err = jetwatt_graph_add_open(g, &o);
			if (err)
				return err;
		}
	}
	for (uint32_t i = 0; i < g->value.n; i++) {
		struct jetwatt_graph_value *v = jetwatt_graph_value_at(g, i);

		for (int d = 0; d < v->rank; d++)
			for (uint32_t k = 0; v->dim[d] < JETWATT_GRAPH_OPEN && k < g->open.n; k++)
				if (jetwatt_graph_named(jetwatt_graph_open_at(g, k)->name) == v->dim[d])
					v->dim[d] = jetwatt_graph_open_at(g, k)->taken;
	}
	return 0;
}

int jetwatt_graph_infer(struct jetwatt_graph *g, uint32_t *bad)
{
	int err;

	*bad = JETWATT_GRAPH_NONE;
	for (uint32_t i = 0; i < g->node.n; i++) {
		const struct jetwatt_graph_node *n = jetwatt_graph_node_at(g, i);

		for (uint32_t k = n->in; k < n->in + n->out; k++) {
			uint32_t name = *jetwatt_graph_operand(g, n->operand + k), v;

			if (!*jetwatt_graph_text(g, name))
				continue;
			err = jetwatt_graph_add_value(g, n->body, name, &v);
			if (err)
				return err;
			jetwatt_graph_value_at(g, v)->flags |= JETWATT_GRAPH_LATER;
		}
	}
	for (uint32_t i = 0; i < g->value.n; i++) {
		struct jetwatt_graph_value *v = jetwatt_graph_value_at(g, i);

		if (v->flags & JETWATT_GRAPH_INPUT && !(v->flags & JETWATT_GRAPH_WEIGHT) && !v->body)
			v->flags |= JETWATT_GRAPH_LIVE;
	}
	err = g->body.n ? shape_close_axes(g) : 0;
	return err || !g->body.n ? err : shape_infer_body(g, 0, bad);
}
