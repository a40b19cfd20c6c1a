// SPDX-License-Identifier: GPL-2.0-only
/* Choose and apply the power mode of "jetwatt schedule". */
#include "timeshare/mode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/mode_table.h"
#include "util/error.h"

/* A mode within the limits is left only for one with more than this multiple of its training
 * throughput, because a switch of mode disturbs both programs. */
#define GAIN	1.05
/* Relative change of the request rate that triggers a new choice of the mode. */
#define MOVED	0.1

/* Find the best plan among all @n modes, without those whose power is an outlier; if @n is 1, for the
 * mode at index @from. Return: 1 if a plan was found; 0 if no mode is within the limits. */
static int find_plan(const struct jetwatt_timeshare_mode *m, const struct jetwatt_timeshare_conf *conf,
		     double arrival_hz, size_t from, size_t n, struct jetwatt_slice_plan *plan)
{
	const struct jetwatt_slice_query q = { conf->power_w, conf->latency_ms, arrival_hz };
	struct jetwatt_slice_work work[JETWATT_OBSERVED_WORKS];
	double time[JETWATT_SLICE_SIZES], power[JETWATT_SLICE_SIZES];
	int one = n == 1;

	for (size_t w = 0; w < 2; w++) {
		const struct jetwatt_mode_table_work *f = &m->files->work[w];

		work[w] = (struct jetwatt_slice_work){ f->size, f->sizes, f->time_ms, f->clean_w };
	}
	/* For a single mode, gather the server's times for all minibatch sizes in arrays. */
	for (size_t z = 0; one && z < work[1].sizes; z++) {
		time[z] = work[1].time_ms[z * m->files->n + from];
		power[z] = work[1].power_w[z * m->files->n + from];
	}
	if (one) {
		work[0].time_ms += from;
		work[0].power_w += from;
		work[1].time_ms = time;
		work[1].power_w = power;
	}
	return jetwatt_slice_find(JETWATT_SLICE_TRAIN_AND_INFER, work, n, &q, plan);
}

/* Exclude modes that the board does not support: NAN is never chosen. */
static void exclude_unsupported(struct jetwatt_timeshare_mode *m, const struct jetwatt_board *board)
{
	struct jetwatt_error_text e;

	for (size_t i = 0; i < m->files->n; i++)
		if (jetwatt_board_check_mode(board, &m->files->mode[i], &e))
			m->files->work[0].time_ms[i] = NAN;
}

static int apply_plan(struct jetwatt_timeshare_mode *m, const struct jetwatt_slice_plan *plan,
		      double arrival_hz)
{
	int err = jetwatt_mode_guard_apply(&m->guard, &m->files->mode[plan->mode]);

	if (err)
		return err;
	m->plan = *plan;
	m->arrival_hz = arrival_hz;
	m->switches++;
	return 0;
}

int jetwatt_timeshare_mode_open(struct jetwatt_timeshare_mode *m, struct jetwatt_board *board,
			       const struct jetwatt_timeshare_conf *conf)
{
	struct jetwatt_slice_plan plan;
	int err;

	if (!(conf->power_w > 0))
		return 0;
	m->files = calloc(1, sizeof(*m->files));
	if (!m->files)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot plan a mode");
	m->files->kind = JETWATT_SLICE_TRAIN_AND_INFER;
	m->files->train = conf->train_modes;
	m->files->infer[0] = conf->infer_modes;
	err = jetwatt_mode_table_load(m->files);
	if (err)
		return err;
	exclude_unsupported(m, board);
	if (!find_plan(m, conf, conf->arrival_hz, 0, m->files->n, &plan))
		return jetwatt_error_report(JETWATT_EXIT_INFEASIBLE, "no mode measured for both programs is within the limits",
					 "allow more power or a longer latency, or measure more modes for both files",
					 "no mode within %g W and %g ms at %g requests per second",
					 conf->power_w, conf->latency_ms, conf->arrival_hz);
	err = jetwatt_mode_guard_hold(&m->guard, board);
	m->held = !err;
	return err ? err : apply_plan(m, &plan, conf->arrival_hz);
}

int jetwatt_timeshare_mode_follow(struct jetwatt_timeshare_mode *m,
				 const struct jetwatt_timeshare_conf *conf, double arrival_hz)
{
	struct jetwatt_slice_plan plan, here;
	int same;

	if (!m->held || fabs(arrival_hz / m->arrival_hz - 1) < MOVED)
		return 0;
	/* No mode is within the limits: stay in the present mode. */
	if (!find_plan(m, conf, arrival_hz, 0, m->files->n, &plan))
		return 0;
	same = find_plan(m, conf, arrival_hz, m->plan.mode, 1, &here) &&
	       plan.throughput_hz <= GAIN * here.throughput_hz;
	if (same || plan.mode == m->plan.mode) {
		m->arrival_hz = arrival_hz;
		return 0;
	}
	if (!apply_plan(m, &plan, arrival_hz))
		return 1;
	/* A failed switch has been rolled back, so both programs can go on in the present mode. */
	if (jetwatt_mode_guard_check(&m->guard, &m->files->mode[m->plan.mode]))
		return -EIO;
	m->arrival_hz = arrival_hz;
	return 0;
}

void jetwatt_timeshare_mode_json(const struct jetwatt_timeshare_mode *m, struct jetwatt_json *j)
{
	char name[96];

	jetwatt_board_mode_format(&m->files->mode[m->plan.mode], name, sizeof(name));
	jetwatt_json_object(j, "mode");
	jetwatt_json_string(j, "last", name);
	jetwatt_json_uint(j, "switches", m->switches);
	jetwatt_json_real(j, "arrival_hz", m->arrival_hz, 6);
	jetwatt_json_uint(j, "batch", m->files->work[1].size[m->plan.size[1]]);
	jetwatt_json_uint(j, "minibatches", m->plan.tau);
	jetwatt_json_real(j, "latency_ms", m->plan.latency_ms, 6);
	jetwatt_json_real(j, "power_w", m->plan.power_w, 6);
	jetwatt_json_real(j, "throughput_hz", m->plan.throughput_hz, 6);
	jetwatt_json_end(j);
}

void jetwatt_timeshare_mode_show(const struct jetwatt_timeshare_mode *m, FILE *f)
{
	char name[96];

	jetwatt_board_mode_format(&m->files->mode[m->plan.mode], name, sizeof(name));
	fprintf(f, " mode %s, the last of %u applied; planned %.3g W, %.3g minibatches per second\n",
		name, m->switches, m->plan.power_w, m->plan.throughput_hz);
}

int jetwatt_timeshare_mode_close(struct jetwatt_timeshare_mode *m)
{
	int err = m->held ? jetwatt_mode_guard_restore(&m->guard) : 0;

	m->held = 0;
	if (m->files)
		jetwatt_mode_table_free(m->files);
	free(m->files);
	m->files = NULL;
	return err;
}
