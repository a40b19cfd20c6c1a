// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the work of the network per operator and per layer, as tables or JSON, and the reasons why
 * some counts may be wrong.
 */
#include "cmd/roofline/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"

/* Maximum number of lines with operators; if there are more operators, one line is the sum of those that
 * do not fit. */
#define KINDS_MAX	256

struct kind {
	uint32_t op;
	size_t layers;
	double flop, bytes;
};

static const char *const doubt[] = {
	[JETWATT_GRAPH_UNKNOWN_OP] = "is unknown: its bytes are counted, its operations are not",
	[JETWATT_GRAPH_UNKNOWN_SIZE] = "has sizes that the file does not contain: not counted",
	[JETWATT_GRAPH_ONCE] = "repeats a number of times that depends on its data: counted once",
	[JETWATT_GRAPH_BRANCH] = "has two branches: the more expensive one is counted",
	[JETWATT_GRAPH_DECLARED] = "is counted with the sizes that the file declares",
};

static const char *operator_name(const struct jetwatt_roofline *r, const struct jetwatt_work *w)
{
	return jetwatt_graph_text(&r->graph, jetwatt_graph_node_at(&r->graph, w->node)->op);
}

static int by_work(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->flop != y->flop)
		return x->flop < y->flop ? 1 : -1;
	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Sum the work per operator, sorted by FLOP, then by bytes, descending. Return: number of
 * operators. */
static size_t count_operators(const struct jetwatt_roofline *r, struct kind *k)
{
	size_t n = 0, at;

	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_work *w = &r->work[i];
		uint32_t name = jetwatt_graph_node_at(&r->graph, w->node)->op;

		for (at = 0; at < n && k[at].op != name; at++)
			;
		if (at == KINDS_MAX)
			k[--at].op = JETWATT_GRAPH_NONE;
		else if (at == n)
			k[n++] = (struct kind){ .op = name };
		k[at].layers++;
		k[at].flop += w->flop;
		k[at].bytes += w->bytes + w->param_bytes;
	}
	qsort(k, n, sizeof(*k), by_work);
	return n;
}

static void print_work(const char *name, double layers, double flop, double bytes)
{
	printf("%-24.40s ", name);
	if (layers > 0)
		printf("%7.0f", layers);
	else
		printf("%7s", "");
	printf(" %11.4f %11.3f %9.3g\n", flop * 1e-9, bytes * 1e-6, bytes > 0 ? flop / bytes : 0);
}

/* Format the size of a tensor in @buf, such as "1x64x112x112". Return: @buf. */
static const char *format_dims(const struct jetwatt_graph_value *v, char *buf, size_t len)
{
	size_t at = 0;

	snprintf(buf, len, v && !v->rank ? "one" : "?");
	for (int i = 0; v && i < v->rank && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, v->dim[i] < 0 ? "%s?" : "%s%lld", i ? "x" : "",
				       (long long)v->dim[i]);
	return buf;
}

static void print_layers(const struct jetwatt_roofline *r)
{
	printf("%-5s %-18s %-24s %10s %10s %9s  made\n", "layer", "operator", "name", "MFLOP", "MB",
	       "FLOP/byte");
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_work *w = &r->work[i];
		const struct jetwatt_graph_node *n = jetwatt_graph_node_at(&r->graph, w->node);
		double bytes = w->bytes + w->param_bytes;
		struct jetwatt_graph_ref ref;
		char buf[96];

		jetwatt_graph_refer(&r->graph, n, &ref);
		printf("%5zu %-18.18s %-24.24s %10.3f %10.4f %9.3g  %s%s\n", i, operator_name(r, w),
		       jetwatt_graph_text(&r->graph, n->name), w->flop * 1e-6, bytes * 1e-6,
		       bytes > 0 ? w->flop / bytes : 0,
		       format_dims(ref.outs ? ref.out[0] : NULL, buf, sizeof(buf)),
		       w->doubt ? "  *" : "");
	}
	printf("\n");
}

/* Print the operators that could not be counted exactly, each combination of operator and reason
 * once, the open axes, and the number of weights in other files. */
static void print_doubts(const struct jetwatt_roofline *r)
{
	struct kind seen[KINDS_MAX];
	size_t n = 0, at;
	unsigned int external = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_work *w = &r->work[i];
		uint32_t name = jetwatt_graph_node_at(&r->graph, w->node)->op;

		for (at = 0; at < n && (seen[at].op != name || seen[at].flop != w->doubt); at++)
			;
		if (!w->doubt || (at == n && n == KINDS_MAX))
			continue;
		if (at == n)
			seen[n++] = (struct kind){ .op = name, .flop = w->doubt };
		seen[at].layers++;
	}
	for (at = 0; at < n; at++)
		printf("* %s (%zu) %s\n", jetwatt_graph_text(&r->graph, seen[at].op), seen[at].layers,
		       doubt[(int)seen[at].flop]);
	for (uint32_t i = 0; i < r->graph.open.n; i++) {
		const struct jetwatt_graph_open *o = jetwatt_graph_open_at(&r->graph, i);
		const char *input = jetwatt_graph_text(&r->graph, jetwatt_graph_value_at(&r->graph, o->value)->name);

		if (!o->said)
			printf("* axis %d of input %s%s%s is open and taken as 1; set it with --dim %.40s.%d=N\n",
			       o->axis, input, o->name == JETWATT_GRAPH_NONE ? "" : ", ",
			       jetwatt_graph_text(&r->graph, o->name), input, o->axis);
	}
	for (uint32_t i = 0; i < r->graph.value.n; i++)
		external += (jetwatt_graph_value_at(&r->graph, i)->flags & JETWATT_GRAPH_EXTERNAL) != 0;
	if (external)
		printf("* %u weights are stored in other files; their data are not needed\n",
		       external);
}

static void print_network(const struct jetwatt_roofline *r)
{
	const char *name = strrchr(r->path, '/');
	struct kind k[KINDS_MAX + 1];
	size_t n = count_operators(r, k);

	printf("%s: %s, minibatch of %ld\n\n", name ? name + 1 : r->path,
	       r->train ? "a training step" : "a forward pass", r->batch);
	if (r->layers)
		print_layers(r);
	printf("%-24s %7s %11s %11s %9s\n", "operator", "layers", "GFLOP", "MB", "FLOP/byte");
	for (size_t i = 0; i < n; i++)
		print_work(k[i].op == JETWATT_GRAPH_NONE ? "others" :
			   jetwatt_graph_text(&r->graph, k[i].op),
			   (double)k[i].layers, k[i].flop, k[i].bytes);
	print_work("total", (double)r->n, r->flop, r->bytes);
	printf("weights: %.3f MB\n", jetwatt_graph_params(&r->graph) * 1e-6);
	print_doubts(r);
}

void jetwatt_roofline_print(const struct jetwatt_roofline *r)
{
	if (r->path)
		print_network(r);
	if (r->path && r->roofs)
		printf("\n");
	if (r->roofs)
		jetwatt_roofline_roofs(r);
}

static const char *doubt_key(enum jetwatt_graph_doubt d)
{
	static const char *const name[] = { NULL, "unknown_op", "unknown_size", "counted_once",
					    "heavier_branch", "declared_size" };

	return name[d];
}

static void print_network_json(const struct jetwatt_roofline *r, struct jetwatt_json *j)
{
	jetwatt_json_string(j, "model", r->path);
	jetwatt_json_bool(j, "train", r->train);
	jetwatt_json_int(j, "batch", r->batch);
	jetwatt_json_real(j, "flop", r->flop, 12);
	jetwatt_json_real(j, "bytes", r->bytes, 12);
	jetwatt_json_real(j, "param_bytes", jetwatt_graph_params(&r->graph), 12);
	jetwatt_json_real(j, "intensity", r->bytes > 0 ? r->flop / r->bytes : NAN, 6);
	jetwatt_json_uint(j, "functions", r->graph.functions);
	jetwatt_json_array(j, "open_axes");
	for (uint32_t i = 0; i < r->graph.open.n; i++) {
		const struct jetwatt_graph_open *o = jetwatt_graph_open_at(&r->graph, i);

		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "input", jetwatt_graph_text(&r->graph,
				    jetwatt_graph_value_at(&r->graph, o->value)->name));
		jetwatt_json_int(j, "axis", o->axis);
		jetwatt_json_string(j, "name", jetwatt_graph_text(&r->graph, o->name));
		jetwatt_json_int(j, "taken", o->taken);
		jetwatt_json_bool(j, "given", o->said);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
	jetwatt_json_array(j, "layers");
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_work *w = &r->work[i];
		const struct jetwatt_graph_node *n = jetwatt_graph_node_at(&r->graph, w->node);
		struct jetwatt_graph_ref ref;

		jetwatt_graph_refer(&r->graph, n, &ref);
		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "op", operator_name(r, w));
		jetwatt_json_string(j, "name", jetwatt_graph_text(&r->graph, n->name));
		jetwatt_json_real(j, "times", w->times, 9);
		jetwatt_json_real(j, "flop", w->flop, 12);
		jetwatt_json_real(j, "bytes", w->bytes, 12);
		jetwatt_json_real(j, "param_bytes", w->param_bytes, 12);
		if (w->doubt)
			jetwatt_json_string(j, "doubt", doubt_key(w->doubt));
		jetwatt_json_string(j, "makes", ref.outs && ref.out[0] ?
				    jetwatt_graph_text(&r->graph, ref.out[0]->name) : "");
		jetwatt_json_array(j, "size");
		for (int d = 0; ref.outs && ref.out[0] && d < ref.out[0]->rank; d++)
			jetwatt_json_int(j, NULL, ref.out[0]->dim[d]);
		jetwatt_json_end(j);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}

void jetwatt_roofline_json(const struct jetwatt_roofline *r)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, stdout, 1);
	jetwatt_json_object(&j, NULL);
	if (r->path)
		print_network_json(r, &j);
	if (r->roofs)
		jetwatt_roofline_roofs_json(r, &j);
	jetwatt_json_end(&j);
}
