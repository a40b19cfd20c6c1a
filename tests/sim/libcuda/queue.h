/* SPDX-License-Identifier: GPL-2.0-only */
/* The work queue of the simulated libcuda. */
#ifndef SIM_LIBCUDA_QUEUE_H
#define SIM_LIBCUDA_QUEUE_H

#include "cuda.h"

#pragma GCC visibility push(hidden)

/*
 * struct CUevent_st, an event of CUDA: @mark is the end of the work queue when the event was
 * recorded, see sim_mark()
 */
struct CUevent_st {
	uint64_t mark;
	unsigned int flags;
};

CUresult sim_submit(const struct sim_cuda_work *w);

/*
 * Return: the present end of the work queue: the number of queued pieces or, on a machine without
 * the GPU's node, the time at which all work is finished.
 */
uint64_t sim_mark(void);

/* Return: CUDA_SUCCESS if all work up to mark @to is finished; CUDA_ERROR_NOT_READY if not;
 * CUDA_ERROR_LAUNCH_FAILED if the GPU has refused work. */
CUresult sim_query(uint64_t to);

CUresult sim_wait_for(uint64_t to, int blocking);

/* Have the thread cuda-EvtHandlr call @fn when the GPU has finished the work that is queued now. */
CUresult sim_call_back(CUhostFn fn, void *data);

/* Wait for all queued work, in the way that the context's flags select. */
CUresult sim_synchronise(void);

#pragma GCC visibility pop

#endif
