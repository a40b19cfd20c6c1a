// SPDX-License-Identifier: GPL-2.0-only
// A CUDA loop for check-hw: 200 "minibatches" of a few milliseconds each, with
// blocking waits.
#include <cstdio>

__global__ void work(float *x, int rounds)
{
	float v = x[threadIdx.x + blockIdx.x * blockDim.x];

	for (int i = 0; i < rounds; i++)
		v = v * 0.999f + 0.5f;
	x[threadIdx.x + blockIdx.x * blockDim.x] = v;
}

int main()
{
	float *x;

	cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
	if (cudaMalloc(&x, 256 * 256 * sizeof(*x)) != cudaSuccess)
		return 1;
	for (int i = 0; i < 200; i++) {
		work<<<256, 256>>>(x, 200000);
		if (cudaDeviceSynchronize() != cudaSuccess)
			return 1;
	}
	printf("done\n");
	return 0;
}
