/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration file of "jetwatt schedule": a line NAME = VALUE for each setting; a line that
 * begins with # is a comment. Built on util/conf.h.
 */
#ifndef JETWATT_TIMESHARE_CONF_H
#define JETWATT_TIMESHARE_CONF_H

#include "util/conf.h"

/* Size of a text setting, in bytes. */
#define JETWATT_TIMESHARE_TEXT	JETWATT_CONF_TEXT

/**
 * struct jetwatt_timeshare_conf - settings
 * @train: shell command of the training
 * @infer: shell command of the server
 * @batch_file: file or socket to which the maximum minibatch size of the server is written; empty:
 *	none
 * @train_modes: file with time and power of the training in each mode; needed with @power_w
 * @infer_modes: file with time and power of the server in each mode; needed with @power_w
 * @power_w: power budget, in W; 0: no budget, and "jetwatt schedule" does not change the mode
 * @latency_ms: latency limit for 99 of 100 requests, in ms
 * @arrival_hz: requests per second, used until enough requests have been counted, and always if
 *	requests cannot be counted; 0: unknown
 * @minibatches: minibatches of training in a time slice; 0: the number is planned from
 *	measured times
 * @given: bit i is set if the file has setting i, in the order of the names in conf.c
 */
struct jetwatt_timeshare_conf {
	char train[JETWATT_TIMESHARE_TEXT], infer[JETWATT_TIMESHARE_TEXT];
	char batch_file[JETWATT_TIMESHARE_TEXT];
	char train_modes[JETWATT_TIMESHARE_TEXT], infer_modes[JETWATT_TIMESHARE_TEXT];
	double power_w, latency_ms, arrival_hz;
	long minibatches;
	unsigned int given;
};

/* Parse the text of a configuration file. Return: 0; -EINVAL: @e receives the number of the
 * faulty line, the reason and a fix. */
int jetwatt_timeshare_conf_parse(const char *text, size_t size, struct jetwatt_timeshare_conf *c,
				struct jetwatt_conf_error *e);

/* Read and parse a file. Return: 0 or an exit code; the error has been reported. */
int jetwatt_timeshare_conf_read(const char *path, struct jetwatt_timeshare_conf *c);

#endif
