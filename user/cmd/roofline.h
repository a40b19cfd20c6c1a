/* SPDX-License-Identifier: GPL-2.0-only */
/* A network's operations and bytes: read, summed, shown. */
#ifndef JETWATT_CMD_ROOFLINE_H
#define JETWATT_CMD_ROOFLINE_H

#include "args.h"
#include "store/onnx.h"

#define JETWATT_ROOFLINE_DIMS	16

/**
 * struct jetwatt_roofline - what was asked, and the answer
 * @batch: items of a minibatch; @own_batch: in the file
 * @work: @n layers, as often as they run and as large as was asked
 * @flop, @bytes: of all of them
 */
struct jetwatt_roofline {
	struct jetwatt_args args;
	const char *path;
	struct jetwatt_graph_size dim[JETWATT_ROOFLINE_DIMS];
	size_t dims;
	long batch;
	int train, layers, json;
	struct jetwatt_graph graph;
	double own_batch, flop, bytes;
	struct jetwatt_work *work;
	size_t n;
};

/* Return: 0, or an exit code after saying why. */
int jetwatt_roofline_load(struct jetwatt_roofline *r);

void jetwatt_roofline_print(const struct jetwatt_roofline *r);
void jetwatt_roofline_json(const struct jetwatt_roofline *r);

#endif
