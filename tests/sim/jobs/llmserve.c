// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server of a language model, as CUDA sees it: llama.cpp's llama-server or vLLM, with requests that
 * it makes up itself.
 *
 *   llmserve llama|vllm [--slots N] [--tokens N] [--seed N] [--idle S] [--wait block|spin]
 *                       [--draft N] [--times FILE] [--metrics FILE] [--listen PORT]
 *
 *   --slots N       requests at the same time, at most 64 (1)
 *   --tokens N      accept no request after this number of generated tokens (1000)
 *   --idle S        longest time between the end of a request and the next one (0.5)
 *   --draft N       speculative decoding with N draft tokens: a draft model generates them one by one,
 *                   and waits for each; then the model processes all of them in one step and accepts
 *                   the first ones, so a decode step has N + 1 waits and gives 1 to N + 1 tokens
 *   --times FILE    write the end of each step in ns, its kind (prefill or decode), the numbers of
 *                   prompt tokens and generated tokens so far, and the operations and bytes of the step
 *   --metrics FILE  the server's counters as Prometheus text, after each step. llama.cpp counts the
 *                   tokens of a request when the request ends (server_metrics::on_prediction())
 *   --listen PORT   serve the counters by HTTP at 127.0.0.1, for every path; 0: any free port. Prints
 *                   "port N"
 *
 * After SIGUSR1, new requests have shorter prompts (llm_requests.h).
 *
 * A step with tokens of a prompt is a prefill, also if other requests get their next token in it.
 *
 * llama.cpp, tools/server/server.cpp, update_slots(): a batch has one token of each slot that
 * generates, then tokens of the prompts, up to n_batch (2048), which llama_decode() processes in parts
 * of n_ubatch (512). ggml/src/ggml-cuda/ggml-cuda.cu uses CUDA graphs only for batches of one token
 * ("disabling CUDA graphs due to batch size > 1"). Each part ends with llama_synchronize() if its
 * logits are needed; here each part does.
 *
 * vLLM, v1/core/sched/scheduler.py: the scheduler gives each running request one token, then chunks of
 * prompts, up to max_num_batched_tokens (2048; here 512); v1/worker/gpu_model_runner.py: decode steps
 * are one CUDA graph, steps with a prompt are launched in pieces around attention. Each step waits for
 * an event after the copy of the sampled tokens.
 *
 * Speculative decoding: common/speculative.cpp of llama.cpp (common_speculative_gen_draft() decodes and
 * samples one draft token at a time), v1/spec_decode/eagle.py of vLLM (propose()). The draft model
 * processes the prompts as well, before the model does.
 *
 * The work of a step is that of a model of 3.2e9 parameters of 4.5 bits, 28 layers, and 8 key and value
 * heads of 128 (Llama 3.2 3B, Q4_K_M): two operations per parameter and token, the weights read once
 * per step, and the keys and values of the context of each request. Numbers of kernels are made up.
 */
#include "frameworks.h"
#include "llm_requests.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>

#define DRAFT		10	/* size of the model, relative to the draft model */
#define DRAFT_US	60	/* time between two waits of the draft model: sampling */
#define KERNELS		48
#define DRAFT_KERNELS	27	/* of the draft model, which has 16 layers */
#define HOST_US		900	/* time between two steps: sampling, network */

/* The counters after the last step, which the thread of --listen reads. */
static struct {
	pthread_mutex_t lock;
	long prompts, generated;
} counted = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Sleep until the next request comes. */
static void idle(void)
{
	double first = INFINITY, t = now();

	for (long i = 0; i < serve.slots; i++)
		first = fmin(first, slot[i].free_until);
	if (first > t)
		usleep((first - t) * 1e6 + 1);
}

/* Make the calls of one wait. @count: number of kernels; 0: one CUDA graph. */
static void call_cuda(struct sim_cuda_work *w, int count)
{
	ok(rt.cudaMemcpyAsync(NULL, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
	if (count)
		kernels(rt.cudaLaunchKernel, w, count);
	else
		ok(rt.cudaGraphLaunch((CUgraphExec)w, NULL));
	ok(rt.cudaMemcpyAsync(host, NULL, sizeof(host), cudaMemcpyDeviceToHost, NULL));
	if (serve.vllm) {
		ok(rt.cudaEventRecord(event[0], NULL));
		ok(rt.cudaEventSynchronize(event[0]));
	} else {
		ok(rt.cudaStreamSynchronize(NULL));
	}
}

/* Make the calls of one step with the work @w. */
static void run_step(struct sim_cuda_work *w, long prompt)
{
	int graph = !prompt && (serve.vllm || serve.slots == 1);
	long drafts = prompt ? serve.draft > 0 : serve.draft;
	struct sim_cuda_work draft = *w;

	draft.flop /= DRAFT * (prompt ? 1 : 1 + serve.draft);
	draft.bytes /= DRAFT;
	for (long i = 0; i < drafts; i++) {
		call_cuda(&draft, graph ? 0 : DRAFT_KERNELS);
		usleep(DRAFT_US);
	}
	call_cuda(w, graph ? 0 : KERNELS);
}

static void print_metrics(FILE *f)
{
	const char *p = serve.vllm ? "vllm" : "llamacpp";
	const char *labels = serve.vllm ? "{model_name=\"m\",engine=\"0\"}" : "";
	const char *generated = serve.vllm ? "generation_tokens_total" : "tokens_predicted_total";

	fprintf(f, "# TYPE %s:prompt_tokens_total counter\n%s:prompt_tokens_total%s %ld\n", p, p, labels,
		counted.prompts);
	fprintf(f, "# TYPE %s:%s counter\n%s:%s%s %ld\n", p, generated, p, generated, labels, counted.generated);
}

static void write_metrics(void)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s.new", serve.metrics);
	f = fopen(name, "we");
	if (!f)
		fail(name, strerror(errno));
	print_metrics(f);
	if (fclose(f) || rename(name, serve.metrics))
		fail(serve.metrics, strerror(errno));
}

/* Answer one HTTP request. */
static void answer(int fd)
{
	char request[4096], *body = NULL;
	size_t got = 0, len = 0;
	ssize_t n;
	FILE *f;

	do {
		n = read(fd, request + got, sizeof(request) - 1 - got);
		got += n > 0 ? (size_t)n : 0;
		request[got] = '\0';
	} while (n > 0 && !strstr(request, "\r\n\r\n"));
	if (n <= 0)
		return;
	f = open_memstream(&body, &len);
	if (!f)
		fail("--listen", strerror(errno));
	pthread_mutex_lock(&counted.lock);
	print_metrics(f);
	pthread_mutex_unlock(&counted.lock);
	fclose(f);
	dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n%s", len, body);
	free(body);
}

static void *answer_all(void *arg)
{
	int fd;

	while ((fd = accept4(*(int *)arg, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		answer(fd);
		close(fd);
	}
	return NULL;
}

/* Serve the counters at a port, in a thread. */
static void begin_metrics(const char *port)
{
	static int fd;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	pthread_t thread;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 8) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		fail("--listen", strerror(errno));
	if (pthread_create(&thread, NULL, answer_all, &fd))
		fail("--listen", "no thread");
	printf("port %d\n", ntohs(at.sin_port));
	fflush(stdout);
}

static void step(void)
{
	struct timespec t;
	long prompt;
	struct step_work work = next_step(&prompt);
	struct sim_cuda_work w = { .permille = 1000 * (1 + prompt / 32), .pieces = 1, .flop = work.flop, .bytes = work.bytes };

	run_step(&w, prompt);
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (times)
		fprintf(times, "%llu %s %ld %ld %llu %llu\n", t.tv_sec * 1000000000ull + t.tv_nsec,
			prompt ? "prefill" : "decode", serve.prompts, serve.generated, (unsigned long long)w.flop,
			(unsigned long long)w.bytes);
	pthread_mutex_lock(&counted.lock);
	counted.prompts = serve.prompts;
	counted.generated = serve.counted;
	pthread_mutex_unlock(&counted.lock);
	if (serve.metrics)
		write_metrics();
	usleep(HOST_US);
}

static void on_signal(int sig)
{
	(void)sig;
	serve.chat = 1;
}

int main(int argc, char **argv)
{
	const char *port = NULL;

	if (argc < 2 || (strcmp(argv[1], "llama") && strcmp(argv[1], "vllm")))
		fail(argc > 1 ? argv[1] : "PROGRAM", "no such program");
	serve.vllm = !strcmp(argv[1], "vllm");
	for (int i = 2; i + 1 < argc; i += 2) {
		const char *v = argv[i + 1];

		if (!strcmp(argv[i], "--slots"))
			serve.slots = atol(v);
		else if (!strcmp(argv[i], "--tokens"))
			serve.tokens = atol(v);
		else if (!strcmp(argv[i], "--draft"))
			serve.draft = atol(v);
		else if (!strcmp(argv[i], "--seed"))
			serve.seed = strtoull(v, NULL, 10);
		else if (!strcmp(argv[i], "--idle"))
			serve.idle = atof(v);
		else if (!strcmp(argv[i], "--wait"))
			opt.block = strcmp(v, "spin") != 0;
		else if (!strcmp(argv[i], "--times"))
			opt.times = v;
		else if (!strcmp(argv[i], "--metrics"))
			serve.metrics = v;
		else if (!strcmp(argv[i], "--listen"))
			port = v;
		else
			fail(argv[i], "no such option");
	}
	if (serve.slots < 1 || serve.slots > SLOTS)
		fail("--slots", "1 to 64");
	times = opt.times ? fopen(opt.times, "we") : NULL;
	if (opt.times && !times)
		fail(opt.times, strerror(errno));
	signal(SIGUSR1, on_signal);
	begin_runtime();
	if (port)
		begin_metrics(port);
	for (;;) {
		if (accept_requests())
			step();
		else if (serve.generated < serve.tokens)
			idle();
		else
			break;
	}
	return times && fclose(times);
}
