/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report of a board, as jetwatt doctor --report writes it: the files of sysfs, procfs, the
 * device tree and /etc that decide what jetwatt finds, and what its module has made of them.
 * It comes from other people's machines, so nothing in it is trusted.
 */
#ifndef JETWATT_REPORT_FILE_H
#define JETWATT_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "util/json_read.h"

/* Changes when a reader of before would misunderstand a report of now. */
#define JETWATT_REPORT_SCHEMA	"jetwatt-report/1"
#define JETWATT_REPORT_CHIPS	16

/**
 * struct jetwatt_report_file - one file of the board
 * @path: below the root, without a slash in front: "sys/class/..."
 * @data, @len: its contents; @data NULL: it is there and could not be read
 */
struct jetwatt_report_file {
	const char *path;
	const uint8_t *data;
	size_t len;
};

/**
 * struct jetwatt_board_report - a report that has been read
 * @top: the document itself, for what is only shown
 * @file, @nr_files: ascending by path, each once
 * @rail, @nr_rails: as the module listed them; 0: it was not loaded
 * @chip, @nr_chips: likewise
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
 * jetwatt_report_parse() - read a report
 *
 * Return: 0; -EINVAL: no report, or none of this schema; -EFBIG; -ENOMEM. Then @line (0: none
 * in particular) and @why say what is wrong. The caller frees *report.
 */
int jetwatt_report_parse(const char *text, size_t len, struct jetwatt_board_report **report,
			 unsigned int *line, const char **why);
void jetwatt_report_free(struct jetwatt_board_report *report);

/* The contents of the file @path, which is not zero-terminated; NULL: not reported. */
const struct jetwatt_report_file *jetwatt_report_find(const struct jetwatt_board_report *report,
						      const char *path);

#endif
