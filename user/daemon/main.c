// SPDX-License-Identifier: GPL-2.0-only
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
#include "util/fence.h"

enum { CONF = 'c', BUDGET = 'w', CHECK = JETWATT_ARGS_LONG };

/* What is larger than that goes back to the system as soon as it is freed: left to itself, the
 * library keeps more the larger what was freed before. */
#define LARGE		(64 << 10)

struct jetwattd_input {
	struct jetwatt_args args;
	const char *conf;
	double budget_w;
	int check;
};

static const struct argp_option options[] = {
	{ "conf", CONF, "FILE", 0, "The policy (" JETWATTD_CONF ")", 0 },
	{ "power", BUDGET, "WATTS", 0, "The budget, instead of the policy's", 0 },
	{ "check", CHECK, NULL, 0, "Only read the policy and say what is wrong with it", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
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

/* What a daemon before us, or a command, has left is not what the board was; whom it held
 * is let go. */
static int leftovers(struct jetwatt_board *b)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_restore(b, &e);

	jetwatt_board_thaw(b);
	if (!err)
		jetwatt_error_note("a mode was applied and not taken back: it is now");
	/* Nothing, or another jetwatt's. */
	return !err || err == -ENOENT || err == -EBUSY ? 0 : jetwatt_error_board(err, &e);
}

/* Who may not write knobs has them written. */
static int reach_board(struct jetwattd *d)
{
	struct jetwatt_board_roots roots = { .knobs = geteuid() ? JETWATT_REMOTE_SOCKET : NULL };
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_open(&d->act.board, &roots, &e);

	d->by_remote = roots.knobs != NULL;
	if (err)
		return jetwatt_error_board(err, &e);
	/* Metrics need no knob; a budget is held with those that there are. */
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *lack = jetwatt_board_lacks(d->act.board, k);

		if (lack && jetwatt_knob_row(k)->hz && !jetwatt_knob_row(k)->optional)
			jetwatt_error_note("%s: %s; fix: %s", lack->what, lack->why, lack->fix);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwattd_input in = { .conf = NULL };
	struct jetwattd_policy policy;
	struct jetwattd d = { .policy = &policy, .lock = PTHREAD_MUTEX_INITIALIZER,
			      .act = { .tell = jetwattd_on_event, .to = &d } };
	int err;

	mallopt(M_MMAP_THRESHOLD, LARGE);
	jetwatt_telemetry_clear(&d.meter.telemetry);
	jetwatt_args_parse("jetwattd", "", "Hold a power budget, and find the best mode of every GPU job within "
			   "it while it works.", options, parse, argc, argv, &in);
	err = jetwattd_policy_read(in.conf ? in.conf : JETWATTD_CONF, in.conf != NULL, &policy);
	if (err || in.check)
		return err;
	d.conf = in.conf ? in.conf : JETWATTD_CONF;
	d.conf_must = in.conf != NULL;
	d.power_w = in.budget_w;
	jetwattd_policy_override(&policy, d.power_w);
	d.verbose = in.args.verbose;
	d.act.reassert = policy.reassert;
	/* Before there are threads: a taken-over jetwattd is to reach into no other process. */
	err = jetwattd_fence();
	if (jetwattd_fence_lacks(err))
		jetwatt_error_note("this kernel has no CONFIG_SECCOMP_FILTER: no system call is given up");
	else if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), "allow seccomp(2) where it runs",
					 "cannot give up system calls");
	err = jetwatt_reach_kernel();
	if (!err)
		err = reach_board(&d);
	if (err)
		return err;
	err = leftovers(d.act.board);
	if (!err && jetwatt_board_guardian(d.act.board, &e))
		err = jetwatt_error_board(-EAGAIN, &e);
	if (!err)
		err = jetwattd_loop(&d);
	jetwatt_board_close(d.act.board);
	return err;
}
