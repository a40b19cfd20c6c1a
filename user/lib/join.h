/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The parts of the join: samples to power (power.c), two streams to one order
 * (join.c). Both are pure; time is what the records say.
 */
#ifndef JETWATT_LIB_JOIN_H
#define JETWATT_LIB_JOIN_H

#include <stdint.h>
#include "jetwatt.h"

/**
 * struct jetwatt_power_state - the last value of everything
 * @rail: rails in the order of jetwatt_rails()
 * @bus_known, @shunt_known: bit r: rail r has been read at least once
 * @telemetry: by slot: as read last, and when
 * @skipped: samples not handed on because a rail was still unknown
 */
struct jetwatt_power_state {
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	int nr_rails;
	int64_t bus_uv[JETWATT_RAILS_MAX], shunt_uv[JETWATT_RAILS_MAX];
	uint32_t bus_known, shunt_known, skipped;
	int gap;
	struct jetwatt_mode clock;
	int32_t temp_mc;
	struct jetwatt_telemetry telemetry;
	uint64_t read_ns[JETWATT_TELEMETRY_SLOTS];
};

void jetwatt_power_init(struct jetwatt_power_state *st, const struct jetwatt_rail *rail, int nr);

/**
 * jetwatt_power_sample() - sample @i of batch @s as power
 *
 * Return: 1: @p is filled in; 0: enabled rails are still unknown.
 */
int jetwatt_power_sample(struct jetwatt_power_state *st, const struct jetwatt_samples *s,
			 uint32_t i, struct jetwatt_power *p);

/* What was read from sysfs, for samples that come after it. */
void jetwatt_power_reading(struct jetwatt_power_state *st, const struct jetwatt_reading *r);

#endif
