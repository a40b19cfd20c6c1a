/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading attributes that may be absent, short or hostile.
 */
#ifndef JETWATT_ATTR_H
#define JETWATT_ATTR_H

#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As libnl's nla_*(), which are calls into another library: a batch has a hundred attributes. */
static inline int jetwatt_attr_ok(const struct nlattr *a, int rem)
{
	return rem >= (int)sizeof(*a) && a->nla_len >= sizeof(*a) && a->nla_len <= rem;
}

static inline const struct nlattr *jetwatt_attr_next(const struct nlattr *a, int *rem)
{
	*rem -= NLA_ALIGN(a->nla_len);
	return (const struct nlattr *)((const char *)a + NLA_ALIGN(a->nla_len));
}

static inline int jetwatt_attr_type(const struct nlattr *a)
{
	return a->nla_type & NLA_TYPE_MASK;
}

static inline int jetwatt_attr_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static inline const void *jetwatt_attr_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

/* The last attribute of each type into @tb[0..max], others NULL. */
static inline void jetwatt_attr_index(const struct nlattr **tb, int max,
				      const struct nlattr *attr, int len)
{
	memset(tb, 0, (max + 1) * sizeof(*tb));
	for (; jetwatt_attr_ok(attr, len); attr = jetwatt_attr_next(attr, &len))
		if (jetwatt_attr_type(attr) <= max)
			tb[jetwatt_attr_type(attr)] = attr;
}

/* 0; -EBADMSG if the attribute is absent or of another size: @v is untouched. */
static inline int jetwatt_attr_u32(const struct nlattr *a, uint32_t *v)
{
	if (!a || jetwatt_attr_len(a) != sizeof(*v))
		return -EBADMSG;
	memcpy(v, jetwatt_attr_data(a), sizeof(*v));
	return 0;
}

int jetwatt_attr_u64(const struct nlattr *a, uint64_t *v);
int jetwatt_attr_s32(const struct nlattr *a, int32_t *v);

/* At most @size - 1 bytes and a terminator, printable; "" if absent. */
void jetwatt_attr_string(const struct nlattr *a, char *s, size_t size);

#endif
