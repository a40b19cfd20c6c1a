/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks (and load, and temperatures) beside the rails. */
#ifndef JETWATT_AUX_SERIES_H
#define JETWATT_AUX_SERIES_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include "sensors/chip.h"

struct jetwatt_sample;

#define JETWATT_CLOCKS_MAX	40

/**
 * struct jetwatt_clock - one series that is not a rail's
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_CLOCK_INDEX
 * @slot: its column
 * @label: for people
 * @cpus: of the policy
 * @value: of a slow one: as last read, JETWATT_VALUE_NONE if that failed
 * @turn: of a slow one: how often it has been read
 * @told: of a slow one: the sampler's note of the turn that it has recorded
 * @hot: of a temperature: it was too high when last read
 *
 * A clock is only added and never goes away, like a chip. @kind to @label are
 * constant from the moment that it can be found. @value, @turn and @hot are
 * the slow path's; @told is the sampler's.
 */
struct jetwatt_clock {
	u32 kind;
	u32 index;
	int slot;
	char label[JETWATT_LABEL_LEN];
	struct cpumask cpus;
	s32 value;
	u32 turn;
	u32 told;
	bool hot;
};

struct jetwatt_clock *jetwatt_clock_add(u32 kind, u32 index, const char *label);
unsigned int jetwatt_clock_count(void);
struct jetwatt_clock *jetwatt_clock_at(unsigned int i);
s32 jetwatt_clock_value(const struct jetwatt_clock *clock);
void jetwatt_clock_read(struct jetwatt_sample *sample, bool all);
void jetwatt_clock_refresh(void);
s32 jetwatt_clock_recent(const struct jetwatt_clock *clock);
void jetwatt_clock_start(void);
void jetwatt_clock_stop(void);
int jetwatt_clock_init(void);
void jetwatt_clock_exit(void);

/* aux_gpu.c: the GPU's clock and load, from devfreq */
s32 jetwatt_gpu_khz(void);
int jetwatt_gpu_load(s32 *permille);
void jetwatt_gpu_look(void);
int jetwatt_gpu_init(void);
void jetwatt_gpu_exit(void);

/* aux_slow.c: what only the firmware knows */
void jetwatt_slow_look(void);
void jetwatt_slow_read(bool temperatures);
void jetwatt_slow_exit(void);

#endif
