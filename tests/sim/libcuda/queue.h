/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one queue of the simulated libcuda.
 */
#ifndef SIM_LIBCUDA_QUEUE_H
#define SIM_LIBCUDA_QUEUE_H

#include "cuda.h"

#pragma GCC visibility push(hidden)

/* @mark: what was queued when it was recorded: see mark() */
struct CUevent_st {
	uint64_t mark;
	unsigned int flags;
};

CUresult sim_submit(const struct sim_cuda_work *w);

/* All that is queued now: a time of the clock, or a number of pieces. */
uint64_t sim_mark(void);

/* Return: CUDA_SUCCESS: all up to the mark is done; CUDA_ERROR_NOT_READY. */
CUresult sim_query(uint64_t to);

CUresult sim_wait_for(uint64_t to, int blocking);

/* Wait for all that is queued, as the context's flags say. */
CUresult sim_synchronise(void);

#pragma GCC visibility pop

#endif
