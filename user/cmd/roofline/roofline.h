/* SPDX-License-Identifier: GPL-2.0-only */
/* A network's operations and bytes: read, summed, shown. */
#ifndef JETWATT_CMD_ROOFLINE_ROOFLINE_H
#define JETWATT_CMD_ROOFLINE_ROOFLINE_H

#include "out/json.h"
#include "plan/roofs.h"
#include "store/onnx.h"
#include "tune/tuner.h"
#include "util/args.h"

#define JETWATT_ROOFLINE_DIMS	16
#define JETWATT_ROOFLINE_KERNELS	32

/* A kernel of known work, and the file of the modes in which it was measured. */
struct jetwatt_roofline_kernel {
	double flop, bytes;
	char *path;
};

/* What runs kernels: PATH FLOP BYTES, until SIGTERM; @dir: it is ours, "": it is not. */
struct jetwatt_roofline_program {
	char dir[128], path[256];
};

/**
 * struct jetwatt_roofline - what was asked, and the answer
 * @batch: items of a minibatch; @own_batch: in the file
 * @work: @n layers, as often as they run and as large as was asked
 * @flop, @bytes: of all of them
 * @roof: of @roofs modes, from @kernels; @cost: of the network in each, NULL: there is
 *	no network
 * @slower: that a mode may be which takes less energy
 * @calibrate: measure kernels first, run by @program (NULL: CUDA's), in @modes (NULL: some of
 *	the board's), into @corpus, a directory; @tune: say nothing but the mode to take
 */
struct jetwatt_roofline {
	struct jetwatt_args args;
	const char *path, *plot, *corpus, *program, *modes;
	struct jetwatt_graph_size dim[JETWATT_ROOFLINE_DIMS];
	size_t dims;
	long batch;
	int train, layers, json, calibrate, tune;
	struct jetwatt_roofline_program run;
	struct jetwatt_graph graph;
	double own_batch, flop, bytes;
	struct jetwatt_work *work;
	size_t n;
	struct jetwatt_roofline_kernel kernel[JETWATT_ROOFLINE_KERNELS];
	size_t kernels, roofs;
	struct jetwatt_roofs *roof;
	struct jetwatt_roofs_cost *cost;
	struct jetwatt_roofs_answer answer;
	double slower;
};

/* Return: 0, or an exit code after saying why. */
int jetwatt_roofline_load(struct jetwatt_roofline *r);

/* FLOP:BYTES at the begin of @arg. Return: what stands behind them; NULL: they are none. */
const char *jetwatt_roofline_flop_bytes(const char *arg, double *flop, double *bytes);
/* --kernel FLOP:BYTES:FILE.csv, or the end with status 2. */
void jetwatt_roofline_kernel(struct jetwatt_roofline *r, char *arg);
/* A program for the GPU that is there. Return: 0, or an exit code after saying why; either
 * way it is to be ended. */
int jetwatt_roofline_cuda(struct jetwatt_roofline_program *p);
void jetwatt_roofline_cuda_end(struct jetwatt_roofline_program *p);
/* Measure kernels into the corpus; those that are there. Return: 0, or an exit code after
 * saying why. */
int jetwatt_roofline_measure(struct jetwatt_roofline *r);
int jetwatt_roofline_corpus(struct jetwatt_roofline *r);
/* Roofs from the kernels; the network's cost under them. Return: 0, or an exit code after
 * saying why. */
int jetwatt_roofline_fit(struct jetwatt_roofline *r);
int jetwatt_roofline_tune(struct jetwatt_roofline *r);
/* The roofs of the modes that are named, or of the last one. Return: 0, exit code. */
int jetwatt_roofline_draw(const struct jetwatt_roofline *r);
void jetwatt_roofline_roofs(const struct jetwatt_roofline *r);
/* The mode to take, and what it saves. */
void jetwatt_roofline_tuned(const struct jetwatt_roofline *r);
void jetwatt_roofline_roofs_json(const struct jetwatt_roofline *r, struct jetwatt_json *j);

void jetwatt_roofline_print(const struct jetwatt_roofline *r);
void jetwatt_roofline_json(const struct jetwatt_roofline *r);

#endif
