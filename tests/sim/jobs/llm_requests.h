/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to a server of a language model, and the steps in which it processes them: llama.cpp's
 * llama-server or vLLM. llmserve.c names the source files. The file that includes this one defines now(),
 * which returns the time in s.
 */
#ifndef JETWATT_SIM_LLM_REQUESTS_H
#define JETWATT_SIM_LLM_REQUESTS_H

#include <math.h>
#include <stdint.h>

#define PARAMETERS	3.2e9
#define WEIGHT_BYTES	(PARAMETERS * 4.5 / 8)
#define KV_BYTES	(28 * 8 * 128 * 2 * 2.0)	/* per token of context */
#define EFFICIENCY	0.6	/* of the arithmetic, relative to the plant's multiply-add kernels */
#define CHUNK		512	/* most tokens in a step that has prompt tokens */
#define SLOTS		64
#define ACCEPTED	0.7	/* probability that a draft token is accepted */

/* The work of a step: arithmetic operations, and bytes that the GPU reads. */
struct step_work {
	double flop, bytes;
};

static double now(void);

/**
 * struct slot - a request
 * @prompt: prompt tokens that are not processed yet
 * @left: tokens still to be generated; 0: the slot is free
 * @generated: tokens generated so far
 * @context: tokens processed so far
 * @free_until: time at which a free slot gets its next request, s
 */
static struct slot {
	long prompt, left, generated, context;
	double free_until;
} slot[SLOTS];

static struct {
	int vllm;
	volatile int chat;	/* prompts are short */
	long slots, tokens, draft, prompts, generated, counted;
	double idle;
	const char *metrics;
	uint64_t seed;
} serve = { .slots = 1, .tokens = 1000, .idle = 0.5, .seed = 1 };

static double draw(void)
{
	serve.seed = serve.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (serve.seed >> 33) / 2147483648.0;
}

/* Give free slots that are due a new request, until serve.tokens tokens were generated: prompts of 32
 * to 2048 tokens, answers of 16 to 256; with serve.chat, prompts of 32 to 128. Return: number of slots with a
 * request. */
static long accept_requests(void)
{
	long busy = 0;

	for (struct slot *s = slot; s < slot + serve.slots; s++) {
		if (!s->left && serve.generated < serve.tokens && now() >= s->free_until)
			*s = (struct slot){ .prompt = 32 * pow(serve.chat ? 4 : 64, draw()), .left = 16 * pow(16, draw()) };
		busy += s->left > 0;
	}
	return busy;
}

static void generate(struct slot *s)
{
	s->left--;
	s->generated++;
	serve.generated++;
	serve.counted += serve.vllm ? 1 : s->left ? 0 : s->generated;
}

/* Generate the tokens of one decode step: one, and those of the draft that are accepted. */
static void generate_step(struct slot *s)
{
	long n = serve.draft;

	generate(s);
	while (n-- && s->left && draw() < ACCEPTED) {
		s->context++;
		generate(s);
	}
}

/* Put tokens into a step. @prompt: receives the number of prompt tokens. Return: the work. */
static struct step_work next_step(long *prompt)
{
	double tokens = 0, context = 0;
	long room = CHUNK;

	*prompt = 0;
	for (struct slot *s = slot; s < slot + serve.slots; s++) {
		if (!s->left || s->prompt)
			continue;
		tokens += 1 + serve.draft;
		context += ++s->context;
		generate_step(s);
		room -= 1 + serve.draft;
	}
	for (struct slot *s = slot; s < slot + serve.slots && room > 0; s++) {
		long n = s->left && s->prompt ? s->prompt < room ? s->prompt : room : 0;

		*prompt += n;
		tokens += n;
		room -= n;
		s->prompt -= n;
		s->context += n;
		context += n ? s->context : 0;
		/* The step that ends the prompt gives the first token. */
		if (n && !s->prompt)
			generate(s);
	}
	serve.prompts += *prompt;
	for (struct slot *s = slot; s < slot + serve.slots; s++)
		if (s->context && !s->left)
			*s = (struct slot){ .free_until = now() + serve.idle * draw() };
	return (struct step_work){
		.flop = 2 * PARAMETERS * tokens / EFFICIENCY,
		.bytes = WEIGHT_BYTES + KV_BYTES * context,
	};
}

#endif
