/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX files (github.com/onnx/onnx, onnx.proto): the graph without its weights.
 */
#ifndef JETWATT_ONNX_H
#define JETWATT_ONNX_H

#include "model/graph.h"

/**
 * struct jetwatt_onnx_error - what is wrong
 * @at: byte of the file
 */
struct jetwatt_onnx_error {
	uint64_t at;
	char text[160];
};

/* @g: initialised; to be freed whatever happens. Return: 0; -EINVAL: not such a
 * file; -ENODATA: it ends too early; -E2BIG: larger than any network; other negative
 * errno. All with @err. */
int jetwatt_onnx_read(struct jetwatt_graph *g, const char *path, struct jetwatt_onnx_error *err);
/* As above from memory: what the fuzzer calls. */
int jetwatt_onnx_parse(struct jetwatt_graph *g, const void *data, size_t len,
		       struct jetwatt_onnx_error *err);

#endif
