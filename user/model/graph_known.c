// SPDX-License-Identifier: GPL-2.0-only
/*
 * Elements of small tensors that determine the sizes of other tensors: exporters compute shapes by
 * operators such as Shape, Gather and Concat.
 */
#include "model/graph_op.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Return: element @i of input @in; a tensor with one element is broadcast. */
static double known_element(const struct jetwatt_graph_rule *u, uint32_t in, uint32_t i)
{
	const struct jetwatt_graph_value *v = jetwatt_graph_in(u, in);

	return *jetwatt_graph_number(u->g, v->known + (v->nr_known == 1 ? 0 : i));
}

/* Round towards 0, as integer division and casts do. */
static double known_truncate(double v)
{
	return v < 0 ? ceil(v) : floor(v);
}

/* Return: the smallest of element @i of all inputs; @max: 1: the largest one. */
static double known_extreme(const struct jetwatt_graph_rule *u, int max, uint32_t i)
{
	double v = known_element(u, 0, i);

	for (uint32_t k = 1; k < u->r.ins; k++) {
		double y = known_element(u, k, i);

		v = max ? fmax(v, y) : fmin(v, y);
	}
	return v;
}

/* Compute element @i of an element-wise operator. Return: 1 on success; 0 if @op is another
 * operator. */
static int known_pointwise(const struct jetwatt_graph_rule *u, const char *op, uint32_t i,
			   double *v)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double a = known_element(u, 0, i), b = u->r.ins > 1 ? known_element(u, 1, i) : 0;

	if (!strcmp(op, "Identity"))
		*v = a;
	else if (!strcmp(op, "Cast"))
		*v = u->r.out[0]->bits == 64 ? known_truncate(a) : a;
	else if (!strcmp(op, "Add"))
		*v = a + b;
	else if (!strcmp(op, "Sub"))
		*v = a - b;
	else if (!strcmp(op, "Mul"))
		*v = a * b;
	else if (!strcmp(op, "Div"))
		*v = b == 0 ? NAN : x->bits == 64 ? known_truncate(a / b) : a / b;
	else if (!strcmp(op, "Mod"))
		*v = b == 0 ? NAN : a - b * floor(a / b);
	else if (!strcmp(op, "Min"))
		*v = known_extreme(u, 0, i);
	else if (!strcmp(op, "Max"))
		*v = known_extreme(u, 1, i);
	else if (!strcmp(op, "Neg"))
		*v = -a;
	else if (!strcmp(op, "Floor"))
		*v = floor(a);
	else if (!strcmp(op, "Ceil"))
		*v = ceil(a);
	else if (!strcmp(op, "Sqrt"))
		*v = sqrt(a);
	else if (!strcmp(op, "Equal"))
		*v = a == b;
	else if (!strcmp(op, "Greater"))
		*v = a > b;
	else if (!strcmp(op, "Less"))
		*v = a < b;
	else if (!strcmp(op, "Not"))
		*v = a == 0;
	else if (!strcmp(op, "Where") && u->r.ins == 3)
		*v = a != 0 ? b : known_element(u, 2, i);
	else
		return 0;
	return 1;
}

/* Reduce all elements of input 0 to one element. */
static double known_reduce(const struct jetwatt_graph_rule *u, const char *op)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double v = !strcmp(op, "ReduceProd");

	for (uint32_t i = 0; i < x->nr_known; i++) {
		double y = known_element(u, 0, i);

		v = !strcmp(op, "ReduceProd") ? v * y : !strcmp(op, "ReduceSum") ? v + y :
		    !i ? y : !strcmp(op, "ReduceMax") ? fmax(v, y) : fmin(v, y);
	}
	return v;
}

/* Gather element @i from a vector. Return: 1 on success; 0 if the element is unknown. */
static int known_gather(const struct jetwatt_graph_rule *u, uint32_t i, double *v)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	double at = known_element(u, 1, i);

	if (x->rank != 1)
		return 0;
	if (at < 0)
		at += x->nr_known;
	if (!(at >= 0 && at < x->nr_known))
		return 0;
	*v = *jetwatt_graph_number(u->g, x->known + (uint32_t)at);
	return 1;
}

/* Slice element @i from a vector. Return: 1 on success; 0 if the element is unknown. */
static int known_slice(const struct jetwatt_graph_rule *u, uint32_t i, double *v)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	int64_t begin, step = 1;
	double at;

	if (x->rank != 1 || jetwatt_graph_ints(u, "starts", 1, &begin, 1) != 1)
		return 0;
	jetwatt_graph_ints(u, "steps", 4, &step, 1);
	at = (double)begin;
	if (at < 0)
		at += x->nr_known;
	at = fmin(fmax(at, 0), x->nr_known - (step < 0)) + (double)step * i;
	if (!(at >= 0 && at < x->nr_known))
		return 0;
	*v = *jetwatt_graph_number(u->g, x->known + (uint32_t)at);
	return 1;
}

/* Compute element @i of output 0. Return: 1 on success; 0 if the element is unknown. */
static int known_compute(const struct jetwatt_graph_rule *u, const char *op, uint32_t i, double *v)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);

	if (!strcmp(op, "Gather"))
		return known_gather(u, i, v);
	if (!strcmp(op, "Slice"))
		return known_slice(u, i, v);
	if (!strcmp(op, "Range")) {
		*v = known_element(u, 0, 0) + i * known_element(u, 2, 0);
	} else if (!strcmp(op, "Concat")) {
		for (uint32_t k = 0; k < u->r.ins; k++) {
			const struct jetwatt_graph_value *y = jetwatt_graph_in(u, k);

			if (y->rank != 1)
				return 0;
			if (i < y->nr_known) {
				*v = *jetwatt_graph_number(u->g, y->known + i);
				return 1;
			}
			i -= y->nr_known;
		}
		return 0;
	} else if (!strncmp(op, "Reduce", 6)) {
		if (u->r.out[0]->nr_known != 1 || (strcmp(op, "ReduceProd") && strcmp(op, "ReduceSum") &&
						   strcmp(op, "ReduceMax") && strcmp(op, "ReduceMin")))
			return 0;
		*v = known_reduce(u, op);
	} else if (!strcmp(op, "Reshape") || !strcmp(op, "Flatten") || !strcmp(op, "Squeeze") ||
		   !strcmp(op, "Unsqueeze") || !strcmp(op, "Expand")) {
		if (x->nr_known != 1 && x->nr_known != u->r.out[0]->nr_known)
			return 0;
		*v = known_element(u, 0, i);
	} else {
		/* Broadcasting is supported for tensors of one element only. */
		for (uint32_t k = 0; k < u->r.ins; k++) {
			const struct jetwatt_graph_value *y = jetwatt_graph_in(u, k);

			if (y->nr_known != 1 && y->nr_known != u->r.out[0]->nr_known)
				return 0;
		}
		return known_pointwise(u, op, i, v);
	}
	return 1;
}

/* Compute element @i of output 0 of Shape, Size, Constant or ConstantOfShape. Return: 1 on success;
 * 0 if the element is unknown. */
static int known_from_size(const struct jetwatt_graph_rule *u, const char *op, uint32_t i,
			   double *v)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0);
	const struct jetwatt_graph_attr *a;
	double lo;

	if (!strcmp(op, "Shape") && x) {
		lo = jetwatt_graph_scalar(u->g, u->r.node, "start", 0);
		lo = fmax(lo < 0 ? lo + x->rank : lo, 0);
		if (!(lo + i < x->rank))
			return 0;
		*v = (double)x->dim[(int)lo + (int)i];
		return *v >= 0;
	}
	if (!strcmp(op, "Size") && x) {
		*v = jetwatt_graph_elements(x);
		return *v >= 0;
	}
	a = jetwatt_graph_find_attr(u->g, u->r.node, "value");
	if (a && a->value != JETWATT_GRAPH_NONE) {
		const struct jetwatt_graph_value *t = jetwatt_graph_value_at(u->g, a->value);
		uint32_t at = !strcmp(op, "ConstantOfShape") ? 0 : i;

		if (!(t->flags & JETWATT_GRAPH_NUMBERS_KNOWN) || at >= t->nr_known)
			return 0;
		*v = *jetwatt_graph_number(u->g, t->known + at);
		return 1;
	}
	if (!strcmp(op, "ConstantOfShape")) {
		*v = 0;
		return 1;
	}
	for (uint32_t k = u->r.node->attr; k != JETWATT_GRAPH_NONE; k = a->next) {
		a = jetwatt_graph_attr_at(u->g, k);
		if (!strncmp(jetwatt_graph_text(u->g, a->name), "value_", 6) && i < a->nr) {
			*v = *jetwatt_graph_number(u->g, a->number + i);
			return 1;
		}
	}
	return 0;
}

int jetwatt_graph_compute(struct jetwatt_graph_rule *u)
{
	const char *op = jetwatt_graph_text(u->g, u->r.node->op);
	struct jetwatt_graph_value *o = u->r.outs ? u->r.out[0] : NULL;
	int alone = !strcmp(op, "Shape") || !strcmp(op, "Size") || !strcmp(op, "Constant") ||
		    !strcmp(op, "ConstantOfShape");
	double n = o ? jetwatt_graph_elements(o) : -1, v;
	uint32_t first = u->g->number.n;
	int err;

	if (n < 0 || n > JETWATT_GRAPH_KNOWN || u->r.node->in > JETWATT_GRAPH_OPERANDS ||
	    (!alone && !u->r.ins))
		return 0;
	for (uint32_t i = 0; i < u->r.ins && !alone; i++)
		if (!jetwatt_graph_in(u, i) ||
		    !(jetwatt_graph_in(u, i)->flags & JETWATT_GRAPH_NUMBERS_KNOWN) ||
		    !jetwatt_graph_in(u, i)->nr_known)
			return 0;
	o->nr_known = (uint8_t)n;
	for (uint32_t i = 0; i < (uint32_t)n; i++) {
		if (!(alone ? known_from_size(u, op, i, &v) : known_compute(u, op, i, &v)) ||
		    !isfinite(v))
			return 0;
		err = jetwatt_graph_add_number(u->g, v);
		if (err)
			return err;
	}
	o->known = first;
	o->flags |= JETWATT_GRAPH_NUMBERS_KNOWN;
	return 0;
}
