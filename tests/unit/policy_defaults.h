/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy of an empty policy file, for tests that set only some of its members. */
#ifndef JETWATT_TESTS_POLICY_DEFAULTS_H
#define JETWATT_TESTS_POLICY_DEFAULTS_H

#include <stdlib.h>

#include "policy/policy.h"

static struct jetwattd_policy policy_defaults(void)
{
	struct jetwatt_conf_error e;
	struct jetwattd_policy p;

	if (jetwattd_policy_parse("", 0, &p, &e))
		abort();
	return p;
}

#endif
