/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that jetwatt schedule reads: NAME = VALUE in each line; # begins a comment line. */
#ifndef JETWATT_TIMESHARE_CONF_H
#define JETWATT_TIMESHARE_CONF_H

#include "util/conf.h"

#define JETWATT_SCHEDULE_TEXT	JETWATT_CONF_TEXT

/**
 * struct jetwatt_schedule_conf - what is wanted
 * @train, @infer: commands, for a shell
 * @batch_file: file or socket that the server's minibatch size is written to, empty: none
 * @power_w: budget, 0: the board stays in its mode; @train_modes, @infer_modes: what was measured
 *	of both in which modes
 * @latency_ms: in which 99 of 100 requests are to be answered
 * @arrival_hz: requests per second, until they have been counted; 0: not told
 * @minibatches: of training in a turn, 0: planned
 */
struct jetwatt_schedule_conf {
	char train[JETWATT_SCHEDULE_TEXT], infer[JETWATT_SCHEDULE_TEXT];
	char batch_file[JETWATT_SCHEDULE_TEXT];
	char train_modes[JETWATT_SCHEDULE_TEXT], infer_modes[JETWATT_SCHEDULE_TEXT];
	double power_w, latency_ms, arrival_hz;
	long minibatches;
};

/* From the text of a file. Return: 0, -EINVAL. */
int jetwatt_schedule_conf_parse(const char *text, size_t size, struct jetwatt_schedule_conf *c,
				struct jetwatt_conf_error *e);

/* Read @path. Says what is wrong. Return: exit code. */
int jetwatt_schedule_conf_read(const char *path, struct jetwatt_schedule_conf *c);

#endif
