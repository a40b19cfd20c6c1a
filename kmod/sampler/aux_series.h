/* SPDX-License-Identifier: GPL-2.0 */
/* Auxiliary series: clock rates, GPU load, temperatures and the number of online CPUs. */
#ifndef JETWATT_AUX_SERIES_H
#define JETWATT_AUX_SERIES_H

#include <linux/cpumask.h>
#include <linux/jetwatt.h>
#include <linux/types.h>
#include "sensors/chip.h"

struct jetwatt_sample;

/**
 * struct jetwatt_aux - one auxiliary series
 * @kind: enum jetwatt_series
 * @index: index of the series, see enum jetwatt_series
 * @slot: column of the series in a sample
 * @label: name for display
 * @cpus: for a CPU clock: CPUs of the cpufreq policy
 * @value: for a slow series: value last read; JETWATT_VALUE_NONE if it was never read, or if the
 *	last read failed. While devfreq is locked, the GPU load keeps its value.
 * @reads: for a slow series: number of times that a read has set @value
 * @recorded_reads: for a slow series: value of @reads that the sampler thread has recorded last
 * @hot: for a temperature: true if the last value was at or above the alarm limit
 *
 * A series is never removed. @kind to @label are constant once the series is published. @value,
 * @reads and @hot are written by slow reads only (aux_slow.c), @recorded_reads by the sampler
 * thread only.
 */
struct jetwatt_aux {
	u32 kind;
	u32 index;
	int slot;
	char label[JETWATT_LABEL_LEN];
	struct cpumask cpus;
	s32 value;
	u32 reads;
	u32 recorded_reads;
	bool hot;
};

struct jetwatt_aux *jetwatt_aux_add(u32 kind, u32 index, const char *label);
unsigned int jetwatt_aux_count(void);
struct jetwatt_aux *jetwatt_aux_at(unsigned int i);

/* aux_read.c */
s32 jetwatt_aux_value(const struct jetwatt_aux *series);
void jetwatt_aux_read(struct jetwatt_sample *sample, bool all);
void jetwatt_aux_refresh(void);
s32 jetwatt_aux_recent(const struct jetwatt_aux *series);
void jetwatt_aux_start(void);
void jetwatt_aux_stop(void);
int jetwatt_aux_init(void);
void jetwatt_aux_exit(void);

/* aux_gpu.c: clock and load of the GPU, from devfreq */
s32 jetwatt_gpu_khz(void);
int jetwatt_gpu_load(s32 *permille);
void jetwatt_gpu_discover(void);
int jetwatt_gpu_init(void);
void jetwatt_gpu_exit(void);

/* aux_slow.c: memory clock and temperatures, which need firmware calls, and load of the GPU */
void jetwatt_slow_discover(void);
void jetwatt_slow_read(bool temperatures);
void jetwatt_slow_exit(void);

#endif
