// SPDX-License-Identifier: GPL-2.0-only
/* Read the texts of an ONNX file, and the names of its values. */
#include "store/onnx_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN	4096

int jetwatt_onnx_text(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id)
{
	char buf[NAME_MAX_LEN];
	int err;

	o->at = f->at;
	if (f->type != JETWATT_WIRE_BYTES)
		return -EBADMSG;
	if (f->end - f->at > sizeof(buf))
		return -E2BIG;
	err = jetwatt_wire_bytes(&o->wire, f->at, buf, f->end - f->at);
	return err ? err : jetwatt_graph_intern(o->g, buf, f->end - f->at, id);
}

int jetwatt_onnx_name(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, uint32_t *id)
{
	const struct jetwatt_onnx_call *c = o->call;
	int rc = jetwatt_onnx_text(o, f, id);
	char *inner;

	if (rc || !c || !*jetwatt_graph_text(o->g, *id))
		return rc;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->formal[i] == *id) {
			*id = c->actual[i];
			return 0;
		}
	if (asprintf(&inner, "%s@%u", jetwatt_graph_text(o->g, *id), c->nr) < 0)
		return -ENOMEM;
	rc = jetwatt_graph_intern(o->g, inner, strlen(inner), id);
	free(inner);
	return rc;
}
