// SPDX-License-Identifier: GPL-2.0-only
/* libcudart.so.12 where it is shared: the runtime, which calls on the driver. */
#include "cuda.h"

int cudaStreamSynchronize(CUstream stream);
int cudaDeviceSynchronize(void);

int cudaStreamSynchronize(CUstream stream)
{
	int err = cuStreamSynchronize(stream);

	/* not a tail call: the frame stays */
	__asm__ volatile("" : "+r"(err));
	return err;
}

/* As the compiler makes it: the driver's call takes this one's frame. */
int cudaDeviceSynchronize(void)
{
	return cuCtxSynchronize();
}
