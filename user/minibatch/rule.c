// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and descriptions of the rules that decide where minibatches end, for jetwatt export
 * --waits. man/jetwatt-export.1 has the same texts; tests/host/waits.sh compares them.
 */
#include "minibatch/minibatch.h"

#define BY_GROUP	"how much longer the first gap is than the other gaps of the minibatch, at most 1"
#define BY_PATH		"log-likelihood of the next wait"

static const struct {
	const char *name, *says, *score;
} rules[JETWATT_RULES] = {
	[JETWATT_RULE_LEFT_OUT] = {
		"left-out", "the wait was ignored: the threads have no common period, so only the busiest one counts",
		"0" },
	[JETWATT_RULE_MARK] = {
		"mark", "the program marks its minibatches itself", "1" },
	[JETWATT_RULE_NO_LAUNCH] = {
		"no-launch", "no GPU work was launched before this wait or before the next one, so no minibatch ends here",
		"0" },
	[JETWATT_RULE_PART] = {
		"part", "the wait is in the middle of a minibatch of more than 8 waits, one of which follows most launches",
		"0" },
	[JETWATT_RULE_SINGLE] = {
		"single", "each wait is a minibatch, because no period of two or more waits was found",
		"confidence, 0 to 1: grows with the number of waits" },
	[JETWATT_RULE_GAP] = {
		"gap", "a minibatch begins after the longest gap of each period", BY_GROUP },
	[JETWATT_RULE_FOLDED_GAP] = {
		"folded-gap", "a minibatch begins after the gap that is the longest in the median of five minibatches",
		BY_GROUP },
	[JETWATT_RULE_IDLE] = {
		"idle", "a minibatch begins after the longest time without GPU work of each period",
		"how much longer the longest time without GPU work is than the other such times of the minibatch, at most 1" },
	[JETWATT_RULE_WAIT] = {
		"wait", "the waits of a minibatch differ in length, and the pattern of their lengths repeats",
		"how clearly the lengths of the minibatch's waits show the pattern, at most 1" },
	[JETWATT_RULE_CALLER] = {
		"caller", "the waits come from several threads or calls, in an order that repeats",
		"how well the minibatch's waits follow the order, at most 1" },
	[JETWATT_RULE_PHASE] = {
		"phase", "the next wait is in a part of the run whose period is not the usual one, or that has no period",
		"how clear the period of that part is; 0: it has none" },
	[JETWATT_RULE_MERGED] = {
		"merged", "one or two waits between two minibatches fit neither and are added to the earlier one",
		"0 or less" },
	[JETWATT_RULE_TEMPLATE] = {
		"template", "the next wait fits its position in the learned cycle", BY_PATH },
	[JETWATT_RULE_SPEED] = {
		"speed", "the next wait fits its position in the learned cycle, assuming that the speed of the job has changed",
		BY_PATH },
	[JETWATT_RULE_MISSING] = {
		"missing", "the next wait fits the learned cycle, assuming that waits before it were lost", BY_PATH },
	[JETWATT_RULE_RESTART] = {
		"restart", "the next wait begins the learned cycle again, although the previous cycle is not complete", BY_PATH },
	[JETWATT_RULE_EXTRA] = {
		"extra", "the next wait is an additional one after the last wait of the learned cycle", BY_PATH },
	[JETWATT_RULE_EVALUATION] = {
		"evaluation", "the next wait fits the second learned cycle, that of an evaluation", BY_PATH },
	[JETWATT_RULE_NO_CYCLE] = {
		"no-cycle", "the next wait fits no learned cycle; it may belong to a checkpoint", BY_PATH },
	[JETWATT_RULE_CAUGHT_UP] = {
		"caught-up", "relabelled: some minibatches were late, others made up for it, and their mean time is usual",
		"logarithm of the ratio of the mean time to the nearest limit of the usual range" },
	[JETWATT_RULE_ALIKE] = {
		"alike", "relabelled: the next wait fits the cycle at no speed, but is as long as the waits around it",
		"share of waits in the sequence without a cycle that are as long as those around them, 0.75 to 1" },
	[JETWATT_RULE_REGAINED] = {
		"regained", "relabelled: the next wait is in a sequence that fits no cycle, but has the usual period, callers and launches, or duration",
		"confidence in the period of the sequence, above 0.9; 1: by callers or duration" },
	[JETWATT_RULE_LAST] = {
		"last", "no wait follows: a minibatch ends here if all its waits were seen",
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
