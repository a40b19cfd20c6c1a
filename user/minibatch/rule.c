// SPDX-License-Identifier: GPL-2.0-only
/* The texts of the rules that decide where minibatches end, as in man/jetwatt-export.1. */
#include "minibatch/minibatch.h"

#define BY_GROUP	"how far the longest gap stands above the others of its minibatch, at most 1"
#define BY_PATH		"log-likelihood of the next wait"

static const struct {
	const char *name, *says, *score;
} rules[JETWATT_RULES] = {
	[JETWATT_RULE_LEFT_OUT] = {
		"left-out", "the wait was not looked at: its thread does not keep step with the busiest one",
		"0" },
	[JETWATT_RULE_MARK] = {
		"mark", "the program marks its minibatches itself", "1" },
	[JETWATT_RULE_SINGLE] = {
		"single", "each wait is a minibatch, because no longer period was found",
		"confidence, 0 to 1: grows with the number of waits" },
	[JETWATT_RULE_GAP] = {
		"gap", "a minibatch begins at the longest gap of each period", BY_GROUP },
	[JETWATT_RULE_FOLDED_GAP] = {
		"folded-gap", "a minibatch begins at the gap that is the longest in the median of five minibatches",
		BY_GROUP },
	[JETWATT_RULE_WAIT] = {
		"wait", "waits of one minibatch differ in length, and their pattern repeats",
		"how far the pattern stands out in this minibatch, at most 1" },
	[JETWATT_RULE_CALLER] = {
		"caller", "threads and calls come in an order that repeats",
		"how well this minibatch follows the order, at most 1" },
	[JETWATT_RULE_PHASE] = {
		"phase", "the wait that follows is in a stretch with another period than usual, or with none",
		"how clearly that period stands out; 0: the stretch has none" },
	[JETWATT_RULE_MERGED] = {
		"merged", "one or two waits were left over between minibatches and are put to the one before",
		"0 or less" },
	[JETWATT_RULE_TEMPLATE] = {
		"template", "the next wait fits its place in the learned cycle", BY_PATH },
	[JETWATT_RULE_SPEED] = {
		"speed", "the next wait fits its place in the learned cycle at a new speed", BY_PATH },
	[JETWATT_RULE_MISSING] = {
		"missing", "the next wait fits the learned cycle if waits in between were not seen", BY_PATH },
	[JETWATT_RULE_RESTART] = {
		"restart", "the next wait begins the learned cycle before the last one was complete", BY_PATH },
	[JETWATT_RULE_EXTRA] = {
		"extra", "the next wait is one more after the last of the learned cycle", BY_PATH },
	[JETWATT_RULE_EVALUATION] = {
		"evaluation", "the next wait fits the second learned cycle, which is an evaluation's", BY_PATH },
	[JETWATT_RULE_NO_CYCLE] = {
		"no-cycle", "the next wait fits no learned cycle, as those of a checkpoint do", BY_PATH },
	[JETWATT_RULE_CAUGHT_UP] = {
		"caught-up", "relabelled: a minibatch was late, and those around it take the usual time together",
		"logarithm of the distance from the limits of the usual time" },
	[JETWATT_RULE_ALIKE] = {
		"alike", "relabelled: the next wait fits at no speed, but is as long as its neighbours",
		"share of such waits in the stretch, 0.75 to 1" },
	[JETWATT_RULE_REGAINED] = {
		"regained", "relabelled: the stretch fits no cycle, but has the usual period",
		"confidence in that period, above 0.9" },
	[JETWATT_RULE_LAST] = {
		"last", "no wait follows: a minibatch ends here if it has all its waits",
		"share of the minibatch's waits that were seen" },
};

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
