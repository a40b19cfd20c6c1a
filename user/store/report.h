/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of board reports, which jetwatt doctor --report writes: the files of sysfs, procfs, /etc and
 * /var/lib that determine what jetwatt finds on a board, and what its module has found.
 * Reports come from other people's machines, so the reader does not trust any value in a report.
 */
#ifndef JETWATT_STORE_REPORT_H
#define JETWATT_STORE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "util/json_read.h"

/* Version of the report format; it is changed if older readers would misread a newer report. */
#define JETWATT_REPORT_SCHEMA	"jetwatt-report/1"
/* Maximum number of sensor chips in a report. */
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
 * struct jetwatt_board_report - a board report that has been read
 * @top: the JSON document, for data that is only displayed
 * @file, @nr_files: the files, ascending by path, without duplicates
 * @rail, @nr_rails: the rails that the module listed; none if the module was not loaded
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
 * @line: gets the number of the line with the error, 0: the error has no particular line
 * @why: gets the cause of the error
 *
 * Return: 0; -EINVAL: the text is no valid report, or has another schema version; -EFBIG; -ENOMEM.
 */
int jetwatt_report_parse(const char *text, size_t len, struct jetwatt_board_report **report,
			 unsigned int *line, const char **why);
void jetwatt_report_free(struct jetwatt_board_report *report);

/* Find the file @path. The contents of the file are not zero-terminated. Return: NULL if the
 * file is not in the report, or could not be read on the board. */
const struct jetwatt_report_file *jetwatt_report_find(const struct jetwatt_board_report *report,
						      const char *path);

#endif
