// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt roofline: parse the command line, read the network, and call the steps of roofline.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/roofline/roofline.h"
#include "cmd/verbs.h"
#include "tune/plot_file.h"
#include "util/error.h"

enum { TRAIN = JETWATT_ARGS_LONG, BATCH, DIM, LAYERS, JSON, KERNEL, SLOWER, PLOT, CALIBRATE, CORPUS,
       PROGRAM, MODES, TUNE, WORK };

static const struct argp_option options[] = {
	{ "train", TRAIN, NULL, 0, "Count a training step, which is three times a forward pass", 0 },
	{ "batch", BATCH, "N", 0, "Minibatch size; default: the size in the file, or 1", 0 },
	{ "dim", DIM, "NAME=N", 0,
	  "Set a size that the file leaves open, by its name or as INPUT.AXIS; default: 1", 0 },
	{ "work", WORK, "FLOP:BYTES", 0, "Work of a minibatch, instead of a network, for instance from a profiler", 0 },
	{ "layers", LAYERS, NULL, 0, "List every layer in addition to the sums by operator", 0 },
	{ "kernel", KERNEL, "FLOP:BYTES:FILE.csv", 0,
	  "Work and measured modes of a kernel; the roofs need at least four kernels", 0 },
	{ "corpus", CORPUS, "DIR", 0, "Directory of the kernels measured by --calibrate", 0 },
	{ "calibrate", CALIBRATE, NULL, 0, "Measure the kernels and modes that the directory of --corpus lacks, then restore the knobs", 0 },
	{ "program", PROGRAM, "FILE", 0,
	  "Program that runs kernels, called as FILE FLOP BYTES and ended by SIGTERM; default: compiled by nvcc", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Power modes for --calibrate; default: five GPU clocks with each memory clock", 0 },
	{ "tune", TUNE, NULL, 0, "Print only the tuned mode and the energy that it saves", 0 },
	{ "slower", SLOWER, "PERCENT", 0, "Additional time that is accepted for less energy; default: 3", 0 },
	{ "plot", PLOT, "FILE", 0, "Plot the roofs and the layers: FILE.svg, FILE.png or FILE.html", 0 },
	{ "json", JSON, NULL, 0, "Print everything as JSON", 0 },
	{ 0 }
};

static void parse_dim(struct jetwatt_roofline *r, char *arg)
{
	char *value = strrchr(arg, '=');

	if (!value || value == arg)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "for example height=224, or input.2=224",
				       "--dim: cannot use \"%s\"", arg));
	if (r->dims == JETWATT_ROOFLINE_DIMS)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, NULL,
				       "--dim can be given at most %d times",
				       JETWATT_ROOFLINE_DIMS));
	*value = '\0';
	r->dim[r->dims++] = (struct jetwatt_graph_size){
		arg, jetwatt_args_count("--dim", value + 1, 1, 1000000000),
	};
}

static int roofline_failed(int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), jetwatt_error_advice(err),
				 "cannot analyse the network");
}

/* Parse FLOP:BYTES at the start of @arg. Return: the text after the number of bytes; NULL:
 * invalid. */
static const char *parse_flop_bytes(const char *arg, double *flop, double *bytes)
{
	int at = 0;

	if (sscanf(arg, "%lf:%lf%n", flop, bytes, &at) != 2 || !at ||
	    !(*flop >= 0 && *flop < 1e18 && *bytes > 0 && *bytes < 1e18))
		return NULL;
	return arg + at;
}

static void parse_work(struct jetwatt_roofline *r, const char *arg)
{
	double flop, bytes;
	const char *rest = parse_flop_bytes(arg, &flop, &bytes);

	if (!rest || *rest)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "FLOP:BYTES, for example 8e10:2e9",
				       "--work: cannot use \"%s\"", arg));
	free(r->work);
	r->work = calloc(1, sizeof(*r->work));
	if (!r->work)
		exit(roofline_failed(-ENOMEM));
	*r->work = (struct jetwatt_work){ .flop = flop, .bytes = bytes, .times = 1 };
	r->n = 1;
}

static void parse_kernel(struct jetwatt_roofline *r, char *arg)
{
	struct jetwatt_roofline_kernel *k = &r->kernel[r->kernels];
	const char *rest;

	if (r->kernels == JETWATT_ROOFLINE_KERNELS)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, NULL,
				       "--kernel can be given at most %d times",
				       JETWATT_ROOFLINE_KERNELS));
	rest = parse_flop_bytes(arg, &k->flop, &k->bytes);
	if (!rest || *rest != ':' || !rest[1])
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "FLOP:BYTES:FILE.csv, for example 2e9:4e6:k1.csv",
				       "--kernel: cannot use \"%s\"", arg));
	k->path = strdup(rest + 1);
	if (!k->path)
		exit(jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "--kernel %s", arg));
	r->kernels++;
}

static void roofline_check_args(const struct jetwatt_roofline *r)
{
	int roofs = r->kernels || r->corpus;

	if (r->calibrate && (!r->corpus || r->kernels))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "give --corpus DIR, and no --kernel",
				       "--calibrate needs a directory for its measurements"));
	if (r->path && r->n)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					  "leave out --work or the network",
				       "--work cannot be combined with a network"));
	if (!r->path && (r->train || r->batch || r->dims || r->layers))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					  "give a network; --work states the work of a whole minibatch or training step",
				       "--train, --batch, --dim and --layers need a network"));
	if (r->n && !roofs)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--corpus DIR",
				       "--work needs measured kernels"));
	if (!r->path && !roofs)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "jetwatt roofline MODEL.onnx",
				       "no network and no kernels are given"));
	if (!r->calibrate && (r->program || r->modes))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "--calibrate",
				       "--program and --modes are used only with --calibrate"));
	if (r->tune && !(roofs && (r->path || r->n)))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "jetwatt roofline MODEL.onnx --corpus DIR --tune",
				       "--tune needs a network or --work, and measured kernels"));
	if (r->plot && !roofs)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "--corpus DIR, or at least four --kernel",
				       "--plot needs measured kernels"));
}

static error_t roofline_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_roofline *r = state->input;

	switch (key) {
	case TRAIN:
		r->train = 1;
		break;
	case BATCH:
		r->batch = jetwatt_args_count("--batch", arg, 1, 1 << 24);
		break;
	case DIM:
		parse_dim(r, arg);
		break;
	case LAYERS:
		r->layers = 1;
		break;
	case KERNEL:
		parse_kernel(r, arg);
		break;
	case WORK:
		parse_work(r, arg);
		break;
	case CORPUS:
		r->corpus = arg;
		break;
	case CALIBRATE:
		r->calibrate = 1;
		break;
	case PROGRAM:
		r->program = arg;
		break;
	case MODES:
		r->modes = arg;
		break;
	case TUNE:
		r->tune = 1;
		break;
	case SLOWER:
		r->slower = jetwatt_args_quantity("--slower", arg, "%", 0, 1000) / 100;
		break;
	case PLOT:
		r->plot = jetwatt_plot_path("--plot", arg);
		break;
	case JSON:
		r->json = 1;
		break;
	case ARGP_KEY_ARG:
		if (r->path)
			argp_error(state, "unexpected \"%s\"", arg);
		r->path = arg;
		break;
	case ARGP_KEY_END:
		roofline_check_args(r);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int infer_sizes(struct jetwatt_roofline *r)
{
	struct jetwatt_graph *g = &r->graph;
	const struct jetwatt_graph_node *n;
	uint32_t bad;
	int err = jetwatt_graph_infer(g, &bad);

	if (err != -ELOOP)
		return err ? roofline_failed(err) : 0;
	n = jetwatt_graph_node_at(g, bad);
	return jetwatt_error_report(JETWATT_EXIT_FAILED,
				 "a layer needs its own output, or that of a later layer",
				 "check the file with onnx.checker, and export it again",
				 "%s has a cycle at layer %u, %s %s", r->path, bad,
				 jetwatt_graph_text(g, n->op), jetwatt_graph_text(g, n->name));
}

/* Check that each --dim names a size that the file leaves open. Return: 0, or an exit code after printing
 * the error. */
static int check_dims(const struct jetwatt_roofline *r)
{
	const struct jetwatt_graph *g = &r->graph;

	for (size_t i = 0; i < r->dims; i++) {
		const char *name = r->dim[i].name;
		int open = 0;

		for (uint32_t k = 0; k < g->open.n && !open; k++) {
			const struct jetwatt_graph_open *o = jetwatt_graph_open_at(g, k);
			const char *input = jetwatt_graph_text(g, jetwatt_graph_value_at(g, o->value)->name);
			char own[96];

			snprintf(own, sizeof(own), "%s.%d", input, o->axis);
			open = !strcmp(name, own) || !strcmp(name, jetwatt_graph_text(g, o->name));
		}
		if (!open)
			return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
						    "without --dim, the sizes that the file leaves open are listed",
						 "--dim: no input of %s leaves a size \"%s\" open", r->path, name);
	}
	return 0;
}

int jetwatt_roofline_load(struct jetwatt_roofline *r)
{
	struct jetwatt_onnx_error e;
	int err;

	r->graph.size = r->dim;
	err = jetwatt_onnx_read(&r->graph, r->path, &e);
	if (err)
		return jetwatt_error_report(err == -EACCES || err == -EPERM ? JETWATT_EXIT_PERMISSION :
					 JETWATT_EXIT_FAILED, e.text,
					 err == -EINVAL || err == -ENODATA ?
					 "export or copy the file again" :
					 jetwatt_error_advice(err),
					 e.at ? "cannot read %s at byte %llu" : "cannot read %s", r->path,
					 (unsigned long long)e.at);
	err = infer_sizes(r);
	if (!err)
		err = check_dims(r);
	if (err)
		return err;
	err = jetwatt_graph_work(&r->graph, &r->work, &r->n);
	if (err)
		return roofline_failed(err);
	r->own_batch = jetwatt_graph_batch(&r->graph);
	if (!r->batch)
		r->batch = (long)r->own_batch;
	jetwatt_graph_scale(r->work, r->n, (double)r->batch / r->own_batch, r->train);
	for (size_t i = 0; i < r->n; i++) {
		r->flop += r->work[i].flop;
		r->bytes += r->work[i].bytes + r->work[i].param_bytes;
	}
	return 0;
}

int jetwatt_cmd_roofline(int argc, char **argv)
{
	struct jetwatt_roofline r = { .path = NULL, .slower = 0.03 };
	int err;

	jetwatt_args_parse("roofline", "MODEL.onnx\n[MODEL.onnx] --kernel FLOP:BYTES:FILE.csv...\n"
			   "[MODEL.onnx] --corpus DIR [--calibrate]",
			   "Count the operations and bytes of a neural network, layer by layer.\v"
			   "Only the ONNX graph is read: no weights are read, and the network is not run.",
			   options, roofline_parse, argc, argv, &r);
	jetwatt_graph_init(&r.graph);
	r.graph.sizes = r.dims;
	err = r.path ? jetwatt_roofline_load(&r) : 0;
	if (!err && r.corpus)
		err = r.calibrate ? jetwatt_roofline_measure(&r) : jetwatt_roofline_corpus(&r);
	if (!err && r.kernels)
		err = jetwatt_roofline_fit(&r);
	if (!err && r.kernels && r.n)
		err = jetwatt_roofline_tune(&r);
	if (!err && r.json)
		jetwatt_roofline_json(&r);
	else if (!err && r.tune)
		jetwatt_roofline_tuned(&r);
	else if (!err)
		jetwatt_roofline_print(&r);
	if (!err && r.plot)
		err = jetwatt_roofline_draw(&r);
	for (size_t i = 0; i < r.kernels; i++)
		free(r.kernel[i].path);
	free(r.roof);
	free(r.cost);
	free(r.work);
	jetwatt_graph_free(&r.graph);
	return err;
}
