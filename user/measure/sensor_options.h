/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that change how the sensors convert while a verb runs. */
#ifndef JETWATT_MEASURE_SENSOR_OPTIONS_H
#define JETWATT_MEASURE_SENSOR_OPTIONS_H

#include "board/board.h"
#include "util/args.h"

/* Parser of --averages, --refresh-ms and --bus-khz; the input is a struct jetwatt_sensors_args. */
extern const struct argp jetwatt_sensors_argp;

/**
 * struct jetwatt_sensors_args - values of the options
 * @want: requested settings of the sensors
 * @any: 1: at least one option was given
 */
struct jetwatt_sensors_args {
	struct jetwatt_board_sensors want;
	int any;
};

/*
 * Apply the settings. Call this function before opening the module, so that the module reads the
 * new settings. Prints an error. Return: exit code.
 */
int jetwatt_sensors_apply(const struct jetwatt_sensors_args *a, struct jetwatt_board *board);

/* Restore the previous settings of the sensors, also after a failed run. Return: exit code; 0 if
 * no setting had been changed. */
int jetwatt_sensors_restore(const struct jetwatt_sensors_args *a, struct jetwatt_board *board);

#endif
