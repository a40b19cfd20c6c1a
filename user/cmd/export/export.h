/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments of jetwatt export, and the formats that are not made from a trace. */
#ifndef JETWATT_CMD_EXPORT_EXPORT_H
#define JETWATT_CMD_EXPORT_EXPORT_H

#include <stdio.h>

#include "util/args.h"
#include "util/outfile.h"

#define JETWATT_EXPORT_MAX	64

/**
 * struct jetwatt_export_args - the command line
 * @args: global options
 * @from: the first argument: the trace file, for formats that are made from a trace
 * @format: name of the format
 * @out: output file, NULL: standard output
 * @what, @nr_what: all arguments: profiles, or modes
 * @file: the output file, if it is open
 * @f: the open output
 * @hz: rows per second; 0: one row for every sample; negative: default of the format
 * @minibatches: rows are minibatches
 * @waits: 1: rows are waits, with the reason why a minibatch ends with the wait or not
 * @errors: 1: format "profile" writes standard errors too
 * @pooled: 1: format "profile" writes the medians of measurements of other devices, releases or
 *	cgroups, not the profile's own
 * @db: profile database, NULL: the default
 * @presets: nvpmodel.conf used as a template, NULL: the board's own
 * @name: name of the first preset, NULL: the name is made from cores and clocks
 * @id: ID of the first preset, -1: a free ID is chosen
 */
struct jetwatt_export_args {
	struct jetwatt_args args;
	const char *from, *format, *out, *what[JETWATT_EXPORT_MAX];
	int nr_what;
	struct jetwatt_outfile file;
	FILE *f;
	double hz;
	int minibatches, waits, errors, pooled;
	const char *db, *presets, *name;
	long id;
};

struct jetwatt_export_format;

/* Write profiles of the database as CSV, and modes as presets of an nvpmodel.conf. @format: unused
 * here. Return: 0; exit code after printing the error. */
int jetwatt_export_profile(struct jetwatt_export_args *o, const struct jetwatt_export_format *format);
int jetwatt_export_nvpmodel(struct jetwatt_export_args *o, const struct jetwatt_export_format *format);

#endif
