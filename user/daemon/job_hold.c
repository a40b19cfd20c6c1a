// SPDX-License-Identifier: GPL-2.0-only
/* One job: into the best mode that is known, and there as long as it does what was expected. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

/* Backing off from a mode that the cap has left, doubled each time up to JETWATTD_CALM_S. */
#define BACK_OFF_S	2.0
#define TURN_S		0.2
#define TRIPS		2
#define CALM_NS		600000000000ull
/* So many readings in a row that are others than before are no chance. */
#define DRIFTS		2
/* So many standard deviations of a window's mean below the budget is too near. */
#define TIGHT		1.5
/* Where the mode that was found cannot be held, so much slower is a reason to look further. */
#define WORSE		1.04

struct backing {
	uint64_t last_ns;
	double seconds;
	int trips;
};

static const struct jetwatt_measure_limits watching = {
	.batches = 20, .seconds = 3, .target = 0.01, .most_s = 30, .idle_s = 30, .few = 3,
	.look_s = 3,
};
/* To look is most of what we cost: as long as nothing has changed a glance will do. */
static const struct jetwatt_measure_limits glancing = {
	.batches = 20, .seconds = 8, .most_s = 30, .few = 3,
};

/* What is known of the job's workload, beside those who work on the GPU now. */
static void look_up(struct jetwattd_run *r)
{
	struct jetwatt_watch *w = &r->watch;
	struct jetwattd *d = r->d;
	struct jetwatt_keep_args args = { .path = *d->policy->db ? d->policy->db : NULL,
					  .beside = r->beside };
	struct jetwatt_args_job job = { .pid = w->pid };

	jetwattd_company(r, r->beside, sizeof(r->beside));
	r->apart = 0;
	r->learn.nr_rows = 0;
	jetwatt_estimator_forget(&r->learn.by);
	r->learned_j = 0;
	jetwattd_minibatch_forget(r->minibatch);
	jetwattd_late_forget(r);
	if (!r->keep.db)
		jetwatt_keep_open(&r->keep, &args);
	if (r->keep.db && !jetwatt_keep_workload(&r->keep, &args, d->act.board, w, &job) && r->keep.db) {
		struct jetwatt_db_row *row = NULL;
		int n = jetwatt_keep_rows(&r->keep, &row);

		for (int i = 0; i < n; i++)
			jetwatt_learn_add(&r->learn, &row[i].row);
		free(row);
		jetwatt_learn_others(&r->learn);
	}
	if (d->verbose)
		jetwatt_error_note("process %d%s%s: %zu readings of its workload are known%s", w->pid,
				   *r->beside ? " beside " : "", r->beside, r->learn.nr_rows,
				   r->learn.by.prior ? ", and it is known elsewhere" : "");
	pthread_mutex_lock(&d->lock);
	d->cap.have_safe = 0;
	d->expect_ms = d->expect_w = 0;
	snprintf(d->key, sizeof(d->key), "%.16s", r->keep.key);
	pthread_mutex_unlock(&d->lock);
}

int jetwattd_take(struct jetwattd_run *r, pid_t pid)
{
	struct jetwatt_watch *w = &r->watch;
	struct jetwattd *d = r->d;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	w->pid = pid;
	w->pidfd = fd;
	w->ended = 0;
	w->nr_sync = w->nr_mark = 0;
	w->begun_ns = jetwatt_clock_ns();
	jetwatt_watch_add(w, fd);
	jetwattd_ladder_leave(r);
	look_up(r);
	pthread_mutex_lock(&d->lock);
	d->pid = pid;
	jetwatt_keep_command(pid, d->command, sizeof(d->command));
	d->count.jobs++;
	d->count.known += r->learn.nr_rows >= JETWATTD_KNOWN;
	pthread_mutex_unlock(&d->lock);
	jetwatt_cgroup_of(pid, r->cgroup, sizeof(r->cgroup));
	/* It may have another budget. */
	r->tended_ns = 0;
	jetwattd_tend(r);
	return 0;
}

void jetwattd_leave(struct jetwattd_run *r)
{
	struct jetwatt_watch *w = &r->watch;

	if (w->pidfd >= 0)
		close(w->pidfd);
	w->pidfd = -1;
	for (int i = 0; i < JETWATTD_SEEN; i++)
		if (jetwattd_of_job(r, r->seen[i].pid) || r->seen[i].pid == w->pid)
			r->seen[i].waits = r->seen[i].waited_ns = 0;
	w->pid = 0;
	w->ended = 0;
	w->nr_sync = w->nr_mark = 0;
	*r->cgroup = '\0';
	r->tended_ns = 0;
	pthread_mutex_lock(&r->d->lock);
	r->d->pid = 0;
	r->d->cap.have_safe = 0;
	pthread_mutex_unlock(&r->d->lock);
}

static size_t place(const struct jetwattd_run *r, const struct jetwatt_mode *mode)
{
	size_t i = 0;

	while (i + 1 < r->learn.nr_modes && !jetwatt_mode_same(&r->learn.mode[i], mode))
		i++;
	return i;
}

/* Into the best mode that is known. Return: its row, NULL: there is none. */
static const struct jetwatt_row *settle(struct jetwattd_run *r)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	struct jetwattd *d = r->d;

	if (!best)
		return NULL;
	pthread_mutex_lock(&d->lock);
	d->expect_ms = best->time_ms;
	d->expect_w = best->power_w;
	/* What it was for is seen to, or jetwattd_changed() tells. */
	atomic_store(&d->cut, 0);
	if (!jetwattd_in(&d->act, &best->mode)) {
		int err;

		d->cap.tripped = 0;
		err = jetwattd_put(&d->act, &best->mode);
		if (err) {
			pthread_mutex_unlock(&d->lock);
			if (err == -EBUSY)
				return NULL;
			r->out[place(r, &best->mode)] = JETWATTD_OUT;
			return settle(r);
		}
	}
	pthread_mutex_unlock(&d->lock);
	return best;
}

/* In another mode, for so long; or in one more, if the cap leaves that too. Return: 1: there is
 * something else to do. */
static int wait_out(struct jetwattd_run *r, double seconds)
{
	uint64_t until = jetwatt_clock_ns() + seconds * 1e9;
	int tripped = 1;

	do {
		if (tripped && jetwattd_climb(r))
			return 1;
		pthread_mutex_lock(&r->d->lock);
		tripped = r->d->cap.tripped;
		r->d->cap.tripped = 0;
		pthread_mutex_unlock(&r->d->lock);
		if (jetwattd_nap(r, TURN_S))
			return 1;
	} while (jetwatt_clock_ns() < until);
	return 0;
}

/* The cap has left a mode that was measured to be within. Once may have been somebody
 * else's doing. Return: 1: there is something else to do. */
static int back_off(struct jetwattd_run *r, struct backing *b, const struct jetwattd_reading *got)
{
	uint64_t now = jetwatt_clock_ns();

	if (now - b->last_ns > CALM_NS)
		*b = (struct backing){ .seconds = BACK_OFF_S };
	b->last_ns = now;
	jetwattd_say(r->d, "over %g W: stepped down for %.0f s", r->budget_w, b->seconds);
	if (++b->trips >= TRIPS && got->over_w > 0)
		jetwattd_forbid(r, got);
	jetwattd_doing(r, JETWATTD_BACKING_OFF);
	if (wait_out(r, b->seconds))
		return 1;
	b->seconds = fmin(2 * b->seconds, JETWATTD_CALM_S);
	return 0;
}

/* Of many quick readings at the limit the best one is one that was too low: now and then a
 * window would be over the budget. */
static int too_much(struct jetwattd_run *r, const struct jetwatt_row *is)
{
	int much;

	pthread_mutex_lock(&r->d->lock);
	much = is->power_w * (1 + TIGHT * r->d->cap.swing) > r->d->cap.budget_w;
	pthread_mutex_unlock(&r->d->lock);
	return much;
}

/* Stay in the mode that was chosen as long as it does what was expected of it.
 * Return: JETWATTD_MEASURED: it has to be learned again. */
static enum jetwattd_outcome hold(struct jetwattd_run *r)
{
	struct backing backing = { .seconds = BACK_OFF_S };
	struct jetwatt_row was = { .time_ms = INFINITY };
	int drifts = 0, calm = 0;

	while (!jetwattd_changed(r)) {
		const struct jetwatt_row *best = settle(r);
		struct jetwattd_reading got;
		enum jetwattd_outcome out;

		if (!best && jetwattd_changed(r))
			return JETWATTD_CUT;
		jetwattd_doing(r, JETWATTD_HOLDING);
		if (!best) {
			jetwattd_say(r->d, "no mode is known to be within %g W", r->budget_w);
			return jetwattd_nap(r, JETWATTD_CALM_S) ? JETWATTD_CUT : JETWATTD_MEASURED;
		}
		/* Beside the one that was too good to be true others had not been of interest. */
		if (best->time_ms > WORSE * was.time_ms && jetwattd_allowance_more(r))
			return JETWATTD_MEASURED;
		was = *best;
		if (calm) {
			struct jetwatt_row is;
			size_t n = jetwattd_glance(r, &glancing, &is);

			drifts = n ? jetwattd_differs(&is, &was) : jetwattd_minibatch_strange(r->minibatch);
			if (jetwattd_changed(r) || (n && !drifts && !too_much(r, &is)))
				continue;
		}
		out = jetwattd_look(r, &was.mode, &watching, &got);
		if (out == JETWATTD_ENDED || out == JETWATTD_NOTHING)
			return out;
		if (out == JETWATTD_OVER && back_off(r, &backing, &got))
			return JETWATTD_CUT;
		drifts = out == JETWATTD_MEASURED && jetwattd_drifted(r, &got.m.row, &was) ? drifts + 1 : 0;
		calm = out == JETWATTD_MEASURED && !drifts;
		if (!drifts && out == JETWATTD_MEASURED && too_much(r, &got.m.row) &&
		    jetwattd_keep(r, &got))
			return JETWATTD_ENDED;
		if (drifts < DRIFTS)
			continue;
		jetwattd_anew(r, &got.m.row, &was);
		return JETWATTD_MEASURED;
	}
	return JETWATTD_CUT;
}

/* For the budget that holds now. */
enum jetwattd_outcome jetwattd_work(struct jetwattd_run *r)
{
	enum jetwattd_outcome out;

	if (r->apart >= JETWATTD_APART)
		look_up(r);
	pthread_mutex_lock(&r->d->lock);
	r->budget_w = r->d->cap.budget_w;
	r->learn.budget_w = jetwattd_limit(r->d);
	/* Modes of the job come over whatever a refused restore has left. */
	r->d->act.restoring = 0;
	pthread_mutex_unlock(&r->d->lock);
	memset(r->out, 0, r->learn.nr_modes);
	do {
		jetwattd_doing(r, JETWATTD_LEARNING);
		settle(r);
		out = jetwattd_seek(r);
		if (out == JETWATTD_MEASURED || out == JETWATTD_SHARED)
			out = hold(r);
	} while (out == JETWATTD_MEASURED && !jetwattd_changed(r));
	return out;
}
