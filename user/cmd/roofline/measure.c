// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt roofline --calibrate: measures kernels of known work, from memory-bound in every mode to
 * compute-bound in every mode, each kernel in several modes, as any other job is measured. A
 * directory stores the measurements, so each kernel is measured only once in each mode.
 */
#include "cmd/roofline/roofline.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/connect.h"
#include "out/terminal.h"
#include "tune/mode_filter.h"
#include "util/clock.h"
#include "util/error.h"

/* Arithmetic intensities in FLOP per byte. In Orin's modes, the roofs of arithmetic and of memory
 * intersect between 3 and 700: intensities in this range separate the energy per operation, the
 * energy per byte and the constant power. */
static const double intensity[] = { 0.25, 1, 3, 6, 12, 24, 48, 96, 192, 384, 1024, 4096 };
#define KERNELS		(sizeof(intensity) / sizeof(intensity[0]))
/* Work between two waits of a kernel: it takes about 20 ms at the highest clocks of the larger
 * boards. */
#define FLOP_MAX	8e10
#define BYTES_MAX	2e9
/* Largest number of GPU clocks to measure, with all EMC clocks, if --modes is not given. */
#define GPU_STEPS	5
#define STEPS_MAX	64

/* Limits of a measurement: longer than for a profile, because the fitted coefficients
 * are differences between kernels, and power drifts by tenths of a percent over seconds. */
static const struct jetwatt_measure_limits limits = {
	.batches = 20, .seconds = 8, .target = 0.004, .max_s = 30, .idle_s = 30,
	.min_on_timeout = 3,
};

enum knob { CORES, CPU, GPU };

static uint64_t knob_value(const struct jetwatt_mode *m, enum knob k)
{
	return k == CORES ? m->cores : k == CPU ? m->cpu_khz : m->gpu_hz;
}

/* Collect the levels of a knob in the list of modes, ascending. Return: number of levels. */
static size_t knob_levels(const struct jetwatt_tuner *l, enum knob k, uint64_t *step)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_modes; i++) {
		uint64_t v = knob_value(&l->mode[i], k);
		size_t at = 0;

		while (at < n && step[at] < v)
			at++;
		if (n == STEPS_MAX || (at < n && step[at] == v))
			continue;
		memmove(step + at + 1, step + at, (n++ - at) * sizeof(*step));
		step[at] = v;
	}
	return n;
}

/* Reduce the list of modes to at most GPU_STEPS GPU clocks over the whole range, each with all EMC
 * clocks, and each with the highest number of cores and CPU clock, and with the middle level of both. */
static void thin_modes(struct jetwatt_tuner *l)
{
	uint64_t cores[STEPS_MAX], cpu[STEPS_MAX], gpu[STEPS_MAX];
	size_t nc = knob_levels(l, CORES, cores), np = knob_levels(l, CPU, cpu),
	       ng = knob_levels(l, GPU, gpu), n = 0;
	size_t some = ng < GPU_STEPS ? ng : GPU_STEPS;

	for (size_t i = 0; i < l->nr_modes; i++) {
		const struct jetwatt_mode *m = &l->mode[i];
		int all = m->cores == cores[nc - 1] && m->cpu_khz == cpu[np - 1];
		int half = m->cores == cores[(nc - 1) / 2] && m->cpu_khz == cpu[(np - 1) / 2];

		for (size_t k = 0; k < some && (all || half); k++)
			if (m->gpu_hz == gpu[some > 1 ? (k * (ng - 1) + (some - 1) / 2) / (some - 1) : 0]) {
				l->mode[n++] = *m;
				break;
			}
	}
	l->nr_modes = n;
}

/* Measure one kernel in all modes that its file lacks, and append the rows to the file. Return: 0,
 * exit code. */
static int calibrate_kernel(struct jetwatt_roofline *r, struct jetwatt_board *board,
			    struct jetwatt_tuner *l, struct jetwatt_roofline_kernel *k)
{
	char flop[32], bytes[32], *argv[] = { r->run.path, flop, bytes, NULL };
	const struct jetwatt_args_job job = { .argv = argv };
	struct jetwatt_session w;
	int err;

	snprintf(flop, sizeof(flop), "%.0f", k->flop);
	snprintf(bytes, sizeof(bytes), "%.0f", k->bytes);
	l->nr_rows = l->measured = 0;
	l->out = k->path;
	err = jetwatt_tuner_read(l, k->path, 0);
	if (err || jetwatt_tuner_known(l) == l->nr_modes)
		return err;
	l->max_measured = l->nr_modes - jetwatt_tuner_known(l);
	err = jetwatt_session_open(&w, board, 0);
	if (!err) {
		l->session = &w;
		err = jetwatt_session_job(&w, &job);
	}
	for (size_t i = 0; i < l->nr_modes && !err; i++)
		if (!jetwatt_tuner_row(l, &l->mode[i]))
			err = jetwatt_tuner_measure(l, i, "", &limits);
	jetwatt_terminal_clear_progress(&r->args);
	jetwatt_session_end_command(&w);
	jetwatt_session_close(&w);
	return err;
}

static int calibrate_all(struct jetwatt_roofline *r, struct jetwatt_board *board)
{
	struct jetwatt_mode_guard guard;
	struct jetwatt_tuner l = { .args = &r->args, .guard = &guard, .wait_s = limits.idle_s,
				   .silent = 1 };
	int err = jetwatt_tuner_modes(&l, board, r->modes), back;

	if (!err && r->modes)
		err = jetwatt_mode_filter(board, l.mode, &l.nr_modes, r->modes);
	if (!err && !r->modes)
		thin_modes(&l);
	if (!err)
		err = jetwatt_mode_guard_hold(&guard, board);
	if (err)
		goto out;
	l.begun_ns = jetwatt_clock_ns();
	for (size_t i = 0; i < r->kernels && !err; i++) {
		if (!r->args.quiet)
			jetwatt_notice("kernel %zu of %zu: %g FLOP per byte, %zu modes", i + 1,
					   r->kernels, r->kernel[i].flop / r->kernel[i].bytes, l.nr_modes);
		err = calibrate_kernel(r, board, &l, &r->kernel[i]);
	}
	back = jetwatt_mode_guard_restore(&guard);
	err = err ? err : back;
out:
	jetwatt_tuner_free(&l);
	return err;
}

static int corpus_failed(const char *path)
{
	return jetwatt_error_report(errno == EACCES ? JETWATT_EXIT_PERMISSION : JETWATT_EXIT_FAILED,
				 strerror(errno), jetwatt_error_advice(errno),
				 "cannot use the directory --corpus %s", path);
}

static int add_kernel(struct jetwatt_roofline *r, double flop, double bytes)
{
	struct jetwatt_roofline_kernel *k = &r->kernel[r->kernels];
	char *path;

	if (r->kernels == JETWATT_ROOFLINE_KERNELS)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, NULL,
					 "a corpus can have at most %d kernels",
					 JETWATT_ROOFLINE_KERNELS);
	if (asprintf(&path, "%s/%.0f-%.0f.csv", r->corpus, flop, bytes) < 0) {
		errno = ENOMEM;
		return corpus_failed(r->corpus);
	}
	*k = (struct jetwatt_roofline_kernel){ flop, bytes, path };
	r->kernels++;
	return 0;
}

/* The roofs are fitted over GPU clocks, so the board must be able to set the GPU clock. Return: 0,
 * exit code. */
static int check_gpu_clock(const struct jetwatt_board *board)
{
	const struct jetwatt_error_text *lack = jetwatt_board_lacks(board, JETWATT_KNOB_GPU);

	return lack ? jetwatt_error_board(-ENODEV, lack) : 0;
}

int jetwatt_roofline_measure(struct jetwatt_roofline *r)
{
	struct jetwatt_board *board = NULL;
	int err = 0;

	if (mkdir(r->corpus, 0777) && errno != EEXIST)
		return corpus_failed(r->corpus);
	for (size_t i = 0; i < KERNELS && !err; i++) {
		double bytes =
			BYTES_MAX * intensity[i] > FLOP_MAX ? FLOP_MAX / intensity[i] : BYTES_MAX;

		err = add_kernel(r, bytes * intensity[i], bytes);
	}
	if (!err)
		err = jetwatt_open_knobs(&board);
	if (!err)
		err = check_gpu_clock(board);
	if (!err)
		err = jetwatt_kernel_program_get(&r->run, r->program);
	if (!err)
		err = calibrate_all(r, board);
	jetwatt_kernel_program_remove(&r->run);
	jetwatt_board_close(board);
	return err;
}

int jetwatt_roofline_corpus(struct jetwatt_roofline *r)
{
	struct dirent **found = NULL;
	int n = scandir(r->corpus, &found, NULL, alphasort);
	int err = n < 0 ? corpus_failed(r->corpus) : 0;

	for (int i = 0; i < n; i++) {
		unsigned long long flop, bytes;
		int at = 0;

		if (!err && sscanf(found[i]->d_name, "%llu-%llu.csv%n", &flop, &bytes, &at) == 2 && at &&
		    !found[i]->d_name[at] && bytes)
			err = add_kernel(r, flop, bytes);
		free(found[i]);
	}
	free(found);
	if (!err && !r->kernels)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, NULL,
					"jetwatt roofline --calibrate --corpus DIR measures kernels",
					"%s contains no kernel measurements (FLOP-BYTES.csv)",
					r->corpus);
	return err;
}
