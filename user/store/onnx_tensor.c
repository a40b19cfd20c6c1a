// SPDX-License-Identifier: GPL-2.0-only
/* Read a TensorProto: its dimensions and, if it has few elements, their values. */
#include "store/onnx_read.h"

#include <errno.h>
#include <string.h>

/* Field numbers of TensorProto. */
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_FLOAT = 4, TENSOR_INT32 = 5, TENSOR_INT64 = 7,
       TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_DOUBLE = 10, TENSOR_UINT64 = 11,
       TENSOR_EXTERNAL = 13, TENSOR_PLACE = 14 };
/* Field numbers of SparseTensorProto. */
enum { SPARSE_VALUES = 1, SPARSE_DIM = 3 };

/* Size of an element in bits, by TensorProto.DataType; 0: no fixed size. */
static const uint8_t element_bits[] = { 0,  32, 8,  8,	 16, 16, 32, 64, 0, 8, 16, 64,
					32, 64, 64, 128, 16, 8,	 8,  8,	 8, 4, 4,  4 };

int jetwatt_onnx_bits(uint64_t type)
{
	return type < sizeof(element_bits) ? element_bits[type] : 0;
}

static double onnx_as_double(uint64_t raw, int type)
{
	uint32_t low = (uint32_t)raw;
	double d;
	float s;

	switch (type) {
	case JETWATT_ONNX_FLOAT:
		memcpy(&s, &low, sizeof(s));
		return s;
	case JETWATT_ONNX_DOUBLE:
		memcpy(&d, &raw, sizeof(d));
		return d;
	case JETWATT_ONNX_INT32:
		return (int32_t)raw;
	default:
		return (double)(int64_t)raw;
	}
}

int jetwatt_onnx_numbers(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, int wire,
			 int type, uint32_t *nr, uint32_t *count)
{
	uint64_t at = f->at, value = f->value;
	int packed = f->type == JETWATT_WIRE_BYTES, rc = 1;

	o->at = f->at;
	if (!packed && f->type != wire)
		return -EBADMSG;
	do {
		if (packed)
			rc = jetwatt_wire_number(&o->wire, &at, f->end, wire, &value);
		if (rc <= 0)
			return rc;
		if (count)
			++*count;
		if (*nr < JETWATT_GRAPH_KNOWN) {
			++*nr;
			rc = jetwatt_graph_add_number(o->g, onnx_as_double(value, type));
			if (rc)
				return rc;
		} else if (!count) {
			return 0;
		}
	} while (packed);
	return 0;
}

static int onnx_raw_numbers(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f, int type,
			    uint32_t *nr)
{
	uint64_t len = type == JETWATT_ONNX_BOOL ? 1 : element_bits[type] / 8, at = f->at;

	for (; f->end - at >= len; at += len) {
		unsigned char b[8];
		uint64_t v = 0;
		int err = jetwatt_wire_bytes(&o->wire, at, b, len);

		if (err)
			return err;
		for (uint64_t i = len; i; i--)
			v = v << 8 | b[i - 1];
		err = jetwatt_graph_add_number(o->g, onnx_as_double(v, type));
		if (err)
			return err;
		++*nr;
	}
	return 0;
}

/* Return whether jetwatt reads the numbers of tensors of an element type. */
static int onnx_type_readable(int type)
{
	return type == JETWATT_ONNX_FLOAT || type == JETWATT_ONNX_INT32 ||
	       type == JETWATT_ONNX_INT64 || type == JETWATT_ONNX_BOOL || type == JETWATT_ONNX_DOUBLE;
}

/* Append a dimension, or a packed field of dimensions, to the shape of @t. Return: 0 or more;
 * negative errno. */
static int onnx_dims(struct jetwatt_onnx *o, const struct jetwatt_wire_field *f,
		     struct jetwatt_graph_value *t)
{
	uint64_t at = f->at, d = f->value;
	int rc = 1;

	do {
		if (f->type == JETWATT_WIRE_BYTES)
			rc = jetwatt_wire_number(&o->wire, &at, f->end, JETWATT_WIRE_VARINT, &d);
		if (rc > 0 && (t->rank == JETWATT_GRAPH_RANK || d > JETWATT_ONNX_DIM_MAX))
			return -E2BIG;
		if (rc > 0)
			t->dim[t->rank++] = (int64_t)d;
	} while (rc > 0 && f->type == JETWATT_WIRE_BYTES);
	return rc;
}

int jetwatt_onnx_tensor(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body,
			int named, uint32_t *value)
{
	uint64_t at = m->at, end = m->end;
	uint32_t name = JETWATT_GRAPH_NONE, nr = 0, known = o->g->number.n;
	struct jetwatt_wire_field f, raw = { .nr = 0 };
	struct jetwatt_graph_value t = { .rank = 0 }, *v;
	int rc, type = 0, external = 0;

	EACH_FIELD(o, f, at, end, rc) {
		o->at = f.at;
		if (f.nr == TENSOR_NAME) {
			if (named)
				rc = jetwatt_onnx_name(o, &f, &name);
		} else if (f.nr == TENSOR_DIM) {
			rc = onnx_dims(o, &f, &t);
		} else if (f.nr == TENSOR_TYPE && f.type == JETWATT_WIRE_VARINT) {
			type = f.value < sizeof(element_bits) ? (int)f.value : 0;
		} else if (f.nr == TENSOR_RAW && f.type == JETWATT_WIRE_BYTES) {
			raw = f;
		} else if (f.nr == TENSOR_EXTERNAL || (f.nr == TENSOR_PLACE && f.value == 1)) {
			external = 1;
		} else if (nr < JETWATT_GRAPH_KNOWN) {
			if (f.nr == TENSOR_FLOAT)
				rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_32, JETWATT_ONNX_FLOAT,
							  &nr, NULL);
			else if (f.nr == TENSOR_DOUBLE)
				rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_64, JETWATT_ONNX_DOUBLE,
							  &nr, NULL);
			else if (f.nr == TENSOR_INT32)
				rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_VARINT, JETWATT_ONNX_INT32,
							  &nr, NULL);
			else if (f.nr == TENSOR_INT64 || f.nr == TENSOR_UINT64)
				rc = jetwatt_onnx_numbers(o, &f, JETWATT_WIRE_VARINT, JETWATT_ONNX_INT64,
							  &nr, NULL);
		}
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	t.bits = element_bits[type];
	t.flags = JETWATT_GRAPH_WEIGHT | (external ? JETWATT_GRAPH_EXTERNAL : 0);
	if (raw.nr && jetwatt_graph_elements(&t) <= JETWATT_GRAPH_KNOWN &&
	    onnx_type_readable(type) && raw.end - raw.at <= 8 * JETWATT_GRAPH_KNOWN) {
		known = o->g->number.n;
		nr = 0;
		rc = onnx_raw_numbers(o, &raw, type, &nr);
		if (rc)
			return rc;
	}
	rc = jetwatt_graph_add_value(o->g, body, name, value);
	if (rc)
		return rc;
	v = jetwatt_graph_value_at(o->g, *value);
	t.name = v->name;
	t.body = v->body;
	if (!external && onnx_type_readable(type) && jetwatt_graph_elements(&t) == nr) {
		t.flags |= JETWATT_GRAPH_NUMBERS_KNOWN;
		t.known = known;
		t.nr_known = (uint8_t)nr;
	}
	t.flags |= v->flags & JETWATT_GRAPH_INPUT;
	*v = t;
	return 0;
}

/* The name and the type are those of the tensor of the values that are not zero; the shape is that of
 * the tensor with all values, because a running network stores all of them. */
int jetwatt_onnx_sparse(struct jetwatt_onnx *o, const struct jetwatt_wire_field *m, uint32_t body)
{
	struct jetwatt_graph_value shape = { .rank = 0 }, *v;
	uint32_t value = JETWATT_GRAPH_NONE;
	struct jetwatt_wire_field f;
	uint64_t at = m->at;
	int rc;

	EACH_FIELD(o, f, at, m->end, rc) {
		if (f.nr == SPARSE_VALUES && f.type == JETWATT_WIRE_BYTES && value == JETWATT_GRAPH_NONE)
			rc = jetwatt_onnx_tensor(o, &f, body, 1, &value);
		else if (f.nr == SPARSE_DIM)
			rc = onnx_dims(o, &f, &shape);
		if (rc < 0)
			return rc;
	}
	if (rc || value == JETWATT_GRAPH_NONE)
		return rc;
	v = jetwatt_graph_value_at(o->g, value);
	v->flags &= ~JETWATT_GRAPH_NUMBERS_KNOWN;
	v->rank = shape.rank;
	memcpy(v->dim, shape.dim, sizeof(v->dim));
	return 0;
}
