// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boundaries and phases of language model servers: prefill and decode steps with and without speculative
 * decoding, with the request model of the simulated server (tests/sim/jobs/llm_requests.h), on GPUs and CPUs of
 * speeds that are drawn from SEED. A step has the phase of its kind if its last minibatch has the phase of most
 * steps of that kind. Also training jobs with pauses.
 */
#include "minibatch/phases.h"

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "phase_labels.h"
#include "sim/jobs/llm_requests.h"

#define MAX		60000	/* waits */
#define STEPS		20000
#define FEW		300	/* waits after which the cycle of a server is known */
#define DRAWN		12	/* servers of each kind */
#define KERNELS		48
#define DRAFT_KERNELS	27
#define STRAY		.005	/* probability that another process delays a step of the CPU */
#define DRAFT		10	/* size of the model, relative to the draft model */

static struct jetwatt_sync sync_of[MAX];
static struct jetwatt_batch_bound bound[2 * MAX];
static uint64_t end[STEPS];
static uint8_t is_prefill[STEPS];
static size_t waits, steps;

/* The machine. @flop, @bytes: operations and bytes of the GPU per s; @cpu: factor of all times of
 * the CPU; @sd: standard deviation of the logarithm of a time of the GPU; @now: time, s; @z: state
 * of the random numbers. */
static struct {
	double flop, bytes, cpu, sd, now;
	uint64_t z;
} m;

static double now(void)
{
	return m.now;
}

static double uniform(void)
{
	m.z = m.z * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(m.z >> 33) / (1ull << 31);
}

static double jitter(double sd)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return exp(sd * sum);
}

/* The CPU works for @us; the process may be woken late, and sometimes another one runs first. */
static void pass(double us)
{
	if (uniform() < STRAY)
		m.now += 1e-6 * (200 + 1000 * uniform());
	m.now += 1e-6 * (us * m.cpu * jitter(.1) + 60 * uniform());
}

static uint64_t ns(double s)
{
	return (uint64_t)(s * 1e9);
}

/* Launch @kernels kernels, or a CUDA graph if @kernels is 0, and wait for them. */
static void wait_for(const struct step_work *w, int kernels)
{
	struct jetwatt_sync *s = &sync_of[waits++];
	double gpu = fmax(w->flop / m.flop, w->bytes / m.bytes) * jitter(m.sd), first;

	*s = (struct jetwatt_sync){ .tgid = 7, .tid = 7, .launches = kernels ? (uint32_t)kernels : 1,
				    .call = serve.vllm ? JETWATT_SYNC_EVENT : JETWATT_SYNC_STREAM };
	m.now += 8e-6 * m.cpu;
	first = m.now;
	s->launch_ns = ns(first);
	m.now += 6e-6 * m.cpu * s->launches * jitter(.05);
	s->enter_ns = ns(m.now);
	m.now = fmax(m.now, first + gpu) + 3e-5 * m.cpu * jitter(.2);
	s->exit_ns = ns(m.now);
}

/* As run_step() and step() of llmserve.c. */
static void run_step(void)
{
	long prompt;
	struct step_work w = next_step(&prompt), draft = w;
	bool graph = !prompt && (serve.vllm || serve.slots == 1);

	draft.flop /= DRAFT * (prompt ? 1 : 1 + serve.draft);
	draft.bytes /= DRAFT;
	for (long i = 0; i < (prompt ? serve.draft > 0 : serve.draft); i++) {
		wait_for(&draft, graph ? 0 : DRAFT_KERNELS);
		pass(60);
	}
	wait_for(&w, graph ? 0 : KERNELS);
	is_prefill[steps] = prompt > 0;
	end[steps++] = ns(m.now);
	pass(900);
}

struct server {
	const char *name;
	int vllm;
	long slots, draft, tokens;
};

static const struct server servers[] = {
	{ "llama", 0, 1, 0, 1000 },
	{ "llama, 4 slots", 0, 4, 0, 2000 },
	{ "llama, 16 slots", 0, 16, 0, 4000 },
	{ "llama, 1 draft", 0, 1, 1, 1000 },
	{ "llama, 3 drafts", 0, 1, 3, 2000 },
	{ "llama, 4 slots, 3 drafts", 0, 4, 3, 3000 },
	{ "vllm, 4 slots", 1, 4, 0, 2000 },
	{ "vllm, 16 slots", 1, 16, 0, 4000 },
	{ "vllm, 5 drafts", 1, 1, 5, 2000 },
	{ "vllm, 4 slots, 5 drafts", 1, 4, 5, 4000 },
	{ "vllm, 16 slots, 3 drafts", 1, 16, 3, 8000 },
};

static void run(const struct server *v, uint64_t seed)
{
	memset(slot, 0, sizeof(slot));
	serve = (typeof(serve)){ .vllm = v->vllm, .slots = v->slots, .draft = v->draft, .tokens = v->tokens,
				 .idle = 0.5, .seed = seed };
	m.z = seed * 77 + 5;
	m.now = 1;
	m.flop = 1e12 * pow(6, uniform());
	m.bytes = 40e9 * pow(5, uniform());
	m.cpu = pow(4, uniform());
	m.sd = .002 * pow(10, uniform());
	waits = steps = 0;
	while (waits < MAX - 16 && steps < STEPS) {
		double first = INFINITY;

		if (accept_requests()) {
			run_step();
			continue;
		}
		if (serve.generated >= serve.tokens)
			break;
		for (long i = 0; i < serve.slots; i++)
			first = fmin(first, slot[i].free_until);
		m.now = fmax(m.now, first);
	}
}

TEST(steps_have_the_phase_of_their_kind)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 20261127;

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		double right = 0, least = 1, share;
		size_t all = 0;

		for (uint64_t k = 0; k < DRAWN; k++) {
			struct jetwatt_batch_info info;
			int bounds;

			run(&servers[i], seed + 1000 * k + i);
			bounds = jetwatt_batch_segment(sync_of, waits, bound, &info);
			ASSERT_LT(0, bounds);
			ASSERT_LT(0, jetwatt_batch_phases(bound, (size_t)bounds));
			share = labelled_right(bound, bounds, is_prefill, end, steps);
			least = fmin(least, share);
			right += share * (double)steps;
			all += steps;
		}
		TH_LOG("%s: %.4f of %zu steps, worst server %.4f", servers[i].name, right / (double)all, all, least);
		EXPECT_LE(.99 * (double)all, right) TH_LOG("%s", servers[i].name);
		EXPECT_LE(.95, least) TH_LOG("%s: %.4f", servers[i].name, least);
	}
}

/* Return the F1 score of the boundaries that are found while the server runs, from the FEW-th wait on. */
static double live_f1(void)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	size_t hit = 0, live = 0, truth = 0, at = 0;

	if (!t)
		abort();
	for (size_t i = 0; i < waits; i++) {
		bool is, ends = jetwatt_batch_track_add(t, &sync_of[i], 0) > 0;

		jetwatt_batch_track_learn(t);
		is = at < steps && end[at] == sync_of[i].exit_ns;
		at += is;
		if (i < FEW)
			continue;
		truth += is;
		live += ends;
		hit += is && ends;
	}
	jetwatt_batch_track_free(t);
	return 2.0 * (double)hit / (double)(live + truth);
}

TEST(boundaries_found_while_the_server_runs)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 20261127;

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		double sum = 0, least = 1;

		for (uint64_t k = 0; k < DRAWN; k++) {
			double f1;

			run(&servers[i], seed + 1000 * k + i);
			f1 = live_f1();
			sum += f1;
			least = fmin(least, f1);
		}
		TH_LOG("%s: F1 %.4f, worst server %.4f", servers[i].name, sum / DRAWN, least);
		EXPECT_LE(.97, sum / DRAWN) TH_LOG("%s", servers[i].name);
		EXPECT_LE(.85, least) TH_LOG("%s: %.4f", servers[i].name, least);
	}
}

/* Append a wait: the GPU pauses for @pause_us, then works for @gpu_us. */
static void wait_after(double pause_us, unsigned int launches, double gpu_us)
{
	struct jetwatt_sync *s = &sync_of[waits++];

	m.now += 1e-6 * pause_us * jitter(.05);
	*s = (struct jetwatt_sync){ .tgid = 7, .tid = 7, .call = JETWATT_SYNC_STREAM, .launches = launches,
				    .launch_ns = ns(m.now), .enter_ns = ns(m.now + 2e-6 * launches) };
	m.now += 1e-6 * gpu_us * jitter(.02);
	s->exit_ns = ns(m.now);
}

/* After a rise of the CPU clock, the pauses between steps are shorter than the limit that was learned before. */
TEST(steps_with_shorter_pauses_are_found)
{
	struct jetwatt_batch_track *t = jetwatt_batch_track_new();
	size_t from = 0, ends = 0;

	ASSERT_NE(NULL, t);
	waits = 0;
	m.now = 1;
	m.z = 3;
	for (int step = 0; step < 600; step++) {
		double pause = step < 120 ? 400 : 90;
		bool prompt = step < 120 && step % 7 == 6;

		if (step == 400)
			from = waits;
		wait_after(pause, prompt ? 90 : 20, 2000);
		for (int k = 1; k < (prompt ? 2 : 5); k++)
			wait_after(30, k == 4 || prompt ? 90 : 20, prompt ? 9000 : 2000);
	}
	for (size_t i = 0; i < waits; i++) {
		ends += jetwatt_batch_track_add(t, &sync_of[i], 0) > 0 && i >= from;
		jetwatt_batch_track_learn(t);
	}
	jetwatt_batch_track_free(t);
	EXPECT_LE(190, ends);
	EXPECT_GE(202, ends);
}

/* If the training steps of a job have a period, pauses divide none of them. */
TEST(pauses_within_training_change_nothing)
{
	static const struct {
		const char *name;
		/* launches of the third wait in every 50th step; number of waits after that step */
		unsigned int launches, others;
		/* before the third wait in that step; before the first wait after it */
		double pause_us, before_us;
	} jobs[] = {
		{ "evaluation", 60, 30, 60, 3000 },
		{ "checkpoint", 60, 20, 60, 60 },
		{ "checkpoint after a pause", 60, 20, 60, 500 },
		{ "a step that prints its loss", 61, 0, 1000, 0 },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct jetwatt_batch_info info;
		int n, train = 0, others = 0;

		waits = 0;
		m.now = 1;
		m.z = i;
		for (int step = 0; step < 400; step++) {
			bool other = step % 50 == 49;

			wait_after(3000, 60, 4000);
			wait_after(60, 60, 4000);
			wait_after(other ? jobs[i].pause_us : 60, other ? jobs[i].launches : 60, 4000);
			wait_after(60, 20, 1000);
			for (unsigned int k = 0; other && k < jobs[i].others; k++)
				wait_after(k ? 60 : jobs[i].before_us, 1, 300);
		}
		n = jetwatt_batch_segment(sync_of, waits, bound, &info);
		for (int k = 0; k < n; k++) {
			train += bound[k].kind == JETWATT_BATCH_TRAIN && bound[k].syncs == 4;
			others += bound[k].kind != JETWATT_BATCH_TRAIN;
		}
		EXPECT_EQ(400, train) TH_LOG("%s", jobs[i].name);
		EXPECT_EQ(8 * jobs[i].others, others) TH_LOG("%s", jobs[i].name);
	}
}

TEST_HARNESS_MAIN
