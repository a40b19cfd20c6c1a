/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a run's summary that describes the phases of its minibatches. Private to summary.c. */
#ifndef JETWATT_MEASURE_SUMMARY_PHASES_H
#define JETWATT_MEASURE_SUMMARY_PHASES_H

#include "measure/summary.h"

#define JETWATT_SUMMARY_BLOCK_NS	50e6	/* minimum duration of a block of minibatches, ns */

/* Compute the figures of each phase, without warm-up. @time, @uj: memory for one number per bound of the
 * run. */
void jetwatt_summary_phases(struct jetwatt_summary *s, double *time, double *uj);
/* Print a table of the phases if there are several. */
void jetwatt_summary_phases_print(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a);
/* Add the object "phases" to the JSON object that is open. */
void jetwatt_summary_phases_json(const struct jetwatt_summary *s, struct jetwatt_json *j);

#endif
