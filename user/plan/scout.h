/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the strategy auto hopes from cells that were not measured.
 */
#ifndef JETWATT_SCOUT_H
#define JETWATT_SCOUT_H

#include "plan/strategy.h"
#include "plan/view.h"

/**
 * struct jetwatt_hope - where a plan in a mode could lead
 * @score: expected improvement, as a share of the best plan known
 * @ok: probability of being within all limits
 * @size: minibatch sizes of that plan
 */
struct jetwatt_hope {
	double score, ok;
	size_t size[JETWATT_KNOWN_WORKS];
};

/**
 * struct jetwatt_goal - what there is to be improved
 * @best: the best plan known: time, latency or throughput, as its kind has it;
 *	@any: there is one; else @best is a scale to measure hopes by
 * @none: nothing is known that keeps the limits, be it inference alone
 * @caution: exponent of the probability of keeping the power limit
 */
struct jetwatt_goal {
	enum jetwatt_slice_kind kind;
	const struct jetwatt_slice_query *q;
	double best, caution;
	int any, none;
};

/* @g: of each workload at the sizes in question; @size: items of a minibatch of
 * each. Return: expected improvement; *@ok: see struct jetwatt_hope. */
double jetwatt_hope_of(const struct jetwatt_goal *goal, const struct jetwatt_guess *g,
		       const uint32_t *size, double *ok);

#endif
