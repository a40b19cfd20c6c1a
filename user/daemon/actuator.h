/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The actuator: the only part of jetwattd that applies a power mode, verifies it, and restores the
 * board. It knows neither budgets nor jobs; what happens to the board it tells by events.
 *
 * Not thread-safe: jetwattd calls it under its lock, and gets the events under it.
 */
#ifndef JETWATT_DAEMON_ACTUATOR_H
#define JETWATT_DAEMON_ACTUATOR_H

#include <stdint.h>

#include "board/board.h"

/**
 * enum jetwattd_event - what the actuator tells
 * @JETWATTD_SWITCHED: a mode is in force
 * @JETWATTD_LOW_REFUSED: a knob has refused this mode, on the way down
 * @JETWATTD_CEDED: another process has turned a knob; what was saved is forgotten
 * @JETWATTD_LEASED: another jetwatt holds the lease of the board
 * @JETWATTD_UNRESTORED: a knob has refused the state that was found
 * @JETWATTD_RESTORED: after that, it is in force
 * @JETWATTD_UNGUARDED: nothing would restore the board if jetwattd were killed
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

/* @mode: of SWITCHED and LOW_REFUSED, else NULL; @why: one line, or empty. */
typedef void (*jetwattd_event_fn)(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode,
				  const char *why);

/**
 * struct jetwattd_actuator - the board, and what was applied to it
 * @board: opened, and given a guardian, by the caller
 * @tell, @to: of each event
 * @reassert: of the policy: a knob that another process has turned is turned back
 * @floor: lowest mode there is
 * @floor_only: no other mode is applied, and nothing is restored: power can't be read
 * @mode, @applied: the mode that was applied, at @switched_ns; it is in force
 * @mixed: a switch or a restore has failed half-way, so the knobs are in no state that can be
 *	compared with @mode
 * @restoring: a knob has refused the state that was found
 * @low: lowest clocks with the cores that were online, as a knob refused @floor at @low_ns; 0: none
 *	did
 * @busy: another jetwatt held the lease at the last switch
 * @ceded: another process has turned a knob, and the policy leaves it that: until the policy is read
 *	again or jetwattd was paused the policy's idle mode is not applied
 * @others: knobs that another process has turned; @refused: switches that a knob has refused;
 *	@unrestored: restores that a knob has refused
 */
struct jetwattd_actuator {
	struct jetwatt_board *board;
	jetwattd_event_fn tell;
	void *to;
	int reassert, floor_only;
	struct jetwatt_mode floor;

	struct jetwatt_mode mode, low;
	int applied, mixed, restoring, busy, ceded;
	uint64_t switched_ns, low_ns;
	uint64_t others, refused, unrestored;
};

/* Is mode @m in force? After a switch or a restore that has failed half-way none is. */
static inline int jetwattd_in(const struct jetwattd_actuator *a, const struct jetwatt_mode *m)
{
	return a->applied && !a->mixed && jetwatt_mode_same(&a->mode, m);
}

/* A refused lowest mode is tried again after this time. */
#define JETWATTD_LOW_NS		10000000000ull

/* Return, of these three: 0; -EBUSY: the board is another process's, or @mode is not the lowest and
 * only that may be applied; other negative errno, said. */
int jetwattd_put(struct jetwattd_actuator *a, const struct jetwatt_mode *mode);
/* Step down to @to. Where a knob refuses: to the lowest mode, then to the lowest clocks with the
 * cores that are online, then to those without the memory's. */
int jetwattd_put_low(struct jetwattd_actuator *a, const struct jetwatt_mode *to);
/* Are the knobs as they were put? A restore that was refused is tried again. */
int jetwattd_mind(struct jetwattd_actuator *a);

/* The board as it was found. If a knob refuses, jetwattd_mind() tries again, until a mode is put.
 * Return: 0; -EPIPE: jetwatt-knobs has gone; other negative errno, said. */
int jetwattd_put_back(struct jetwattd_actuator *a);
/* The same as jetwattd ends, if there is anything to put back: a restore that is refused is tried
 * again at once. */
int jetwattd_put_back_last(struct jetwattd_actuator *a);

#endif
