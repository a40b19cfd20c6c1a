// SPDX-License-Identifier: GPL-2.0-only
/* The learner does not see the policy; its settings are members of struct jetwattd_terms. */
#include "daemon/terms.h"

struct jetwattd_terms jetwattd_policy_terms(const struct jetwattd_policy *p, bool serves)
{
	struct jetwattd_terms t = {
		.max_modes = (size_t)p->most, .learn_s = p->learn_s, .learn_j = p->learn_j,
		.share = p->learn_share / 100,
	};

	if (serves) {
		t.least_energy = p->least_energy;
		t.ttft_ms = p->ttft_ms;
		t.tpot_ms = p->tpot_ms;
	}
	return t;
}
