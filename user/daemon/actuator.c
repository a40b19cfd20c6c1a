// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/actuator.h"

#include <errno.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

/* Knobs that were turned back more often than that are another process's. */
#define FIGHTS		3
/* Further restores of the board at the end, one a second. */
#define LAST_TRIES	3

static int switch_to(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_apply(a->board, mode, &e);

	if (!err) {
		a->mode = *mode;
		a->applied = 1;
		/* The state that was found is not tried again over this mode. */
		a->busy = a->mixed = a->restoring = 0;
		a->switched_ns = jetwatt_clock_ns();
		a->tell(a->to, JETWATTD_SWITCHED, mode, "");
		return 0;
	}
	/* The board is not ours for now, which says nothing of the mode. */
	if (err == -EBUSY || err == -EAGAIN) {
		if (!a->busy)
			jetwatt_error_board(err, &e);
		a->busy = 1;
		/* Whoever gets the board back later begins anew. */
		a->restoring = 0;
		a->tell(a->to, JETWATTD_LEASED, NULL, e.why);
		return -EBUSY;
	}
	if (err == -EPIPE) {
		a->tell(a->to, JETWATTD_UNGUARDED, NULL, "");
		return -EBUSY;
	}
	a->refused++;
	/* What the knobs are now is our own doing. */
	a->mixed |= err == -ENOTRECOVERABLE;
	jetwatt_error_board(err, &e);
	return err;
}

/* The knobs that we have put. */
static int verify(struct jetwattd_actuator *a)
{
	struct jetwatt_error_text e;

	if (!a->applied || a->mixed || jetwatt_board_verify(a->board, &a->mode, &e) != -ESTALE)
		return 0;
	a->others++;
	jetwatt_error_note("another process has turned a knob: %s", e.what);
	if (a->reassert && a->others % (FIGHTS + 1) && !switch_to(a, &a->mode))
		return 0;
	/* What was saved is not that process's: nothing of ours is to come back over it. */
	jetwatt_board_forget(a->board);
	a->applied = 0;
	a->ceded = 1;
	a->tell(a->to, JETWATTD_CEDED, NULL, e.what);
	return -EBUSY;
}

int jetwattd_mind(struct jetwattd_actuator *a)
{
	return a->restoring && !a->floor_only ? jetwattd_put_back(a) : verify(a);
}

int jetwattd_put(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	int err;

	/* The loop may be on its way to the mode that it has just chosen. */
	if (a->floor_only && !jetwatt_mode_same(mode, &a->floor))
		return -EBUSY;
	/* A switch would take back what another process has done, unseen. */
	err = verify(a);
	return err ? err : switch_to(a, mode);
}

int jetwattd_put_low(struct jetwattd_actuator *a, const struct jetwatt_mode *to)
{
	struct jetwatt_mode low[] = { *to, a->floor, a->floor, a->floor }, now;
	/* Not jetwattd_mind(): a restore would first write the clocks that were found. */
	int n = 2, err = verify(a);

	for (int i = 0; i < n && err != -EBUSY; i++) {
		if (i && jetwatt_mode_same(&low[i], &low[i - 1]))
			continue;
		err = switch_to(a, &low[i]);
		if (!err) {
			a->low = low[i];
			a->low_ns = i > 1 ? a->switched_ns : 0;
			return 0;
		}
		a->tell(a->to, JETWATTD_LOW_REFUSED, &low[i], "");
		/* What is online has to be known only now. */
		if (n == 2 && !jetwatt_board_read(a->board, &now)) {
			low[2].cores = low[3].cores = now.cores;
			low[3].emc_hz = now.emc_hz;
			n = 4;
		}
	}
	return err;
}

int jetwattd_put_back(struct jetwattd_actuator *a)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_restore(a->board, &e);

	/* Of another jetwatt's nothing is ours. */
	if (err == -EBUSY && !a->applied)
		return 0;
	/* jetwatt-knobs has gone, and restores the board as it goes. */
	if (err == -EPIPE) {
		a->tell(a->to, JETWATTD_UNGUARDED, NULL, "");
		return err;
	}
	if (err && err != -ENOENT) {
		/* Tried again every second or two: once is enough to say it. */
		if (!a->restoring)
			jetwatt_error_board(err, &e);
		a->unrestored++;
		a->mixed = a->restoring = 1;
		a->tell(a->to, JETWATTD_UNRESTORED, NULL, e.what);
		return err;
	}
	if (a->restoring) {
		jetwatt_error_note("the board is as it was found");
		a->tell(a->to, JETWATTD_RESTORED, NULL, "");
	}
	a->applied = a->mixed = a->restoring = 0;
	return 0;
}

int jetwattd_put_back_last(struct jetwattd_actuator *a)
{
	/* The first switch of all may have failed half-way. */
	int err = a->applied || a->mixed ? jetwattd_put_back(a) : 0;

	for (int i = 0; err == -EIO && i < LAST_TRIES; i++) {
		sleep(1);
		err = jetwattd_put_back(a);
	}
	return err;
}
