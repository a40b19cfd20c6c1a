/* SPDX-License-Identifier: GPL-2.0 */
/* A PMU with the energy counters, for perf. */
#ifndef JETWATT_PMU_H
#define JETWATT_PMU_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_PERF_EVENTS)
void jetwatt_pmu_update(void);
int jetwatt_pmu_init(void);
void jetwatt_pmu_exit(void);
#else
static inline void jetwatt_pmu_update(void) {}
static inline int jetwatt_pmu_init(void) { return 0; }
static inline void jetwatt_pmu_exit(void) {}
#endif

#endif
