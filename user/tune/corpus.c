// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses --reference, reads the files, leaves out those of another kind of board, and learns the prior
 * from the others.
 */
#include "tune/corpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/csv.h"
#include "tune/method.h"
#include "util/args.h"
#include "util/error.h"

enum { REFERENCE = JETWATT_ARGS_COMMON + 0x40 };

/* OpenBLAS uses one thread, because jetwatt shares the measured machine. */
void openblas_set_num_threads(int n);

/* Largest number of GPU clocks that are compared; relative difference up to which clocks are the same. */
#define GPU_LEVELS_MAX	64
#define GPU_SAME	0.01

/* The GPU clocks of a file or of the candidates. */
struct gpu_levels {
	uint64_t hz[GPU_LEVELS_MAX];
	size_t n;
};

static const struct argp_option options[] = {
	{ "reference", REFERENCE, "FILE.csv", 0,
	  "Measured modes of another workload, as training data; can be given several times", 0 },
	{ 0 }
};

static error_t references_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_references *r = state->input;

	if (key != REFERENCE)
		return ARGP_ERR_UNKNOWN;
	if (r->n == JETWATT_REFERENCES_MAX)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "give at most 16",
				       "too many references: %s", arg));
	r->path[r->n++] = arg;
	return 0;
}

const struct argp jetwatt_references_argp = { options, references_parse, NULL, NULL, NULL, NULL,
					      NULL };

int jetwatt_references_unreadable(const char *path, int err, const struct jetwatt_csv_error *e)
{
	char why[224];

	if (err != -EINVAL)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 jetwatt_error_advice(-err), "cannot read %s", path);
	snprintf(why, sizeof(why), "line %u: %s", e->line, e->text);
	return jetwatt_error_report(JETWATT_EXIT_FAILED, why,
				 "columns: cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w",
				 "%s is not a file of power modes", path);
}

long jetwatt_references_read(const char *path, struct jetwatt_row **row, uint32_t **batch)
{
	struct jetwatt_csv_error e = { 0 };
	uint32_t *size = NULL;
	int several = 0;
	long n = jetwatt_csv_read(path, row, &size, &e);

	if (n < 0)
		return -jetwatt_references_unreadable(path, n, &e);
	for (long i = 0; i < n; i++) {
		if (!(isfinite((*row)[i].time_ms) && (*row)[i].time_ms > 0) ||
		    !(isfinite((*row)[i].power_w) && (*row)[i].power_w > 0)) {
			free(size);
			return -jetwatt_error_report(JETWATT_EXIT_FAILED, NULL,
						  "fill in time_ms and power_w in every row",
						  "%s: mode %ld was not measured", path, i + 1);
		}
		several |= size[i] != size[0];
	}
	for (long i = 0; i < n && several; i++)
		(*row)[i].batch = size[i];
	if (batch)
		*batch = several ? size : NULL;
	if (!batch || !several)
		free(size);
	return n;
}

int jetwatt_references_suit(const struct jetwatt_predictor *by, size_t n)
{
	char fix[160];

	if (n && !by->prior) {
		jetwatt_method_list(fix, sizeof(fix), "omit --reference, or use --method ",
				    jetwatt_method_learns);
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix,
					 "method %s does not use references", by->name);
	}
	if (!n && by->kind & JETWATT_PREDICTOR_REFERENCE)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					 "add --reference FILE.csv: every mode of another workload",
					 "method %s needs a reference", by->name);
	return 0;
}

static void gpu_levels_add(struct gpu_levels *l, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->hz[i] == mode->gpu_hz)
			return;
	if (l->n < GPU_LEVELS_MAX)
		l->hz[l->n++] = mode->gpu_hz;
}

/* Count the levels of @l in the range of @other, and in @same those that @other has too. */
static size_t gpu_levels_shared(const struct gpu_levels *l, const struct gpu_levels *other, size_t *same)
{
	size_t within = 0;

	*same = 0;
	for (size_t i = 0; i < l->n; i++) {
		int above = 0, below = 0, is = 0;

		for (size_t k = 0; k < other->n; k++) {
			is |= fabs((double)l->hz[i] - (double)other->hz[k]) <= GPU_SAME * l->hz[i];
			above |= l->hz[i] >= other->hz[k];
			below |= l->hz[i] <= other->hz[k];
		}
		within += is || (above && below);
		*same += is;
	}
	return within;
}

int jetwatt_references_foreign(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode,
			       size_t modes)
{
	struct gpu_levels reference = { .n = 0 }, board = { .n = 0 };
	size_t within, board_within, same, board_same;

	for (size_t i = 0; i < n; i++)
		gpu_levels_add(&reference, &row[i].mode);
	for (size_t i = 0; i < modes; i++)
		gpu_levels_add(&board, &mode[i]);
	within = gpu_levels_shared(&reference, &board, &same);
	board_within = gpu_levels_shared(&board, &reference, &board_same);
	/* A single level in the range of the other ones can be missing by chance. */
	return within >= 2 && board_within >= 2 && 2 * same < within && 2 * board_same < board_within;
}

int jetwatt_references_leave_out(const struct jetwatt_predictor *by, const char *path,
				 const struct jetwatt_row *row, size_t n,
				 const struct jetwatt_mode *mode, size_t modes)
{
	if (by->kind & JETWATT_PREDICTOR_REFERENCE || !jetwatt_references_foreign(row, n, mode, modes))
		return 0;
	jetwatt_notice("%s is left out: its GPU clocks are those of another kind of board", path);
	return 1;
}

int jetwatt_references_learn(const struct jetwatt_references *r, struct jetwatt_estimator *e,
			     const struct jetwatt_mode *mode, size_t modes, uint64_t seed)
{
	struct jetwatt_corpus ref[JETWATT_REFERENCES_MAX] = { { NULL, NULL, 0 } };
	struct jetwatt_row *row[JETWATT_REFERENCES_MAX] = { NULL };
	uint32_t *batch[JETWATT_REFERENCES_MAX] = { NULL };
	int code = jetwatt_references_suit(jetwatt_estimator_by(e), r->n), err;
	size_t used = 0;

	openblas_set_num_threads(1);
	for (size_t i = 0; i < r->n && !code; i++) {
		long n = jetwatt_references_read(r->path[i], &row[i], &batch[i]);

		code = n < 0 ? -n : 0;
		if (code || (mode && jetwatt_references_leave_out(jetwatt_estimator_by(e), r->path[i],
								  row[i], n, mode, modes)))
			continue;
		ref[used++] = (struct jetwatt_corpus){ row[i], batch[i], n };
	}
	if (!code && used) {
		err = jetwatt_estimator_learn(e, ref, used, seed);
		if (err)
			code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
						 "check that every row has time_ms and power_w",
						 "cannot learn from the references");
	}
	for (size_t i = 0; i < r->n; i++) {
		free(row[i]);
		free(batch[i]);
	}
	return code;
}
