/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor --report: what decides on a board whether jetwatt is right about it, without what
 * identifies the board, its users or its network. Read-only.
 */
#ifndef JETWATT_CMD_DOCTOR_REPORT_H
#define JETWATT_CMD_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/doctor/doctor.h"

#define JETWATT_PRIVATE_WORDS	64

/**
 * struct jetwatt_private - what must not be in a report
 * @id, @nr_ids: serial numbers and the machine's id: removed wherever they are
 * @name, @nr_names: of the host and of its users: removed as words of free text
 */
struct jetwatt_private {
	char id[JETWATT_PRIVATE_WORDS][80], name[JETWATT_PRIVATE_WORDS][80];
	int nr_ids, nr_names;
};

/**
 * struct jetwatt_gather - a report that is being written
 * @root: in front of every path: "" on the board itself
 * @j, @text: the report for programs and for people
 * @seen, @nr_seen: paths of the files that are in it already
 * @denied: files that are there and that only root may read
 */
struct jetwatt_gather {
	const char *root;
	struct jetwatt_json j;
	FILE *text;
	struct jetwatt_private hide;
	char **seen;
	size_t nr_seen;
	unsigned int denied;
};

/* report_private.c */
void jetwatt_private_find(struct jetwatt_private *p, const char *root);
/* A copy of @text without identifiers, hardware addresses and homes, and where @names is set
 * without names. The caller frees it; NULL: no memory. */
char *jetwatt_private_hide(const struct jetwatt_private *p, const char *text, bool names);
/* A member of a report that is free text. */
void jetwatt_gather_string(struct jetwatt_gather *g, const char *key, const char *text);
/* One thing that is not in the report. */
void jetwatt_gather_left_out(struct jetwatt_gather *g, const char *what, const char *why,
			     const char *fix);

/* report_files.c: one file or the array "files"; @path is below the root */
void jetwatt_gather_file(struct jetwatt_gather *g, const char *path);
void jetwatt_gather_files(struct jetwatt_gather *g);
/* report_tree.c: nodes of the device tree, as files */
void jetwatt_gather_tree(struct jetwatt_gather *g);
/* report_system.c: kernel, its options, releases of packages */
void jetwatt_gather_system(struct jetwatt_gather *g);
/* report_rails.c: what the module makes of the board, beside the hwmon driver */
void jetwatt_gather_module(struct jetwatt_gather *g, struct jetwatt *jw,
			   const struct jetwatt_board *board);
/* report_cuda.c: libraries and their calls; a loop, seen by each backend */
void jetwatt_gather_cuda(struct jetwatt_gather *g, const char *loop);

/* Write the report to @path and its text to standard output. Return: exit status. */
int jetwatt_doctor_report(struct jetwatt_doctor *d, const char *path, const char *loop);
/* replay.c: a board from a report. Return: exit status. */
int jetwatt_doctor_replay(struct jetwatt_doctor *d, const char *path, const char *into);
/* replay_overlay.c: the sensors' nodes as an overlay of the simulated board's tree.
 * Return: 0, negative errno; -ENODATA: the report has none. */
struct jetwatt_board_report;
int jetwatt_replay_overlay(const struct jetwatt_board_report *r, FILE *f);

#endif
