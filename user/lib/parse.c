// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The samples of a batch. Every length is checked against the one before:
 * attribute against message, values against count.
 */
#include "parse.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <netlink/attr.h>
#include <string.h>

#include "attr.h"

static int series(struct jetwatt_parse *p, const struct nlattr *nest)
{
	struct jetwatt_series_view *v = &p->series[p->samples.nr_series];
	const struct nlattr *tb[JETWATT_A_SERIES_MAX + 1];

	if (p->samples.nr_series == JETWATT_PARSE_SERIES)
		return -EBADMSG;
	jetwatt_attr_index(tb, JETWATT_A_SERIES_MAX, nla_data(nest), nla_len(nest));
	if (jetwatt_attr_u32(tb[JETWATT_A_SERIES_KIND], &v->kind) ||
	    jetwatt_attr_u32(tb[JETWATT_A_SERIES_INDEX], &v->index) ||
	    !tb[JETWATT_A_SERIES_VALUES] ||
	    (size_t)nla_len(tb[JETWATT_A_SERIES_VALUES]) != p->samples.count * sizeof(int32_t))
		return -EBADMSG;
	v->value = nla_data(tb[JETWATT_A_SERIES_VALUES]);
	p->samples.nr_series++;
	return 0;
}

int jetwatt_parse_samples(struct jetwatt_parse *p, const struct nlattr *attr, int len)
{
	const struct nlattr *tb[JETWATT_A_SAMPLES_MAX + 1], *a;
	struct jetwatt_samples *s = &p->samples;
	int rem = len, err;

	memset(s, 0, sizeof(*s));
	jetwatt_attr_index(tb, JETWATT_A_SAMPLES_MAX, attr, len);
	if (jetwatt_attr_u64(tb[JETWATT_A_SAMPLES_SEQ], &s->seq) ||
	    jetwatt_attr_u32(tb[JETWATT_A_SAMPLES_COUNT], &s->count) ||
	    jetwatt_attr_u64(tb[JETWATT_A_SAMPLES_LOST], &s->lost) ||
	    !tb[JETWATT_A_SAMPLES_TIME_NS])
		return -EBADMSG;
	if (!s->count || s->count > JETWATT_PARSE_SAMPLES || s->seq + s->count < s->seq ||
	    (size_t)nla_len(tb[JETWATT_A_SAMPLES_TIME_NS]) != s->count * sizeof(uint64_t))
		return -EBADMSG;
	/* Attributes are aligned to 4 only. */
	memcpy(p->time_ns, nla_data(tb[JETWATT_A_SAMPLES_TIME_NS]), s->count * sizeof(uint64_t));
	for (a = attr; nla_ok(a, rem); a = nla_next(a, &rem)) {
		if (nla_type(a) != JETWATT_A_SAMPLES_SERIES)
			continue;
		err = series(p, a);
		if (err)
			return err;
	}
	s->time_ns = p->time_ns;
	s->series = p->series;
	return 0;
}
