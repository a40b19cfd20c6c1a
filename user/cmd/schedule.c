// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt schedule: run a training job and an inference server in turns on one GPU, each in its
 * time slices. The scheduler is in user/timeshare/; this file parses the arguments and prints the
 * result.
 */
#include "timeshare/timeshare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "util/error.h"
#include "util/outfile.h"

enum { JSON = JETWATT_ARGS_LONG };

struct schedule_input {
	struct jetwatt_args args;
	const char *config, *out;
	int json;
};

static const struct argp_option options[] = {
	{ "config", 'c', "FILE", 0, "Read the commands and the latency limit from this file", 0 },
	{ "output", 'o', "FILE", 0, "Write the report to FILE instead of standard output", 0 },
	{ "json", JSON, NULL, 0, "Write the report as JSON", 0 },
	{ 0 }
};

static error_t schedule_parse(int key, char *arg, struct argp_state *state)
{
	struct schedule_input *in = state->input;

	switch (key) {
	case 'c':
		in->config = arg;
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected \"%s\"", arg);
		break;
	case ARGP_KEY_END:
		if (!in->config)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt schedule -c FILE; man jetwatt-schedule has an example of FILE",
					       "no configuration file is given"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Minibatches completed while a plan was in force, in percent of the number that the plans aimed
 * at; NAN: no window of a plan has ended. */
static double completed_pct(const struct jetwatt_timeshare *s)
{
	return s->planned_minibatches > 0 ? 100.0 * s->achieved / s->planned_minibatches : NAN;
}

static double elapsed_s(const struct jetwatt_timeshare *s)
{
	return (s->ended_ns - s->begun_ns) * 1e-9;
}

static void schedule_print_json(const struct jetwatt_timeshare *s, FILE *f)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, f, 1);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_uint(&j, "begun_ns", s->begun_ns);
	jetwatt_json_uint(&j, "ended_ns", s->ended_ns);
	jetwatt_json_real(&j, "elapsed_s", elapsed_s(s), 9);
	jetwatt_json_object(&j, "plan");
	jetwatt_json_bool(&j, "known", s->planned);
	jetwatt_json_bool(&j, "feasible", s->feasible);
	jetwatt_json_uint(&j, "minibatches", s->plan.tau);
	jetwatt_json_uint(&j, "minibatches_most", s->plan.max_minibatches);
	jetwatt_json_real(&j, "minibatches_mean", s->plan.minibatches, 6);
	jetwatt_json_real(&j, "requests", s->plan.requests, 6);
	jetwatt_json_real(&j, "requests_most", s->plan.requests_99, 6);
	jetwatt_json_real(&j, "window_ms", s->plan.window_ms, 6);
	jetwatt_json_real(&j, "infer_ms", s->plan.infer_ms, 6);
	jetwatt_json_real(&j, "latency_ms", s->plan.latency_ms, 6);
	jetwatt_json_real(&j, "throughput_hz", s->plan.throughput_hz, 6);
	jetwatt_json_real(&j, "arrival_hz", s->plan_hz, 6);
	jetwatt_json_real(&j, "minibatch_turn_ms", jetwatt_batch_track_ns(s->track) * 1e-6, 6);
	jetwatt_json_real(&j, "change_ms", s->change_ms, 4);
	jetwatt_json_end(&j);
	if (s->mode.switches)
		jetwatt_timeshare_mode_json(&s->mode, &j);
	jetwatt_json_object(&j, "train");
	jetwatt_json_uint(&j, "minibatches", s->minibatches);
	jetwatt_json_real(&j, "promised", s->planned_minibatches, 6);
	jetwatt_json_uint(&j, "kept", s->achieved);
	jetwatt_json_real(&j, "kept_pct", completed_pct(s), 4);
	jetwatt_json_uint(&j, "turns", s->slices);
	jetwatt_json_uint(&j, "late", s->overruns);
	jetwatt_json_real(&j, "s", s->ns[JETWATT_TIMESHARE_TRAIN] * 1e-9, 9);
	jetwatt_json_real(&j, "energy_j", s->uj[JETWATT_TIMESHARE_TRAIN] * 1e-6, 6);
	jetwatt_json_end(&j);
	jetwatt_json_object(&j, "infer");
	jetwatt_json_uint(&j, "waits", s->infer_waits);
	jetwatt_json_uint(&j, "requests", s->counted);
	jetwatt_json_real(&j, "s", s->ns[JETWATT_TIMESHARE_INFER] * 1e-9, 9);
	jetwatt_json_real(&j, "energy_j", s->uj[JETWATT_TIMESHARE_INFER] * 1e-6, 6);
	jetwatt_json_end(&j);
	jetwatt_json_object(&j, "change");
	jetwatt_json_real(&j, "s", s->ns[JETWATT_TIMESHARE_SWITCH] * 1e-9, 9);
	jetwatt_json_real(&j, "energy_j", s->uj[JETWATT_TIMESHARE_SWITCH] * 1e-6, 6);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
}

static void schedule_print(const struct jetwatt_timeshare *s, FILE *f)
{
	static const char *const who[] = { "training", "inference", "changes" };
	double all = s->ns[0] + s->ns[1] + s->ns[2];

	fprintf(f, "\n %-12s %10s %8s %12s\n", "", "time", "share", "energy");
	for (int i = 0; i < JETWATT_TIMESHARE_KINDS; i++)
		fprintf(f, " %-12s %8.2f s %6.1f %% %10.1f J\n", who[i], s->ns[i] * 1e-9,
			100 * s->ns[i] / all, s->uj[i] * 1e-6);
	fprintf(f,
		"\n %llu minibatches in %llu time slices, %llu of them ended by timeout\n",
		(unsigned long long)s->minibatches, (unsigned long long)s->slices,
		(unsigned long long)s->overruns);
	if (s->mode.switches)
		jetwatt_timeshare_mode_show(&s->mode, f);
	if (s->planned)
		fprintf(f,
			" last plan: %u minibatches per %.3g requests, in windows of %.4g ms%s\n",
			s->plan.tau, s->plan.requests, s->plan.window_ms,
			s->feasible ? "" : ", which does not meet the latency limit");
	else
		fprintf(f, " no plan was made: too few minibatches, or no requests\n");
	if (s->planned && isnan(completed_pct(s)))
		fprintf(f, " the run ended in the first window of this plan\n");
	else if (s->planned)
		fprintf(f, " %.4g minibatches planned, %llu completed: %.1f %%\n", s->planned_minibatches,
			(unsigned long long)s->achieved, completed_pct(s));
}

static int schedule_start(struct jetwatt_timeshare *s, struct jetwatt_board *board)
{
	int err = jetwatt_timeshare_mode_open(&s->mode, board, s->conf);

	if (!err)
		err = jetwatt_session_open(&s->session, board, 0);
	if (!err && !s->track)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot schedule");
	if (!err)
		err = jetwatt_corunner_start(&s->train);
	if (!err)
		err = jetwatt_corunner_start(&s->infer);
	return err ? err : jetwatt_timeshare_run(s);
}

/* @reported: set to 1 if the report was printed. */
static int schedule(const struct schedule_input *in, const struct jetwatt_timeshare_conf *conf,
		    FILE *f, int *reported)
{
	struct jetwatt_timeshare s = { .conf = conf, .guard = -1, .end = -1, .arrival_hz = conf->arrival_hz };
	struct jetwatt_board *board;
	int err = jetwatt_open_knobs(&board), status, back;

	if (err)
		return err;
	jetwatt_session_init(&s.session);
	jetwatt_corunner_init(&s.train, "train", conf->train);
	jetwatt_corunner_init(&s.infer, "infer", conf->infer);
	s.track = jetwatt_batch_track_new();
	err = schedule_start(&s, board);
	jetwatt_corunner_stop(&s.infer);
	status = jetwatt_corunner_stop(&s.train);
	if (!err) {
		jetwatt_session_finish(&s.session, JETWATT_SESSION_LATER_NS);
		jetwatt_timeshare_count_energy(&s);
		if (in->json)
			schedule_print_json(&s, f);
		else
			schedule_print(&s, f);
		*reported = 1;
	}
	back = jetwatt_timeshare_mode_close(&s.mode);
	jetwatt_session_close(&s.session);
	jetwatt_arrivals_close(s.arrivals);
	jetwatt_batch_track_free(s.track);
	free(s.span);
	jetwatt_board_close(board);
	return err ? err : back ? back : status;
}

int jetwatt_cmd_schedule(int argc, char **argv)
{
	static struct jetwatt_timeshare_conf conf;
	struct schedule_input in = { 0 };
	struct jetwatt_outfile out = { .f = NULL };
	int err, rc = 0, reported = 0;

	jetwatt_args_parse("schedule", "-c FILE",
			   "Run training and an inference server in alternating time slices.\v"
			   "Neither program is changed. The exit status is that of training.",
			   options, schedule_parse, argc, argv, &in);
	err = jetwatt_timeshare_conf_read(in.config, &conf);
	if (err)
		return err;
	if (in.out && strcmp(in.out, "-"))
		rc = jetwatt_outfile_open(&out, in.out, 0666);
	err = rc ? 0 : schedule(&in, &conf, out.f ? out.f : stdout, &reported);
	/* Without a report, an existing file is left as it is. */
	if (!rc)
		rc = jetwatt_outfile_end(&out, !reported);
	if (rc < 0)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-rc),
					"-o names a file that can be written; is the disk full?",
					"cannot write %s", in.out);
	return err;
}
