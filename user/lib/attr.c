// SPDX-License-Identifier: LGPL-2.1-only
/* Convert netlink attributes to numbers and strings. */
#include "lib/attr.h"

#include <errno.h>
#include <string.h>

static int attr_number(const struct nlattr *a, void *v, int size)
{
	if (!a || jetwatt_attr_len(a) != size)
		return -EBADMSG;
	memcpy(v, jetwatt_attr_data(a), size);
	return 0;
}

int jetwatt_attr_u64(const struct nlattr *a, uint64_t *v)
{
	return attr_number(a, v, sizeof(*v));
}

int jetwatt_attr_s32(const struct nlattr *a, int32_t *v)
{
	return attr_number(a, v, sizeof(*v));
}

/* Labels come from a device tree and are printed on terminals: unprintable bytes become '?'. */
void jetwatt_attr_string(const struct nlattr *a, char *s, size_t size)
{
	size_t n = a ? strnlen(jetwatt_attr_data(a), jetwatt_attr_len(a)) : 0, i;
	const char *from = a ? jetwatt_attr_data(a) : "";

	if (n >= size)
		n = size - 1;
	for (i = 0; i < n; i++)
		s[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	s[n] = '\0';
}
