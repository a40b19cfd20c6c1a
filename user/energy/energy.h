/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy between two times, with its uncertainty. Pure: arrays in, arrays out; no
 * descriptors, no clocks.
 */
#ifndef JETWATT_ENERGY_ENERGY_H
#define JETWATT_ENERGY_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "minibatch/minibatch.h"

/* ------------------------------------------------------------------ */
/* Energy                                                             */

/* The first of @n samples in order of time at or after @t; @n: there is none. */
size_t jetwatt_batch_sample_at(const struct jetwatt_power *p, size_t n, uint64_t t);

/**
 * jetwatt_batch_energy() - energy between two times, trapezoid clipped to them
 * @p: power samples in order of time
 * @nr: rails to add (indices in @rail); the caller knows the rail graph
 * @uj: energy in uJ
 * @covered_ns: may be NULL; how much of the interval lies between samples with
 *	no gap; what lies in a gap is bridged and not in @covered_ns
 *
 * Return: 0, -ENODATA: no sample on either side.
 */
int jetwatt_batch_energy(const struct jetwatt_power *p, size_t n, const int *rail, int nr,
			 uint64_t start_ns, uint64_t end_ns, double *uj, uint64_t *covered_ns);

/**
 * struct jetwatt_batch_sensor - what a rail's power readings are worth
 * @quantum_uw: power of one step of the shunt's reading, 0: none
 * @fresh_hz: new values a second, 0: every sample is new
 * @age_ns: age of a value when it is read, in the mean: half of the time that the chip
 *	needs for all its channels, and half a conversion; where the chip gives a mean of
 *	several conversions, half of the time between the first and the last as well
 * @lag_ns: time constant of the chip's averaging, 0 unless that is a recursive filter
 * @idle_uw: power while the board does nothing, negative: not known
 * @counts: it is a part of the total
 */
struct jetwatt_batch_sensor {
	double quantum_uw, fresh_hz, age_ns, lag_ns, idle_uw;
	int counts;
};

/* What the module knows of a rail: all but @idle_uw and @counts. @chip: the one
 * that @rail is on, NULL: not known; @bus_uv: the rail's voltage. */
struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv);

/**
 * struct jetwatt_batch_mark - what has been drawn up to a time, rail by rail
 * @uj, @var: energy in uJ, and the variance of sampling it
 * @noise: what readings go up and down by turns, summed over @samples, in uW^2:
 *	1.2 times their variance where they do nothing else
 * @uw: power at that time
 * @end: variance of what the chip's averaging holds back then
 * @covered_ns: time that lies in no gap
 */
struct jetwatt_batch_mark {
	uint64_t time_ns;
	uint32_t nr;
	struct {
		double uj, var, noise, uw, end;
		uint64_t covered_ns, samples;
	} rail[JETWATT_RAILS_MAX];
};

/**
 * struct jetwatt_batch_cost - what one minibatch has drawn
 * @uj, @sd_uj: of every rail, and one standard error; JETWATT_BATCH_COVER of them
 *	cover nine in ten
 * @total_uj, @total_sd_uj: of the rails that count
 * @idle_uj, @dynamic_uj: its parts: what the board would have drawn in that
 *	time anyway, and the rest; negative where a rail's idle power is not known
 * @covered: share of its time in no gap, of the rail that has least
 * @samples: fresh ones inside, of the rail that has fewest
 * @grade: 'A' to 'D', see jetwatt_batch_cost()
 */
struct jetwatt_batch_cost {
	double uj[JETWATT_RAILS_MAX], sd_uj[JETWATT_RAILS_MAX];
	double total_uj, total_sd_uj, idle_uj, dynamic_uj, covered, samples;
	char grade;
};

/* Running integrals of all rails: samples are added and forgotten. */
struct jetwatt_batch_sum;
struct jetwatt_batch_sum *jetwatt_batch_sum_new(const struct jetwatt_batch_sensor *s, int nr);
void jetwatt_batch_sum_free(struct jetwatt_batch_sum *sum);
/* In order of time. A rail counts where its bit in @p->valid is set. */
void jetwatt_batch_sum_add(struct jetwatt_batch_sum *sum, const struct jetwatt_power *p);

/**
 * jetwatt_batch_sum_at() - the integrals at a time
 *
 * Return: 0; -EAGAIN: some rail has no sample after it yet, ask again;
 * -ENODATA: it is before the first sample, or was asked for too late (the last
 * 64 readings of a rail are kept).
 */
int jetwatt_batch_sum_at(const struct jetwatt_batch_sum *sum, uint64_t time_ns,
			 struct jetwatt_batch_mark *mark);

/**
 * jetwatt_batch_cost_between() - what was drawn between two marks
 * @b: for its quality only: an inferred end is worth less; may be NULL
 *
 * The error is that of sampling (seen in how readings jump), of quantisation
 * (which does not average out where readings stand still) and of the two
 * clocks (JETWATT_BATCH_SKEW_NS at each end).
 *
 * Grades: A: error <= 1 %, 50 fresh samples, 99.9 % covered; B: 3 %, 10, 99 %;
 * C: 10 %, 3, 90 %; D: worse, or an end that was not seen.
 */
void jetwatt_batch_cost_between(const struct jetwatt_batch_mark *from,
				const struct jetwatt_batch_mark *to,
				const struct jetwatt_batch_sensor *s,
				const struct jetwatt_batch_bound *b, struct jetwatt_batch_cost *c);
#define JETWATT_BATCH_SKEW_NS	30000.0
#define JETWATT_BATCH_COVER	1.55

/* The same from an array of samples. Return: 0, -ENODATA: they do not reach
 * around the bound, -ENOMEM. */
int jetwatt_batch_cost(const struct jetwatt_power *p, size_t n,
		       const struct jetwatt_batch_sensor *s, int nr,
		       const struct jetwatt_batch_bound *b, struct jetwatt_batch_cost *c);

/* ------------------------------------------------------------------ */
/* Attribution                                                        */

/**
 * struct jetwatt_batch_share - one job's part of what was drawn
 * @key: process, or cgroup
 * @busy_ns: time in which the GPU had work of it
 * @dynamic_uj, @idle_uj: split as below
 * @shared: share of its busy time in which others were busy too; where it is
 *	not 0 the split is an estimate
 */
struct jetwatt_batch_share {
	uint64_t key, busy_ns;
	double dynamic_uj, idle_uj, shared;
};
enum { JETWATT_BATCH_BY_TGID, JETWATT_BATCH_BY_CGROUP };

/**
 * jetwatt_batch_split() - split energy between jobs by busy time
 * @sync: all their waits in order of exit time; a job is busy from the first
 *	launch before a wait (or its begin) to its end
 * @by: what a job is
 * @p, @rail: as for jetwatt_batch_energy()
 * @idle_uw: power of those rails while the board does nothing
 * @out, @max: room for so many jobs
 * @rest_uj: energy while no job was busy
 *
 * Dynamic power of a moment belongs to those that are busy in it, in equal
 * parts; idle power of all the time to all jobs, by their busy time.
 *
 * Return: number of jobs; -ENOSPC: more than @max; -ENODATA: samples do not
 * cover the time; -ENOMEM.
 */
int jetwatt_batch_split(const struct jetwatt_sync *sync, size_t n, int by,
			const struct jetwatt_power *p, size_t np, const int *rail, int nr,
			double idle_uw, struct jetwatt_batch_share *out, int max, double *rest_uj);

/* ------------------------------------------------------------------ */
/* Settling                                                           */

/**
 * jetwatt_batch_settled() - when has power settled after a switch?
 * @w: total power in W, one value a sample; @t_ns: their times
 *
 * From the power signal itself: the first time from which on the remaining
 * signal has no trend beyond its own noise.
 *
 * Return: index of the first settled sample, or -ENODATA: not settled yet.
 */
long jetwatt_batch_settled(const uint64_t *t_ns, const double *w, size_t n);

/* The same where the length of a minibatch is known: power is then averaged
 * over whole minibatches, so swings inside one are no noise. 0: not known; then
 * it is guessed from the signal, which takes 2 s of it (1 s otherwise) and a few
 * minibatches: one of several seconds may be taken for a level. */
long jetwatt_batch_settled_over(const uint64_t *t_ns, const double *w, size_t n,
				uint64_t minibatch_ns);

#define JETWATT_BATCH_TAUS	46

/**
 * struct jetwatt_batch_decay - how long a board's power takes to settle
 * @like: log likelihood of decay times from 50 ms to 3.6 s, against the best of them; all 0:
 *	nothing is known
 */
struct jetwatt_batch_decay {
	double like[JETWATT_BATCH_TAUS];
};

/**
 * struct jetwatt_batch_level - where power goes
 * @w: the level, with its standard error @sd
 * @decay: what these samples say of the decay's time
 */
struct jetwatt_batch_level {
	double w, sd;
	struct jetwatt_batch_decay decay;
};

/**
 * jetwatt_batch_level() - where does power go after a switch, before it is there?
 * @w: total power in W, one value a sample; @t_ns: their times, from the switch on
 * @minibatch_ns: the length of one
 * @known: what earlier switches of this board said
 *
 * Return: 0; -ENODATA: not enough to tell; -ENOMEM.
 */
int jetwatt_batch_level(const uint64_t *t_ns, const double *w, size_t n, uint64_t minibatch_ns,
			const struct jetwatt_batch_decay *known, struct jetwatt_batch_level *level);

/* Of another switch is known what @one says. What it says counts more than what was said before. */
void jetwatt_batch_decay_add(struct jetwatt_batch_decay *all, const struct jetwatt_batch_decay *one);

#endif
