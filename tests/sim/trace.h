/* SPDX-License-Identifier: GPL-2.0-only */
/* What has happened: power over time, energy, minibatches. Guarded by the plant's lock. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "plant.h"

struct sim_energy_entry {
	u64 t_ns, uj;
};

/* @end_uj: what the module had drawn by its end */
struct sim_minibatch {
	u64 start_ns, end_ns, end_uj;
	u32 kind;
	pid_t tgid;
};

int sim_trace_open(void);
void sim_trace_close(void);

/* From @t on the rails draw @uw, having drawn @pj so far. */
void sim_trace_power(u64 t, const u64 pj[SIM_RAILS], const u32 uw[SIM_RAILS]);
/* Energy drawn up to @t; before the oldest piece that is kept: up to that. */
void sim_trace_energy_at(u64 t, u64 pj[SIM_RAILS]);

void sim_trace_log_energy(u64 t, u64 uj);
void sim_trace_log_minibatch(u64 start, u64 end, u32 kind, pid_t tgid);

/* Entry @n (0: the first ever). Return: 1; 0 if not there yet; -ENODATA if no longer there. */
int sim_trace_get_energy(u64 n, struct sim_energy_entry *e);
int sim_trace_get_minibatch(u64 n, struct sim_minibatch *m);
u64 sim_trace_first_energy(void);
u64 sim_trace_first_minibatch(void);

#endif
