/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt doctor --report: writes the facts of a board that decide whether jetwatt measures it
 * correctly, without data that identify the board, its users or its network. It changes no setting;
 * as root it also samples the rails and runs a short GPU job.
 */
#ifndef JETWATT_CMD_DOCTOR_REPORT_H
#define JETWATT_CMD_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/doctor/doctor.h"

#define JETWATT_PRIVATE_WORDS	64

/**
 * struct jetwatt_private - data that must not appear in a report
 * @id, @nr_ids: serial numbers, the machine id, the boot id, and ids of the kernel's command line,
 *	which are removed everywhere in the report
 * @name, @nr_names: names of the host and of its users, which are removed from free text as whole
 *	words
 */
struct jetwatt_private {
	char id[JETWATT_PRIVATE_WORDS][80], name[JETWATT_PRIVATE_WORDS][80];
	int nr_ids, nr_names;
};

/**
 * struct jetwatt_gather - a report that is being written
 * @root: prefix of every path: "" on the board itself
 * @j: JSON document, the report file
 * @text: summary of the report for people, printed on standard output
 * @hide: private data to remove from the report
 * @seen, @nr_seen: paths that are in the report already
 * @denied: number of files that could not be read for lack of permission
 * @no_loop: why root's CUDA loop was not run; NULL: it was run, or doctor does not run as root
 */
struct jetwatt_gather {
	const char *root;
	struct jetwatt_json j;
	FILE *text;
	struct jetwatt_private hide;
	char **seen;
	size_t nr_seen;
	unsigned int denied;
	const char *no_loop;
};

/* report_private.c: collect identifiers and names from @root and from the environment. */
void jetwatt_private_find(struct jetwatt_private *p, const char *root);
/* Return: a copy of @text without the ids of @p, hardware addresses and home directories; if @names
 * is set, also without the names of @p. The caller frees the copy. NULL: out of memory. */
char *jetwatt_private_hide(const struct jetwatt_private *p, const char *text, bool names);
/* Add a JSON member whose value is free text, after removing private data from the text. @key: NULL
 * in an array. */
void jetwatt_gather_string(struct jetwatt_gather *g, const char *key, const char *text);
/* Add an entry to the array "left_out": what is missing in the report, why it is missing, and how
 * to get it. */
void jetwatt_gather_left_out(struct jetwatt_gather *g, const char *what, const char *why,
			     const char *fix);

/* report_files.c: jetwatt_gather_file(): add the file @path, relative to the prefix @root, to the
 * open array "files", unless it is in it already or is excluded. jetwatt_gather_files(): add all
 * files that a report needs except those of report_tree.c. */
void jetwatt_gather_file(struct jetwatt_gather *g, const char *path);
void jetwatt_gather_files(struct jetwatt_gather *g);
/* report_tree.c: add the files of the parts of the device tree that a report needs. */
void jetwatt_gather_tree(struct jetwatt_gather *g);
/* report_system.c: add the kernel, its options and command line, and package versions. */
void jetwatt_gather_system(struct jetwatt_gather *g);
/* report_rails.c: add chips, rails, clocks and sampler as the module reports them, with hwmon
 * readings for comparison. */
void jetwatt_gather_module(struct jetwatt_gather *g, struct jetwatt *jw,
			   const struct jetwatt_board *board);
/* report_cuda.c: add CUDA libraries and their functions, and the waits of a CUDA loop per backend.
 * @loop: command of the CUDA loop, NULL: find a loop to run. */
void jetwatt_gather_cuda(struct jetwatt_gather *g, const char *loop);

/* report.c: write the report to @path, and the summary, or with --json the report, to standard
 * output. @loop: as above. Closes @d's board and module. Return: exit status. */
int jetwatt_doctor_report(struct jetwatt_doctor *d, const char *path, const char *loop);
/* replay.c: show the board that the report @path describes. @into: directory for the files of the
 * report, NULL: a temporary directory. Return: exit status. */
int jetwatt_doctor_replay(struct jetwatt_doctor *d, const char *path, const char *into);
/* replay_overlay.c: write the device tree nodes of the power sensors as an overlay for the
 * simulated board to @f. Return: 0 or a negative errno; -ENODATA if the report has no sensor. */
struct jetwatt_board_report;
int jetwatt_replay_overlay(const struct jetwatt_board_report *r, FILE *f);

#endif
