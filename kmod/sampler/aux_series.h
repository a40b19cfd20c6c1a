/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks (and load, and temperatures) beside the rails. */
#ifndef JETWATT_AUX_SERIES_H
#define JETWATT_AUX_SERIES_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include "sensors/chip.h"

struct jetwatt_sample;

#define JETWATT_AUX_MAX	40

/**
 * struct jetwatt_aux - one series that is not a rail's
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_CLOCK_INDEX
 * @slot: its column
 * @label: for people
 * @cpus: of the policy
 * @value: of a slow one: as last read, JETWATT_VALUE_NONE if that failed
 * @turn: of a slow one: how often it has been read
 * @recorded_turn: of a slow one: value of @turn that the sampler has recorded
 * @hot: of a temperature: it was too high when last read
 *
 * A clock is only added and never goes away, like a chip. @kind to @label are
 * constant from the moment that it can be found. @value, @turn and @hot are
 * the slow path's; @recorded_turn is the sampler thread's.
 */
struct jetwatt_aux {
	u32 kind;
	u32 index;
	int slot;
	char label[JETWATT_LABEL_LEN];
	struct cpumask cpus;
	s32 value;
	u32 turn;
	u32 recorded_turn;
	bool hot;
};

struct jetwatt_aux *jetwatt_aux_add(u32 kind, u32 index, const char *label);
unsigned int jetwatt_aux_count(void);
struct jetwatt_aux *jetwatt_aux_at(unsigned int i);
s32 jetwatt_aux_value(const struct jetwatt_aux *clock);
void jetwatt_aux_read(struct jetwatt_sample *sample, bool all);
void jetwatt_aux_refresh(void);
s32 jetwatt_aux_recent(const struct jetwatt_aux *clock);
void jetwatt_aux_start(void);
void jetwatt_aux_stop(void);
int jetwatt_aux_init(void);
void jetwatt_aux_exit(void);

/* aux_gpu.c: the GPU's clock and load, from devfreq */
s32 jetwatt_gpu_khz(void);
int jetwatt_gpu_load(s32 *permille);
void jetwatt_gpu_discover(void);
int jetwatt_gpu_init(void);
void jetwatt_gpu_exit(void);

/* aux_slow.c: what only the firmware knows */
void jetwatt_slow_discover(void);
void jetwatt_slow_read(bool temperatures);
void jetwatt_slow_exit(void);

#endif
