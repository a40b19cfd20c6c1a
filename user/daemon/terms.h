/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits for learning that are settings of the policy file. */
#ifndef JETWATTD_TERMS_H
#define JETWATTD_TERMS_H

#include "daemon/learner.h"
#include "policy/policy.h"

/* Return: limits with the settings of @p; all other members are 0. @serves: the job is a server of a
 * language model, for which the policy has further settings. */
struct jetwattd_terms jetwattd_policy_terms(const struct jetwattd_policy *p, bool serves);

#endif
