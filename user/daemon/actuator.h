/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The actuator: the part of jetwattd that applies a power mode, verifies it, and restores the board's
 * saved state. (At the start, main.c restores what a killed process has left applied.) The actuator
 * knows neither budgets nor jobs; it reports what happens to the board by events.
 *
 * Not thread-safe: the callers hold jetwattd's lock, and events are delivered under it.
 */
#ifndef JETWATT_DAEMON_ACTUATOR_H
#define JETWATT_DAEMON_ACTUATOR_H

#include <stdint.h>

#include "board/board.h"

/**
 * enum jetwattd_event - events of the actuator
 * @JETWATTD_SWITCHED: a mode has been applied
 * @JETWATTD_LOW_REFUSED: a mode could not be applied during a step down
 * @JETWATTD_CEDED: another process has changed a knob and keeps its value; the saved state
 *	is forgotten
 * @JETWATTD_LEASED: another jetwatt holds the lease of the board, or thermal throttling hides the
 *	value of a clock, so the knobs cannot be saved
 * @JETWATTD_UNRESTORED: a restore has failed, usually because a knob refused the saved state
 * @JETWATTD_RESTORED: the saved state is applied, after a restore had failed
 * @JETWATTD_UNGUARDED: the process that would restore the board if jetwattd were killed has ended
 */
enum jetwattd_event {
	JETWATTD_SWITCHED,
	JETWATTD_LOW_REFUSED,
	JETWATTD_CEDED,
	JETWATTD_LEASED,
	JETWATTD_UNRESTORED,
	JETWATTD_RESTORED,
	JETWATTD_UNGUARDED,
};

/* Receiver of events. @mode: the mode that JETWATTD_SWITCHED or JETWATTD_LOW_REFUSED is about,
 * else NULL; @why: reason of the event in one line, or empty. */
typedef void (*jetwattd_event_fn)(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode,
				  const char *why);

/**
 * struct jetwattd_actuator - the board and the mode that was applied to it
 *
 * The caller sets:
 * @board: the open board; its guardian process has been started
 * @notify: receiver of events
 * @to: first argument of the callback @notify
 * @reassert: setting of the policy: apply the mode again when another process changes a knob,
 *	except at every fourth change
 * @floor_only: 1: jetwattd_apply() refuses any mode except @floor, and a restore is not retried,
 *	because power samples are missing
 * @floor: the lowest mode
 *
 * The actuator sets:
 * @mode: the mode applied last
 * @low: mode that the last step down applied; if @low_ns is not 0, a knob refused @floor, and @low is
 *	@floor with some knobs as they were
 * @applied: 1: @mode was applied, and neither a restore nor JETWATTD_CEDED has followed; 0: no mode
 *	is applied
 * @mixed: 1: a switch or a restore failed half-way, so the knobs match no known mode
 * @restoring: 1: a restore has failed and is retried
 * @busy: 1: JETWATTD_LEASED was sent, and no mode has been applied since
 * @ceded: 1: another process has changed a knob and keeps its value. While @ceded is 1, the
 *	policy's idle mode is not applied; a policy reload and a pause clear it.
 * @switched_ns: time of the last switch of mode, ns, CLOCK_MONOTONIC
 * @low_ns: time at which @low was applied, ns; 0: @floor was not refused at the last step down
 * @others: number of changes of a knob by another process
 * @refused: number of switches of mode that a knob refused
 * @unrestored: number of restores that have failed
 */
struct jetwattd_actuator {
	struct jetwatt_board *board;
	jetwattd_event_fn notify;
	void *to;
	int reassert, floor_only;
	struct jetwatt_mode floor;

	struct jetwatt_mode mode, low;
	int applied, mixed, restoring, busy, ceded;
	uint64_t switched_ns, low_ns;
	uint64_t others, refused, unrestored;
};

/* Return: 1: mode @m is applied. No mode is applied after a switch or a restore that failed
 * half-way. */
static inline int jetwattd_is_applied(const struct jetwattd_actuator *a, const struct jetwatt_mode *m)
{
	return a->applied && !a->mixed && jetwatt_mode_same(&a->mode, m);
}

/* Time after which the lowest mode is tried again if a knob has refused it, in ns. */
#define JETWATTD_LOW_NS		10000000000ull

/* Apply a mode. Return: 0; -EBUSY: another process controls the board, thermal throttling hides the
 * value of a clock, only the lowest mode may be applied, or the process that restores the knobs has
 * ended; other negative errno, reported. */
int jetwattd_apply(struct jetwattd_actuator *a, const struct jetwatt_mode *mode);
/* Step down to @to. If a knob refuses the mode to step down to, try the lowest mode, then the
 * lowest clocks with the cores that are online, then these clocks with the present memory clock.
 * Return: as jetwattd_apply(). */
int jetwattd_apply_low(struct jetwattd_actuator *a, const struct jetwatt_mode *to);
/* Verify that the knobs still have the applied mode; or retry a restore that has failed.
 * Return: as jetwattd_apply() or jetwattd_restore(). */
int jetwattd_check_knobs(struct jetwattd_actuator *a);

/* Restore the saved state of the board. If that fails, jetwattd_check_knobs() retries it until it
 * succeeds, a mode is applied or JETWATTD_LEASED is sent. Return: 0, also if nothing was saved or
 * applied; -EPIPE: jetwatt-knobs has ended; other negative errno, reported at the first attempt. */
int jetwattd_restore(struct jetwattd_actuator *a);
/* Restore the saved state when jetwattd ends, if a mode was applied at least in part. A restore that
 * a knob refuses is retried at most three times, 1 s apart. Return: as
 * jetwattd_restore(). */
int jetwattd_restore_at_end(struct jetwattd_actuator *a);

#endif
