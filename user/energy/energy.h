/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy between two times, with its uncertainty; division of energy among jobs; settling of power.
 * The functions use only their arguments, no descriptors and no clocks.
 */
#ifndef JETWATT_ENERGY_ENERGY_H
#define JETWATT_ENERGY_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "minibatch/minibatch.h"

/* ------------------------------------------------------------------ */
/* Energy                                                             */

/* Return: index of the first of @n power samples, in order of time, at or after the time @t; @n:
 * there is none. */
size_t jetwatt_batch_sample_at(const struct jetwatt_power *p, size_t n, uint64_t t);

/**
 * jetwatt_batch_energy() - integrate power between two times with the trapezoidal rule
 * @p: power samples in order of time
 * @n: number of samples
 * @rail: indices of the rails whose energy is added up
 * @nr: number of rails
 * @start_ns: start of the interval
 * @end_ns: end of the interval
 * @uj: receives the energy, uJ; power within a gap is interpolated
 * @covered_ns: receives the time within the interval that lies in no gap between samples,
 *	ns, for the rail with the least such time; may be NULL
 *
 * Return: 0; -ENODATA: the samples do not reach from @start_ns to @end_ns, or @end_ns is before
 * @start_ns.
 */
int jetwatt_batch_energy(const struct jetwatt_power *p, size_t n, const int *rail, int nr,
			 uint64_t start_ns, uint64_t end_ns, double *uj, uint64_t *covered_ns);

/**
 * jetwatt_batch_energy_between() - integrate power between two successive samples
 * @a: the earlier sample
 * @b: the later sample
 * @rail: indices of the rails whose energy is added up
 * @nr: number of rails
 * @start_ns: start of the interval, at or after @a
 * @end_ns: end of the interval, at or before @b
 *
 * Return: the energy, uJ, as jetwatt_batch_energy() with these two samples.
 */
double jetwatt_batch_energy_between(const struct jetwatt_power *a, const struct jetwatt_power *b,
				    const int *rail, int nr, uint64_t start_ns, uint64_t end_ns);

/**
 * struct jetwatt_batch_sensor - how accurate a rail's power readings are
 * @quantum_uw: power of one LSB of the shunt voltage, or of 1 uV if the LSB is smaller, uW; 0: unknown,
 *	and no error of quantisation is computed
 * @fresh_hz: rate at which the chip has new values, Hz, or if it is unknown, the rate at which reads
 *	return new values; 0: every sample is a new value
 * @age_ns: mean age of a value when it is read, ns: half of the interval between two refreshes of
 *	the chip, plus half a conversion; if the chip averages a block of conversions, plus half of
 *	the time between the first and the last
 * @lag_ns: time constant of the chip's recursive averaging filter, ns; 0: no such filter
 * @idle_uw: power while the board is idle, uW; negative: unknown
 * @counts: 1: the total includes the rail
 * @silent: 1: the rail has no readings, because the chip does not convert its channel, and its energy
 *	is taken as 0
 */
struct jetwatt_batch_sensor {
	double quantum_uw, fresh_hz, age_ns, lag_ns, idle_uw;
	int counts, silent;
};

/* Return: time constant of a chip's recursive averaging filter, ns; 0: the chip has none, or it is unknown. */
double jetwatt_batch_filter_ns(const struct jetwatt_chip *chip);

/*
 * Return: the accuracy, computed from the kernel module's description of the rail; @idle_uw is
 * negative (unknown) and @counts is 0.
 * @chip: chip of @rail; NULL: unknown. @bus_uv: voltage of the rail, in microvolts.
 */
struct jetwatt_batch_sensor jetwatt_batch_sensor(const struct jetwatt_rail *rail,
						 const struct jetwatt_chip *chip, double bus_uv);

/**
 * struct jetwatt_energy_mark - the running integrals of all rails at one time
 * @time_ns: the time
 * @nr: number of rails
 * @rail: per rail:
 *	uj: energy up to that time, uJ
 *	var: variance of the energy caused by sampling, uJ^2
 *	noise: sum of -d1 d2, where it is positive, over all pairs of successive differences d1 and
 *	d2 between readings, uW^2; independent readings add 1.2 times their variance each
 *	uw: power at that time, uW
 *	end: variance of the energy that the chip's averaging filter holds back, uJ^2
 *	covered_ns: time that lies in no gap between readings, ns
 *	samples: number of readings up to that time
 */
struct jetwatt_energy_mark {
	uint64_t time_ns;
	uint32_t nr;
	struct {
		double uj, var, noise, uw, end;
		uint64_t covered_ns, samples;
	} rail[JETWATT_RAILS_MAX];
};

/**
 * struct jetwatt_batch_energy_result - energy of one minibatch
 * @uj: energy of each rail, uJ
 * @sd_uj: standard error of @uj; JETWATT_BATCH_COVER standard errors cover 90 %
 * @total_uj: energy of all rails that the total includes, uJ
 * @total_sd_uj: standard error of @total_uj
 * @idle_uj: energy that an idle board would have used during the minibatch, uJ; -1: unknown
 * @dynamic_uj: @total_uj - @idle_uj; -1: unknown
 * @covered: fraction of the minibatch's duration that lies in no gap between samples, for
 *	the rail of the total with the smallest fraction
 * @samples: number of new sensor values within the minibatch, for the rail of the total with
 *	the fewest
 * @grade: 'A' to 'D', see jetwatt_batch_cost_between()
 */
struct jetwatt_batch_energy_result {
	double uj[JETWATT_RAILS_MAX], sd_uj[JETWATT_RAILS_MAX];
	double total_uj, total_sd_uj, idle_uj, dynamic_uj, covered, samples;
	char grade;
};

/* Running energy of all rails: samples are added and need not be stored. */
struct jetwatt_batch_sum;
/* Return: new running energy of @nr rails, freed with jetwatt_batch_sum_free(); NULL: no memory, or
 * @nr is not from 0 to JETWATT_RAILS_MAX. */
struct jetwatt_batch_sum *jetwatt_batch_sum_new(const struct jetwatt_batch_sensor *s, int nr);
/* @sum: may be NULL. */
void jetwatt_batch_sum_free(struct jetwatt_batch_sum *sum);
/* Add a power sample; samples must be added in order of time. Rails whose bit in @p->valid is 0
 * have no reading in the sample. */
void jetwatt_batch_sum_add(struct jetwatt_batch_sum *sum, const struct jetwatt_power *p);

/**
 * jetwatt_batch_sum_at() - compute the energy of all rails up to a time
 * @sum: the running energy
 * @time_ns: the time
 * @mark: receives the energy up to @time_ns
 *
 * A reading describes the power of @age_ns earlier (struct jetwatt_batch_sensor), so power is
 * integrated up to @time_ns + @age_ns.
 *
 * Return: 0; -EAGAIN: a rail has no reading at or after that time yet; -ENODATA: that time is not
 * between two of the rail's last 64 readings, the only ones that are stored.
 */
int jetwatt_batch_sum_at(const struct jetwatt_batch_sum *sum, uint64_t time_ns,
			 struct jetwatt_energy_mark *mark);

/**
 * jetwatt_batch_cost_between() - compute the energy between two marks, with its error
 * @from: energy of all rails up to the start of the minibatch
 * @to: energy of all rails up to the end of the minibatch
 * @s: sensors of the rails
 * @b: the minibatch; NULL: unknown, so its flags do not reduce the grade
 * @c: receives the result
 *
 * The error of the energy includes the error of sampling (from the differences between readings),
 * of quantisation (which does not average out if the readings do not change), of the chip's averaging
 * filter, and of the times of start and end relative to those of the samples (JETWATT_BATCH_SKEW_NS
 * each).
 *
 * Grade A: a standard error of the total of at most 1 %, at least 50 new sensor values, and samples for
 * at least 99.9 % of the time. Grade B: 3 %, 10 values, 99 %. Grade C: 10 %, 3 values, 90 %. Grade D:
 * all others, and minibatches whose start or end was computed.
 */
void jetwatt_batch_cost_between(const struct jetwatt_energy_mark *from,
				const struct jetwatt_energy_mark *to,
				const struct jetwatt_batch_sensor *s,
				const struct jetwatt_batch_bound *b, struct jetwatt_batch_energy_result *c);
#define JETWATT_BATCH_SKEW_NS	30000.0
#define JETWATT_BATCH_COVER	1.55

/*
 * Compute the energy of the minibatch @b, with its error, from an array of power samples. Return:
 * 0; -ENODATA: the readings of a rail do not reach from the minibatch's start to its end, both
 * later by the age of the sensor's values; -ENOMEM: no memory, or @nr is not valid.
 */
int jetwatt_batch_energy_result(const struct jetwatt_power *p, size_t n,
		       const struct jetwatt_batch_sensor *s, int nr,
		       const struct jetwatt_batch_bound *b, struct jetwatt_batch_energy_result *c);

/* ------------------------------------------------------------------ */
/* Attribution to jobs                                                */

/**
 * struct jetwatt_batch_share - energy of one job on a GPU that several jobs share
 * @key: process id or cgroup id
 * @busy_ns: time in which the GPU had work of the job
 * @dynamic_uj: the job's share of the dynamic energy, uJ
 * @idle_uj: the job's share of the idle energy, uJ
 * @shared: share of @busy_ns in which other jobs were busy as well; if it is not 0, the division is
 *	an estimate
 */
struct jetwatt_batch_share {
	uint64_t key, busy_ns;
	double dynamic_uj, idle_uj, shared;
};
enum { JETWATT_BATCH_BY_TGID, JETWATT_BATCH_BY_CGROUP };

/**
 * jetwatt_batch_split() - divide energy among the busy jobs
 * @sync: all waits for the GPU of all jobs. A job is busy from the first launch before a wait, or
 *	without one from the start of the wait, to the end of the wait
 * @n: number of waits
 * @by: what a job is: JETWATT_BATCH_BY_TGID or JETWATT_BATCH_BY_CGROUP
 * @p: power samples, as for jetwatt_batch_energy()
 * @np: number of samples
 * @rail: indices of the rails whose energy is divided
 * @nr: number of rails
 * @idle_uw: sum of the power of the rails in @rail while the board is idle, uW
 * @out: receives the jobs
 * @max: number of entries of @out
 * @rest_uj: receives the energy of the time in which no job was busy, uJ; without the idle energy of
 *	this time, which is divided among the jobs
 *
 * Dynamic power is divided in equal parts among the jobs that are busy at that time. Idle power of
 * the whole time is divided among all jobs by their busy time.
 *
 * Return: number of jobs; -ENOSPC: more than @max; -ENODATA: the power samples do not cover the
 * whole time; -ENOMEM.
 */
int jetwatt_batch_split(const struct jetwatt_sync *sync, size_t n, int by,
			const struct jetwatt_power *p, size_t np, const int *rail, int nr,
			double idle_uw, struct jetwatt_batch_share *out, int max, double *rest_uj);

/* ------------------------------------------------------------------ */
/* Settling of power after a change of mode                           */

/**
 * jetwatt_batch_settled() - find out when power has settled after a change of mode
 * @t_ns: times of the samples
 * @w: total power of each sample, W
 * @n: number of samples
 *
 * Power has settled when, for at least 0.3 s, the rest of its decay is below 0.6 % of power and no
 * trend exceeds both the noise and 0.9 % of power.
 *
 * Return: index of the first settled sample; -ENODATA: power has not settled yet, or the samples do
 * not suffice to tell; -ENOMEM.
 */
long jetwatt_batch_settled(const uint64_t *t_ns, const double *w, size_t n);

/*
 * Find out when power has settled, as jetwatt_batch_settled() does, with a known duration of a
 * minibatch. Power is averaged over whole minibatches, so its variation within a minibatch is not
 * noise. @minibatch_ns: duration of a minibatch, ns; 0: unknown, and the function needs at least 2 s
 * of samples instead of 1 s. jetwatt_batch_settled() estimates the duration from the signal, and may
 * take a part of a minibatch of several seconds for settled power.
 */
long jetwatt_batch_settled_over(const uint64_t *t_ns, const double *w, size_t n,
				uint64_t minibatch_ns);

/* Number of decay times for which a likelihood is stored. */
#define JETWATT_BATCH_TAUS	46

/**
 * struct jetwatt_batch_decay - what is known about the time in which a board's power settles
 * @like: log-likelihood of decay times from 50 ms to 3.6 s, relative to the best one; all 0:
 *	no change of mode has been observed
 */
struct jetwatt_batch_decay {
	double like[JETWATT_BATCH_TAUS];
};

/**
 * struct jetwatt_batch_level - predicted level of power
 * @w: predicted power, W
 * @sd: standard error of @w, W
 * @decay: log-likelihoods of the decay times, from the samples of this change of mode only
 */
struct jetwatt_batch_level {
	double w, sd;
	struct jetwatt_batch_decay decay;
};

/**
 * jetwatt_batch_level() - predict the level of power after a change of mode before it is reached
 * @t_ns: times of the samples, all after the change of mode
 * @w: total power of each sample, W
 * @n: number of samples
 * @minibatch_ns: duration of a minibatch, ns
 * @known: log-likelihoods of the decay times, from earlier changes of mode on this board
 * @level: receives the prediction
 *
 * Return: 0; -ENODATA: not enough samples, @minibatch_ns is 0, or the prediction is not positive;
 * -ENOMEM.
 */
int jetwatt_batch_level(const uint64_t *t_ns, const double *w, size_t n, uint64_t minibatch_ns,
			const struct jetwatt_batch_decay *known, struct jetwatt_batch_level *level);

/* Add the log-likelihoods @one of another change of mode to @all; recent changes of mode have
 * more weight. If no element of @one is below -1, @one says too little and is ignored. */
void jetwatt_batch_decay_add(struct jetwatt_batch_decay *all, const struct jetwatt_batch_decay *one);

#endif
