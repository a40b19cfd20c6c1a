// SPDX-License-Identifier: GPL-2.0-only
/* The options --averages, --refresh-ms and --bus-khz, and their effect on the sensors. */
#include "measure/sensor_options.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

enum { AVERAGES = JETWATT_ARGS_COMMON + 0x30, REFRESH, BUS };

static const struct argp_option options[] = {
	{ "averages", AVERAGES, "N", 0, "Conversions that the sensors average during the measurement: 1, 4, 16, 64, ... 1024", 2 },
	{ "refresh-ms", REFRESH, "MS", 0, "Time in ms for the sensors to convert all channels, during the measurement; 0: the shortest", 2 },
	{ "bus-khz", BUS, "KHZ", 0, "Clock of the sensors' I2C bus during the measurement: 100 or 400; not all kernels support it", 2 },
	{ 0 }
};

static error_t parse_sensors(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_sensors_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		a->want.refresh_ms = -1;
		break;
	case AVERAGES:
		a->want.averages = jetwatt_args_count("--averages", arg, 1, 1024);
		a->any = 1;
		break;
	case REFRESH:
		a->want.refresh_ms = jetwatt_args_count("--refresh-ms", arg, 0, 100);
		a->any = 1;
		break;
	case BUS:
		a->want.bus_khz = jetwatt_args_count("--bus-khz", arg, 100, 400);
		if (a->want.bus_khz != 100 && a->want.bus_khz != 400)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "use 100 or 400 (kHz): faster buses need another i2c protocol",
					       "--bus-khz: not %s", arg));
		a->any = 1;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp jetwatt_sensors_argp = { options, parse_sensors, NULL, NULL, NULL, NULL, NULL };

int jetwatt_sensors_apply(const struct jetwatt_sensors_args *a, struct jetwatt_board *board)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = a->any ? jetwatt_board_sensors_set(board, &a->want, &e) : 0;

	return err ? jetwatt_error_board(err, &e) : 0;
}

int jetwatt_sensors_restore(const struct jetwatt_sensors_args *a, struct jetwatt_board *board)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = a->any ? jetwatt_board_sensors_reset(board, &e) : 0;

	return err ? jetwatt_error_board(err, &e) : 0;
}
