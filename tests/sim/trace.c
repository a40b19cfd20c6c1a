// SPDX-License-Identifier: GPL-2.0-only
/* Ring buffers with the history of the simulated power, energy and minibatches. */
#include "trace.h"

#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/vmalloc.h>

/*
 * Numbers of entries of the three ring buffers, which are powers of two. Power changes at most
 * about 1,000 times a second, so PIECES covers 8 s. Energy is logged 50 times a second, so ENERGIES
 * covers 87 minutes. If a minibatch takes 10 ms or more, MINIBATCHES covers 43 minutes.
 */
#define PIECES		8192
#define ENERGIES	262144
#define MINIBATCHES	262144

struct piece {
	u64 t;
	u64 pj[SIM_RAILS];
	u32 uw[SIM_RAILS];
};

static struct piece *pieces;
static struct sim_energy_entry *energies;
static struct sim_minibatch *minibatches;
static u64 nr_pieces, nr_energies, nr_minibatches;

int sim_trace_open(void)
{
	nr_pieces = 0;
	nr_energies = 0;
	nr_minibatches = 0;
	pieces = vzalloc(PIECES * sizeof(*pieces));
	energies = vzalloc(ENERGIES * sizeof(*energies));
	minibatches = vzalloc(MINIBATCHES * sizeof(*minibatches));
	if (pieces && energies && minibatches)
		return 0;
	sim_trace_close();
	return -ENOMEM;
}

void sim_trace_close(void)
{
	vfree(minibatches);
	vfree(energies);
	vfree(pieces);
}

void sim_trace_power(u64 t, const u64 pj[SIM_RAILS], const u32 uw[SIM_RAILS])
{
	struct piece *p = &pieces[nr_pieces++ % PIECES];
	int i;

	p->t = t;
	for (i = 0; i < SIM_RAILS; i++) {
		p->pj[i] = pj[i];
		p->uw[i] = uw[i];
	}
}

static const struct piece *piece_at(u64 t)
{
	u64 low = nr_pieces > PIECES ? nr_pieces - PIECES : 0, high = nr_pieces, mid;
	int i;

	/* Callers mostly request the energy at a recent time, so search from the newest entry
	 * first. */
	for (i = 0; i < 4 && high - 1 > low; i++, high--)
		if (pieces[(high - 1) % PIECES].t <= t)
			return &pieces[(high - 1) % PIECES];
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (pieces[mid % PIECES].t <= t)
			low = mid;
		else
			high = mid;
	}
	return &pieces[low % PIECES];
}

void sim_trace_energy_at(u64 t, u64 pj[SIM_RAILS])
{
	const struct piece *p = piece_at(t);
	u64 dt = t > p->t ? t - p->t : 0;
	int i;

	for (i = 0; i < SIM_RAILS; i++)
		pj[i] = p->pj[i] + div_u64(p->uw[i] * dt, 1000);
}

void sim_trace_log_energy(u64 t, u64 uj)
{
	struct sim_energy_entry *e = &energies[nr_energies++ % ENERGIES];

	e->t_ns = t;
	e->uj = uj;
}

void sim_trace_log_minibatch(u64 start, u64 end, u32 kind, pid_t tgid)
{
	struct sim_minibatch *m = &minibatches[nr_minibatches++ % MINIBATCHES];
	u64 pj[SIM_RAILS], module_pj = 0;
	int i;

	sim_trace_energy_at(end, pj);
	for (i = 0; i < SIM_MODULE_RAILS; i++)
		module_pj += pj[i];
	m->end_uj = div_u64(module_pj, 1000000);

	m->start_ns = start;
	m->end_ns = end;
	m->kind = kind;
	m->tgid = tgid;
}

u64 sim_trace_first_energy(void)
{
	return nr_energies > ENERGIES ? nr_energies - ENERGIES : 0;
}

u64 sim_trace_first_minibatch(void)
{
	return nr_minibatches > MINIBATCHES ? nr_minibatches - MINIBATCHES : 0;
}

int sim_trace_get_energy(u64 n, struct sim_energy_entry *e)
{
	if (n >= nr_energies)
		return 0;
	if (n < sim_trace_first_energy())
		return -ENODATA;
	*e = energies[n % ENERGIES];
	return 1;
}

int sim_trace_get_minibatch(u64 n, struct sim_minibatch *m)
{
	if (n >= nr_minibatches)
		return 0;
	if (n < sim_trace_first_minibatch())
		return -ENODATA;
	*m = minibatches[n % MINIBATCHES];
	return 1;
}
