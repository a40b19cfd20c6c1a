// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten programs as CUDA sees them: the calls that each of them makes per minibatch, request or
 * token, in the same order, from the same threads and through the same library.
 *
 *   frameworks PROGRAM [--minibatches N] [--wait block|spin] [--times FILE] [--linger S]
 *
 *   --wait HOW    what the user of the program can choose: the scheduling flag of its context and
 *                 the flag of its events or, for TensorFlow, whether its polling thread sleeps
 *                 (block)
 *   --times FILE  write the time at which each minibatch was known to be finished, in ns
 *   --linger S    run for S seconds instead of N minibatches
 *
 * Each sequence cites its source, with the commit if a particular one was read. The number of
 * kernels and the amount of work between two calls are made up.
 */
#include "frameworks.h"

/*
 * pytorch, aten/src/ATen/native/cuda/CUDAScalar.cu (item), c10/cuda/CUDAFunctions.h
 * (memcpy_and_sync); with mixed precision torch/amp/grad_scaler.py at 0202916b
 * (_maybe_opt_step: item() of found_inf between the backward pass and the optimizer, unless
 * the optimizer does the scaling itself), aten/src/ATen/core/CachingHostAllocator.h at 04456333
 * (process_events: query_event() of pinned blocks, until one is not ready).
 */
static void pytorch_eager(long n)
{
	/* backward takes nine tenths of the work, step one tenth */
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
 * torch.compile: triton 3, third_party/nvidia/backend/driver.py, in later releases driver.c
 * (04e0bbd4: cuLaunchKernelEx as dlsym() finds it in libcuda.so.1). Then the program calls
 * loss.item().
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

/* pytorch, aten/src/ATen/cuda/CUDAGraph.cpp at 00cbb1f8: replay() calls cudaGraphLaunch(). Then the
 * program calls loss.item(). */
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

/*
 * Numbers of waits that the main thread of TensorFlow has requested from its second thread,
 * and that this thread has finished.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	long asked, done;
	pthread_t thread;
} behind = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

/*
 * Request a wait for the GPU from the second thread, and sleep until this thread has finished it.
 */
static void hand_over(void)
{
	pthread_mutex_lock(&behind.lock);
	behind.asked++;
	pthread_cond_broadcast(&behind.cond);
	while (behind.done < behind.asked)
		pthread_cond_wait(&behind.cond, &behind.lock);
	pthread_mutex_unlock(&behind.lock);
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
	for (;;) {
		pthread_mutex_lock(&behind.lock);
		while (behind.done == behind.asked)
			pthread_cond_wait(&behind.cond, &behind.lock);
		pthread_mutex_unlock(&behind.lock);
		poll_event();
		done();
		pthread_mutex_lock(&behind.lock);
		behind.done++;
		pthread_cond_broadcast(&behind.cond);
		pthread_mutex_unlock(&behind.lock);
	}
	return arg;
}

static void begin_tensorflow(void)
{
	begin_driver();
	ok(cu.cuEventCreate(&event[0], 0));
	if (pthread_create(&behind.thread, NULL, event_manager, NULL))
		fail("thread", strerror(errno));
}

/*
 * tensorflow, core/common_runtime/gpu/gpu_util.cc (a fetched tensor: asynchronous copy, then
 * ThenExecute), device/device_event_mgr.cc (PollLoop: one thread queries the state of the
 * events, and sleeps 10 us between two queries).
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

static sem_t input, computed, copied, released;

static void wake(void *data)
{
	sem_post(data);
}

static void call_back(sem_t *data)
{
	ok(cu.cuLaunchHostFunc(NULL, wake, data));
}

static void sleep_on(sem_t *s)
{
	while (sem_wait(s))
		;
}

static void copy_parameter(void)
{
	ok(cu.cuMemcpyHtoDAsync_v2(0, host, sizeof(host), NULL));
	call_back(&input);
	sleep_on(&input);
}

/* The probe reports calls of functions after 32 of them without a wait: by then, JAX still copies
 * parameters and compiles. */
static void begin_jax(void)
{
	begin_driver();
	sem_init(&input, 0, 0);
	sem_init(&computed, 0, 0);
	sem_init(&copied, 0, 0);
	sem_init(&released, 0, 0);
	copy_parameter();
	sleep(2);
	for (int i = 0; i < 31; i++)
		copy_parameter();
}

/*
 * JAX 0.11.2 with the driver 580.159, recorded on an H100 in a loop that trains with float(loss) in
 * each step. No thread waits in a function of CUDA: Python sleeps until libcuda has called the
 * functions that XLA gave it. There are six of these calls per step: when an input has been copied,
 * when its copy in pinned memory is free (both for two inputs; here for one), when the graph has
 * run, and when the loss has been copied. XLA copies the loss after the graph has run.
 */
static void jax(long n)
{
	struct sim_cuda_work w = piece(1000, 1, 1);

	ok(cu.simLoad(0, 1000));
	ok(cu.cuMemcpyHtoDAsync_v2(0, host, sizeof(host), NULL));
	call_back(&input);
	if (n % 2)
		ok(cu.cuGraphLaunch((CUgraphExec)&w, NULL));
	else
		driver_kernels(&w, 5);
	call_back(&computed);
	sleep_on(&computed);
	ok(cu.cuMemcpyDtoHAsync_v2(host, 0, sizeof(host), NULL));
	call_back(&copied);
	call_back(&released);
	sleep_on(&copied);
	done();
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
 * TensorRT a892d222, samples/common/sampleInference.cpp (trtexec): with the default overlap, the
 * program queues a request before it waits for the previous request. Each request has an event of
 * its own. The wait for this event blocks unless --useSpinWait was given.
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
 * llama.cpp, ggml/src/ggml-cuda/ggml-cuda.cu: for each token, the program copies the inputs
 * asynchronously, launches a graph, and copies the logits asynchronously. Then it calls
 * llama_synchronize(), which ends in ggml_backend_cuda_synchronize(): cudaStreamSynchronize().
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
 * vllm, v1/worker/gpu_model_runner.py: a worker process makes these calls. With asynchronous
 * scheduling, it launches the next step before it calls async_copy_ready_event.synchronize() for
 * the present step.
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
	int worker;	/* a child process uses the GPU */
	int ahead;	/* at the end, the program still has to wait for the last minibatch */
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
