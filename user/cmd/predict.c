// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "error.h"
#include "learn.h"
#include "model_file.h"
#include "out/json.h"
#include "picture.h"
#include "reach.h"
#include "screen.h"
#include "verbs.h"

#define FRONT_LINES	20

enum { PROFILE = JETWATT_ARGS_LONG, MODES, JSON, ALL, REFERENCE, MODEL, SAVE_MODEL, PLOT, PRESETS };

struct input {
	struct jetwatt_args args;
	const char *profile, *modes, *out, *plot, *presets, *model, *save;
	const char *reference[JETWATT_LEARN_REFERENCES];
	size_t references;
	double power_w;
	int json, all;
};

static const struct argp_option options[] = {
	{ "profile", PROFILE, "FILE.csv", 0, "What was measured", 0 },
	{ "reference", REFERENCE, "FILE.csv", 0,
	  "Another workload to learn from; may be given several times", 0 },
	{ "model", MODEL, "FILE", 0, "A model that was saved, instead of a profile", 0 },
	{ "save-model", SAVE_MODEL, "FILE", 0, "Keep the model, for boards and times without the profile",
	  0 },
	{ "modes", MODES, "FILE.csv", 0, "Predict these modes; default: all of this board", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write the predictions of all modes", 0 },
	{ "json", JSON, NULL, 0, "Predictions of all modes as JSON", 0 },
	{ "plot", PLOT, "FILE", 0, "Draw it: FILE.svg, FILE.png or FILE.html", 0 },
	{ "power", 'w', "WATTS", 0, "A budget to draw", 0 },
	{ "presets", PRESETS, "FILE", 0, "Presets to draw (/etc/nvpmodel.conf)", 0 },
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
	case REFERENCE:
		if (in->references == JETWATT_LEARN_REFERENCES)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "16 references are enough",
					       "too many: %s", arg));
		in->reference[in->references++] = arg;
		break;
	case MODEL:
		in->model = arg;
		break;
	case SAVE_MODEL:
		in->save = arg;
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
	case PLOT:
		in->plot = jetwatt_picture_path("--plot", arg);
		break;
	case 'w':
		in->power_w = jetwatt_args_quantity("--power", arg, "W", 0.1, 1000);
		break;
	case PRESETS:
		in->presets = arg;
		break;
	case ALL:
		in->all = 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	case ARGP_KEY_END:
		if (in->profile && in->model)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "one of them",
					       "both --profile and --model"));
		if (!in->profile && !in->model)
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

/* Modes of which some knob is beyond all that was measured. */
static size_t beyond(const struct jetwatt_learn *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_modes; i++)
		n += jetwatt_model_beyond(l->model, &l->mode[i]);
	return n;
}

static void table(const struct jetwatt_learn *l, const size_t *at, size_t n, size_t lines)
{
	size_t far = beyond(l);

	printf("%zu modes predicted from %zu measured; %zu of them are on the front\n", l->nr_modes,
	       jetwatt_model_rows(l->model), n);
	if (far)
		printf("%zu are beyond the range that was measured: take +- there for a guess\n", far);
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
	jetwatt_json_uint(&j, "measured", jetwatt_model_rows(l->model));
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
		jetwatt_json_bool(&j, "beyond", jetwatt_model_beyond(l->model, &l->mode[i]));
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	free(on);
}

static int read_model(struct jetwatt_learn *l, const char *path)
{
	int err = jetwatt_model_file_read(path, &l->model);

	l->given = !err;
	if (err == -EINVAL)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, "it is damaged, or something else",
					 "jetwatt predict --profile FILE.csv --save-model FILE",
					 "%s holds no model", path);
	if (err == -EPROTONOSUPPORT)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, "another version of jetwatt wrote it",
					 "jetwatt predict --profile FILE.csv --save-model FILE",
					 "cannot use the model in %s", path);
	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL, "cannot read %s",
				       path) : 0;
}

static int save_model(const struct jetwatt_learn *l, const char *path)
{
	int err = jetwatt_model_file_write(path, l->model);

	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot write %s", path) : 0;
}

int jetwatt_cmd_predict(int argc, char **argv)
{
	struct input in = { 0 };
	struct jetwatt_learn l = { .args = &in.args };
	struct jetwatt_baseline baseline = { .presets = NULL };
	struct jetwatt_board *board = NULL;
	size_t *at = NULL, n;
	int err;

	jetwatt_args_parse("predict", "--profile FILE.csv\n--model FILE",
			   "Predict time and power of every power mode from a profile.", options,
			   parse, argc, argv, &in);
	/* With a list of modes no board is needed: predict where you like. */
	err = in.modes ? 0 : jetwatt_reach_board(&board);
	if (!err)
		err = jetwatt_learn_modes(&l, board, in.modes);
	if (!err)
		err = in.model ? read_model(&l, in.model) : jetwatt_learn_read(&l, in.profile, 1);
	if (!err && in.plot)
		err = jetwatt_baseline_open(&baseline, &l, board, in.presets);
	if (!err)
		err = jetwatt_learn_references(&l, in.reference, in.references);
	if (!err)
		err = jetwatt_learn_predict(&l);
	if (err)
		goto out;
	l.budget_w = in.power_w;
	at = calloc(l.nr_modes, sizeof(*at));
	n = at ? find_front(&l, at) : 0;
	if (in.json)
		json(&l, at, n);
	else if (!in.args.quiet)
		table(&l, at, n, in.all ? n : FRONT_LINES);
	if (in.save)
		err = save_model(&l, in.save);
	if (in.out && !err)
		err = jetwatt_answer_predictions(&l, in.out);
	if (!err && in.plot)
		err = jetwatt_picture_front(in.plot, &l, &baseline,
					    board ? jetwatt_board_name(board) : NULL, NULL);
out:
	jetwatt_baseline_close(&baseline);
	free(at);
	jetwatt_learn_free(&l);
	jetwatt_board_close(board);
	return err;
}
