/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training jobs as their waits would be seen, with the true bounds: many
 * shapes, drawn from a seed.
 */
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
 * struct job_shape - what kind of job
 * @k: waits per minibatch
 * @cycle_ms: length of a minibatch
 * @load: share of the cycle that is the gap before the first wait
 * @inner: share of the cycle that is each other gap
 * @uneven: waits of a minibatch differ by up to this factor
 * @noise: relative, of every gap and wait
 * @accumulate: the optimizer runs every so many minibatches ...
 * @optimizer: ... and makes the last wait longer by this share of the cycle
 * @extra: ... or is one more wait
 * @eval_every, @eval_len, @eval_k: minibatches of training between evaluations,
 *	minibatches of one evaluation, its waits per minibatch
 * @stall: share of minibatches before which the loader stalls, @stall_by cycles
 * @switch_every: minibatches between switches of the power mode
 * @lost: share of events that are lost
 * @threads: waits take turns in so many threads
 * @warm: the first minibatch takes this much longer
 * @beat: something else wakes up every so many waits and delays the next one ...
 * @beat_by: ... by up to this share of the cycle; its phase drifts
 * @drift: of the beat's rhythm, relative
 * @hidden: the GPU works on meanwhile: what is delayed waits less
 * @bunch: share of waits that last until the next one or two are done as well
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
};

struct job_truth {
	uint64_t end_ns;
	uint32_t tgid;
	int eval, damaged;	/* its last wait was lost */
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

static void job_alloc(struct job *j)
{
	j->sync = calloc(JOB_WAITS_MAX, sizeof(*j->sync));
	j->truth = calloc(JOB_WAITS_MAX, sizeof(*j->truth));
	j->waits = j->truths = 0;
	if (!j->sync || !j->truth)
		abort();
}

static void job_free(struct job *j)
{
	free(j->sync);
	free(j->truth);
}

/* Jitter that scales with the time, and a little that does not. */
static double job_jitter(uint64_t *seed, double ms, double noise)
{
	double v = ms * (1 + noise * job_normal(seed)) + 0.01 * fabs(job_normal(seed));

	return v > 0.02 ? v : 0.02;
}

/* What a shape does not say: 80 ms, of which 8 % before the first wait, 2 % jitter. */
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

/* What goes on beside the job; draws of its own, so that the job stays the same. */
struct job_beside {
	uint64_t seed;
	double phase, detune, swing, late;	/* late: by how much a wait was, ms */
};

static struct job_beside job_beside(const struct job_shape *h, uint64_t seed)
{
	struct job_beside d = { .seed = seed ^ 0x5bd1e995 };

	d.phase = job_uniform(&d.seed);
	d.detune = job_uniform(&d.seed) < 0.5 ? -h->drift : h->drift;
	d.swing = 6.3 * job_uniform(&d.seed);
	return d;
}

/* Delays a wait, or bunches it with those that follow. @cycle: of one minibatch now, ms. */
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
		/* The GPU went on: this one is over before it begins, or sooner. */
		double whole = *gap + *wait;

		*gap = fmin(*gap, 0.05 * (1 + job_uniform(&d->seed)));
		*wait = fmax(0.02 + 0.03 * job_uniform(&d->seed), whole - d->late - *gap);
		d->late -= whole;
	} else if (h->bunch > 0 && job_uniform(&d->seed) < h->bunch) {
		d->late = (*gap + *wait) * (0.3 + 1.7 * job_uniform(&d->seed));
		*wait += d->late;
	}
}

static void job_make(struct job *j, const struct job_shape *shape, uint32_t tgid, double start_ms,
		     uint64_t seed)
{
	const struct job_shape usual = job_usual(*shape), *h = &usual;
	double now = start_ms, speed_cpu = 1, speed_gpu = 1, wait[16];
	struct job_beside beside = job_beside(h, seed);
	int since_eval = 0, in_eval = 0, n = 0;

	/* The shares of the waits are the job's own: the same in every minibatch. */
	for (int i = 0; i < 16; i++)
		wait[i] = 1 + (h->uneven - 1) * job_uniform(&seed);
	if (h->uneven > 1 && h->k > 1) {
		wait[0] = 1;
		wait[h->k - 1] = h->uneven;
	}
	for (int m = 0; m < h->minibatches; m++) {
		int eval = in_eval > 0, k = eval ? h->eval_k : h->k, step, all;
		double sum = 0, slow = m ? 1 : h->warm > 1 ? h->warm : 1;
		double load = h->load * h->cycle_ms * speed_cpu, left;

		if (h->switch_every && m && m % h->switch_every == 0) {
			speed_cpu = exp(log(6) * (job_uniform(&seed) - 0.3));
			speed_gpu = exp(log(36) * (job_uniform(&seed) - 0.4));
		}
		step = !eval && h->accumulate && ++n % h->accumulate == 0;
		all = k + (step && h->extra);
		if (h->stall > 0 && job_uniform(&seed) < h->stall)
			load += h->stall_by * h->cycle_ms * (0.5 + job_uniform(&seed));
		for (int i = 0; i < k; i++)
			sum += wait[i];
		left = h->cycle_ms * (1 - h->load - h->inner * (k - 1)) * speed_gpu * slow;
		if (eval)
			left /= 3;
		for (int i = 0; i < all; i++) {
			struct jetwatt_sync *s = &j->sync[j->waits];
			double gap = i ? h->inner * h->cycle_ms * speed_cpu : load;
			double w = i < k ? left * wait[i] / sum : h->optimizer * h->cycle_ms * speed_gpu;
			int lost = j->waits && job_uniform(&seed) < h->lost;

			if (step && !h->extra && i == k - 1)
				w += h->optimizer * h->cycle_ms * speed_gpu;
			gap = job_jitter(&seed, gap, h->noise);
			w = job_jitter(&seed, w, h->noise);
			job_disturb(&beside, h, left + (h->load + h->inner * (k - 1)) *
				    h->cycle_ms * speed_cpu, &gap, &w);
			now += gap;
			s->enter_ns = (uint64_t)(now * 1e6);
			now += w;
			s->exit_ns = (uint64_t)(now * 1e6);
			s->tgid = tgid;
			s->tid = tgid + (h->threads > 1 ? (uint32_t)(i % h->threads) : 0);
			s->call = h->calls > 1 && i % 2 ? JETWATT_SYNC_SYNCPT : JETWATT_SYNC_POLLFD;
			j->waits += !lost;
			if (i == all - 1)
				j->truth[j->truths++] = (struct job_truth){
					s->exit_ns, tgid, eval, lost };
		}
		if (eval) {
			in_eval--;
		} else if (h->eval_every && ++since_eval == h->eval_every) {
			since_eval = 0;
			in_eval = h->eval_len;
		}
	}
}

static int job_by_exit(const void *a, const void *b)
{
	const struct jetwatt_sync *x = a, *y = b;

	return x->exit_ns < y->exit_ns ? -1 : x->exit_ns > y->exit_ns;
}

static void job_sort(struct job *j)
{
	qsort(j->sync, j->waits, sizeof(*j->sync), job_by_exit);
}

#endif
