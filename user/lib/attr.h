/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Read netlink attributes, which may be absent, too short or malicious. For the parsers in parse.c
 * and reply.c.
 */
#ifndef JETWATT_ATTR_H
#define JETWATT_ATTR_H

#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * jetwatt_attr_ok() to jetwatt_attr_data() do the same as libnl's nla_*(). They are inline because
 * a batch has about 100 attributes. @rem: number of bytes of the message that are left to read.
 */
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

/* Store a pointer to the last attribute of each type in @tb[0..@max]; NULL: absent. Other types
 * are ignored. */
static inline void jetwatt_attr_index(const struct nlattr **tb, int max,
				      const struct nlattr *attr, int len)
{
	memset(tb, 0, (max + 1) * sizeof(*tb));
	for (; jetwatt_attr_ok(attr, len); attr = jetwatt_attr_next(attr, &len))
		if (jetwatt_attr_type(attr) <= max)
			tb[jetwatt_attr_type(attr)] = attr;
}

/* Copy the value to @v. Return: 0; -EBADMSG if the attribute is absent or of another size; @v is
 * then unchanged. */
static inline int jetwatt_attr_u32(const struct nlattr *a, uint32_t *v)
{
	if (!a || jetwatt_attr_len(a) != sizeof(*v))
		return -EBADMSG;
	memcpy(v, jetwatt_attr_data(a), sizeof(*v));
	return 0;
}

/* As jetwatt_attr_u32(), with another type. */
int jetwatt_attr_u64(const struct nlattr *a, uint64_t *v);
int jetwatt_attr_s32(const struct nlattr *a, int32_t *v);

/*
 * Copy the string in an attribute: at most @size - 1 bytes and a terminating 0. Bytes that are not
 * printable ASCII become '?'. An absent attribute gives "".
 */
void jetwatt_attr_string(const struct nlattr *a, char *s, size_t size);

#endif
