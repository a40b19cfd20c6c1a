// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt predict: predict time and power of every power mode from a profile or a saved model,
 * print the Pareto front, and write CSV, JSON or plots. The interface of models is
 * model/estimator.h; tune/tuner.h reads rows and fits models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/result.h"
#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "out/terminal.h"
#include "tune/corpus.h"
#include "tune/knob_option.h"
#include "tune/method.h"
#include "tune/model_file.h"
#include "tune/plot_file.h"
#include "tune/tuner.h"
#include "util/error.h"

#define FRONT_LINES	20
/* Maximum number of different minibatch sizes in one profile. */
#define SIZES_MAX	32

enum { PROFILE = JETWATT_ARGS_LONG, MODES, JSON, ALL, MODEL, SAVE_MODEL, PLOT, PRESETS, BATCH };

struct predict_input {
	struct jetwatt_args args;
	const char *profile, *modes, *out, *plot, *presets, *model, *save;
	struct jetwatt_references reference;
	const struct jetwatt_predictor *method;
	unsigned int knobs;
	double power_w;
	uint32_t batch;
	int json, all;
};

static const struct argp_option options[] = {
	{ "profile", PROFILE, "FILE.csv", 0, "Measured modes", 0 },
	{ "model", MODEL, "FILE", 0, "Predict with a saved model instead of a profile", 0 },
	{ "save-model", SAVE_MODEL, "FILE", 0, "Save the fitted model to FILE",
	  0 },
	{ "batch", BATCH, "N", 0,
	  "Minibatch size to predict, for a profile with several sizes; default: all of them", 0 },
	{ "modes", MODES, "FILE.csv", 0, "Predict the modes in this file; default: all modes of this board", 0 },
	{ "output", 'o', "FILE.csv", 0, "Write the predictions of all modes", 0 },
	{ "json", JSON, NULL, 0, "Print the predictions of all modes as JSON", 0 },
	{ "plot", PLOT, "FILE", 0, "Plot the Pareto front: FILE.svg, FILE.png or FILE.html", 0 },
	{ "power", 'w', "WATTS", 0, "Power budget to plot", 0 },
	{ "presets", PRESETS, "FILE", 0, "Presets to plot; default: those of /etc/nvpmodel.conf", 0 },
	{ "all", ALL, NULL, 0, "Print the whole Pareto front; default: at most 20 modes", 0 },
	{ 0 }
};

static error_t predict_parse(int key, char *arg, struct argp_state *state)
{
	struct predict_input *in = state->input;

	switch (key) {
	case PROFILE:
		in->profile = arg;
		break;
	case BATCH:
		in->batch = jetwatt_args_count("--batch", arg, 1, 1 << 24);
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
		in->plot = jetwatt_plot_path("--plot", arg);
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
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
						  "leave out one of the two options",
					       "--profile and --model cannot be combined"));
		if (in->model && in->reference.n)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "a saved model is not fitted again",
					       "leave out --reference, or --profile FILE.csv instead of --model",
					       "--reference and --model cannot be combined"));
		if (!in->profile && !in->model)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "--profile FILE.csv, as written by jetwatt profile -o",
					       "no profile and no model is given"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Determine the minibatch sizes to predict. @size: array of SIZES_MAX + 1 entries; @n: set to the
 * number of minibatch sizes, 0 if the size is not a feature of the model. Return: 0, or an exit
 * code after printing the error. */
static int choose_sizes(struct jetwatt_tuner *l, const struct predict_input *in, uint32_t *size,
			size_t *n)
{
	*n = jetwatt_fitted_sizes(l->model, size, SIZES_MAX + 1);
	if (in->batch && !*n)
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "all rows of the profile have the same minibatch size, so other sizes cannot be predicted",
					 "use a profile that has a column batch with several sizes",
					 "--batch cannot be used");
	if (in->batch) {
		size[0] = in->batch;
		*n = 1;
	}
	if (*n > SIZES_MAX)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "choose one of the sizes: --batch N",
					 "the profile has more than %d minibatch sizes", SIZES_MAX);
	if (*n > 1 && in->plot)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "a plot shows one minibatch size only",
					 "--batch N", "--plot: the profile has %zu minibatch sizes",
					 *n);
	return 0;
}

/* Combine each mode with each of the @n minibatch sizes; drop the rows of other sizes.
 * Return: 0, or an exit code after printing the error. */
static int expand_sizes(struct jetwatt_tuner *l, const uint32_t *size, size_t n)
{
	size_t modes = l->nr_modes, kept = 0;
	struct jetwatt_mode *mode;

	if (!n)
		return 0;
	mode = reallocarray(l->mode, modes * n, sizeof(*mode));
	l->mode = mode ? mode : l->mode;
	l->batch = calloc(modes * n, sizeof(*l->batch));
	if (!mode || !l->batch)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "out of memory", NULL, "cannot predict");
	for (size_t i = 0; i < modes * n; i++) {
		mode[i] = mode[i % modes];
		l->batch[i] = size[i / modes];
	}
	l->nr_modes = modes * n;
	/* Keep only the rows of the minibatch sizes to predict. Rows of other sizes were needed for
	 * the fit only. */
	for (size_t i = 0; i < l->nr_rows; i++)
		for (size_t k = 0; k < n; k++)
			if (l->row[i].batch == size[k]) {
				l->row[kept++] = l->row[i];
				break;
			}
	l->nr_rows = kept;
	return 0;
}

static int predict_sizes(struct jetwatt_tuner *l, const struct predict_input *in)
{
	uint32_t size[SIZES_MAX + 1];
	size_t n;
	int err = jetwatt_tuner_fit(l);

	l->given = 1;
	if (!err)
		err = choose_sizes(l, in, size, &n);
	return err ? err : expand_sizes(l, size, n);
}

static uint32_t minibatch_size(const struct jetwatt_tuner *l, size_t i)
{
	return l->batch ? l->batch[i] : 0;
}

static int is_measured(const struct jetwatt_tuner *l, size_t i)
{
	for (size_t k = 0; k < l->nr_rows; k++)
		if (l->row[k].batch == minibatch_size(l, i) &&
		    jetwatt_mode_same(&l->row[k].mode, &l->mode[i]))
			return 1;
	return 0;
}

/* Find the Pareto front of time and power. With several minibatch sizes, the time per sample is
 * compared, not the time per minibatch. Return: number of entries in @at. */
static size_t find_front(const struct jetwatt_tuner *l, size_t *at)
{
	double *time = calloc(l->nr_modes, sizeof(*time));
	double *power = calloc(l->nr_modes, sizeof(*power));
	int n = 0;

	if (time && power) {
		for (size_t i = 0; i < l->nr_modes; i++) {
			time[i] = l->prediction[i].time_ms / (l->batch ? l->batch[i] : 1);
			power[i] = l->prediction[i].power_w;
		}
		n = jetwatt_plan_front(time, power, l->nr_modes, at);
	}
	free(time);
	free(power);
	return n > 0 ? n : 0;
}

/* Count the predictions with a knob or the minibatch size outside the range of the measurements. */
static size_t count_beyond(const struct jetwatt_tuner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_modes; i++)
		n += jetwatt_fitted_beyond(l->model, &l->mode[i], minibatch_size(l, i));
	return n;
}

static void predict_print(const struct jetwatt_tuner *l, const size_t *at, size_t n, size_t lines)
{
	size_t far = count_beyond(l);
	char note[32];

	printf("%zu modes predicted from %zu measured; %zu of them are on the Pareto front\n",
	       l->nr_modes, l->model->n, n);
	if (l->by.by)
		printf("method %s: %s\n", l->by.by->name, l->by.by->does);
	if (far)
		printf("%zu modes are outside the measured range: their +- values are unreliable\n",
		       far);
	jetwatt_terminal_predicted_heading();
	lines = lines < n ? lines : n;
	for (size_t k = 0; k < lines; k++) {
		size_t i = at[lines > 1 ? k * (n - 1) / (lines - 1) : 0];
		int len = l->batch ? snprintf(note, sizeof(note), "batch %u ", l->batch[i]) : 0;

		snprintf(note + len, sizeof(note) - len, "%s", is_measured(l, i) ? "measured" : "");
		jetwatt_terminal_predicted_row(' ', &l->mode[i], &l->prediction[i], note);
	}
}

static void predict_print_json(const struct jetwatt_tuner *l, const size_t *at, size_t n)
{
	char name[96];
	struct jetwatt_json j;
	size_t k = 0;
	unsigned char *on = calloc(l->nr_modes, 1);

	for (k = 0; on && k < n; k++)
		on[at[k]] = 1;
	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_uint(&j, "measured", l->model->n);
	if (l->by.by)
		jetwatt_json_string(&j, "method", l->by.by->name);
	jetwatt_json_array(&j, "modes");
	for (size_t i = 0; i < l->nr_modes; i++) {
		const struct jetwatt_prediction *p = &l->prediction[i];

		jetwatt_json_object(&j, NULL);
		if (!jetwatt_board_mode_format(&l->mode[i], name, sizeof(name)))
			jetwatt_json_string(&j, "mode", name);
		if (l->batch)
			jetwatt_json_uint(&j, "batch", l->batch[i]);
		jetwatt_json_real(&j, "time_ms", p->time_ms, 7);
		jetwatt_json_real(&j, "power_w", p->power_w, 7);
		jetwatt_json_real(&j, "time_sd", p->time_sd, 4);
		jetwatt_json_real(&j, "power_sd", p->power_sd, 4);
		jetwatt_json_bool(&j, "front", on && on[i]);
		jetwatt_json_bool(&j, "beyond",
				  jetwatt_fitted_beyond(l->model, &l->mode[i], minibatch_size(l, i)));
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	free(on);
}

static int predict_read_model(struct jetwatt_tuner *l, const char *path)
{
	int err = jetwatt_model_file_read(path, &l->model);

	l->given = !err;
	if (!err && l->by.by && l->by.by != l->model->by)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "a saved model is not fitted again",
					 "leave out --method, or --profile FILE.csv instead of --model",
					 "the model in %s is of method %s, not %s", path,
					 l->model->by->name, l->by.by->name);
	if (err == -EINVAL)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "the file is damaged, or is not a model",
					 "jetwatt predict --profile FILE.csv --save-model FILE",
					 "%s is not a model file", path);
	if (err == -EPROTONOSUPPORT)
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "an incompatible version of jetwatt wrote the file",
					 "jetwatt predict --profile FILE.csv --save-model FILE",
					 "cannot use the model in %s", path);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				       jetwatt_error_advice(err), "cannot read %s", path) : 0;
}

/* Check --save-model before the profile is read. Return: 0, or an exit code. */
static int check_save_option(const struct predict_input *in)
{
	const struct jetwatt_predictor *by = in->method;

	if (!by || !in->save || by->save)
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_USAGE,
				 "models of this method cannot be saved to a file",
				 "leave out --save-model; the profile can be used again instead",
				 "--save-model cannot be combined with --method %s", by->name);
}

static int save_model(const struct jetwatt_tuner *l, const char *path)
{
	int err = jetwatt_model_file_write(path, l->model);

	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot write %s", path) : 0;
}

int jetwatt_cmd_predict(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_references_argp, offsetof(struct predict_input, reference) },
		{ &jetwatt_method_argp, offsetof(struct predict_input, method) },
		{ &jetwatt_knob_argp, offsetof(struct predict_input, knobs) }, { NULL, 0 },
	};
	struct predict_input in = { 0 };
	struct jetwatt_tuner l = { .args = &in.args, .sizes = 1 };
	struct jetwatt_preset_compare baseline = { .presets = NULL };
	struct jetwatt_board *board = NULL;
	size_t *at = NULL, listed, n;
	int err;

	jetwatt_args_parse_with("predict", "--profile FILE.csv\n--model FILE",
				"Predict time and power of every power mode from a profile.", options,
				predict_parse, group, argc, argv, &in);
	l.by.by = in.method;
	/* With --modes, no board is needed: the prediction can run on any machine. */
	err = check_save_option(&in);
	if (!err && !in.modes)
		err = jetwatt_open_knobs(&board);
	if (!err)
		err = jetwatt_knob_use(board, in.knobs);
	if (!err)
		err = jetwatt_tuner_modes(&l, board, in.modes);
	if (!err)
		err = in.model ? predict_read_model(&l, in.model) :
		      jetwatt_tuner_read(&l, in.profile, 1);
	listed = l.nr_modes;
	if (!err && in.plot)
		err = jetwatt_preset_compare_open(&baseline, &l, board, in.presets);
	if (!err)
		err = jetwatt_references_learn(&in.reference, &l.by, NULL, 0, JETWATT_TUNER_SEED);
	if (!err)
		err = predict_sizes(&l, &in);
	if (!err)
		err = jetwatt_tuner_predict(&l);
	if (err)
		goto out;
	/* The presets of --plot, which are behind the modes to predict, are only plotted. With a plot, there
	 * is one minibatch size, so that each mode has one prediction. */
	if (in.plot)
		l.nr_modes = listed;
	l.budget_w = in.power_w;
	at = calloc(l.nr_modes, sizeof(*at));
	n = at ? find_front(&l, at) : 0;
	if (in.json)
		predict_print_json(&l, at, n);
	else if (!in.args.quiet)
		predict_print(&l, at, n, in.all ? n : FRONT_LINES);
	if (in.save)
		err = save_model(&l, in.save);
	if (in.out && !err)
		err = jetwatt_result_predictions(&l, in.out);
	if (!err && in.plot)
		err = jetwatt_plot_front(in.plot, &l, &baseline,
					    board ? jetwatt_board_name(board) : NULL, false, NULL);
out:
	jetwatt_preset_compare_close(&baseline);
	free(at);
	jetwatt_tuner_free(&l);
	jetwatt_board_close(board);
	return err;
}
