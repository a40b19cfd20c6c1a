/* SPDX-License-Identifier: GPL-2.0-only */
/* Options by which a verb has the sensors convert otherwise while it runs. */
#ifndef JETWATT_MEASURE_SENSOR_OPTIONS_H
#define JETWATT_MEASURE_SENSOR_OPTIONS_H

#include "board/board.h"
#include "util/args.h"

/* --averages, --refresh-ms, --bus-khz; its input is struct jetwatt_sensors_args. */
extern const struct argp jetwatt_sensors_argp;

/**
 * struct jetwatt_sensors_args - what was asked for
 * @want: see there
 * @any: anything
 */
struct jetwatt_sensors_args {
	struct jetwatt_board_sensors want;
	int any;
};

/* Before the module is reached, so that it counts on what is new. Says what is
 * wrong. Return: exit code. */
int jetwatt_sensors_begin(const struct jetwatt_sensors_args *a, struct jetwatt_board *board);

/* Whatever became of the run. Return: exit code; 0 if nothing was changed. */
int jetwatt_sensors_end(const struct jetwatt_sensors_args *a, struct jetwatt_board *board);

#endif
