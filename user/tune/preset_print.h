/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor's presets beside our modes: to look at, to compare with.
 */
#ifndef JETWATT_TUNE_PRESET_PRINT_H
#define JETWATT_TUNE_PRESET_PRINT_H

#include "board/preset.h"

/* All presets of a file (NULL: the board's own). Return: 0, exit code. */
int jetwatt_presets_list(const struct jetwatt_board *board, const char *path, int json);

/* Clocks that the board does not have and what becomes of them, as words: "GPU 408
 * becomes 421 MHz"; "": none. @rounded: as jetwatt_preset_mode() returned it. */
const char *jetwatt_presets_rounded(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				    unsigned int rounded, char *buf, size_t len);

#endif
