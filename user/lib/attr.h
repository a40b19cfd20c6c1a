/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading attributes that may be absent, short or hostile.
 */
#ifndef JETWATT_ATTR_H
#define JETWATT_ATTR_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* The last attribute of each type into @tb[0..max], others NULL. */
void jetwatt_attr_index(const struct nlattr **tb, int max, const struct nlattr *attr, int len);

/* 0; -EBADMSG if the attribute is absent or of another size: @v is untouched. */
int jetwatt_attr_u32(const struct nlattr *a, uint32_t *v);
int jetwatt_attr_u64(const struct nlattr *a, uint64_t *v);
int jetwatt_attr_s32(const struct nlattr *a, int32_t *v);

/* At most @size - 1 bytes and a terminator, printable; "" if absent. */
void jetwatt_attr_string(const struct nlattr *a, char *s, size_t size);

#endif
