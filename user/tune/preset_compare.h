/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor's presets as candidates and as what our answer is compared with.
 */
#ifndef JETWATT_TUNE_PRESET_COMPARE_H
#define JETWATT_TUNE_PRESET_COMPARE_H

#include "board/preset.h"
#include "out/json.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_baseline - the presets of a board
 * @presets: NULL: none
 * @index: of each one's mode among the candidates
 * @rounded: as jetwatt_preset_mode() returned it
 * @reboot: as jetwatt_preset_reboot() returned it
 */
struct jetwatt_baseline {
	struct jetwatt_presets *presets;
	size_t *index;
	unsigned int *rounded;
	int *reboot;
};

/**
 * jetwatt_baseline_open() - read presets and make each one a candidate
 * @board: NULL: their clocks become steps of the candidates
 * @path: NULL: the board's own file, which need not be there
 *
 * Return: 0; exit code.
 */
int jetwatt_baseline_open(struct jetwatt_baseline *b, struct jetwatt_learn *l,
			  const struct jetwatt_board *board, const char *path);

/* Preset @i: measured where it was, else as predicted. Return: 1: measured. */
int jetwatt_baseline_reading(const struct jetwatt_baseline *b, const struct jetwatt_learn *l,
			     size_t i, struct jetwatt_prediction *p);

/* Each preset against the mode that was chosen; after jetwatt_learn_predict().
 * @time_ms: of the chosen mode, 0: none was. */
void jetwatt_baseline_print(const struct jetwatt_baseline *b, const struct jetwatt_learn *l,
			    double time_ms);
void jetwatt_baseline_json(const struct jetwatt_baseline *b, const struct jetwatt_learn *l,
			   struct jetwatt_json *j);
void jetwatt_baseline_close(struct jetwatt_baseline *b);

#endif
