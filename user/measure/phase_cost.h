/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and power of the steps of a language model's server in one power mode: prefill and decode
 * apart (minibatch/phases.h), and the time between the steps.
 */
#ifndef JETWATT_MEASURE_PHASE_COST_H
#define JETWATT_MEASURE_PHASE_COST_H

#include "measure/session.h"
#include "measure/step_costs.h"

/**
 * jetwatt_phase_costs() - compute the costs of the steps since a change of mode
 * @w: the session
 * @since_ns: time of the change of mode, ns. A step that ends after this time is counted
 * @from_ns: time from which on power has settled, ns. Time and power are those of the steps that
 *	begin at or after this time
 * @c: receives the costs
 *
 * Return: 0; -EAGAIN: there are too few waits, or no step ends after @since_ns; -ENOMEM.
 */
int jetwatt_phase_costs(const struct jetwatt_session *w, uint64_t since_ns, uint64_t from_ns,
			struct jetwatt_step_costs *c);

#endif
