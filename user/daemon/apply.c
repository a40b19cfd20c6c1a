// SPDX-License-Identifier: GPL-2.0-only
/* The only code of jetwattd that switches the board. */
#include "daemon/jetwattd.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "daemon/state.h"
#include "util/clock.h"
#include "util/error.h"

/* Knobs that were turned back more often than that are somebody's. */
#define FIGHTS		3
/* Further restores of the board at the end, one a second. */
#define LAST_TRIES	3

void jetwattd_unguarded(struct jetwattd *d)
{
	if (!atomic_exchange(&d->stop, JETWATT_EXIT_FAILED))
		jetwatt_error_note("%s has been ended: so do we",
				   d->by_remote ? "jetwatt-knobs" : "the guardian of the knobs");
	atomic_store(&d->cut, 1);
}

void jetwattd_budget(struct jetwattd *d, double watts)
{
	if (watts == d->budget_w)
		return;
	d->budget_w = watts;
	atomic_store(&d->cut, 1);
}

static int switch_to(struct jetwattd *d, const struct jetwatt_mode *mode)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_apply(d->board, mode, &e);

	if (!err) {
		d->mode = *mode;
		d->applied = 1;
		d->busy = d->mixed = 0;
		d->switched_ns = jetwatt_clock_ns();
		/* The state that was found is not tried again over this mode. */
		if (d->doing == JETWATTD_RESTORING)
			jetwattd_enter(d, d->pause ? JETWATTD_PAUSED : JETWATTD_IDLE);
		return 0;
	}
	/* The board is not ours for now, which says nothing of the mode. */
	if (err == -EBUSY || err == -EAGAIN) {
		if (!d->busy)
			jetwatt_error_board(err, &e);
		d->busy = 1;
		jetwattd_enter(d, JETWATTD_YIELDING);
		snprintf(d->why, sizeof(d->why), "yielding: %.200s", e.why);
		atomic_store(&d->cut, 1);
		return -EBUSY;
	}
	if (err == -EPIPE) {
		jetwattd_unguarded(d);
		return -EBUSY;
	}
	d->count.refused++;
	/* What the knobs are now is our own doing. */
	d->mixed |= err == -ENOTRECOVERABLE;
	jetwatt_error_board(err, &e);
	return err;
}

/* The knobs that we have put. */
static int verify(struct jetwattd *d)
{
	struct jetwatt_error_text e;

	if (!d->applied || d->mixed || jetwatt_board_verify(d->board, &d->mode, &e) != -ESTALE)
		return 0;
	d->count.others++;
	jetwatt_error_note("somebody else has turned a knob: %s", e.what);
	if (d->policy->reassert && d->count.others % (FIGHTS + 1) && !switch_to(d, &d->mode))
		return 0;
	/* What was saved is not his: nothing of ours is to come back over it. */
	jetwatt_board_forget(d->board);
	d->applied = d->have_safe = 0;
	d->ceded = 1;
	jetwattd_enter(d, JETWATTD_YIELDING);
	snprintf(d->why, sizeof(d->why), "yielding: %.200s", e.what);
	atomic_store(&d->cut, 1);
	return -EBUSY;
}

int jetwattd_mind(struct jetwattd *d)
{
	/* To restore the board would lift the cap. */
	if (atomic_load(&d->blind))
		return verify(d);
	return d->doing == JETWATTD_RESTORING ? jetwattd_put_back(d) : verify(d);
}

int jetwattd_put(struct jetwattd *d, const struct jetwatt_mode *mode)
{
	int err;

	/* The loop may be on its way to the mode that it has just chosen. */
	if (atomic_load(&d->blind) && !jetwatt_mode_same(mode, &d->floor))
		return -EBUSY;
	/* A switch would take back what somebody else has done, unseen. */
	err = verify(d);
	return err ? err : switch_to(d, mode);
}

int jetwattd_put_low(struct jetwattd *d, const struct jetwatt_mode *to)
{
	struct jetwatt_mode low[] = { *to, d->floor, d->floor, d->floor }, now;
	/* Not jetwattd_mind(): a restore would first write the clocks that were found. */
	int n = 2, err = verify(d);

	for (int i = 0; i < n && err != -EBUSY; i++) {
		if (i && jetwatt_mode_same(&low[i], &low[i - 1]))
			continue;
		err = switch_to(d, &low[i]);
		if (!err) {
			d->low = low[i];
			d->low_ns = i > 1 ? d->switched_ns : 0;
			return 0;
		}
		/* Not to be tried at the next step down. */
		if (d->have_safe && jetwatt_mode_same(&low[i], &d->safe))
			d->have_safe = 0;
		/* What is online has to be known only now. */
		if (n == 2 && !jetwatt_board_read(d->board, &now)) {
			low[2].cores = low[3].cores = now.cores;
			low[3].emc_hz = now.emc_hz;
			n = 4;
		}
	}
	return err;
}

int jetwattd_put_back(struct jetwattd *d)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_restore(d->board, &e);

	/* Of another jetwatt's nothing is ours. */
	if (err == -EBUSY && !d->applied)
		return 0;
	/* jetwatt-knobs has gone, and restores the board as it goes. */
	if (err == -EPIPE) {
		jetwattd_unguarded(d);
		return err;
	}
	if (err && err != -ENOENT) {
		/* Tried again every second or two: once is enough to say it. */
		if (d->doing != JETWATTD_RESTORING)
			jetwatt_error_board(err, &e);
		d->count.unrestored++;
		d->mixed = 1;
		jetwattd_enter(d, JETWATTD_RESTORING);
		snprintf(d->why, sizeof(d->why), "restoring: %.200s", e.what);
		return err;
	}
	if (d->doing == JETWATTD_RESTORING) {
		jetwatt_error_note("the board is as it was found");
		jetwattd_enter(d, d->pause ? JETWATTD_PAUSED : JETWATTD_IDLE);
	}
	d->applied = d->mixed = 0;
	return 0;
}

int jetwattd_put_back_last(struct jetwattd *d)
{
	/* The first switch of all may have failed half-way. */
	int err = d->applied || d->mixed ? jetwattd_put_back(d) : 0;

	for (int i = 0; err == -EIO && i < LAST_TRIES; i++) {
		sleep(1);
		err = jetwattd_put_back(d);
	}
	return err;
}

int jetwattd_usable(struct jetwattd *d, const struct jetwattd_policy *p)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_mode mode;

	if (!*p->idle || (!jetwatt_board_mode_parse(d->board, p->idle, &mode) &&
			  !jetwatt_board_has(d->board, &mode, &e)))
		return 0;
	return jetwatt_error_say(JETWATT_EXIT_USAGE, *e.what ? e.what : NULL, "jetwatt list modes",
				 "idle = %s is no mode", p->idle);
}

void jetwattd_say(struct jetwattd *d, const char *text, ...)
{
	char why[sizeof(d->why)];
	va_list ap;

	va_start(ap, text);
	vsnprintf(why, sizeof(why), text, ap);
	va_end(ap);
	jetwatt_error_note("%s", why);
	pthread_mutex_lock(&d->lock);
	memcpy(d->why, why, sizeof(why));
	pthread_mutex_unlock(&d->lock);
}
