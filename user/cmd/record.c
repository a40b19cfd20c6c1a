// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "error.h"
#include "follow.h"
#include "meter.h"
#include "out/json.h"
#include "reach.h"
#include "summary.h"
#include "verbs.h"

/* A second of samples fits many times. */
#define BUFFER (256 << 10)

enum { RATE = JETWATT_ARGS_LONG, JSON, FOR };

struct input {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	const char *out;
	double for_s, rate_hz;
	int json;
};

/**
 * struct record - the file being written
 * @clock: the mode that was written last
 * @seq: of the sample before
 */
struct record {
	FILE *f;
	struct jetwatt_meter meter;
	struct jetwatt_mode clock;
	uint64_t seq;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The file; -: standard output", 0 },
	{ "pid", 'p', "PID", 0, "The running job, until it ends or SIGINT", 0 },
	{ "for", FOR, "SECONDS", 0, "With -p: no longer than that", 0 },
	{ "rate", RATE, "HZ", 0, "Samples a second; default: the highest possible rate", 0 },
	{ "json", JSON, NULL, 0, "The closing summary as JSON", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case 'p':
		in->job.pid = jetwatt_args_pid(arg);
		break;
	case FOR:
		in->for_s = jetwatt_args_quantity("--for", arg, "s", 0.1, 1e7);
		break;
	case RATE:
		in->rate_hz = jetwatt_args_quantity("--rate", arg, "Hz", 1, 1e6);
		break;
	case 'o':
		in->out = arg;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		jetwatt_args_command(&in->job, state);
		break;
	case ARGP_KEY_END:
		jetwatt_args_one_job(&in->job, 1);
		if (!in->out)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "-o FILE", "no file to write"));
		if (in->for_s > 0 && in->job.argv)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL,
					       "record -- COMMAND records it to its end",
					       "--for is for a running job"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void begin_line(struct jetwatt_json *j, FILE *f, const char *type)
{
	jetwatt_json_init(j, f, 0);
	jetwatt_json_object(j, NULL);
	jetwatt_json_string(j, "type", type);
}

static void header(FILE *f, const struct jetwatt_watch *w, const char *board)
{
	struct jetwatt_json j;
	struct utsname u;

	uname(&u);
	begin_line(&j, f, "header");
	jetwatt_json_uint(&j, "format", 1);
	jetwatt_json_string(&j, "board", board);
	jetwatt_json_string(&j, "kernel", u.release);
	jetwatt_json_uint(&j, "monotonic_ns", clock_ns(CLOCK_MONOTONIC));
	jetwatt_json_uint(&j, "boottime_ns", clock_ns(CLOCK_BOOTTIME));
	jetwatt_json_uint(&j, "realtime_ns", clock_ns(CLOCK_REALTIME));
	jetwatt_json_string(&j, "scope", w->scope);
	jetwatt_json_array(&j, "rails");
	for (int r = 0; r < w->nr_rails; r++) {
		int in_total = 0;

		for (int i = 0; i < w->nr_total; i++)
			in_total |= w->total[i] == r;
		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "label", w->rail[r].label);
		jetwatt_json_uint(&j, "shunt_uohm", w->rail[r].shunt_uohm);
		jetwatt_json_bool(&j, "enabled", w->rail[r].enabled);
		jetwatt_json_bool(&j, "in_total", in_total);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
}

static void job_line(FILE *f, const struct jetwatt_watch *w)
{
	struct jetwatt_json j;

	begin_line(&j, f, "job");
	jetwatt_json_uint(&j, "t_ns", w->begun_ns);
	jetwatt_json_int(&j, "pid", w->pid);
	jetwatt_json_end(&j);
}

static void mode_line(struct record *rec, const struct jetwatt_power *p)
{
	struct jetwatt_json j;

	rec->clock = p->clock;
	begin_line(&j, rec->f, "mode");
	jetwatt_json_uint(&j, "t_ns", p->time_ns);
	jetwatt_json_uint(&j, "cores", p->clock.cores);
	jetwatt_json_uint(&j, "cpu_khz", p->clock.cpu_khz);
	jetwatt_json_uint(&j, "gpu_hz", p->clock.gpu_hz);
	jetwatt_json_uint(&j, "emc_hz", p->clock.emc_hz);
	jetwatt_json_end(&j);
}

/* Hundreds a second: written by hand. A rail that was not read is null. */
static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct record *rec = arg;

	if (p->gap)
		fprintf(rec->f, "{\"type\":\"gap\",\"t_ns\":%llu,\"lost\":%llu}\n",
			(unsigned long long)p->time_ns,
			(unsigned long long)(rec->seq ? p->seq - rec->seq - 1 : 0));
	rec->seq = p->seq;
	if (memcmp(&p->clock, &rec->clock, sizeof(p->clock)))
		mode_line(rec, p);
	fprintf(rec->f, "{\"type\":\"power\",\"seq\":%llu,\"t_ns\":%llu,\"uw\":[",
		(unsigned long long)p->seq, (unsigned long long)p->time_ns);
	for (uint32_t r = 0; r < p->nr; r++)
		if (p->valid & 1u << r)
			fprintf(rec->f, r ? ",%lld" : "%lld", (long long)p->uw[r]);
		else
			fputs(r ? ",null" : "null", rec->f);
	fputs("]}\n", rec->f);
}

static void each(void *arg)
{
	struct record *rec = arg;

	jetwatt_meter_run(&rec->meter);
	fflush(rec->f);
}

static void closing(struct record *rec)
{
	static const char *const kind[] = { "train", "eval", "other" };
	const struct jetwatt_meter *m = &rec->meter;
	struct jetwatt_json j;

	for (int i = 0; i < m->bounds; i++) {
		const struct jetwatt_batch_bound *b = &m->bound[i];
		double uj = jetwatt_meter_bound(m, b);

		begin_line(&j, rec->f, "minibatch");
		jetwatt_json_string(&j, "kind", kind[b->kind < 3 ? b->kind : 2]);
		jetwatt_json_uint(&j, "start_ns", b->start_ns);
		jetwatt_json_uint(&j, "end_ns", b->end_ns);
		jetwatt_json_uint(&j, "wait_ns", b->wait_ns);
		jetwatt_json_uint(&j, "pid", b->tgid);
		if (uj >= 0)
			jetwatt_json_int(&j, "energy_uj", uj + 0.5);
		jetwatt_json_end(&j);
	}
	begin_line(&j, rec->f, "end");
	jetwatt_json_uint(&j, "t0_ns", m->begun_ns);
	jetwatt_json_uint(&j, "t1_ns", m->at_ns);
	jetwatt_json_int(&j, "energy_uj", m->uj + 0.5);
	jetwatt_json_uint(&j, "minibatches", jetwatt_meter_minibatches(m));
	jetwatt_json_uint(&j, "waits", m->watch->waits);
	jetwatt_json_uint(&j, "waits_lost", jetwatt_watch_waits_lost(m->watch));
	jetwatt_json_uint(&j, "samples", m->watch->samples);
	jetwatt_json_uint(&j, "lost", m->watch->lost);
	jetwatt_json_uint(&j, "covered_ns", m->covered_ns);
	jetwatt_json_end(&j);
}

static int finish(const struct input *in, struct record *rec)
{
	struct jetwatt_watch *w = rec->meter.watch;
	uint64_t end = w->ended ? w->ended_ns : jetwatt_watch_now();
	struct jetwatt_summary s;
	/* Standard output may be where the record goes. */
	FILE *f = rec->f == stdout ? stderr : stdout;
	static const struct jetwatt_args plain;
	int err;

	jetwatt_watch_settle(w);
	if (w->failed)
		return jetwatt_watch_why(w);
	err = jetwatt_meter_end(&rec->meter, end);
	if (!err)
		err = jetwatt_summary_make(&s, &rec->meter);
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot add up the run");
	closing(rec);
	if (fflush(rec->f) || ferror(rec->f))
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno),
					 "is the disk full? what was written before is good",
					 "cannot write %s", in->out);
	if (in->json)
		jetwatt_summary_json(&s, f);
	else if (!in->args.quiet)
		jetwatt_summary_print(&s, f, f == stdout ? &in->args : &plain);
	return 0;
}

static int run(const struct input *in, struct jetwatt_watch *w, struct record *rec,
	       const char *board)
{
	int err;

	w->on_power = on_power;
	w->arg = rec;
	header(rec->f, w, board);
	err = jetwatt_watch_job(w, &in->job);
	if (err)
		return err;
	job_line(rec->f, w);
	jetwatt_meter_begin(&rec->meter, w);
	err = jetwatt_follow(w, in->for_s, each, rec);
	if (!err)
		err = finish(in, rec);
	jetwatt_meter_free(&rec->meter);
	return err ? err : jetwatt_follow_exit(w);
}

int jetwatt_cmd_record(int argc, char **argv)
{
	struct input in = { 0 };
	struct record rec = { 0 };
	struct jetwatt_board *board = NULL;
	struct jetwatt_watch w;
	int err;

	jetwatt_args_parse("record", "-o FILE -p PID\n-o FILE -- COMMAND [ARGUMENT...]",
			   "Every power sample, mode change and minibatch of a job, as JSON lines.\v"
			   "With a command, its exit status is that of record.", options, parse,
			   argc, argv, &in);
	err = jetwatt_reach_board(&board);
	if (err)
		return err;
	err = jetwatt_watch_open(&w, board, in.rate_hz);
	if (err)
		goto out;
	rec.f = strcmp(in.out, "-") ? fopen(in.out, "we") : stdout;
	if (!rec.f) {
		err = jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(errno), NULL,
					"cannot write %s", in.out);
		goto out;
	}
	setvbuf(rec.f, NULL, _IOFBF, BUFFER);
	err = run(&in, &w, &rec, jetwatt_board_name(board));
	if (rec.f != stdout)
		fclose(rec.f);
out:
	jetwatt_child_stop(&w.child);
	jetwatt_watch_close(&w);
	jetwatt_board_close(board);
	return err;
}
