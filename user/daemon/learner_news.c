// SPDX-License-Identifier: GPL-2.0-only
/* The learner's news: a queue of what the loop passes to the database, the counters and the log. */
#include "daemon/learner_inside.h"

#include <string.h>

void jetwattd_news_add(struct jetwattd_learner *l, const struct jetwattd_news *news)
{
	if (l->nr_news < JETWATTD_NEWS)
		l->news[l->nr_news++] = *news;
}

int jetwattd_learner_news(struct jetwattd_learner *l, struct jetwattd_news *news)
{
	if (!l->nr_news)
		return 0;
	*news = l->news[0];
	memmove(l->news, l->news + 1, (size_t)--l->nr_news * sizeof(*l->news));
	return 1;
}

void jetwattd_learner_drifted(struct jetwattd_learner *l, const struct jetwatt_row *is,
			      const struct jetwatt_row *was)
{
	jetwattd_news_add(l, &(struct jetwattd_news){ .what = JETWATTD_DRIFTED, .is = *is, .was = *was });
}
