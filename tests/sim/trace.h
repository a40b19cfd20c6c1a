/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace of the simulation: power, energy and minibatches. Protected by the plant's lock. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "plant.h"

struct sim_energy_entry {
	u64 t_ns, uj;
};

/*
 * A minibatch in the trace; @end_uj: energy that the module has drawn up to the end of the
 * minibatch, in uJ
 */
struct sim_minibatch {
	u64 start_ns, end_ns, end_uj;
	u32 kind;
	pid_t tgid;
};

int sim_trace_open(void);
void sim_trace_close(void);

/*
 * Record that the rails draw power @uw (uW) from time @t on, and have drawn energy @pj (pJ) up to
 * @t.
 */
void sim_trace_power(u64 t, const u64 pj[SIM_RAILS], const u32 uw[SIM_RAILS]);
/*
 * Get the energy @pj (pJ) that each rail has drawn up to time @t, or up to the oldest entry in the
 * trace if @t is older.
 */
void sim_trace_energy_at(u64 t, u64 pj[SIM_RAILS]);

void sim_trace_log_energy(u64 t, u64 uj);
void sim_trace_log_minibatch(u64 start, u64 end, u32 kind, pid_t tgid);

/* Get entry @n (from 0). Return: 1 on success; 0 if entry @n does not exist yet; -ENODATA if the
 * entry was overwritten. */
int sim_trace_get_energy(u64 n, struct sim_energy_entry *e);
int sim_trace_get_minibatch(u64 n, struct sim_minibatch *m);
u64 sim_trace_first_energy(void);
u64 sim_trace_first_minibatch(void);

#endif
