/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt roofline: FLOP and bytes of a network, roofs of each power mode from measured kernels,
 * and the mode to use for the network or --work. Model: plan/roofs.h; networks: store/onnx.h.
 */
#ifndef JETWATT_CMD_ROOFLINE_ROOFLINE_H
#define JETWATT_CMD_ROOFLINE_ROOFLINE_H

#include "job/kernel_program.h"
#include "out/json.h"
#include "plan/roofs.h"
#include "store/onnx.h"
#include "tune/tuner.h"
#include "util/args.h"

#define JETWATT_ROOFLINE_DIMS	16
#define JETWATT_ROOFLINE_KERNELS	32

/* A kernel with a known number of operations and bytes, and the CSV file of its measurements in
 * several modes. */
struct jetwatt_roofline_kernel {
	double flop, bytes;
	char *path;
};

/**
 * struct jetwatt_roofline - arguments and results
 * @args: global options
 * @path: ONNX file of the network, NULL: no file
 * @plot: file to write a plot to, NULL: no plot
 * @corpus: directory of kernel measurements, NULL: no directory
 * @program: program that runs kernels, NULL: compile one with nvcc
 * @modes: file of the modes to calibrate, NULL: a selection of the board's modes
 * @dim, @dims: sizes of open axes, given by --dim
 * @batch: minibatch size asked for, 0: the minibatch size of the file; @own_batch: that of the file
 * @train: count a training step instead of a forward pass
 * @layers: print every layer; @json: print JSON
 * @calibrate: 1: first measure the kernels and modes that @corpus lacks
 * @tune: print only what jetwatt_roofline_tuned() prints
 * @run: the program that runs kernels
 * @graph: the network
 * @flop, @bytes: sums over all layers
 * @work, @n: work of each layer, scaled to @batch and @train; or one entry from --work
 * @kernel, @kernels: the measured kernels
 * @roof, @roofs: one per mode, fitted to @kernel
 * @cost: cost of the network or of --work in each mode, NULL: neither was given
 * @answer: indices of the fastest mode, the mode with the least energy, and the recommended mode
 * @slower: accepted increase in time over the fastest mode, relative
 */
struct jetwatt_roofline {
	struct jetwatt_args args;
	const char *path, *plot, *corpus, *program, *modes;
	struct jetwatt_graph_size dim[JETWATT_ROOFLINE_DIMS];
	size_t dims;
	long batch;
	int train, layers, json, calibrate, tune;
	struct jetwatt_kernel_program run;
	struct jetwatt_graph graph;
	double own_batch, flop, bytes;
	struct jetwatt_work *work;
	size_t n;
	struct jetwatt_roofline_kernel kernel[JETWATT_ROOFLINE_KERNELS];
	size_t kernels, roofs;
	struct jetwatt_roofs *roof;
	struct jetwatt_roofs_cost *cost;
	struct jetwatt_roofs_choice answer;
	double slower;
};

/* Read the network and compute its work. Return: 0, or an exit code after printing the error. */
int jetwatt_roofline_load(struct jetwatt_roofline *r);

/* Measure all kernels in the modes that the corpus lacks, and write the results to the corpus.
 * Return: 0, or an exit code after printing the error. */
int jetwatt_roofline_measure(struct jetwatt_roofline *r);
/* Set @kernel to the kernels in the corpus. Return: 0, or an exit code after printing the error. */
int jetwatt_roofline_corpus(struct jetwatt_roofline *r);
/* Fit the roofs of each mode to the kernels. Return: 0, or an exit code after printing the error.
 */
int jetwatt_roofline_fit(struct jetwatt_roofline *r);
/* Compute the time and energy of @work in each mode, and choose a mode. Return: 0, or an exit code
 * after printing the error. */
int jetwatt_roofline_tune(struct jetwatt_roofline *r);
/* Draw the roofs of the fastest, recommended and lowest-energy mode; without @cost, draw only the
 * roof of the last mode. Return: 0, exit code. */
int jetwatt_roofline_draw(const struct jetwatt_roofline *r);
/* Print the table of roofs, and with @cost that of the fastest, lowest-energy and recommended
 * mode. */
void jetwatt_roofline_roofs(const struct jetwatt_roofline *r);
/* Print the recommended mode, and its cost and that of the fastest mode. */
void jetwatt_roofline_tuned(const struct jetwatt_roofline *r);
/* Write the array "roofs" and, with @cost, the object "answer" into an open JSON object. */
void jetwatt_roofline_roofs_json(const struct jetwatt_roofline *r, struct jetwatt_json *j);

/* Print the network and the roofs, as tables or as one JSON document. */
void jetwatt_roofline_print(const struct jetwatt_roofline *r);
void jetwatt_roofline_json(const struct jetwatt_roofline *r);

#endif
