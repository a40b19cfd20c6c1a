// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parser of batches. It checks the length of each attribute against the message, and the number of
 * values against the number of samples.
 */
#include "lib/parse.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <string.h>

#include "lib/attr.h"

/* The attribute of a series as the module lays it out. */
struct parse_layout {
	struct nlattr nest, kind_attr;
	uint32_t kind;
	struct nlattr index_attr;
	uint32_t index;
	struct nlattr values_attr;
};

static int is_attr(const struct nlattr *a, int type, size_t len)
{
	return jetwatt_attr_type(a) == type && a->nla_len == NLA_HDRLEN + len;
}

/* Parse a series with the usual layout: most of a message consists of series, and the general
 * parser takes three times as long. Return: 1; 0: the layout is another one. */
static int parse_usual(struct jetwatt_series_view *v, const struct nlattr *nest, size_t values)
{
	const struct parse_layout *l = (const void *)nest;

	if (nest->nla_len != sizeof(*l) + values ||
	    !is_attr(&l->kind_attr, JETWATT_A_SERIES_KIND, sizeof(l->kind)) ||
	    !is_attr(&l->index_attr, JETWATT_A_SERIES_INDEX, sizeof(l->index)) ||
	    !is_attr(&l->values_attr, JETWATT_A_SERIES_VALUES, values))
		return 0;
	*v = (struct jetwatt_series_view){ l->kind, l->index, (const void *)(l + 1) };
	return 1;
}

static int parse_series(struct jetwatt_parse *p, const struct nlattr *nest)
{
	struct jetwatt_series_view *v = &p->series[p->samples.nr_series];
	const struct nlattr *tb[JETWATT_A_SERIES_MAX + 1], *values;

	if (p->samples.nr_series == JETWATT_PARSE_SERIES)
		return -EBADMSG;
	if (parse_usual(v, nest, p->samples.count * sizeof(int32_t))) {
		p->samples.nr_series++;
		return 0;
	}
	jetwatt_attr_index(tb, JETWATT_A_SERIES_MAX, jetwatt_attr_data(nest),
			   jetwatt_attr_len(nest));
	values = tb[JETWATT_A_SERIES_VALUES];
	if (jetwatt_attr_u32(tb[JETWATT_A_SERIES_KIND], &v->kind) ||
	    jetwatt_attr_u32(tb[JETWATT_A_SERIES_INDEX], &v->index) || !values ||
	    (size_t)jetwatt_attr_len(values) != p->samples.count * sizeof(int32_t))
		return -EBADMSG;
	v->value = jetwatt_attr_data(values);
	p->samples.nr_series++;
	return 0;
}

int jetwatt_parse_samples(struct jetwatt_parse *p, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_SAMPLES_MAX + 1], *times, *a;
	struct jetwatt_samples *s = &p->samples;
	int rem = len, err;

	memset(s, 0, sizeof(*s));
	jetwatt_attr_index(tb, JETWATT_A_SAMPLES_MAX, attr, len);
	times = tb[JETWATT_A_SAMPLES_TIME_NS];
	if (jetwatt_attr_u64(tb[JETWATT_A_SAMPLES_SEQ], &s->seq) ||
	    jetwatt_attr_u32(tb[JETWATT_A_SAMPLES_COUNT], &s->count) ||
	    jetwatt_attr_u64(tb[JETWATT_A_SAMPLES_LOST], &s->lost) || !times)
		return -EBADMSG;
	if (!s->count || s->count > JETWATT_PARSE_SAMPLES || s->seq + s->count < s->seq ||
	    (size_t)jetwatt_attr_len(times) != s->count * sizeof(uint64_t))
		return -EBADMSG;
	/* Copy the times of the samples, because the message aligns them only to 4 bytes, and a
	 * uint64_t needs 8. */
	memcpy(p->time_ns, jetwatt_attr_data(times), s->count * sizeof(uint64_t));
	for (a = attr; jetwatt_attr_ok(a, rem); a = jetwatt_attr_next(a, &rem)) {
		if (jetwatt_attr_type(a) != JETWATT_A_SAMPLES_SERIES)
			continue;
		err = parse_series(p, a);
		if (err)
			return err;
	}
	s->time_ns = p->time_ns;
	s->series = p->series;
	return 0;
}
