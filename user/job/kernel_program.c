// SPDX-License-Identifier: GPL-2.0-only
/* Compiles the CUDA program that runs kernels of known work, with nvcc. */
#include "job/kernel_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"
#include "util/fork.h"

/*
 * The program is called with the numbers FLOP, BYTES and, optionally, LAUNCHES. The kernel of the
 * program reads every float of a buffer, applies "rounds" multiply-adds to it, and writes it back:
 * 8 bytes per float, and 2 operations per float and round. Each thread has four independent chains,
 * which hide the latency of arithmetic. The buffer has up to 128 MiB, more than a GPU's caches; to
 * move more bytes than twice this size, the program launches the kernel several times. Between two
 * waits the program does FLOP operations and moves BYTES bytes, except for rounding to whole
 * rounds; it divides them into at least LAUNCHES launches, whose buffer may then fit into a cache.
 */
static const char source[] =
"#include <cmath>\n"
"#include <csignal>\n"
"#include <cstdlib>\n"
"static volatile sig_atomic_t stop;\n"
"static void on_signal(int) { stop = 1; }\n"
"__global__ void work(float4 *x, size_t n, long rounds)\n"
"{\n"
"	size_t step = (size_t)gridDim.x * blockDim.x;\n"
"	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {\n"
"		float4 v = x[i];\n"
"		#pragma unroll 16\n"
"		for (long k = 0; k < rounds; k++) {\n"
"			v.x = fmaf(v.x, 0.9999f, 1e-7f);\n"
"			v.y = fmaf(v.y, 0.9998f, 2e-7f);\n"
"			v.z = fmaf(v.z, 0.9997f, 3e-7f);\n"
"			v.w = fmaf(v.w, 0.9996f, 4e-7f);\n"
"		}\n"
"		x[i] = v;\n"
"	}\n"
"}\n"
"int main(int argc, char **argv)\n"
"{\n"
"	double flop = argc > 2 ? atof(argv[1]) : 0, bytes = argc > 2 ? atof(argv[2]) : 0;\n"
"	size_t n = bytes / 32, most = (size_t)1 << 23, passes = (n + most - 1) / most;\n"
"	size_t launches = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;\n"
"	cudaDeviceProp gpu;\n"
"	float4 *x;\n"
"	long rounds;\n"
"	if (passes < launches)\n"
"		passes = launches;\n"
"	if (!(flop > 0) || n < passes)\n"
"		return 2;\n"
"	n /= passes;\n"
"	rounds = lround(flop / (8.0 * n * passes));\n"
"	signal(SIGTERM, on_signal);\n"
"	signal(SIGINT, on_signal);\n"
"	cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);\n"
"	if (cudaGetDeviceProperties(&gpu, 0) || cudaMalloc(&x, n * sizeof(*x)) ||\n"
"	    cudaMemset(x, 0, n * sizeof(*x)))\n"
"		return 1;\n"
"	while (!stop) {\n"
"		for (size_t i = 0; i < passes; i++)\n"
"			work<<<gpu.multiProcessorCount * 16, 256>>>(x, n, rounds);\n"
"		if (cudaDeviceSynchronize())\n"
"			return 1;\n"
"	}\n"
"	return 0;\n"
"}\n";

static const char *const nvcc[] = { "nvcc", "/usr/local/cuda/bin/nvcc" };

static int run_nvcc(const char *with, const char *from, const char *to)
{
	pid_t pid = jetwatt_fork();
	int status;

	if (!pid) {
		execlp(with, with, "-O3", "-o", to, from, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int program_failed(const char *why)
{
	return jetwatt_error_report(JETWATT_EXIT_UNSUPPORTED, why,
				 "install the CUDA toolkit, or name a program that runs kernels: --program FILE",
				 "cannot compile a program that runs kernels");
}

/* Return: 0 or -errno; after an error, no file is left. */
static int write_source(const char *path)
{
	FILE *f = fopen(path, "we");
	int err = !f || fputs(source, f) < 0 ? -errno : 0;

	if (f && fclose(f) && !err)
		err = -errno;
	if (f && err)
		unlink(path);
	return err;
}

int jetwatt_kernel_program_get(struct jetwatt_kernel_program *p, const char *given)
{
	char from[sizeof(p->dir) + 16];
	int status = 127, err;

	memset(p, 0, sizeof(*p));
	if (given) {
		snprintf(p->path, sizeof(p->path), "%s", given);
		return 0;
	}
	snprintf(p->dir, sizeof(p->dir), "%s/jetwatt-XXXXXX", getenv("TMPDIR") ? : "/tmp");
	if (!mkdtemp(p->dir)) {
		*p->dir = '\0';
		return program_failed(strerror(errno));
	}
	snprintf(from, sizeof(from), "%s/kernels.cu", p->dir);
	snprintf(p->path, sizeof(p->path), "%s/kernels", p->dir);
	err = write_source(from);
	if (err)
		return program_failed(strerror(-err));
	for (size_t i = 0; i < sizeof(nvcc) / sizeof(nvcc[0]) && status == 127; i++)
		status = run_nvcc(nvcc[i], from, p->path);
	unlink(from);
	return status ?
	program_failed(status == 127 ? "nvcc was not found" : "nvcc could not compile the program") : 0;
}

void jetwatt_kernel_program_remove(struct jetwatt_kernel_program *p)
{
	if (!*p->dir)
		return;
	unlink(p->path);
	rmdir(p->dir);
}
