/* SPDX-License-Identifier: GPL-2.0-only */
/* A network's operations and bytes: read, summed, shown. */
#ifndef JETWATT_CMD_ROOFLINE_H
#define JETWATT_CMD_ROOFLINE_H

#include "args.h"
#include "learn.h"
#include "out/json.h"
#include "plan/roofs.h"
#include "store/onnx.h"

#define JETWATT_ROOFLINE_DIMS	16
#define JETWATT_ROOFLINE_KERNELS	32

/* A kernel of known work, and the modes in which it was measured. */
struct jetwatt_roofline_kernel {
	double flop, bytes;
	const char *path;
};

/**
 * struct jetwatt_roofline - what was asked, and the answer
 * @batch: items of a minibatch; @own_batch: in the file
 * @work: @n layers, as often as they run and as large as was asked
 * @flop, @bytes: of all of them
 * @roof: of @roofs modes, from @kernels; @cost: of the network in each, NULL: there is
 *	no network
 * @slower: that a mode may be which takes less energy
 */
struct jetwatt_roofline {
	struct jetwatt_args args;
	const char *path, *plot;
	struct jetwatt_graph_size dim[JETWATT_ROOFLINE_DIMS];
	size_t dims;
	long batch;
	int train, layers, json;
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

/* --kernel FLOP:BYTES:FILE.csv, or the end with status 2. */
void jetwatt_roofline_kernel(struct jetwatt_roofline *r, char *arg);
/* Roofs from the kernels; the network's cost under them. Return: 0, or an exit code after
 * saying why. */
int jetwatt_roofline_calibrate(struct jetwatt_roofline *r);
int jetwatt_roofline_tune(struct jetwatt_roofline *r);
/* The roofs of the modes that are named, or of the last one. Return: 0, exit code. */
int jetwatt_roofline_draw(const struct jetwatt_roofline *r);
void jetwatt_roofline_roofs(const struct jetwatt_roofline *r);
void jetwatt_roofline_roofs_json(const struct jetwatt_roofline *r, struct jetwatt_json *j);

void jetwatt_roofline_print(const struct jetwatt_roofline *r);
void jetwatt_roofline_json(const struct jetwatt_roofline *r);

#endif
