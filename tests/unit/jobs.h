/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulated training jobs: their waits as the probe sees them, with the true minibatch boundaries.
 * All times, and the shapes that job_draw() returns, are random, from a seed. */
#ifndef JETWATT_TESTS_JOBS_H
#define JETWATT_TESTS_JOBS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jetwatt.h"

#define JOB_WAITS_MAX	40000

/**
 * struct job_shape - shape of a job
 * @k: waits per minibatch
 * @cycle_ms: length of a minibatch, in ms
 * @load: length of the gap before the first wait, as a share of the minibatch
 * @inner: length of each other gap, as a share of the minibatch
 * @uneven: maximum ratio of the lengths of two waits of a minibatch
 * @noise: relative standard deviation of every gap and wait
 * @accumulate: number of minibatches per run of the optimizer (gradient accumulation)
 * @optimizer: time by which a run of the optimizer makes the last wait longer, as a share of the
 *	minibatch
 * @extra: a run of the optimizer adds a wait, instead of making the last wait longer
 * @eval_every, @eval_len, @eval_k: number of training minibatches between evaluations, of
 * minibatches in an evaluation, and of waits per minibatch of an evaluation
 * @stall: share of minibatches before which the loader stalls; @stall_by: mean length of a
 * stall, in lengths of a minibatch
 * @switch_every: number of minibatches between switches of the power mode
 * @lost: share of events that are lost
 * @threads: number of threads that take turns in waiting for the GPU
 * @warm: factor by which the first minibatch is longer
 * @minibatches: number of minibatches
 * @calls: number of different calls that wait, 1 or 2
 * @beat: number of waits between two disturbances by another process, each of which delays a wait
 * @beat_by: maximum delay of a wait by a disturbance, as a share of the minibatch
 * @drift: relative drift of the disturbances' period
 * @hidden: the GPU continues during the delay, so a delayed wait is shorter
 * @bunch: share of waits that last until the next one or two have ended too
 * @log_every: number of minibatches between extra waits that fetch a value from the GPU
 * @save_every, @save_waits: number of minibatches between checkpoints, and of waits in a checkpoint
 * @epoch_every: number of minibatches in an epoch; @epoch_by: mean time in which the data
 * loader restarts after an epoch, in lengths of a minibatch
 * @resize_every: number of minibatches between changes of the minibatch size
 * @burst: mean number of consecutive events that are lost at once; 0: 1
 * @losses_reported: the records of waits report the number of lost events
 * @launches: number of launches that the record of each wait reports, with the time of the first;
 *	0: the records contain no launches
 */
struct job_shape {
	const char *name;
	int k;
	double cycle_ms, load, inner, uneven, noise;
	int accumulate;
	double optimizer;
	int extra;
	int eval_every, eval_len, eval_k;
	double stall, stall_by;
	int switch_every;
	double lost;
	int threads;
	double warm;
	int minibatches, calls;
	double beat, beat_by, drift;
	int hidden;
	double bunch;
	int log_every, save_every, save_waits, epoch_every;
	double epoch_by;
	int resize_every, burst, losses_reported, launches;
};

struct job_truth {
	uint64_t end_ns;
	uint32_t tgid;
	int eval, damaged;	/* of an evaluation; the event of its last wait was lost */
	int other;		/* a checkpoint, not a minibatch */
};

struct job {
	struct jetwatt_sync *sync;
	struct job_truth *truth;
	size_t waits, truths;
};

static uint64_t job_random(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double job_uniform(uint64_t *s)
{
	return (double)(job_random(s) >> 11) / 9007199254740992.0;
}

static double job_normal(uint64_t *s)
{
	return sqrt(-2 * log(1 - job_uniform(s))) * cos(6.283185307179586 * job_uniform(s));
}

static __attribute__((unused)) void job_alloc(struct job *j)
{
	j->sync = calloc(JOB_WAITS_MAX, sizeof(*j->sync));
	j->truth = calloc(JOB_WAITS_MAX, sizeof(*j->truth));
	j->waits = j->truths = 0;
	if (!j->sync || !j->truth)
		abort();
}

static __attribute__((unused)) void job_free(struct job *j)
{
	free(j->sync);
	free(j->truth);
}

/* Return the time @ms with two kinds of random jitter: proportional to the time, and about 0.01
 * ms. */
static double job_jitter(uint64_t *seed, double ms, double noise)
{
	double v = ms * (1 + noise * job_normal(seed)) + 0.01 * fabs(job_normal(seed));

	return v > 0.02 ? v : 0.02;
}

/* Replace members that are 0 by defaults: 240 minibatches of 80 ms, 8 % of that time before the
 * first wait, 2 % before each other wait, equal waits, 2 % jitter. */
static struct job_shape job_usual(struct job_shape h)
{
	h.cycle_ms = h.cycle_ms > 0 ? h.cycle_ms : 80;
	h.load = h.load > 0 ? h.load : 0.08;
	h.inner = h.inner > 0 ? h.inner : 0.02;
	h.uneven = h.uneven > 0 ? h.uneven : 1;
	h.noise = h.noise > 0 ? h.noise : 0.02;
	h.minibatches = h.minibatches ? h.minibatches : 240;
	return h;
}

/* struct job_beside - disturbances by other processes. The disturbances have their own random
 * numbers, so that the undisturbed job stays the same. */
struct job_beside {
	uint64_t seed;
	double phase, detune, swing, late;	/* late: delay left after a wait, in ms */
};

static struct job_beside job_beside(const struct job_shape *h, uint64_t seed)
{
	struct job_beside d = { .seed = seed ^ 0x5bd1e995 };

	d.phase = job_uniform(&d.seed);
	d.detune = job_uniform(&d.seed) < 0.5 ? -h->drift : h->drift;
	d.swing = 6.3 * job_uniform(&d.seed);
	return d;
}

/* Delay a wait, or bunch it with the following ones. @cycle: current length of a minibatch, in
 * ms. */
static void job_disturb(struct job_beside *d, const struct job_shape *h, double cycle, double *gap,
			double *wait)
{
	double by;

	if (h->beat > 0) {
		d->phase += (1 + d->detune) / h->beat + 0.2 * h->drift * job_normal(&d->seed);
		d->swing += 0.02 * job_uniform(&d->seed);
		if (d->phase >= 1) {
			d->phase -= 1;
			by = h->beat_by * cycle * (0.8 + 0.2 * sin(d->swing));
			*gap += by;
			if (h->hidden)
				*wait = fmax(0.02, *wait - by);
		}
	}
	if (d->late > 0) {
		/* The GPU has continued during the delay, so this wait is shorter, or the GPU is
		 * done before the wait begins. */
		double whole = *gap + *wait;

		*gap = fmin(*gap, 0.05 * (1 + job_uniform(&d->seed)));
		*wait = fmax(0.02 + 0.03 * job_uniform(&d->seed), whole - d->late - *gap);
		d->late -= whole;
	} else if (h->bunch > 0 && job_uniform(&d->seed) < h->bunch) {
		d->late = (*gap + *wait) * (0.3 + 1.7 * job_uniform(&d->seed));
		*wait += d->late;
	}
}

/* State of a running job. */
struct job_run {
	struct job *j;
	const struct job_shape *h;
	uint32_t tgid;
	uint64_t seed;
	struct job_beside beside;
	double now;
	int losing, lost;	/* events still to lose; events lost since the last kept event */
};

/* Emit one wait. Return: 1 if its event was lost, else 0. */
static int job_wait(struct job_run *r, double gap, double wait, double cycle, int i)
{
	const struct job_shape *h = r->h;
	struct jetwatt_sync *s = &r->j->sync[r->j->waits];
	int lost = r->j->waits && job_uniform(&r->seed) < h->lost / (h->burst > 1 ? h->burst : 1);

	if (lost)
		r->losing = h->burst > 1 ? 1 + (int)(job_uniform(&r->seed) * (2 * h->burst - 1)) : 1;
	lost = r->losing > 0;
	r->losing -= lost;
	gap = job_jitter(&r->seed, gap, h->noise);
	wait = job_jitter(&r->seed, wait, h->noise);
	job_disturb(&r->beside, h, cycle, &gap, &wait);
	*s = (struct jetwatt_sync){ .tgid = r->tgid };
	s->launch_ns = h->launches ? (uint64_t)((r->now + 0.9 * gap) * 1e6) : 0;
	s->launches = (uint32_t)h->launches;
	r->now += gap;
	s->enter_ns = (uint64_t)(r->now * 1e6);
	r->now += wait;
	s->exit_ns = (uint64_t)(r->now * 1e6);
	s->tid = r->tgid + (h->threads > 1 ? (uint32_t)(i % h->threads) : 0);
	s->call = h->calls > 1 && i % 2 ? JETWATT_SYNC_SYNCPT : JETWATT_SYNC_POLLFD;
	s->lost = h->losses_reported ? (uint32_t)r->lost : 0;
	r->lost = lost ? r->lost + 1 : 0;
	r->j->waits += !lost;
	return lost;
}

static void job_end(struct job_run *r, int eval, int other, int lost)
{
	r->j->truth[r->j->truths++] = (struct job_truth){ (uint64_t)(r->now * 1e6), r->tgid, eval, lost,
							  other };
}

/* Simulate a checkpoint: the weights are copied out, with one wait per tensor. */
static void job_save(struct job_run *r, double cycle)
{
	int lost = 0;

	for (int i = 0; i < r->h->save_waits; i++)
		lost = job_wait(r, cycle * (0.05 + 0.5 * job_uniform(&r->seed)),
				cycle * 0.2 * job_uniform(&r->seed), cycle, i);
	job_end(r, 0, 1, lost);
}

static __attribute__((unused)) void job_make(struct job *j, const struct job_shape *shape, uint32_t tgid, double start_ms,
		     uint64_t seed)
{
	const struct job_shape usual = job_usual(*shape), *h = &usual;
	struct job_run r = { .j = j, .h = h, .tgid = tgid, .seed = seed, .now = start_ms };
	double speed_cpu = 1, speed_gpu = 1, size = 1, share[16];
	int since_eval = 0, in_eval = 0, n = 0;

	r.beside = job_beside(h, seed);
	/* The relative lengths of the waits are drawn once per job and are the same in every
	 * minibatch. */
	for (int i = 0; i < 16; i++)
		share[i] = 1 + (h->uneven - 1) * job_uniform(&r.seed);
	if (h->uneven > 1 && h->k > 1) {
		share[0] = 1;
		share[h->k - 1] = h->uneven;
	}
	for (int m = 0; m < h->minibatches; m++) {
		int eval = in_eval > 0, k = eval ? h->eval_k : h->k, step, all, lost = 0, trained;
		double sum = 0, slow = m ? 1 : h->warm > 1 ? h->warm : 1, load, left, whole;

		if (h->switch_every && m && m % h->switch_every == 0) {
			speed_cpu = exp(log(6) * (job_uniform(&r.seed) - 0.3));
			speed_gpu = exp(log(36) * (job_uniform(&r.seed) - 0.4));
		}
		if (h->resize_every && m && m % h->resize_every == 0)
			size = exp(log(4) * (job_uniform(&r.seed) - 0.5));
		load = h->load * h->cycle_ms * speed_cpu * size;
		step = !eval && h->accumulate && ++n % h->accumulate == 0;
		all = k + (step && h->extra);
		if (h->stall > 0 && job_uniform(&r.seed) < h->stall)
			load += h->stall_by * h->cycle_ms * (0.5 + job_uniform(&r.seed));
		if (h->epoch_every && m && m % h->epoch_every == 0)
			load += h->epoch_by * h->cycle_ms * (0.8 + 0.4 * job_uniform(&r.seed));
		for (int i = 0; i < k; i++)
			sum += share[i];
		left = h->cycle_ms * (1 - h->load - h->inner * (k - 1)) * speed_gpu * slow * size;
		if (eval)
			left /= 3;
		whole = left + (h->load + h->inner * (k - 1)) * h->cycle_ms * speed_cpu;
		for (int i = 0; i < all; i++) {
			double gap = i ? h->inner * h->cycle_ms * speed_cpu : load;
			double w = i < k ? left * share[i] / sum : h->optimizer * h->cycle_ms * speed_gpu;

			if (step && !h->extra && i == k - 1)
				w += h->optimizer * h->cycle_ms * speed_gpu;
			lost = job_wait(&r, gap, w, whole, i);
		}
		trained = !eval ? ++since_eval : 0;
		if (trained && h->log_every && m % h->log_every == h->log_every - 1)
			lost = job_wait(&r, h->inner * h->cycle_ms * speed_cpu,
					0.01 * h->cycle_ms * speed_gpu, whole, k);
		job_end(&r, eval, 0, lost);
		if (eval) {
			in_eval--;
		} else if (h->eval_every && since_eval == h->eval_every) {
			since_eval = 0;
			in_eval = h->eval_len;
		}
		if (h->save_every && m % h->save_every == h->save_every - 1)
			job_save(&r, whole);
	}
}

/* Draw a shape from @z. @kind: kind of difficulty that the job has, from 0 to JOB_KINDS - 1. */
#define JOB_KINDS	16
static __attribute__((unused)) struct job_shape job_draw(uint64_t *z, int kind)
{
	static const char *const name[JOB_KINDS] = {
		"clean", "uneven", "stalls", "epochs", "switches", "resized", "accumulated", "one more",
		"logged", "evaluated", "saved", "lost", "lost in bursts", "threads", "fast", "mixed" };
	struct job_shape h = {
		.name = name[kind],
		.k = 1 + (int)(6 * job_uniform(z)),
		.cycle_ms = 10 * exp(log(100) * job_uniform(z)),
		.load = 0.06 + 0.2 * job_uniform(z),
		.inner = 0.005 + 0.02 * job_uniform(z),
		.noise = 0.01 + 0.03 * job_uniform(z),
		.uneven = job_uniform(z) < 0.5 ? 1 : 1 + 3 * job_uniform(z),
		.minibatches = 150 + (int)(250 * job_uniform(z)),
	};
	int mixed = kind == JOB_KINDS - 1;
#define IS(n)	(kind == (n) || (mixed && job_uniform(z) < 0.25))
	if (IS(1)) {
		h.uneven = 1.5 + 4 * job_uniform(z);
		h.calls = 1 + (int)(2 * job_uniform(z));
	}
	if (IS(2)) {
		h.stall = 0.02 + 0.2 * job_uniform(z);
		h.stall_by = 0.3 + 4 * job_uniform(z);
	}
	if (IS(3)) {
		h.epoch_every = 30 + (int)(60 * job_uniform(z));
		h.epoch_by = 5 + 30 * job_uniform(z);
		h.warm = 2 + 20 * job_uniform(z);
	}
	if (IS(4))
		h.switch_every = 15 + (int)(60 * job_uniform(z));
	if (IS(5))
		h.resize_every = 20 + (int)(80 * job_uniform(z));
	if (IS(6)) {
		h.accumulate = 2 << (int)(3 * job_uniform(z));
		h.optimizer = 0.05 + 0.25 * job_uniform(z);
	}
	if (IS(7)) {
		h.accumulate = 2 << (int)(3 * job_uniform(z));
		h.optimizer = 0.05 + 0.15 * job_uniform(z);
		h.extra = 1;
	}
	if (IS(8))
		h.log_every = 5 + (int)(50 * job_uniform(z));
	if (IS(9)) {
		h.eval_every = 30 + (int)(60 * job_uniform(z));
		h.eval_len = 8 + (int)(20 * job_uniform(z));
		h.eval_k = 1 + (int)(2 * job_uniform(z));
	}
	if (IS(10)) {
		h.save_every = 40 + (int)(60 * job_uniform(z));
		h.save_waits = 2 + (int)(12 * job_uniform(z));
	}
	if (IS(11))
		h.lost = 0.002 + 0.008 * job_uniform(z);
	if (IS(12)) {
		h.lost = 0.002 + 0.008 * job_uniform(z);
		h.burst = 2 + (int)(3 * job_uniform(z));
	}
	if (h.lost > 0)
		h.losses_reported = h.burst || job_uniform(z) < 0.5;
	if (IS(13) && h.k > 1)
		h.threads = 2 + (int)(2 * job_uniform(z));
	if (kind == 14)
		h.cycle_ms = 2 + 8 * job_uniform(z);
#undef IS
	return h;
}

static int job_by_exit(const void *a, const void *b)
{
	const struct jetwatt_sync *x = a, *y = b;

	return x->exit_ns < y->exit_ns ? -1 : x->exit_ns > y->exit_ns;
}

static __attribute__((unused)) void job_sort(struct job *j)
{
	qsort(j->sync, j->waits, sizeof(*j->sync), job_by_exit);
}

#endif
