// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the reader of ONNX models: make fuzz FUZZ=onnx */
#include "../../user/store/onnx.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_onnx_error e = { 0, "" };
	struct jetwatt_work *w = NULL;
	struct jetwatt_graph g;
	uint32_t bad;
	size_t n = 0;

	jetwatt_graph_init(&g);
	if (jetwatt_onnx_parse(&g, data, len, &e)) {
		if (!*e.text || e.at > len)
			abort();
	} else if (!jetwatt_graph_infer(&g, &bad) && !jetwatt_graph_work(&g, &w, &n)) {
		if (n > 2 * g.node.n)
			abort();
		jetwatt_graph_scale(w, n, 16, 1);
		for (size_t i = 0; i < n; i++)
			if (w[i].node >= g.node.n || !(w[i].flop >= 0) || !(w[i].bytes >= 0))
				abort();
	}
	if (jetwatt_graph_params(&g) < 0 || !(jetwatt_graph_batch(&g) >= 1))
		abort();
	free(w);
	jetwatt_graph_free(&g);
	return 0;
}
