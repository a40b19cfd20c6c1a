// SPDX-License-Identifier: GPL-2.0-only
/* Check, save, apply, verify, restore and forget modes: board.h says what each function does. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "board/remote.h"

static void error_clear(struct jetwatt_error_text *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
}

int jetwatt_board_refuse_throttled(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	if (!jetwatt_board_throttled(b))
		return 0;
	jetwatt_board_error_set(err, -EAGAIN, "thermal throttling limits a clock");
	jetwatt_error_why(err, "throttling hides the value that was set for a clock, "
			       "so jetwatt could not restore that value");
	jetwatt_error_fix(err, "let the board cool, then try again");
	return -EAGAIN;
}

/* Take the lease, and save the knobs unless a state of this boot is saved already.
 * *@created: a state was saved now. Return: as jetwatt_board_save(). */
static int save_state(struct jetwatt_board *b, bool *created, struct jetwatt_error_text *err)
{
	int rc;

	*created = false;
	rc = jetwatt_lease_take(b, err);
	if (rc || b->have_saved)
		return rc;
	rc = jetwatt_saved_load(b, err);
	if (rc != 1 && rc != -ENOENT)
		return rc;
	rc = jetwatt_board_refuse_throttled(b, err);
	if (!rc)
		rc = jetwatt_state_read(b, &b->saved, err);
	/* Throttling may have begun while the clocks were read. */
	if (!rc)
		rc = jetwatt_board_refuse_throttled(b, err);
	if (rc)
		return rc;
	rc = jetwatt_saved_store(b, err);
	b->have_saved = *created = !rc;
	return rc;
}

int jetwatt_board_save(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	bool had_lease = b->lease >= 0, created;
	int rc;

	rc = save_state(b, &created, err);
	if (rc && !had_lease)
		jetwatt_lease_release(b);
	if (!rc)
		error_clear(err);
	return rc;
}

/* Report that @v is not a level. @below, @above: the nearest levels of the knob below and above
 * @v, 0: none. */
static void report_no_level(struct jetwatt_error_text *err, const struct jetwatt_knob_row *row,
			    uint64_t v, uint64_t below, uint64_t above)
{
	const char *unit = row->hz == 1 ? " Hz" : row->hz ? " kHz" : "";

	jetwatt_board_error_set(err, -EINVAL, "%s has no level %" PRIu64 "%s", row->label, v,
				unit);
	if (below && above)
		jetwatt_error_why(err, "the nearest levels are %" PRIu64 " and %" PRIu64, below,
				  above);
	else
		jetwatt_error_why(err, "the nearest level is %" PRIu64, below ? below : above);
	jetwatt_error_fix(err, "run jetwatt list modes for the modes of this board");
}

/* If the board lacks the knob, add to @err why the knob is missing. Return: -EINVAL. */
static int report_missing_knob(const struct jetwatt_board *b, enum jetwatt_knob knob,
			       struct jetwatt_error_text *err)
{
	const struct jetwatt_error_text *lack = jetwatt_board_lacks(b, knob);

	if (lack && err) {
		char wanted[128];

		snprintf(wanted, sizeof(wanted), "%.127s", err->what);
		*err = *lack;
		snprintf(err->what, sizeof(err->what), "%.120s: %.130s", wanted, lack->what);
	}
	return -EINVAL;
}

int jetwatt_board_check_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
		      struct jetwatt_error_text *err)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t v = jetwatt_mode_get(m, k), below = 0, above = 0;
		bool there = row->optional && !v;

		for (int i = 0; i < b->nr_levels[k]; i++) {
			there |= b->level[k][i] == v;
			if (b->level[k][i] < v)
				below = b->level[k][i];
			else if (!above)
				above = b->level[k][i];
		}
		if (there)
			continue;
		report_no_level(err, row, v, below, above);
		return report_missing_knob(b, k, err);
	}
	return 0;
}

/* A policy whose cores are offline in both the saved state and @target goes back to the clocks of
 * the saved state, before its cores go offline again. */
static void keep_offline_policies(const struct jetwatt_board *b, struct jetwatt_board_state *target)
{
	for (int p = 0; p < b->policies; p++)
		if (!jetwatt_cpu_policy_used(b, target, p) && !jetwatt_cpu_policy_used(b, &b->saved, p) &&
		    b->saved.policy[p].known)
			target->policy[p] = b->saved.policy[p];
}

/* Replace a range that throttling has lowered by the range that this process has set. */
static void range_unthrottle(const struct jetwatt_board *b, struct jetwatt_knob_range *is,
			     const struct jetwatt_knob_range *set)
{
	if (is->known && set->known && jetwatt_check_throttled(b, is, set))
		*is = *set;
}

/* During throttling, a clock reads lower than what this process has set. A roll-back to the lower
 * clock would limit the clock also after the throttling. */
static void state_unthrottle(const struct jetwatt_board *b, struct jetwatt_board_state *before)
{
	if (!b->have_applied)
		return;
	for (int p = 0; p < b->policies; p++)
		range_unthrottle(b, &before->policy[p], &b->applied.policy[p]);
	jetwatt_each_knob(k)
		range_unthrottle(b, &before->range[k], &b->applied.range[k]);
}

/* Roll back to @before after the failure @rc, and add the outcome to @err, which already says
 * what failed. Return: error for the caller of jetwatt_board_apply(). */
static int roll_back(struct jetwatt_board *b, const struct jetwatt_board_state *before, int rc,
		     struct jetwatt_error_text *err)
{
	struct jetwatt_error_text second = { 0 };
	size_t len = err ? strlen(err->what) : 0;

	if (jetwatt_switch_to(b, before, NULL, true, &second) |
	    jetwatt_state_check(b, before, &second)) {
		if (err) {
			snprintf(err->what + len, sizeof(err->what) - len,
				 "; the roll-back failed too: %.100s", second.what);
			snprintf(err->fix, sizeof(err->fix),
				 "run jetwatt restore; if that fails too, reboot");
		}
		return -ENOTRECOVERABLE;
	}
	if (err)
		snprintf(err->what + len, sizeof(err->what) - len, " (rolled back)");
	return rc == -EPERM || rc == -ENOMEM ? rc : -EIO;
}

int jetwatt_board_apply(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			struct jetwatt_error_text *err)
{
	struct jetwatt_board_state before, target;
	bool had_lease = b->lease >= 0, created = false;
	int rc;

	if (b->by_remote)
		return jetwatt_remote_request(b, "apply", mode, err);
	rc = jetwatt_board_check_mode(b, mode, err);
	if (rc)
		return rc;
	rc = save_state(b, &created, err);
	if (rc)
		goto out;
	rc = jetwatt_state_read(b, &before, err);
	if (rc)
		goto out;
	state_unthrottle(b, &before);
	rc = jetwatt_state_of_mode(b, mode, &target);
	if (rc)
		goto out;
	keep_offline_policies(b, &target);
	rc = jetwatt_switch_to(b, &target, &before, false, err);
	if (!rc)
		rc = jetwatt_state_check(b, &target, err);
	if (rc)
		rc = roll_back(b, &before, rc, err);
out:
	if (!rc) {
		b->applied = target;
		b->have_applied = true;
		error_clear(err);
		return 0;
	}
	if (rc == -ENOTRECOVERABLE)
		b->have_applied = false;
	/* After a roll-back the board is as it was found, so nothing has to be restored later. */
	if (created && rc != -ENOTRECOVERABLE)
		jetwatt_saved_delete(b, NULL);
	if (!had_lease && rc != -ENOTRECOVERABLE)
		jetwatt_lease_release(b);
	return rc;
}

int jetwatt_board_verify(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			 struct jetwatt_error_text *err)
{
	struct jetwatt_board_state want;
	int rc;

	if (b->by_remote)
		return jetwatt_remote_request(b, "verify", mode, err);
	rc = jetwatt_board_check_mode(b, mode, err);
	if (!rc)
		rc = jetwatt_state_of_mode(b, mode, &want);
	if (!rc)
		rc = jetwatt_state_check(b, &want, err);
	if (!rc)
		error_clear(err);
	return rc;
}

int jetwatt_board_forget(struct jetwatt_board *b)
{
	int rc;

	if (b->by_remote)
		return jetwatt_remote_request(b, "forget", NULL, NULL);
	/* Without the lease, the saved state belongs to another process. */
	if (b->lease < 0)
		return -ENOENT;
	/* The other program may have switched cores on. */
	jetwatt_cpuset_restore(b, NULL);
	rc = jetwatt_saved_delete(b, NULL);
	jetwatt_lease_release(b);
	return rc;
}

static int report_nothing_saved(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	jetwatt_board_error_set(err, -ENOENT, "nothing to restore");
	jetwatt_error_why(err,
			  "no mode was applied in this boot, or the board was restored already: "
			  "%s has no saved state of this boot",
			  b->state);
	return -ENOENT;
}

int jetwatt_board_restore(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	bool had_lease = b->lease >= 0;
	int rc, first = 0, owner;

	if (b->by_remote)
		return jetwatt_remote_request(b, "restore", NULL, err);
	/* Check first whether a saved state exists: if there is none, the process needs no right
	 * to write. */
	if (!had_lease && !jetwatt_board_saved_owner(b, &owner))
		return report_nothing_saved(b, err);
	rc = jetwatt_lease_take(b, err);
	if (rc)
		return rc;
	/* Load the saved state from the file even if it is in memory: a restore after a crash
	 * takes the same path. */
	rc = jetwatt_saved_load(b, err);
	/* The file was deleted although this process holds the lease: use the state in memory. */
	if (rc == -ENOENT && b->have_saved)
		rc = 0;
	if (rc == 1 || rc == -ENOENT)
		rc = report_nothing_saved(b, err);
	if (rc)
		goto out;
	first = jetwatt_switch_to(b, &b->saved, NULL, true, err);
	rc = jetwatt_state_check(b, &b->saved, first ? NULL : err);
	if (!rc)
		rc = jetwatt_saved_delete(b, err);
	else if (first == -EPERM)
		rc = -EPERM;
	else
		rc = -EIO;
out:
	if (!rc)
		error_clear(err);
	if (!rc || !had_lease)
		jetwatt_lease_release(b);
	return rc;
}
