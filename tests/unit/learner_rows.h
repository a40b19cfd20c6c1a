/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows and limits for tests of the learner that give the readings themselves. */
#ifndef TESTS_UNIT_LEARNER_ROWS_H
#define TESTS_UNIT_LEARNER_ROWS_H

#include "learner_plant.h"

#include "daemon/learner_inside.h"

#define LIMIT_W		20.0
#define BUDGET_W	20.4
#define SD		0.004

static inline struct jetwattd_terms at(double seconds)
{
	struct jetwattd_policy policy = policy_defaults();
	struct jetwattd_terms t = jetwattd_policy_terms(&policy, false);

	t.limit_w = LIMIT_W;
	t.safe_w = 0.9 * LIMIT_W;
	t.now_ns = 1000000000000 + seconds * 1e9;
	return t;
}

static inline struct jetwatt_row row(const struct jetwatt_mode *m, double t_ms, double w)
{
	return (struct jetwatt_row){ .mode = *m, .time_ms = t_ms, .power_w = w, .time_sd = SD, .power_sd = SD };
}

static inline int is_best(FIXTURE_DATA(learner) *self, size_t i)
{
	const struct jetwatt_row *best = jetwattd_learner_best_under(&self->l, LIMIT_W, NULL);

	return best && jetwatt_mode_same(&best->mode, &self->l.known.mode[i]);
}

#endif
