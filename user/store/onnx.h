/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of ONNX files (github.com/onnx/onnx, onnx.proto): reads the graph of a network, and of its
 * weights only the values of small tensors. The roofline verb uses this reader. Built on wire.h; the
 * file is not trusted.
 */
#ifndef JETWATT_ONNX_H
#define JETWATT_ONNX_H

#include "model/graph.h"

/**
 * struct jetwatt_onnx_error - what is wrong with a file
 * @at: offset of the error in the file, in bytes
 * @text: reason
 */
struct jetwatt_onnx_error {
	uint64_t at;
	char text[160];
};

/* Read the graph of the file @path. @g: initialised by the caller, who frees it even after an
 * error. Return: 0; -EINVAL: not an ONNX file, or the file has no graph; -ENODATA: the file is
 * truncated; -E2BIG: the file is larger or nested deeper than the limits; other negative errno.
 * Every error sets @err. */
int jetwatt_onnx_read(struct jetwatt_graph *g, const char *path, struct jetwatt_onnx_error *err);
/* Parse an ONNX file from memory, as jetwatt_onnx_read() does; -ENOMEM may leave @err unset. The
 * fuzzer calls this. */
int jetwatt_onnx_parse(struct jetwatt_graph *g, const void *data, size_t len,
		       struct jetwatt_onnx_error *err);

#endif
