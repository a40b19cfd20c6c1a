// SPDX-License-Identifier: GPL-2.0-only
/* Measures time and power of one mode on a running job. */
#include "measure/mode.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "measure/block_mean.h"
#include "measure/partial.h"
#include "measure/power_settle.h"
#include "minibatch/minibatch.h"
#include "model/order.h"
#include "util/clock.h"
#include "util/error.h"

/*
 * Number of minibatches to discard that begin after a change of mode, because autotuning, for example,
 * may slow them down. For minibatches longer than LONG_NS, the caller may set another number.
 */
#define BATCHES_DROPPED	2
#define LONG_NS		300000000ull
#define BLOCK_NS	50e6	/* minimum duration of a block of minibatches, ns */
#define BLOCKS_MIN	6	/* minimum number of blocks whose scatter gives a usable error */
#define POLL_MS		50	/* interval of reading samples */
/* minimum relative error of power in a slow mode; of time, with fewer than SLOW_BATCHES_MIN
 * minibatches */
#define UNSETTLED	0.05
/* minimum relative error of time with fewer than SLOW_BATCHES_MIN minibatches; of power: half of
 * it */
#define FEW_BATCHES_SD		0.01
/* number of minibatches that suffices to show that a mode is slower than limits->slow_ms */
#define SLOW_BATCHES_MIN	3
/* one minibatch shows that a mode is slower if it takes this many times limits->slow_ms */
#define FAR_SLOWER	2
/* If the choice of a mode depends on the measured power, measure up to this many times as long. */
#define CLOSE		2
/* Interval between two searches for minibatches; a search uses CPU time of the machine that runs
 * the job. */
#define EVALUATE_NS		250000000ull
/* The same while the minibatches since the change of mode are still too short in total, so that a search only
 * serves the display of the progress. */
#define DISPLAY_NS		1000000000ull
/* Once minibatches are found, a search uses the waits of about this many minibatches, and at least
 * this many waits, from before the change of mode: its CPU time is proportional to the number of
 * waits. */
#define BATCHES_BEFORE		32
#define WAITS_BEFORE_MIN	256
#define PROCESSES_MAX		16	/* maximum number of processes whose minibatches are counted */

const struct jetwatt_measure_limits jetwatt_measure_profile = {
	.batches = 8, .seconds = 1.5, .target = 0.01, .max_s = 20, .idle_s = 30,
	.min_on_timeout = 3,
};
const struct jetwatt_measure_limits jetwatt_measure_verify = {
	.batches = 20, .seconds = 5, .target = 0.006, .max_s = 40, .idle_s = 30,
	.min_on_timeout = 3,
};

/* Memory for finding minibatches, kept from one evaluation of the samples to the next. @first:
 * index of the first wait that is evaluated; @before: number of waits from then until the change of
 * mode. */
struct mode_work {
	struct jetwatt_batch_bound *bound;
	double *w, *time, *uj;
	uint64_t *t, from_ns;
	size_t waits, samples, first, before;
};

static int reserve_work(struct mode_work *k, size_t waits, size_t samples)
{
	if (waits > k->waits) {
		k->waits = waits * 2;
		k->bound = reallocarray(k->bound, k->waits, sizeof(*k->bound));
		k->time = reallocarray(k->time, k->waits, sizeof(*k->time));
		k->uj = reallocarray(k->uj, k->waits, sizeof(*k->uj));
	}
	if (samples > k->samples) {
		k->samples = samples * 2;
		k->w = reallocarray(k->w, k->samples, sizeof(*k->w));
		k->t = reallocarray(k->t, k->samples, sizeof(*k->t));
	}
	return (waits && (!k->bound || !k->time || !k->uj)) || (samples && (!k->w || !k->t)) ?
	       -ENOMEM : 0;
}

static void free_work(struct mode_work *k)
{
	free(k->bound);
	free(k->time);
	free(k->uj);
	free(k->w);
	free(k->t);
}

uint32_t jetwatt_measure_process(const struct jetwatt_batch_bound *b, int n, uint64_t since_ns)
{
	struct { uint32_t tgid; size_t minibatches; } of[PROCESSES_MAX] = { { 0, 0 } };
	size_t most = 0;

	for (int i = 0; i < n; i++) {
		size_t p = 0;

		if (b[i].end_ns <= since_ns || b[i].kind != JETWATT_BATCH_TRAIN)
			continue;
		while (p < PROCESSES_MAX && of[p].minibatches && of[p].tgid != b[i].tgid)
			p++;
		if (p == PROCESSES_MAX)
			continue;
		of[p].tgid = b[i].tgid;
		of[p].minibatches++;
		most = of[p].minibatches > of[most].minibatches ? p : most;
	}
	return of[most].tgid;
}

/* Return the median duration of the minibatches since the change of mode, ns; 0 if there are
 * none. */
static uint64_t median_length(struct mode_work *k, int bounds, uint64_t since_ns)
{
	uint32_t tgid = jetwatt_measure_process(k->bound, bounds, since_ns);
	size_t n = 0;

	for (int i = 0; i < bounds; i++)
		if (k->bound[i].start_ns >= since_ns && k->bound[i].kind == JETWATT_BATCH_TRAIN &&
		    k->bound[i].tgid == tgid)
			k->time[n++] = k->bound[i].end_ns - k->bound[i].start_ns;
	qsort(k->time, n, sizeof(*k->time), jetwatt_order_doubles);
	return n ? k->time[n / 2] : 0;
}

/*
 * Collect times and energies of complete minibatches of one process after @from_ns, without the first
 * BATCHES_DROPPED minibatches after the change of mode (without the first @drop if they are longer
 * than LONG_NS). Set k->from_ns to the start of the first collected minibatch. Return: their
 * number.
 */
static size_t clean_batches(const struct jetwatt_session *w, struct mode_work *k, int bounds,
			    uint64_t since_ns, uint64_t from_ns, int drop)
{
	uint32_t tgid = jetwatt_measure_process(k->bound, bounds, since_ns);
	size_t n = 0, lo = 0, hi = 0;
	int after = 0;

	for (int i = 0; i < bounds; i++) {
		const struct jetwatt_batch_bound *b = &k->bound[i];
		uint64_t covered, span = b->end_ns - b->start_ns;
		double uj;

		if (b->start_ns < since_ns || b->kind != JETWATT_BATCH_TRAIN || b->tgid != tgid ||
		    b->flags & JETWATT_BATCH_INFERRED)
			continue;
		if (after++ < (span < LONG_NS ? BATCHES_DROPPED : drop) || b->start_ns < from_ns ||
		    b->end_ns > w->power_ns)
			continue;
		while (lo + 1 < w->nr_power && w->power[lo + 1].time_ns <= b->start_ns)
			lo++;
		for (hi = hi < lo ? lo : hi; hi < w->nr_power && w->power[hi].time_ns < b->end_ns;)
			hi++;
		hi = hi < w->nr_power ? hi + 1 : hi;
		if (jetwatt_batch_energy(w->power + lo, hi - lo, w->total, w->nr_total, b->start_ns,
					 b->end_ns, &uj, &covered))
			continue;
		/* Power in a gap is interpolated; minibatches with gaps of more than 1 % of their time
		 * are not used. */
		if (covered < span - span / 100)
			continue;
		k->from_ns = n ? k->from_ns : b->start_ns;
		k->time[n] = span;
		k->uj[n++] = uj;
	}
	return n;
}

/* Return whether the minibatches certainly take longer than limits->slow_ms. Fills in @m if so. */
static int is_slow(const struct jetwatt_session *w, struct mode_work *k, int bounds,
		   uint64_t since_ns, const struct jetwatt_measure_limits *limits,
		   struct jetwatt_measure *m)
{
	struct jetwatt_row row = { 0 };
	size_t n = clean_batches(w, k, bounds, since_ns, since_ns, BATCHES_DROPPED);

	/* If there is no other minibatch, use the first ones after the change of mode. */
	n = n ? n : clean_batches(w, k, bounds, since_ns, since_ns, 0);
	jetwatt_block_mean(k->time, k->uj, n, BLOCK_NS, &row);
	if (n < SLOW_BATCHES_MIN && row.time_ms < FAR_SLOWER * limits->slow_ms)
		return 0;
	if (row.time_ms * (1 - 3 * row.time_sd) < limits->slow_ms)
		return 0;
	row.mode = m->row.mode;
	row.time_sd = n < SLOW_BATCHES_MIN ? fmax(row.time_sd, UNSETTLED) : row.time_sd;
	row.power_sd = fmax(row.power_sd, UNSETTLED);
	m->row = row;
	m->batches = n;
	m->span_s = n * row.time_ms * 1e-3;
	return 1;
}

static int drop_count(const struct jetwatt_measure_limits *limits)
{
	return limits->warmup_drop ? (int)limits->warmup_drop : BATCHES_DROPPED;
}

/* Compute the mean time and power of the @n minibatches. Return: 1 if the number and the
 * duration of the minibatches, and the number of blocks, suffice; 0 if more are needed. */
static int compute_mean(struct mode_work *k, size_t n, const struct jetwatt_measure_limits *limits,
			struct jetwatt_measure *m)
{
	struct jetwatt_mode mode = m->row.mode;
	unsigned int blocks = jetwatt_block_mean(k->time, k->uj, n, BLOCK_NS, &m->row);

	m->row.mode = mode;
	m->batches = n;
	m->span_s = n * m->row.time_ms * 1e-3;
	return n >= limits->batches && m->span_s >= limits->seconds && blocks >= BLOCKS_MIN;
}

/* Return whether the settled level of power can be predicted and there are enough minibatches.
 * Fills in @m completely if so. */
static int predict_mode(const struct jetwatt_session *w, struct mode_work *k, int bounds,
			const struct jetwatt_settle *step, uint64_t length_ns,
			const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m)
{
	size_t n = clean_batches(w, k, bounds, step->since_ns, step->since_ns, drop_count(limits));

	if (!compute_mean(k, n, limits, m) || m->row.time_sd > limits->target ||
	    jetwatt_settle_predict(step, k->from_ns, length_ns, limits, &m->row))
		return 0;
	m->settle_s = m->dwell_s;
	return 1;
}

/* Use the minibatch during which the mode changed, if it has ended. Return: 1 if @m is filled in. */
static int use_partial(const struct mode_work *k, int bounds, const struct jetwatt_settle *step, uint64_t from_ns,
		       const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m)
{
	uint32_t tgid = jetwatt_measure_process(k->bound, bounds, step->since_ns);

	for (int i = 0; i < bounds; i++) {
		const struct jetwatt_batch_bound *b = &k->bound[i];
		struct jetwatt_row row = m->row;

		if (!step->n || b->tgid != tgid || b->end_ns > step->t[step->n - 1] ||
		    jetwatt_partial_time(b, step->since_ns, limits, &row) ||
		    jetwatt_partial_power(step, from_ns, b->end_ns, &row))
			continue;
		m->row = row;
		m->batches = 1;
		m->span_s = (b->end_ns - step->since_ns) * 1e-9;
		return 1;
	}
	return 0;
}

/* Leave out the earliest waits if there are more from before the change of mode than the next
 * search needs. @period: number of waits of a minibatch. */
static void drop_early_waits(struct mode_work *k, double period)
{
	size_t need = fmax(WAITS_BEFORE_MIN, BATCHES_BEFORE * period);

	if (k->before <= need)
		return;
	k->first += k->before - need;
	k->before = need;
}

/* Evaluate the samples since @since_ns, and the waits from index @k->first. @part: progress, 0 to
 * 1. Return: 1: enough; 0: not yet. */
static int evaluate(struct jetwatt_session *w, struct mode_work *k, uint64_t since_ns,
		    const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m,
		    double *part)
{
	struct jetwatt_batch_info info;
	struct jetwatt_settle step;
	uint64_t from, length_ns;
	int bounds, close, done;
	size_t n;

	bounds = jetwatt_batch_segment(w->sync + k->first, w->nr_sync - k->first, k->bound, &info);
	if (bounds < 0)
		return 0;
	if (bounds && info.period_syncs > 0)
		drop_early_waits(k, (double)(w->nr_sync - k->first) / bounds);
	length_ns = median_length(k, bounds, since_ns);
	step = jetwatt_settle_samples(w, since_ns, k->t, k->w);
	from = jetwatt_settle_time(&step, length_ns, limits, &m->settled);
	if (!from)
		return predict_mode(w, k, bounds, &step, length_ns, limits, m) ||
		       (limits->slow_ms > 0 && is_slow(w, k, bounds, since_ns, limits, m));
	m->settle_s = (from - since_ns) * 1e-9;
	n = clean_batches(w, k, bounds, since_ns, from, drop_count(limits));
	done = compute_mean(k, n, limits, m);
	n = n ? n : (size_t)use_partial(k, bounds, &step, from, limits, m);
	close = jetwatt_settle_decisive(m->row.time_ms, m->row.power_w, m->row.power_sd * m->row.power_w, limits);
	done &= m->row.time_sd <= limits->target &&
		m->row.power_sd <= (close ? fmin(JETWATT_POWER_ERROR_DECISIVE, limits->target) : limits->target);
	if (n < SLOW_BATCHES_MIN) {
		m->row.time_sd = fmax(m->row.time_sd, FEW_BATCHES_SD);
		m->row.power_sd = fmax(m->row.power_sd, FEW_BATCHES_SD / 2);
	}
	if (!n && limits->slow_ms > 0 && is_slow(w, k, bounds, since_ns, limits, m))
		return 1;
	*part = fmin(fmin((double)n / limits->batches, m->span_s / limits->seconds), 1);
	done |= n >= limits->min_on_timeout && m->dwell_s >= (close ? CLOSE : 1) * limits->max_s;
	if (done)
		jetwatt_settle_learn(&step, length_ns, limits);
	return done;
}

/* Return the maximum time in a mode without enough minibatches, in seconds. */
static double time_limit(const struct jetwatt_measure_limits *limits)
{
	return fmax(4 * limits->max_s, limits->idle_s);
}

/* Check whether the job still does GPU work, and whether the time limit has passed. Return: 0;
 * -ENODATA: no wait for limits->idle_s; -ETIMEDOUT: the time limit has passed. */
static int check_idle(const struct jetwatt_session *w, uint64_t since_ns,
		      const struct jetwatt_measure_limits *limits, const struct jetwatt_measure *m)
{
	uint64_t last = w->last_wait_ns > since_ns ? w->last_wait_ns : since_ns;
	uint64_t now = jetwatt_clock_ns();

	if (now > last && (now - last) * 1e-9 > limits->idle_s)
		return -ENODATA;
	return m->dwell_s > time_limit(limits) ? -ETIMEDOUT : 0;
}

/* Return the interval to the next search for minibatches, ns. */
static uint64_t search_interval(const struct jetwatt_measure_limits *limits, const struct jetwatt_measure *m)
{
	uint64_t ns = limits->poll_s > 0 ? limits->poll_s * 1e9 : EVALUATE_NS;

	return m->dwell_s < limits->seconds && !(limits->slow_ms > 0) && ns < DISPLAY_NS ? DISPLAY_NS : ns;
}

int jetwatt_measure_mode(struct jetwatt_session *w, uint64_t since_ns,
			 const struct jetwatt_measure_limits *limits, struct jetwatt_measure *m,
			 jetwatt_measure_fn progress, void *arg)
{
	struct jetwatt_mode mode = m->row.mode;
	struct mode_work k = { 0 };
	uint64_t evaluated = 0;
	double part = 0;
	int ret = 0;

	memset(m, 0, sizeof(*m));
	m->row.mode = mode;
	jetwatt_session_discard(w, since_ns);
	k.before = w->nr_sync < JETWATT_MEASURE_WAITS_BEFORE ? w->nr_sync :
								JETWATT_MEASURE_WAITS_BEFORE;
	k.first = w->nr_sync - k.before;
	while (!ret) {
		if (jetwatt_session_run(w, POLL_MS)) {
			ret = 1;
			break;
		}
		if (limits->cancel && atomic_load(limits->cancel)) {
			ret = -ECANCELED;
			break;
		}
		m->dwell_s = (jetwatt_clock_ns() - since_ns) * 1e-9;
		if (jetwatt_clock_ns() - evaluated < search_interval(limits, m))
			continue;
		evaluated = jetwatt_clock_ns();
		ret = reserve_work(&k, 2 * (w->nr_sync - k.first) + 1, w->nr_power + 1);
		if (ret)
			break;
		if (evaluate(w, &k, since_ns, limits, m, &part))
			break;
		if (progress)
			progress(m, part, arg);
		ret = check_idle(w, since_ns, limits, m);
	}
	free_work(&k);
	return ret;
}

int jetwatt_measure_why(const struct jetwatt_session *w, int err,
			const struct jetwatt_measure_limits *limits)
{
	if (err == -ENOMEM)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot store the samples");
	if (err == -ENODATA)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, w->waits ?
					 "the process no longer waits for the GPU: it may be stuck, or done" :
					 "the process never waited for the GPU; waits that spin on the GPU's memory cannot be detected",
					 "check that this is the process that trains; to wait longer: --wait 120s",
					 "no GPU work of process %d in %.0f s", w->pid, limits->idle_s);
	if (err == -ETIMEDOUT)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "the waits for the GPU do not repeat, or minibatches are too long for this time",
					 "run jetwatt stat -p PID to see the waits; for long minibatches: --wait 600s",
					 "too few minibatches found in %.0f s (process %d)",
					 time_limit(limits), w->pid);
	if (w->ended && !w->stop && !w->failed)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "the process ended before its measurement was complete",
					 "use a job that runs longer; a profile with -o FILE continues where it stopped",
					 "the job has ended (process %d)", w->pid);
	return jetwatt_session_error(w);
}
