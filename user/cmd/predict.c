// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "error.h"
#include "learn.h"
#include "out/json.h"
#include "reach.h"
#include "screen.h"
#include "verbs.h"

#define FRONT_LINES	20

enum { PROFILE = JETWATT_ARGS_LONG, MODES, JSON, ALL };

struct input {
	struct jetwatt_args args;
	const char *profile, *modes, *out;
	int json, all;
};

static const struct argp_option options[] = {
	{ "profile", PROFILE, "FILE.csv", 0, "What was measured", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Predict these modes; default: all of this board", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write the predictions of all modes", 0 },
	{ "json", JSON, NULL, 0, "Predictions of all modes as JSON", 0 },
	{ "all", ALL, NULL, 0, "The whole front, not 20 modes of it", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case PROFILE:
		in->profile = arg;
		break;
	case MODES:
		in->modes = arg;
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ALL:
		in->all = 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	case ARGP_KEY_END:
		if (!in->profile)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL,
					       "--profile FILE.csv, as written by jetwatt profile -o",
					       "nothing to predict from"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static size_t find_front(const struct jetwatt_learn *l, size_t *at)
{
	double *time = calloc(l->nr_modes, sizeof(*time));
	double *power = calloc(l->nr_modes, sizeof(*power));
	int n = 0;

	if (time && power) {
		for (size_t i = 0; i < l->nr_modes; i++) {
			time[i] = l->prediction[i].time_ms;
			power[i] = l->prediction[i].power_w;
		}
		n = jetwatt_plan_front(time, power, l->nr_modes, at);
	}
	free(time);
	free(power);
	return n > 0 ? n : 0;
}

static void table(const struct jetwatt_learn *l, const size_t *at, size_t n, size_t lines)
{
	printf("%zu modes predicted from %zu measured; %zu of them are on the front\n", l->nr_modes,
	       l->nr_rows, n);
	jetwatt_screen_front_head();
	lines = lines < n ? lines : n;
	for (size_t k = 0; k < lines; k++) {
		size_t i = at[lines > 1 ? k * (n - 1) / (lines - 1) : 0];

		jetwatt_screen_front(' ', &l->mode[i], &l->prediction[i],
				     jetwatt_learn_row(l, &l->mode[i]) ? "measured" : "");
	}
}

static void json(const struct jetwatt_learn *l, const size_t *at, size_t n)
{
	char name[96];
	struct jetwatt_json j;
	size_t k = 0;
	unsigned char *on = calloc(l->nr_modes, 1);

	for (k = 0; on && k < n; k++)
		on[at[k]] = 1;
	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_uint(&j, "measured", l->nr_rows);
	jetwatt_json_array(&j, "modes");
	for (size_t i = 0; i < l->nr_modes; i++) {
		const struct jetwatt_prediction *p = &l->prediction[i];

		jetwatt_json_object(&j, NULL);
		if (!jetwatt_board_mode_format(&l->mode[i], name, sizeof(name)))
			jetwatt_json_string(&j, "mode", name);
		jetwatt_json_real(&j, "time_ms", p->time_ms, 7);
		jetwatt_json_real(&j, "power_w", p->power_w, 7);
		jetwatt_json_real(&j, "time_sd", p->time_sd, 4);
		jetwatt_json_real(&j, "power_sd", p->power_sd, 4);
		jetwatt_json_bool(&j, "front", on && on[i]);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	free(on);
}

int jetwatt_cmd_predict(int argc, char **argv)
{
	struct input in = { 0 };
	struct jetwatt_learn l = { .args = &in.args };
	struct jetwatt_board *board = NULL;
	size_t *at = NULL, n;
	int err;

	jetwatt_args_parse("predict", "--profile FILE.csv",
			   "Predict time and power of every power mode from a profile.", options,
			   parse, argc, argv, &in);
	/* With a list of modes no board is needed: predict where you like. */
	err = in.modes ? 0 : jetwatt_reach_board(&board);
	if (!err)
		err = jetwatt_learn_modes(&l, board, in.modes);
	if (!err)
		err = jetwatt_learn_read(&l, in.profile, 1);
	if (!err)
		err = jetwatt_learn_predict(&l);
	if (err)
		goto out;
	at = calloc(l.nr_modes, sizeof(*at));
	n = at ? find_front(&l, at) : 0;
	if (in.json)
		json(&l, at, n);
	else if (!in.args.quiet)
		table(&l, at, n, in.all ? n : FRONT_LINES);
	if (in.out)
		err = jetwatt_answer_predictions(&l, in.out);
out:
	free(at);
	jetwatt_learn_free(&l);
	jetwatt_board_close(board);
	return err;
}
