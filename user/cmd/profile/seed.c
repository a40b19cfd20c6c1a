// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt profile --seed-board: measures calibration kernels and stores them as workloads. */
#include "cmd/profile/seed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "job/kernel_program.h"
#include "out/terminal.h"
#include "tune/mode_filter.h"
#include "tune/tuner.h"
#include "util/clock.h"
#include "util/error.h"

/* Calibration kernels: between two waits, the work is about 20 ms at the highest clocks of the
 * larger boards. The references differ in the resource that limits the time. */
static const struct seed_kernel {
	const char *name, *flop, *bytes, *launches;
} kernels[] = {
	{ "compute", "8e10", "2e8", "1" },
	{ "memory", "5e8", "2e9", "1" },
	{ "balanced", "4.8e10", "1.4e9", "1" },
	{ "launches", "2e10", "2e8", "2000" },
};
#define KERNELS		(sizeof(kernels) / sizeof(kernels[0]))

/* Time for all kernels, in seconds; exceeded if they need longer for the minimum number of modes. */
#define SEED_S		600

/* Measure the running kernel in the modes that the plan chooses: as many as a reference needs, also
 * if that takes too long, and more if there is time. Return: 0, exit code. */
static int seed_measure(struct jetwatt_tuner *l, const struct jetwatt_seed *in)
{
	uint64_t end = jetwatt_clock_ns() + (uint64_t)(SEED_S * 1e9 / KERNELS);
	int err = 0;

	while (!err && (l->measured < JETWATT_REFERENCE_MODES || jetwatt_clock_ns() < end))
		err = jetwatt_tuner_one(l, in->most);
	return err == -ENODATA ? 0 : err;
}

/* Start a kernel, measure it, and replace the rows of an earlier run. Return: 0, exit code. */
static int seed_one(const struct jetwatt_seed *in, struct jetwatt_board *board, struct jetwatt_tuner *l,
		    const struct jetwatt_kernel_program *program, const struct seed_kernel *k)
{
	char *argv[] = { (char *)program->path, (char *)k->flop, (char *)k->bytes, (char *)k->launches, NULL };
	const struct jetwatt_args_job job = { .argv = argv };
	struct jetwatt_session w;
	int err = jetwatt_session_open(&w, board, 0);

	l->session = &w;
	l->nr_rows = l->measured = 0;
	if (!err)
		err = jetwatt_session_job(&w, &job);
	if (!err)
		err = jetwatt_profile_store_calibration(l->store, board, &w, k->name);
	if (!err)
		err = seed_measure(l, in);
	jetwatt_terminal_clear_progress(l->args);
	jetwatt_session_end_command(&w);
	jetwatt_session_close(&w);
	return err ? err : jetwatt_profile_store_forget(l->store, l->nr_rows);
}

static int seed_all(const struct jetwatt_seed *in, struct jetwatt_board *board, struct jetwatt_tuner *l,
		    const struct jetwatt_kernel_program *program)
{
	unsigned int modes = 0;
	int err = jetwatt_mode_guard_hold(l->guard, board), back;

	if (err)
		return err;
	l->begun_ns = jetwatt_clock_ns();
	for (size_t i = 0; i < KERNELS && !err; i++) {
		if (!in->args->quiet)
			jetwatt_notice("kernel %zu of %zu: %s, up to %zu modes", i + 1, KERNELS,
				       kernels[i].name, in->most);
		err = seed_one(in, board, l, program, &kernels[i]);
		modes += l->measured;
	}
	back = jetwatt_mode_guard_restore(l->guard);
	err = err ? err : back;
	if (!err && !in->args->quiet)
		printf("%u modes of %zu calibration kernels measured in %.0f s; the board is back in its "
		       "previous mode. Next: jetwatt list profiles\n",
		       modes, KERNELS, (l->ended_ns - l->begun_ns) * 1e-9);
	return err;
}

int jetwatt_seed_board(const struct jetwatt_seed *in, struct jetwatt_board *board)
{
	struct jetwatt_kernel_program program;
	struct jetwatt_mode_guard guard;
	struct jetwatt_profile_store store = { .db = NULL };
	struct jetwatt_tuner l = { .args = in->args, .guard = &guard, .store = &store,
				   .wait_s = in->wait_s, .max_measured = (unsigned int)in->most,
				   .silent = 1 };
	int err = jetwatt_kernel_program_get(&program, in->program);

	if (!err)
		err = jetwatt_tuner_modes(&l, board, in->modes);
	if (!err && in->modes)
		err = jetwatt_mode_filter(board, l.mode, &l.nr_modes, in->modes);
	if (!err)
		err = jetwatt_profile_store_open(&store, &in->store);
	if (!err)
		err = seed_all(in, board, &l, &program);
	jetwatt_profile_store_close(&store);
	jetwatt_tuner_free(&l);
	jetwatt_kernel_program_remove(&program);
	return err;
}
