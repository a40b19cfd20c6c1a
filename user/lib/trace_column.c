// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Encodes and decodes the times and values of a batch.
 *
 * A column contains the values of one series. Typical columns: a shunt voltage is a multiple of the
 * chip's LSB and changes by few LSBs per tick; a bus voltage has values in rotation; a clock is
 * almost constant.
 */
#include "lib/trace.h"

#include <linux/jetwatt.h>
#include <stdlib.h>

/* Values of the first byte of a column, which says which samples have a value. */
enum { ALL, STRIDE, BITMAP, NOWHERE, PRESENCE = 3 };
/* Flag of the first byte of a column: all values are equal, or there is none. */
#define CONSTANT	4

void jetwatt_trace_put_times(struct jetwatt_trace_buf *b, uint64_t base_ns, const uint64_t *t,
			     uint32_t n)
{
	uint64_t last = base_ns, step = 0;

	/* Unsigned arithmetic, because times may wrap around; any times are decoded to the
	 * values that were encoded. */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t now = t[i] - last;

		jetwatt_trace_put_int(b, i < 2 ? (int64_t)now : (int64_t)(now - step));
		step = now;
		last = t[i];
	}
}

void jetwatt_trace_get_times(struct jetwatt_trace_view *v, uint64_t base_ns, uint64_t *t,
			     uint32_t n)
{
	uint64_t last = base_ns, step = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t d = jetwatt_trace_get_int(v);

		step = i < 2 ? d : step + d;
		last += step;
		t[i] = last;
	}
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Return whether the samples with a value are exactly those with the index @first, @first +
 * @step, and so on. */
static int has_stride(const int32_t *v, uint32_t n, uint32_t *first, uint32_t *step)
{
	uint32_t i = 0;

	while (v[i] == JETWATT_VALUE_NONE)
		i++;
	*first = i;
	for (i++; i < n && v[i] == JETWATT_VALUE_NONE; i++)
		;
	*step = i - *first;
	for (i = *first; i < n; i++)
		if ((v[i] != JETWATT_VALUE_NONE) != !((i - *first) % *step))
			return 0;
	return 1;
}

static void put_bitmap(struct jetwatt_trace_buf *b, const int32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 8) {
		uint8_t byte = 0;

		for (uint32_t k = i; k < n && k < i + 8; k++)
			byte |= (v[k] != JETWATT_VALUE_NONE) << (k - i);
		jetwatt_trace_put(b, &byte, 1);
	}
}

void jetwatt_trace_put_column(struct jetwatt_trace_buf *b, const int32_t *v, uint32_t n)
{
	uint32_t there = 0, first = 0, step = 1;
	uint64_t unit = 0;
	int64_t last = 0;
	uint8_t how;

	for (uint32_t i = 0; i < n; i++) {
		if (v[i] == JETWATT_VALUE_NONE)
			continue;
		if (there++)
			unit = common_divisor(unit, llabs(v[i] - last));
		last = v[i];
	}
	how = !there				? NOWHERE
	      : there == n			? ALL
	      : has_stride(v, n, &first, &step) ? STRIDE
						: BITMAP;
	if (!unit)
		how |= CONSTANT;
	jetwatt_trace_put(b, &how, 1);
	if ((how & PRESENCE) == STRIDE) {
		jetwatt_trace_put_uint(b, first);
		jetwatt_trace_put_uint(b, step);
	} else if ((how & PRESENCE) == BITMAP) {
		put_bitmap(b, v, n);
	}
	if (!(how & CONSTANT))
		jetwatt_trace_put_uint(b, unit);
	there = 0;
	for (uint32_t i = 0; i < n && !(there && how & CONSTANT); i++) {
		if (v[i] == JETWATT_VALUE_NONE)
			continue;
		jetwatt_trace_put_int(b, there++ ? (v[i] - last) / (int64_t)unit : v[i]);
		last = v[i];
	}
}

/* Set @value to 0 for each sample that has a value, and to JETWATT_VALUE_NONE for the others. */
static void get_presence(struct jetwatt_trace_view *v, int how, int32_t *value, uint32_t n)
{
	uint32_t first, step;

	for (uint32_t i = 0; i < n; i++)
		value[i] = how == ALL ? 0 : JETWATT_VALUE_NONE;
	if (how == STRIDE) {
		first = jetwatt_trace_get_u32(v);
		step = jetwatt_trace_get_u32(v);
		v->bad |= !step || first >= n;
		for (uint64_t i = first; i < n && !v->bad; i += step)
			value[i] = 0;
	} else if (how == BITMAP) {
		if ((size_t)(v->end - v->at) < (n + 7) / 8) {
			v->bad = 1;
			return;
		}
		for (uint32_t i = 0; i < n; i++)
			if (v->at[i / 8] >> i % 8 & 1)
				value[i] = 0;
		v->at += (n + 7) / 8;
	}
}

void jetwatt_trace_get_column(struct jetwatt_trace_view *v, int32_t *value, uint32_t n)
{
	uint64_t last = 0, unit = 0;
	uint8_t how;
	int some = 0;

	if (v->at == v->end) {
		v->bad = 1;
		return;
	}
	how = *v->at++;
	v->bad |= how > (PRESENCE | CONSTANT);
	get_presence(v, how & PRESENCE, value, n);
	if (!(how & CONSTANT))
		unit = jetwatt_trace_get_uint(v);
	for (uint32_t i = 0; i < n && !v->bad; i++) {
		if (value[i] == JETWATT_VALUE_NONE)
			continue;
		if (!some++)
			last = jetwatt_trace_get_int(v);
		else if (unit)
			last += unit * (uint64_t)jetwatt_trace_get_int(v);
		value[i] = (int32_t)last;
		/* No writer encodes JETWATT_VALUE_NONE as a value. */
		v->bad |= (int64_t)last != value[i] || value[i] == JETWATT_VALUE_NONE;
	}
}
