/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of user/board/: the state directory and its files. */
#ifndef JETWATT_BOARD_STATEFILE_H
#define JETWATT_BOARD_STATEFILE_H

#include "board/board.h"

#include <stdio.h>
#include <sys/types.h>

/* statefile.c: write the path of the file @leaf of the state directory to @buf of PATH_LEN. Return:
 * @buf. */
const char *jetwatt_statefile_path(const struct jetwatt_board *b, const char *leaf, char *buf);
/* Create the state directory. Return: 0; negative errno. */
int jetwatt_statefile_dir(const struct jetwatt_board *b, struct jetwatt_error_text *err);
/* Files with a checksum in the state directory; @leaf: name of the file; @kind: its first word */
#define JETWATT_STATEFILE_MAX	16384
void jetwatt_statefile_begin(const struct jetwatt_board *b, const char *kind, FILE *f);
int jetwatt_statefile_end(FILE *f, const char *buf);
int jetwatt_statefile_store(struct jetwatt_board *b, const char *leaf, const char *text, int len,
			 struct jetwatt_error_text *err);
ssize_t jetwatt_statefile_load(const struct jetwatt_board *b, const char *leaf, char *path,
			       char *text, size_t size);
const char *jetwatt_statefile_intact(const char *kind, char *text, size_t len, char *boot);
bool jetwatt_statefile_now(const struct jetwatt_board *b, const char *boot);
int jetwatt_statefile_delete(struct jetwatt_board *b, const char *leaf,
			  struct jetwatt_error_text *err);

/* saved.c: read and write the file of the saved state */
bool jetwatt_saved_old(const struct jetwatt_board *b);
int jetwatt_saved_load(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_saved_store(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_saved_delete(struct jetwatt_board *b, struct jetwatt_error_text *err);

#endif
