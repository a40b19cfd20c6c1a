// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb jetwatt doctor: parses its options, and runs the measurement of a process (-p), the report,
 * the replay or, without these options, the checks, after which it prints whether the board is usable.
 */
#include "cmd/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/doctor/report.h"
#include "cmd/verbs.h"
#include "util/error.h"

static void doctor_print_verdict(struct jetwatt_doctor *d)
{
	if (d->want_json) {
		jetwatt_json_end(&d->json);
		jetwatt_json_bool(&d->json, "usable", !d->failures);
		jetwatt_json_int(&d->json, "warnings", d->warnings);
		jetwatt_json_int(&d->json, "failures", d->failures);
		jetwatt_json_end(&d->json);
		return;
	}
	if (d->failures)
		printf(" not usable: %d of the checks above failed\n", d->failures);
	else if (!d->args.quiet)
		printf(" usable, %d warning%s%s\n", d->warnings, d->warnings == 1 ? "" : "s",
		       geteuid() ? "; measuring and switching modes need root" : "");
}

enum { REPORT = JETWATT_ARGS_LONG, REPLAY, INTO, LOOP };

struct doctor_input {
	struct jetwatt_doctor d;
	const char *report, *replay, *into, *loop;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0,
	  "Show which backends of the probe detect the waits of this running program for the GPU within 2 s", 0 },
	{ "report", REPORT, "FILE", 0,
	  "Write a report on this board to FILE, without names and serial numbers; nothing is "
	  "changed", 0 },
	{ "loop", LOOP, "COMMAND", 0, "With --report: run this GPU job instead of the built-in CUDA loop", 0 },
	{ "replay", REPLAY, "FILE", 0, "Show the rails, knobs and presets of the board that the report FILE describes", 0 },
	{ "into", INTO, "DIR", 0, "With --replay: keep the files of that board in the new directory DIR", 0 },
	{ 0 }
};

static error_t doctor_parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_input *in = state->input;

	switch (key) {
	case 'p':
		in->d.pid = jetwatt_args_pid(arg);
		break;
	case REPORT:
		in->report = arg;
		break;
	case REPLAY:
		in->replay = arg;
		break;
	case INTO:
		in->into = arg;
		break;
	case LOOP:
		in->loop = arg;
		break;
	case ARGP_KEY_END:
		if ((in->report && in->replay) || (in->into && !in->replay) ||
		    (in->loop && !in->report) || (in->d.pid && (in->report || in->replay)))
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "give only one of: -p PID; --report FILE [--loop COMMAND]; --replay FILE [--into DIR]",
					       "these options cannot be combined"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int jetwatt_cmd_doctor(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_args_json_argp, offsetof(struct doctor_input, d.want_json) }, { NULL, 0 },
	};
	struct doctor_input in = { 0 };
	struct jetwatt_doctor *d = &in.d;

	jetwatt_args_parse_with("doctor", NULL, "Check the board, the module and the probe, and say how to fix problems.",
				options, doctor_parse, group, argc, argv, &in);
	if (d->pid)
		return jetwatt_doctor_process(d, d->pid);
	if (in.report)
		return jetwatt_doctor_report(d, in.report, in.loop);
	if (in.replay)
		return jetwatt_doctor_replay(d, in.replay, in.into);
	if (d->want_json) {
		jetwatt_json_init(&d->json, stdout, 1);
		jetwatt_json_object(&d->json, NULL);
		jetwatt_json_array(&d->json, "checks");
	}
	jetwatt_doctor_checks(d);
	doctor_print_verdict(d);
	jetwatt_close(d->jw);
	jetwatt_board_close(d->board);
	return d->code;
}
