// SPDX-License-Identifier: GPL-2.0-only
/* Names and descriptions of the rules, from their table (rules.h). */
#include "minibatch/minibatch.h"

#define ROW(id, name, merged, says, score, live)	[JETWATT_RULE_##id] = { name, says, score, live, merged },

static const struct {
	const char *name, *says, *score, *live;
	bool merged;
} rules[JETWATT_RULES] = { JETWATT_BATCH_RULES(ROW) };

static int known(int rule)
{
	return rule >= 0 && rule < JETWATT_RULES ? rule : JETWATT_RULE_LEFT_OUT;
}

const char *jetwatt_batch_rule_name(int rule)
{
	return rules[known(rule)].name;
}

const char *jetwatt_batch_rule_says(int rule)
{
	return rules[known(rule)].says;
}

const char *jetwatt_batch_rule_score(int rule)
{
	return rules[known(rule)].score;
}

const char *jetwatt_batch_rule_live(int rule)
{
	return rules[known(rule)].live;
}

bool jetwatt_batch_rule_merged(int rule)
{
	return rules[known(rule)].merged;
}
