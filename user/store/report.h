/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of board reports, which jetwatt doctor --report writes: the files of sysfs, procfs, the
 * device tree and /etc that determine what jetwatt finds on a board, and what its module has found.
 * Reports come from other people's machines, so the reader trusts nothing in them.
 */
#ifndef JETWATT_REPORT_FILE_H
#define JETWATT_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "util/json_read.h"

/* To be changed if older readers would misread a newer report. */
#define JETWATT_REPORT_SCHEMA	"jetwatt-report/1"
/* Most sensor chips in a report. */
#define JETWATT_REPORT_CHIPS	16

/**
 * struct jetwatt_report_file - one file of the board
 * @path: path below the root, without a leading slash: "sys/class/..."
 * @data, @len: contents of the file; @data NULL: the file exists but could not be read
 */
struct jetwatt_report_file {
	const char *path;
	const uint8_t *data;
	size_t len;
};

/**
 * struct jetwatt_board_report - a report that has been read
 * @top: the JSON document, for data that is only displayed
 * @file, @nr_files: the files, ascending by path, without duplicates
 * @rail, @nr_rails: the rails that the module listed; 0: the module was not loaded
 * @chip, @nr_chips: the sensor chips that the module listed
 */
struct jetwatt_board_report {
	const struct jetwatt_json_value *top;
	struct jetwatt_report_file *file;
	size_t nr_files;
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails;
	struct jetwatt_chip chip[JETWATT_REPORT_CHIPS];
	int nr_chips;
	/* private: */
	struct jetwatt_json_doc *doc;
	uint8_t *bytes;
};

/**
 * jetwatt_report_parse() - parse a report
 * @report: gets the report; the caller frees it
 * @line: gets the line of the error, 0: none in particular
 * @why: gets the reason of the error
 *
 * Return: 0; -EINVAL: not a report, or of another schema; -EFBIG; -ENOMEM.
 */
int jetwatt_report_parse(const char *text, size_t len, struct jetwatt_board_report **report,
			 unsigned int *line, const char **why);
void jetwatt_report_free(struct jetwatt_board_report *report);

/* Find the file @path. Its contents are not zero-terminated. Return: NULL: not in the report, or it
 * could not be read. */
const struct jetwatt_report_file *jetwatt_report_find(const struct jetwatt_board_report *report,
						      const char *path);

#endif
