/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares the phases of bounds with the true kinds of a job's minibatches. */
#ifndef JETWATT_TESTS_PHASE_LABELS_H
#define JETWATT_TESTS_PHASE_LABELS_H

#include "minibatch/phases.h"

/*
 * Return the share of the true minibatches whose end was found and whose phase is that of most minibatches of
 * their kind; of several bounds that end in a minibatch, the last one with a phase counts. @b: the bounds; @n: their
 * number; @kind: kind of each true minibatch; @ends: their ends, ns, which programs note up to one
 * minibatch late; @nr: number of true minibatches.
 */
static double labelled_right(const struct jetwatt_batch_bound *b, int n, const uint8_t *kind, const uint64_t *ends,
			     size_t nr)
{
	size_t count[256][JETWATT_PHASES_MAX + 1] = { { 0 } }, right = 0;
	int at = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t p = 0;

		for (; at < n && b[at].end_ns <= ends[i]; at++)
			p = b[at].phase ? b[at].phase : p;
		count[kind[i]][p]++;
	}
	for (int k = 0; k < 256; k++) {
		size_t most = 0;

		for (int p = 1; p <= JETWATT_PHASES_MAX; p++)
			most = count[k][p] > most ? count[k][p] : most;
		right += most;
	}
	return (double)right / (double)nr;
}

#endif
