// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of jetwattd's policy: make fuzz FUZZ=policy */
#include "../../user/util/conf.c"
#include "../../user/util/error.c"
#include "../../user/util/suggest.c"
#include "../../user/util/units.c"
#include "../../user/policy/policy.c"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct jetwattd_policy p;
	struct jetwatt_conf_error e;

	if (jetwattd_policy_parse((const char *)data, len, &p, &e)) {
		if (!*e.why || !*e.fix)
			abort();
		return 0;
	}
	if (!(p.window_s > 0) || p.most < 3 || p.nr_hours > JETWATTD_HOURS ||
	    p.nr_cgroups > JETWATTD_CGROUPS || p.budget_w < 0)
		abort();
	for (unsigned int minute = 0; minute < 24 * 60; minute++) {
		int n = 0;

		if (jetwattd_policy_budget(&p, minute, "/a/b") < 0)
			abort();
		for (int i = 0; i < p.nr_hours; i++)
			n += hours_contain(&p.hours[i], minute);
		if (n > 1)
			abort();
	}
	return 0;
}
