/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_KNOBS_SERVE_H
#define JETWATT_KNOBS_SERVE_H

#include <sys/types.h>

#include "board/board.h"

#define JETWATT_KNOBS_CLIENTS 4

struct jetwatt_knobs_client {
	int fd; /* -1: none */
	pid_t pid;
	char freezer[JETWATT_BOARD_HELD][JETWATT_BOARD_CGROUP]; /* cgroups whose freezer it has */
	int freezers;
};

/**
 * struct jetwatt_knobs - one board, and who asks for it
 * @user: may ask, besides root
 * @policy: file of jetwattd's, which says whose jobs may be held
 * @holder: has applied a mode; when it hangs up the board is restored
 * @owed: that has failed so far
 * @applied, @restored, @refused: requests; @strangers: turned away at the door
 */
struct jetwatt_knobs {
	struct jetwatt_board *board;
	uid_t user;
	const char *policy;
	struct jetwatt_knobs_client client[JETWATT_KNOBS_CLIENTS], *holder;
	int owed;
	unsigned long applied, restored, refused, strangers;
};

/* Somebody at the socket @listen. */
void jetwatt_knobs_welcome(struct jetwatt_knobs *k, int listen);
/* A request, or a hang-up. */
void jetwatt_knobs_hear(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c);
/* As it was before us. Return: 0; negative errno, said. */
int jetwatt_knobs_put_back(struct jetwatt_knobs *k);

#endif
