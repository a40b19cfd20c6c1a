// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten programs, as far as CUDA sees them: the calls that each makes for a minibatch,
 * request or token, in its order, by its threads and through its library.
 *
 *   frameworks PROGRAM [--minibatches N] [--wait block|spin] [--times FILE] [--linger S]
 *
 *   --wait HOW    what the program may choose: the scheduling flag of its context and the
 *                 flag of its events, or, of TensorFlow, whether its poller sleeps (block)
 *   --times FILE  one line each: when it knew that a minibatch was done, in ns
 *   --linger S    go on for S seconds in all, instead of N minibatches
 *
 * Each sequence cites the source that it was read in.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libcuda/cudart.h"

static struct {
	long minibatches;
	const char *times;
	double linger;
	int block;
} opt = { .minibatches = 60, .block = 1 };

#define DRIVER(X)	X(cuInit) X(cuDevicePrimaryCtxSetFlags) X(cuLaunchKernel) X(cuLaunchKernelEx)	\
			X(cuGraphLaunch) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord)	\
			X(cuEventQuery) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) X(simLoad)
#define RUNTIME(X)	X(cudaSetDeviceFlags) X(cudaFree) X(cudaLaunchKernel) X(cudaGraphLaunch)		\
			X(cudaStreamSynchronize) X(cudaEventCreateWithFlags) X(cudaEventRecord)		\
			X(cudaEventSynchronize) X(cudaEventQuery) X(cudaMemcpy) X(cudaMemcpyAsync)
#define MEMBER(name)	__typeof__(&name) name;
#define NAME(name)	#name,

static struct { DRIVER(MEMBER) } cu;
static struct { RUNTIME(MEMBER) } rt;

static char host[64];
static CUevent event[2];
static FILE *times;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "frameworks: %s: %s\n", what, why);
	exit(1);
}

static void ok(CUresult err)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", err);
	if (err)
		fail("CUDA error", number);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The last wait of a minibatch is over. */
static void done(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (times)
		fprintf(times, "%llu\n", t.tv_sec * 1000000000ull + t.tv_nsec);
}

static void load(const char *library, const char *const *name, size_t n, void **to)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		fail(library, dlerror());
	for (size_t i = 0; i < n; i++) {
		to[i] = dlsym(handle, name[i]);
		if (!to[i])
			fail(name[i], dlerror());
	}
}

static void load_driver(void)
{
	static const char *const name[] = { DRIVER(NAME) };

	load("libcuda.so.1", name, sizeof(name) / sizeof(name[0]), (void **)&cu);
}

static unsigned int context_flags(void)
{
	return opt.block ? CU_CTX_SCHED_BLOCKING_SYNC : CU_CTX_SCHED_SPIN;
}

static void begin_driver(void)
{
	load_driver();
	ok(cu.cuDevicePrimaryCtxSetFlags(0, context_flags()));
	ok(cu.cuInit(0));
}

static void begin_runtime(void)
{
	static const char *const name[] = { RUNTIME(NAME) };

	load_driver();
	load("libcudart.so.12", name, sizeof(name) / sizeof(name[0]), (void **)&rt);
	ok(rt.cudaSetDeviceFlags(context_flags()));
	ok(rt.cudaFree(NULL));
	for (int i = 0; i < 2; i++)
		ok(rt.cudaEventCreateWithFlags(&event[i], opt.block ? CU_EVENT_BLOCKING_SYNC : 0));
}

/* One in the executable's own runtime. */
static void begin_static(void)
{
	load_driver();
	ok(cudaSetDeviceFlags(context_flags()));
	ok(cudaFree(NULL));
}

static const struct dim3 one = { 1, 1, 1 };

/* Kernels of one piece of work: the first one stands for all of it. */
static void kernels(__typeof__(&cudaLaunchKernel) launch, struct sim_cuda_work *w, int n)
{
	void *params[] = { w };

	for (int i = 0; i < n; i++)
		ok(launch(NULL, one, one, i ? NULL : params, 0, NULL));
}

static void driver_kernels(struct sim_cuda_work *w, int n)
{
	void *params[] = { w };

	for (int i = 0; i < n; i++)
		ok(i % 2 ? cu.cuLaunchKernelEx(NULL, NULL, NULL, NULL) :
			   cu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, i ? NULL : params, NULL));
}

static struct sim_cuda_work piece(unsigned int permille, unsigned int k, unsigned int of)
{
	return (struct sim_cuda_work){ .permille = permille, .piece = k, .pieces = of };
}

static void wait_event(long n)
{
	ok(rt.cudaEventSynchronize(event[n % 2]));
	done();
}

/* .item(): an asynchronous copy, then a wait for the stream (memcpy_and_sync). */
static void item(void)
{
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	ok(rt.cudaStreamSynchronize(NULL));
}

/*
 * pytorch v2.x, aten/src/ATen/native/cuda/CUDAScalar.cu (item), c10/cuda/CUDAFunctions.h
 * (memcpy_and_sync), torch/amp/grad_scaler.py (_maybe_opt_step: found_inf.item() between
 * the backward pass and the optimizer), aten/src/ATen/core/CachingHostAllocator.h
 * (process_events: pinned blocks of the copy before are asked for by cudaEventQuery).
 */
static void pytorch_eager(long n)
{
	/* nine tenths, one tenth */
	struct sim_cuda_work backward = piece(1800, 1, 2), step = piece(200, 2, 2);

	(void)n;
	ok(cu.simLoad(0, 1000));
	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	kernels(rt.cudaLaunchKernel, &backward, 12);
	ok(rt.cudaEventRecord(event[0], NULL));
	rt.cudaEventQuery(event[0]);
	kernels(rt.cudaLaunchKernel, NULL, 3);
	item();
	kernels(rt.cudaLaunchKernel, &step, 4);
	item();
	done();
}

/*
 * torch.compile: triton 3.x, third_party/nvidia/backend/driver.py (launches by
 * cuLaunchKernelEx of libcuda itself), then loss.item().
 */
static void pytorch_compiled(long n)
{
	struct sim_cuda_work w = piece(1000, 1, 1);

	(void)n;
	ok(cu.simLoad(0, 1000));
	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	driver_kernels(&w, 8);
	item();
	done();
}

/* aten/src/ATen/cuda/CUDAGraph.cpp: replay() is cudaGraphLaunch; then loss.item(). */
static void pytorch_graphs(long n)
{
	struct sim_cuda_work w = piece(1000, 1, 1);

	(void)n;
	ok(cu.simLoad(0, 1000));
	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	ok(rt.cudaGraphLaunch((CUgraphExec)&w, NULL));
	item();
	done();
}

/* What TensorFlow's and JAX's second thread is asked to wait for. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	long asked, done;
	pthread_t thread;
} behind = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void second_thread(void *(*fn)(void *))
{
	begin_driver();
	ok(cu.cuEventCreate(&event[0], 0));
	if (pthread_create(&behind.thread, NULL, fn, NULL))
		fail("thread", strerror(errno));
}

/* Let the second thread wait, and sleep until it has. */
static void hand_over(void)
{
	pthread_mutex_lock(&behind.lock);
	behind.asked++;
	pthread_cond_broadcast(&behind.cond);
	while (behind.done < behind.asked)
		pthread_cond_wait(&behind.cond, &behind.lock);
	pthread_mutex_unlock(&behind.lock);
}

static void serve(void (*wait)(void))
{
	for (;;) {
		pthread_mutex_lock(&behind.lock);
		while (behind.done == behind.asked)
			pthread_cond_wait(&behind.cond, &behind.lock);
		pthread_mutex_unlock(&behind.lock);
		wait();
		done();
		pthread_mutex_lock(&behind.lock);
		behind.done++;
		pthread_cond_broadcast(&behind.cond);
		pthread_mutex_unlock(&behind.lock);
	}
}

static void poll_event(void)
{
	CUresult err;

	while ((err = cu.cuEventQuery(event[0])) == CUDA_ERROR_NOT_READY)
		if (opt.block)
			usleep(10);
	ok(err);
}

static void *event_manager(void *arg)
{
	serve(poll_event);
	return arg;
}

static void begin_tensorflow(void)
{
	second_thread(event_manager);
}

/*
 * tensorflow, core/common_runtime/gpu/gpu_util.cc (a fetched tensor: asynchronous copy, then
 * ThenExecute), device/device_event_mgr.cc (PollLoop: one thread asks for the state of
 * events, and sleeps 10 us in between).
 */
static void tensorflow(long n)
{
	struct sim_cuda_work w = piece(1000, 1, 1);

	(void)n;
	ok(cu.simLoad(0, 1000));
	ok(cu.cuMemcpyHtoDAsync_v2(0, host, sizeof(host), NULL));
	driver_kernels(&w, 10);
	ok(cu.cuMemcpyDtoHAsync_v2(host, 0, sizeof(host), NULL));
	ok(cu.cuEventRecord(event[0], NULL));
	hand_over();
}

static void wait_stream(void)
{
	ok(cu.cuStreamSynchronize(NULL));
}

static void *xla_worker(void *arg)
{
	serve(wait_stream);
	return arg;
}

static void begin_jax(void)
{
	second_thread(xla_worker);
}

/*
 * openxla, xla/stream_executor/cuda/cuda_stream.cc (launches; BlockHostUntilDone is
 * cuStreamSynchronize), xla/stream_executor/cuda/cuda_command_buffer.cc (cuGraphLaunch).
 * The wait is in a thread of PjRt's pool while Python's sleeps in block_until_ready().
 */
static void jax(long n)
{
	struct sim_cuda_work w = piece(1000, 1, 1);

	ok(cu.simLoad(0, 1000));
	ok(cu.cuMemcpyHtoDAsync_v2(0, host, sizeof(host), NULL));
	if (n % 2)
		ok(cu.cuGraphLaunch((CUgraphExec)&w, NULL));
	else
		driver_kernels(&w, 5);
	hand_over();
}

/*
 * onnxruntime, core/providers/cuda/gpu_data_transfer.cc (outputs in pageable memory:
 * cudaMemcpy), cuda_stream_handle.cc (CudaStream::Flush at the end of a run:
 * cudaStreamSynchronize).
 */
static void onnxruntime(long n)
{
	struct sim_cuda_work w = piece(400, 1, 1);

	(void)n;
	ok(rt.cudaMemcpy(NULL, host, sizeof(host), cudaMemcpyHostToDevice));
	kernels(rt.cudaLaunchKernel, &w, 9);
	ok(rt.cudaMemcpy(host, NULL, sizeof(host), cudaMemcpyDeviceToHost));
	ok(rt.cudaStreamSynchronize(NULL));
	done();
	usleep(2000);
}

/*
 * TensorRT a892d222, samples/common/sampleInference.cpp (trtexec): with the default
 * overlap a request is queued before the one before it is waited for, by its own event,
 * which blocks unless --useSpinWait was given.
 */
static void tensorrt(long n)
{
	struct sim_cuda_work w = piece(400, 1, 1);

	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	kernels(rt.cudaLaunchKernel, &w, 7);
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	ok(rt.cudaEventRecord(event[n % 2], NULL));
	if (n)
		wait_event(n - 1);
}

/*
 * llama.cpp, ggml/src/ggml-cuda/ggml-cuda.cu (the graph of a token is launched, inputs and
 * logits are copied asynchronously; ggml_backend_cuda_synchronize is
 * cudaStreamSynchronize), called once a token through llama_synchronize().
 */
static void llama(long n)
{
	struct sim_cuda_work w = piece(300, 1, 1);

	(void)n;
	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	ok(rt.cudaGraphLaunch((CUgraphExec)&w, NULL));
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	ok(rt.cudaStreamSynchronize(NULL));
	done();
	usleep(1000);
}

/*
 * vllm, v1/worker/gpu_model_runner.py: in a worker process; with asynchronous scheduling
 * the next step is launched before async_copy_ready_event.synchronize() of this one.
 */
static void vllm(long n)
{
	struct sim_cuda_work w = piece(300, 1, 1);

	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	ok(rt.cudaGraphLaunch((CUgraphExec)&w, NULL));
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	ok(rt.cudaEventRecord(event[n % 2], NULL));
	if (n)
		wait_event(n - 1);
	usleep(500);
}

/* NVIDIA/cuda-samples, Samples/0_Introduction/vectorAdd: copy, launch, copy back; nvcc links
 * the runtime into the program unless told otherwise (--cudart static). */
static void plain(long n)
{
	struct sim_cuda_work w = piece(500, 1, 1);

	(void)n;
	ok(cudaMemcpy(NULL, host, sizeof(host), cudaMemcpyHostToDevice));
	kernels(cudaLaunchKernel, &w, 2);
	ok(cudaMemcpy(host, NULL, sizeof(host), cudaMemcpyDeviceToHost));
	done();
	usleep(1000);
}

static const struct program {
	const char *name;
	void (*begin)(void), (*minibatch)(long n);
	int worker;	/* the GPU is used by a child */
	int ahead;	/* the last one is still to be waited for at the end */
} programs[] = {
	{ "pytorch-eager", begin_runtime, pytorch_eager, 0, 0 },
	{ "pytorch-compiled", begin_runtime, pytorch_compiled, 0, 0 },
	{ "pytorch-graphs", begin_runtime, pytorch_graphs, 0, 0 },
	{ "tensorflow", begin_tensorflow, tensorflow, 0, 0 },
	{ "jax", begin_jax, jax, 0, 0 },
	{ "onnxruntime", begin_runtime, onnxruntime, 0, 0 },
	{ "tensorrt", begin_runtime, tensorrt, 0, 1 },
	{ "llama.cpp", begin_runtime, llama, 0, 0 },
	{ "vllm", begin_runtime, vllm, 1, 1 },
	{ "plain", begin_static, plain, 0, 0 },
};

static int run(const struct program *p)
{
	double end;
	long n;

	times = opt.times ? fopen(opt.times, "we") : NULL;
	if (opt.times && !times)
		fail(opt.times, strerror(errno));
	p->begin();
	end = now() + opt.linger;
	for (n = 0; opt.linger > 0 ? now() < end : n < opt.minibatches; n++)
		p->minibatch(n);
	if (p->ahead)
		wait_event(n - 1);
	return times && fclose(times);
}

int main(int argc, char **argv)
{
	const struct program *p = NULL;
	pid_t worker;
	int status;

	for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(argv[1], programs[i].name))
			p = &programs[i];
	if (!p)
		fail(argc > 1 ? argv[1] : "PROGRAM", "no such program");
	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--minibatches"))
			opt.minibatches = atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--wait"))
			opt.block = strcmp(argv[i + 1], "spin") != 0;
		else if (!strcmp(argv[i], "--times"))
			opt.times = argv[i + 1];
		else if (!strcmp(argv[i], "--linger"))
			opt.linger = atof(argv[i + 1]);
		else
			fail(argv[i], "no such option");
	}
	if (!p->worker)
		return run(p);
	worker = fork();
	if (!worker)
		return run(p);
	if (worker < 0 || waitpid(worker, &status, 0) != worker)
		fail("worker", strerror(errno));
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
