/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rhythm of one job's waits: which of them is the first of a minibatch.
 */
#ifndef JETWATT_BATCH_RHYTHM_H
#define JETWATT_BATCH_RHYTHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JETWATT_RHYTHM_MAX	8	/* most waits per minibatch that are looked for */

/**
 * struct jetwatt_beat - one wait of one job
 * @gap: logarithm of the time from the wait before to this one
 * @wait: logarithm of its length
 * @who: thread and call
 * @first: out: a minibatch begins with it
 * @other: out: it is in a phase of another rhythm than the job's usual one
 */
struct jetwatt_beat {
	double gap, wait;
	uint32_t who;
	bool first, other;
};

struct jetwatt_rhythm {
	int k;			/* waits per minibatch, the usual number */
	double confidence;	/* 0..1 */
	uint64_t missing;	/* waits that the rhythm says are missing */
};

int jetwatt_rhythm_find(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r);
int jetwatt_group_waits(struct jetwatt_beat *b, const double *v, size_t n, int k, double contrast,
			struct jetwatt_rhythm *r);
bool jetwatt_rhythm_calls(const struct jetwatt_beat *b, size_t n);

#endif
