/* SPDX-License-Identifier: GPL-2.0-only */
/* What export writes, and from what: a row of its table each. */
#ifndef JETWATT_CMD_EXPORT_EXPORT_H
#define JETWATT_CMD_EXPORT_EXPORT_H

#include <stdio.h>

#include "util/args.h"

#define JETWATT_EXPORT_MAX	64

/**
 * struct jetwatt_export_order - what was asked for
 * @from: the first argument: a trace, unless the format says otherwise
 * @what, @nr_what: all of them: profiles, or modes
 * @f: where it goes
 * @hz: rows a second, 0: the format's own number
 * @minibatches: rows are minibatches; @waits: rows are waits, each with its reasons
 * @db: profile database, NULL: as set; @errors: of a profile too; @pooled: not what
 *	was measured here, but what is known of it from elsewhere
 * @presets: nvpmodel.conf to be like, NULL: the board's own; @id: of the first
 *	block, -1: a free one; @name: NULL: from its clocks
 */
struct jetwatt_export_order {
	struct jetwatt_args args;
	const char *from, *format, *out, *what[JETWATT_EXPORT_MAX];
	int nr_what;
	FILE *f;
	double hz;
	int minibatches, waits, errors, pooled;
	const char *db, *presets, *name;
	long id;
};

struct jetwatt_export_format;

/* Profiles of the database as CSV; modes as blocks of an nvpmodel.conf; @format is
 * for traces. Return: 0; exit code. */
int jetwatt_export_profile(struct jetwatt_export_order *o, const struct jetwatt_export_format *format);
int jetwatt_export_nvpmodel(struct jetwatt_export_order *o, const struct jetwatt_export_format *format);

#endif
