/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor's presets (nvpmodel modes): candidates, and a baseline for the answer.
 */
#ifndef JETWATT_TUNE_PRESET_COMPARE_H
#define JETWATT_TUNE_PRESET_COMPARE_H

#include "board/preset.h"
#include "out/json.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_preset_compare - the presets of a board
 * @presets: the presets; NULL: none
 * @index: for each preset, the index of its candidate
 * @rounded: knobs that each preset sets to a level the board lacks, from jetwatt_preset_mode()
 * @reboot: 1 if a preset gates other GPU parts, from jetwatt_preset_reboot()
 */
struct jetwatt_preset_compare {
	struct jetwatt_presets *presets;
	size_t *index;
	unsigned int *rounded;
	int *reboot;
};

/**
 * jetwatt_preset_compare_open() - read the presets and add each as a candidate
 * @b: set to the presets
 * @l: candidates
 * @board: the board; NULL: the presets are rounded to the levels of the candidates
 * @path: file of presets; NULL: the preset file of @board, which may be absent; both NULL: none
 *
 * Return: 0; exit code.
 */
int jetwatt_preset_compare_open(struct jetwatt_preset_compare *b, struct jetwatt_tuner *l,
			  const struct jetwatt_board *board, const char *path);

/* Set @p to the mean of the measurements of preset @i, or to its prediction if it was not measured.
 * Return: 1: measured, 0: predicted. */
int jetwatt_preset_compare_reading(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			     size_t i, struct jetwatt_prediction *p);

/*
 * Print each preset compared with the answer; call jetwatt_tuner_predict() before. @time_ms: time
 * of a minibatch of the answer, in milliseconds; 0: the query has no answer.
 */
void jetwatt_preset_compare_print(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			    double time_ms);
/* Write the presets as the JSON array "presets". */
void jetwatt_preset_compare_json(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l,
			   struct jetwatt_json *j);
/* Free the contents of @b. */
void jetwatt_preset_compare_close(struct jetwatt_preset_compare *b);

#endif
