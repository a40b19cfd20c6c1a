// SPDX-License-Identifier: GPL-2.0-only
/* Detects the ends of steps of several kinds while the job runs. The kinds were found in earlier waits. */
#include "minibatch/pauses.h"

/* Return the most frequent kind of step that consists of the waits of the current step or, if @longer is true,
 * that begins with them and has further waits; NULL: there is none. */
static const struct jetwatt_step_kind *known_kind(const struct jetwatt_step_follower *f,
						  const struct jetwatt_step_kinds *s, bool longer)
{
	const struct jetwatt_step_kind *known = NULL;

	if (f->n > JETWATT_PAUSE_WAITS)
		return NULL;
	for (const struct jetwatt_step_kind *k = s->kind; k < s->kind + JETWATT_PAUSE_KINDS && k->steps; k++)
		if (k->steps >= JETWATT_STEPS_MIN && (longer ? k->waits > f->n : k->waits == f->n) &&
		    jetwatt_begins_kind(k, f->launches, f->n) && (!known || k->steps > known->steps))
			known = k;
	return known;
}

bool jetwatt_pauses_usual(const struct jetwatt_step_kinds *s, int waits, uint32_t launches)
{
	const struct jetwatt_step_kind *most = s->kind;
	uint32_t sum = 0;

	for (const struct jetwatt_step_kind *k = s->kind; k < s->kind + JETWATT_PAUSE_KINDS && k->steps; k++)
		most = k->steps > most->steps ? k : most;
	for (size_t i = 0; i < most->waits; i++)
		sum += most->launches[i];
	return s->limit > 0 && (int)most->waits == waits && jetwatt_launches_alike(sum, launches);
}

static void add_to_step(struct jetwatt_step_follower *f, uint32_t launches)
{
	if (f->n < JETWATT_PAUSE_WAITS)
		f->launches[f->n] = launches;
	f->n++;
}

bool jetwatt_pauses_next(struct jetwatt_step_follower *f, const struct jetwatt_step_kinds *s,
			 const struct jetwatt_batch_wait *b)
{
	const struct jetwatt_step_kind *part = known_kind(f, s, false), *with;
	bool late = false;
	size_t before = f->n;

	add_to_step(f, b->launches);
	if (jetwatt_pause_of(b) > s->limit && before) {
		with = known_kind(f, s, false);
		if (!with)
			with = known_kind(f, s, true);
		/* If the waits with this one are of a more frequent kind than without it, another process has delayed
		 * this wait within a step. */
		if (f->ended || !with || (part && part->steps > with->steps)) {
			late = !f->ended;
			*f = (struct jetwatt_step_follower){ 0 };
			add_to_step(f, b->launches);
		}
	}
	if (f->ended || !known_kind(f, s, false) || known_kind(f, s, true))
		return late;
	f->ended = true;
	return true;
}
