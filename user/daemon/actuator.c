// SPDX-License-Identifier: GPL-2.0-only
/* The actuator: apply, verify and restore power modes for the loop and the cap, on user/board. */
#include "daemon/actuator.h"

#include <errno.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

/* With "others = reassert": a change of a knob by another process is reverted this many times;
 * the change after that is left in force. jetwattd(8), jetwattd.conf(5), dist/jetwattd.conf,
 * doc/fleet.md ("fourth, eighth") and README.md ("every fourth") state it. */
#define FIGHTS		3
/* Number of further attempts to restore the board at the end, 1 s apart. */
#define LAST_TRIES	3

static int actuator_switch(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_apply(a->board, mode, &e);

	if (!err) {
		a->mode = *mode;
		a->applied = 1;
		/* Cancel a pending retry of a restore, which would replace the mode that was
		 * just applied. */
		a->busy = a->mixed = a->restoring = 0;
		a->switched_ns = jetwatt_clock_ns();
		a->notify(a->to, JETWATTD_SWITCHED, mode, "");
		return 0;
	}
	/* Another process holds the lease, or thermal throttling prevents saving the knobs: no knob
	 * has refused the mode. */
	if (err == -EBUSY || err == -EAGAIN) {
		if (!a->busy)
			jetwatt_error_board(err, &e);
		a->busy = 1;
		/* Cancel a pending restore: when jetwattd gets the lease again, the saved state
		 * may be that of another process. */
		a->restoring = 0;
		a->notify(a->to, JETWATTD_LEASED, NULL, e.why);
		return -EBUSY;
	}
	if (err == -EPIPE) {
		a->notify(a->to, JETWATTD_UNGUARDED, NULL, "");
		return -EBUSY;
	}
	a->refused++;
	/* After a switch that failed half-way, a later verification must not take the difference
	 * for a change by another process. */
	a->mixed |= err == -ENOTRECOVERABLE;
	jetwatt_error_board(err, &e);
	return err;
}

/* Check that the knobs still have the applied mode; with @reassert, apply it again. Return: 0;
 * -EBUSY if another process has changed a knob and keeps its value. */
static int actuator_verify(struct jetwattd_actuator *a)
{
	struct jetwatt_error_text e;

	if (!a->applied || a->mixed || jetwatt_board_verify(a->board, &a->mode, &e) != -ESTALE)
		return 0;
	a->others++;
	jetwatt_notice("another process has changed a knob: %s", e.what);
	if (a->reassert && a->others % (FIGHTS + 1) && !actuator_switch(a, &a->mode))
		return 0;
	/* A later restore must not overwrite the other process's settings. */
	jetwatt_board_forget(a->board);
	a->applied = 0;
	a->ceded = 1;
	a->notify(a->to, JETWATTD_CEDED, NULL, e.what);
	return -EBUSY;
}

int jetwattd_check_knobs(struct jetwattd_actuator *a)
{
	return a->restoring && !a->floor_only ? jetwattd_restore(a) : actuator_verify(a);
}

int jetwattd_apply(struct jetwattd_actuator *a, const struct jetwatt_mode *mode)
{
	int err;

	/* While power samples are missing, refuse other modes than the lowest: the loop may have
	 * chosen the mode before the samples stopped. */
	if (a->floor_only && !jetwatt_mode_same(mode, &a->floor))
		return -EBUSY;
	/* Verify the knobs before a switch, which would silently overwrite a change by another
	 * process. */
	err = actuator_verify(a);
	return err ? err : actuator_switch(a, mode);
}

int jetwattd_apply_low(struct jetwattd_actuator *a, const struct jetwatt_mode *to)
{
	struct jetwatt_mode low[] = { *to, a->floor, a->floor, a->floor }, now;
	/* Do not call jetwattd_check_knobs() here: it may retry a restore, which would raise the
	 * clocks first. */
	int n = 2, err = actuator_verify(a);

	for (int i = 0; i < n && err != -EBUSY; i++) {
		if (i && jetwatt_mode_same(&low[i], &low[i - 1]))
			continue;
		err = actuator_switch(a, &low[i]);
		if (!err) {
			a->low = low[i];
			a->low_ns = i > 1 ? a->switched_ns : 0;
			return 0;
		}
		a->notify(a->to, JETWATTD_LOW_REFUSED, &low[i], "");
		/* The fallback modes keep the cores that are online, and the last of them also
		 * keeps the memory clock. */
		if (n == 2 && !jetwatt_board_read(a->board, &now)) {
			low[2].cores = low[3].cores = now.cores;
			low[3].emc_hz = now.emc_hz;
			n = 4;
		}
	}
	return err;
}

int jetwattd_restore(struct jetwattd_actuator *a)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_restore(a->board, &e);

	/* Another jetwatt holds the lease, and jetwattd has applied nothing. */
	if (err == -EBUSY && !a->applied)
		return 0;
	/* jetwatt-knobs has ended; it restores the board when it ends. */
	if (err == -EPIPE) {
		a->notify(a->to, JETWATTD_UNGUARDED, NULL, "");
		return err;
	}
	if (err && err != -ENOENT) {
		/* The restore is retried every one or two seconds; report the failure only once. */
		if (!a->restoring)
			jetwatt_error_board(err, &e);
		a->unrestored++;
		a->mixed = a->restoring = 1;
		a->notify(a->to, JETWATTD_UNRESTORED, NULL, e.what);
		return err;
	}
	if (a->restoring) {
		jetwatt_notice("board restored: the knob that had refused accepts the saved state now");
		a->notify(a->to, JETWATTD_RESTORED, NULL, "");
	}
	a->applied = a->mixed = a->restoring = 0;
	return 0;
}

int jetwattd_restore_at_end(struct jetwattd_actuator *a)
{
	/* Restore also if @mixed is set without an applied mode: the very first switch may have
	 * failed half-way. */
	int err = a->applied || a->mixed ? jetwattd_restore(a) : 0;

	for (int i = 0; err == -EIO && i < LAST_TRIES; i++) {
		sleep(1);
		err = jetwattd_restore(a);
	}
	return err;
}
