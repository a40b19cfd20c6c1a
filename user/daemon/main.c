// SPDX-License-Identifier: GPL-2.0-only
/* jetwattd: options, policy, restriction of system calls, board; then the main loop (loop.c). */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/remote.h"
#include "daemon/jetwattd.h"
#include "measure/connect.h"
#include "util/args.h"
#include "util/error.h"
#include "util/seccomp.h"

enum { CONF = 'c', BUDGET = 'w', CHECK = JETWATT_ARGS_LONG };

/* Allocations of at least this size, in bytes, return to the system when they are freed. By default
 * glibc raises this threshold with the sizes that are freed, and keeps more memory. */
#define LARGE		(64 << 10)

struct jetwattd_input {
	struct jetwatt_args args;
	const char *conf;
	double budget_w;
	int check;
};

static const struct argp_option options[] = {
	{ "conf", CONF, "FILE", 0, "Policy file (default: " JETWATTD_CONF ")", 0 },
	{ "power", BUDGET, "WATTS", 0, "Power budget; replaces all budgets of the policy", 0 },
	{ "check", CHECK, NULL, 0, "Check the policy file, report errors, and exit", 0 },
	{ 0 }
};

static error_t jetwattd_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwattd_input *in = state->input;

	switch (key) {
	case CONF:
		in->conf = arg;
		break;
	case BUDGET:
		in->budget_w = jetwatt_args_quantity("--power", arg, "W", 0.1, 1000);
		break;
	case CHECK:
		in->check = 1;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Restore the board and thaw all jobs if an earlier jetwattd or command was killed: otherwise the
 * mode that it left would be saved as the board's own state. Return: 0 or an exit code. */
static int restore_leftover(struct jetwatt_board *b)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_restore(b, &e);

	jetwatt_board_thaw_all(b);
	if (!err)
		jetwatt_notice("board restored: an earlier jetwatt had left a mode applied");
	/* -ENOENT: no mode was left applied; -EBUSY: another jetwatt has applied the mode and
	 * still runs. */
	return !err || err == -ENOENT || err == -EBUSY ? 0 : jetwatt_error_board(err, &e);
}

/* Open the board. If jetwattd runs without root's rights, jetwatt-knobs writes the knobs.
 * Return: 0 or an exit code. */
static int open_board(struct jetwattd *d)
{
	struct jetwatt_board_roots roots = { .knobs = geteuid() ? JETWATT_REMOTE_SOCKET : NULL };
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_open(&d->act.board, &roots, &e);

	d->by_remote = roots.knobs != NULL;
	if (err)
		return jetwatt_error_board(err, &e);
	/* A missing knob is not fatal: the budget is enforced with the other knobs, and metrics
	 * need no knob. */
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *lack = jetwatt_board_lacks(d->act.board, k);

		if (lack && jetwatt_knob_row(k)->hz && !jetwatt_knob_row(k)->optional)
			jetwatt_notice("%s: %s; fix: %s", lack->what, lack->why, lack->fix);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwattd_input in = { .conf = NULL };
	struct jetwattd_policy policy;
	struct jetwattd d = { .policy = &policy, .lock = PTHREAD_MUTEX_INITIALIZER,
			      .act = { .notify = jetwattd_on_event, .to = &d } };
	int err;

	mallopt(M_MMAP_THRESHOLD, LARGE);
	jetwatt_telemetry_clear(&d.telemetry.telemetry);
	jetwatt_args_parse("jetwattd", "", "Enforce a power budget, and find the best power mode within it for "
			   "each GPU job while the job runs.", options, jetwattd_parse, argc, argv, &in);
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (err || in.check)
		return err;
	d.conf = in.conf ? in.conf : JETWATTD_CONF;
	d.conf_must = in.conf != NULL;
	d.power_w = in.budget_w;
	jetwattd_policy_override(&policy, d.power_w);
	d.verbose = in.args.verbose;
	d.act.reassert = policy.reassert;
	/* Install the filter before any thread exists, so that it covers all threads: a
	 * compromised jetwattd must not be able to reach into another process. */
	err = jetwatt_seccomp_deny();
	if (jetwatt_seccomp_unsupported(err))
		jetwatt_notice("running without a system call filter: this kernel lacks CONFIG_SECCOMP_FILTER");
	else if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 "allow seccomp(2) in the service or container",
					 "cannot install the system call filter");
	err = jetwatt_check_kernel();
	if (!err)
		err = open_board(&d);
	if (err)
		return err;
	err = restore_leftover(d.act.board);
	if (!err && jetwatt_board_guardian(d.act.board, &e))
		err = jetwatt_error_board(-EAGAIN, &e);
	if (!err)
		err = jetwattd_loop(&d);
	jetwatt_board_close(d.act.board);
	return err;
}
