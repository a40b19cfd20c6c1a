// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations and bytes of each layer (Pagoda, arXiv 2509.20189): a multiplication and an addition
 * count as two operations; each tensor that a layer reads or writes passes through memory once.
 */
#include "model/graph_op.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* List of the layers whose operations and bytes have been counted so far. */
struct work_list {
	const struct jetwatt_graph *g;
	struct jetwatt_work *work;
	size_t n, capacity;
};

static double work_elements(const struct jetwatt_graph_value *v)
{
	return v ? jetwatt_graph_elements(v) : 0;
}

/* Return: elements of the window of a convolution (@w: its weights) or of a pool (@w: NULL). */
static double work_window(const struct jetwatt_graph_rule *u, const struct jetwatt_graph_value *w)
{
	int64_t k[JETWATT_GRAPH_RANK];
	int n = w ? 0 : jetwatt_graph_ints(u, "kernel_shape", -1, k, JETWATT_GRAPH_RANK);
	double all = 1;

	for (int i = 2; w && i < w->rank; i++)
		all *= (double)w->dim[i];
	for (int i = 0; i < n; i++)
		all *= (double)k[i];
	return all;
}

/* Return: operations of a recurrent layer for each unit and step beyond the products: biases,
 * sigmoids (4), tanh (5) and the combination. @each: number of gates: 4: LSTM; 3: GRU; else a plain
 * RNN. */
static double work_gates(double each)
{
	return each == 4 ? 4 * 1 + 3 * 4 + 2 * 5 + 4 :
	       each == 3 ? 3 * 1 + 2 * 4 + 1 * 5 + 5 : 1 * 1 + 1 * 5;
}

/* Return: operations of a layer; negative if a size is unknown. */
static double work_flop(const struct jetwatt_graph_rule *u, const struct jetwatt_graph_op *op)
{
	const struct jetwatt_graph_value *x = jetwatt_graph_in(u, 0), *w = jetwatt_graph_in(u, 1);
	const struct jetwatt_graph_value *o = u->r.outs ? u->r.out[0] : NULL;
	double out = work_elements(o), in = work_elements(x), n;

	switch (op->cost) {
	case JETWATT_COST_OUT:
		/* Sum, Max, Min and Mean of k > 1 inputs count as k - 1 operations per element. */
		n = 0;
		for (uint32_t i = 1; i < u->r.ins; i++)
			n += !strcmp(op->name, "Sum") || !strcmp(op->name, "Max") ||
			     !strcmp(op->name, "Min") || !strcmp(op->name, "Mean");
		return out < 0 ? -1 : out * (n > 1 ? n : op->each);
	case JETWATT_COST_IN:
		return in < 0 ? -1 : in * op->each;
	case JETWATT_COST_CONV:
		if (!w || w->rank < 3 || work_elements(w) < 0 || out < 0)
			return -1;
		return 2 * out * (double)w->dim[1] * work_window(u, w) +
		       (op->shape == jetwatt_shape_conv && jetwatt_graph_in(u, 2) ? out : 0);
	case JETWATT_COST_DECONV:
		if (!w || w->rank < 3 || work_elements(w) < 0 || in < 0 || out < 0)
			return -1;
		return 2 * in * (double)w->dim[1] * work_window(u, w) +
		       (jetwatt_graph_in(u, 2) ? out : 0);
	case JETWATT_COST_POOL:
		return out < 0 ? -1 : out * (work_window(u, NULL) + op->each);
	case JETWATT_COST_GEMM:
		if (!x || x->rank != 2 || out < 0)
			return -1;
		n = (double)x->dim[jetwatt_graph_scalar(u->g, u->r.node, "transA", 0) == 0];
		return n < 0 ? -1 : 2 * out * n;
	case JETWATT_COST_MATMUL:
		if (!x || x->rank < 1 || out < 0)
			return -1;
		n = (double)x->dim[x->rank - 1];
		return n < 0 ? -1 : 2 * out * n;
	case JETWATT_COST_RNN:
		if (!w || w->rank != 3 || in < 0 || out < 0)
			return -1;
		/* The weights W of the input have the dimensions [directions, gates * units,
		 * inputs], the weights R of the recurrence [directions, gates * units, units].
		 * The output has one element for each direction, step, sample and unit. */
		n = (double)w->dim[2] + (jetwatt_graph_in(u, 2) ? (double)u->r.in[2]->dim[2] : 0);
		return 2 * op->each * out * n + out * work_gates(op->each);
	case JETWATT_COST_RESIZE: {
		const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(u->g, u->r.node, "mode");
		const char *mode = a ? jetwatt_graph_text(u->g, a->text) : "nearest";

		return out < 0 ? -1 : !strcmp(mode, "nearest") ? 0 :
		       !strcmp(mode, "cubic") ? 31 * out : 7 * out;
	}
	default:
		return 0;
	}
}

/* Add to @w the bytes that a layer reads and writes. Return: 1 if the size of an input or of the
 * first output is unknown, or if the layer has more than JETWATT_GRAPH_OPERANDS inputs or outputs;
 * else 0. */
static int work_bytes(const struct jetwatt_graph_rule *u, const struct jetwatt_graph_op *op,
		      struct jetwatt_work *w)
{
	int open = u->r.node->in > JETWATT_GRAPH_OPERANDS || u->r.node->out > JETWATT_GRAPH_OPERANDS;

	for (uint32_t i = 0; i < u->r.ins + u->r.outs; i++) {
		const struct jetwatt_graph_value *v = i < u->r.ins ? u->r.in[i] : u->r.out[i - u->r.ins];
		double b;

		if (!v)
			continue;
		b = jetwatt_graph_bytes(v);
		/* Gather, GatherElements and Slice read only the selected elements of input 0. */
		if (op && op->cost == JETWATT_COST_ROWS && !i)
			b = u->r.outs && u->r.out[0] ? jetwatt_graph_bytes(u->r.out[0]) : 0;
		if (b < 0) {
			/* Outputs after the first are often unused, so an unknown size of them is
			 * accepted. */
			open |= i <= u->r.ins;
			continue;
		}
		if (v->flags & JETWATT_GRAPH_WEIGHT && !(op && op->cost == JETWATT_COST_ROWS))
			w->param_bytes += b;
		else
			w->bytes += b;
	}
	return open;
}

static int work_add(struct work_list *l, const struct jetwatt_work *w)
{
	if (l->n == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 256;
		struct jetwatt_work *more = reallocarray(l->work, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->work = more;
		l->capacity = capacity;
	}
	l->work[l->n++] = *w;
	return 0;
}

static int work_body(struct work_list *l, uint32_t body, double times);

/* Return: work of the layers from @from on, for comparing branches; a kilobyte counts as one
 * operation. */
static double work_sum(const struct work_list *l, size_t from)
{
	double s = 0;

	for (size_t i = from; i < l->n; i++)
		s += l->work[i].times * (l->work[i].flop + 1e-3 * (l->work[i].bytes +
								    l->work[i].param_bytes));
	return s;
}

/* Count the branch of an If that has more work. */
static int work_branches(struct work_list *l, const struct jetwatt_graph_node *n, double times)
{
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(l->g, n, "then_branch");
	const struct jetwatt_graph_attr *b = jetwatt_graph_find_attr(l->g, n, "else_branch");
	size_t first = l->n, second;
	int err = a && a->body != JETWATT_GRAPH_NONE ? work_body(l, a->body, times) : 0;
	double heavy = work_sum(l, first);

	second = l->n;
	if (!err && b && b->body != JETWATT_GRAPH_NONE)
		err = work_body(l, b->body, times);
	if (err || l->n == second)
		return err;
	if (work_sum(l, second) > heavy) {
		memmove(l->work + first, l->work + second, (l->n - second) * sizeof(*l->work));
		l->n -= second - first;
	} else {
		l->n = second;
	}
	return 0;
}

/* Count the nested graphs of an If, Loop or Scan. */
static int work_nested(struct work_list *l, uint32_t node, const struct jetwatt_graph_rule *u,
		       double times)
{
	const struct jetwatt_graph_node *n = u->r.node;
	const struct jetwatt_graph_attr *a = jetwatt_graph_find_attr(l->g, n, "body");
	struct jetwatt_work w = { .node = node, .times = times };
	const struct jetwatt_graph_value *t = jetwatt_graph_in(u, 0);
	const char *op = jetwatt_graph_text(l->g, n->op);
	double iterations = -1;
	uint32_t at;
	int err;

	if (!strcmp(op, "If")) {
		w.doubt = JETWATT_GRAPH_BRANCH;
		err = work_add(l, &w);
		return err ? err : work_branches(l, n, times);
	}
	at = n->in - (uint32_t)fmin(fmax(jetwatt_graph_scalar(l->g, n, "num_scan_inputs", 0), 0), n->in);
	if (!strcmp(op, "Loop")) {
		if (t && t->flags & JETWATT_GRAPH_NUMBERS_KNOWN && t->nr_known == 1)
			iterations = *jetwatt_graph_number(l->g, t->known);
	} else if (at < u->r.ins && u->r.in[at] && u->r.in[at]->rank > 0) {
		iterations = (double)u->r.in[at]->dim[0];
	}
	/* A loop that runs until its condition is false is exported with the largest integer as the
	 * number of iterations. */
	if (!(iterations >= 0 && iterations < 1e9)) {
		iterations = 1;
		w.doubt = JETWATT_GRAPH_ONCE;
		err = work_add(l, &w);
		if (err)
			return err;
	}
	return a && a->body != JETWATT_GRAPH_NONE ? work_body(l, a->body, times * iterations) : 0;
}

static int work_node(struct work_list *l, uint32_t node, double times)
{
	struct jetwatt_work w = { .node = node, .times = times };
	struct jetwatt_graph_rule u = { .g = (struct jetwatt_graph *)l->g };
	const struct jetwatt_graph_op *op;
	int open;

	jetwatt_graph_refer(l->g, jetwatt_graph_node_at(l->g, node), &u.r);
	op = jetwatt_graph_op_find(l->g, u.r.node);
	if (op && op->cost == JETWATT_COST_INSIDE)
		return work_nested(l, node, &u, times);
	if (op && op->cost == JETWATT_COST_FREE)
		return 0;
	for (uint32_t i = 0; i < u.r.outs; i++)
		if (u.r.out[i]) {
			w.live |= (u.r.out[i]->flags & JETWATT_GRAPH_LIVE) != 0;
			if (u.r.out[i]->flags & JETWATT_GRAPH_GUESSED)
				w.doubt = JETWATT_GRAPH_DECLARED;
		}
	/* The CPU computes shapes once, so layers that compute shapes are not counted. */
	if (op && u.r.outs && u.r.out[0] && u.r.out[0]->flags & JETWATT_GRAPH_NUMBERS_KNOWN)
		return 0;
	open = work_bytes(&u, op, &w);
	w.flop = op ? work_flop(&u, op) : 0;
	if (!op)
		w.doubt = JETWATT_GRAPH_UNKNOWN_OP;
	if (w.flop < 0 || (op && open)) {
		w.doubt = JETWATT_GRAPH_UNKNOWN_SIZE;
		w.flop = w.bytes = w.param_bytes = 0;
	}
	return work_add(l, &w);
}

static int work_body(struct work_list *l, uint32_t body, double times)
{
	int err = 0;

	for (uint32_t i = jetwatt_graph_body_at(l->g, body)->first; i != JETWATT_GRAPH_NONE && !err;
	     i = jetwatt_graph_node_at(l->g, i)->next)
		err = work_node(l, i, times);
	return err;
}

int jetwatt_graph_work(const struct jetwatt_graph *g, struct jetwatt_work **work, size_t *n)
{
	struct work_list l = { .g = g };
	int err = g->body.n ? work_body(&l, 0, 1) : 0;

	if (err) {
		free(l.work);
		return err;
	}
	*work = l.work;
	*n = l.n;
	return 0;
}

void jetwatt_graph_scale(struct jetwatt_work *work, size_t n, double batch, int train)
{
	for (size_t i = 0; i < n; i++) {
		struct jetwatt_work *w = &work[i];
		double by = (train ? 3 : 1) * w->times;

		w->flop *= by * (w->live ? batch : 1);
		w->bytes *= by * (w->live ? batch : 1);
		w->param_bytes *= by;
	}
}

double jetwatt_graph_params(const struct jetwatt_graph *g)
{
	double all = 0;

	for (uint32_t i = 0; i < g->value.n; i++) {
		const struct jetwatt_graph_value *v = jetwatt_graph_value_at(g, i);
		double b = jetwatt_graph_bytes(v);

		/* Stored tensors of 64-bit elements hold axes and sizes, not weights. */
		if (v->flags & JETWATT_GRAPH_WEIGHT && v->bits != 64 && b > 0)
			all += b;
	}
	return all;
}

double jetwatt_graph_batch(const struct jetwatt_graph *g)
{
	const struct jetwatt_graph_body *b;

	if (!g->body.n)
		return 1;
	/* In a network with a recurrent layer, the first axis of the input may be the steps, so
	 * take the minibatch size from the input of the recurrent layer. */
	for (uint32_t i = 0; i < g->node.n; i++) {
		const struct jetwatt_graph_node *n = jetwatt_graph_node_at(g, i);
		const struct jetwatt_graph_op *op = jetwatt_graph_op_find(g, n);
		struct jetwatt_graph_ref r;

		if (!op || op->cost != JETWATT_COST_RNN)
			continue;
		jetwatt_graph_refer(g, n, &r);
		if (r.ins && r.in[0] && r.in[0]->rank == 3) {
			int64_t size = r.in[0]->dim[jetwatt_graph_scalar(g, n, "layout", 0) == 0];

			return size > 0 ? (double)size : 1;
		}
	}
	b = jetwatt_graph_body_at(g, 0);
	for (uint32_t i = 0; i < b->in; i++) {
		uint32_t v = jetwatt_graph_find(g, 0, *jetwatt_graph_operand(g, b->input + i));
		const struct jetwatt_graph_value *x;

		if (v == JETWATT_GRAPH_NONE)
			continue;
		x = jetwatt_graph_value_at(g, v);
		if (!(x->flags & JETWATT_GRAPH_WEIGHT) && x->rank > 0)
			return x->dim[0] > 0 ? (double)x->dim[0] : 1;
	}
	return 1;
}
