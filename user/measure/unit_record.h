/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of work units in a trace: writes their names and readings, and reads them again. */
#ifndef JETWATT_MEASURE_UNIT_RECORD_H
#define JETWATT_MEASURE_UNIT_RECORD_H

#include "jetwatt.h"
#include "measure/session.h"
#include "measure/unit_reader.h"

/* Describe the counters in a trace. Return: 0; the error of jetwatt_trace_write_text(). */
int jetwatt_unit_record_describe(const struct jetwatt_units *u, struct jetwatt_trace_writer *w);
/* The job has ended, or its measurement ends now: read the counters once more, and end the thread.
 * The event loop of the session runs meanwhile; if the session fails, do not wait. */
void jetwatt_unit_record_last(struct jetwatt_unit_reader *r, struct jetwatt_session *s);
/* Write the readings that are in the queue of @r, and remove them. */
void jetwatt_unit_record_write(struct jetwatt_unit_reader *r, struct jetwatt_trace_writer *w);

/* Handle a text of a trace: if it describes a counter, store it in @u. */
void jetwatt_unit_record_text(struct jetwatt_units *u, const char *key, const char *text);
/* Convert a record of counters to a reading of their source. Return: 1; 0: it is empty, or the
 * trace does not describe its first counter. */
int jetwatt_unit_record_reading(const struct jetwatt_units *u, const struct jetwatt_trace_counts *c,
				struct jetwatt_unit_reading *one);

#endif
