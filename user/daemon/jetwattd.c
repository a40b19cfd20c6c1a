// SPDX-License-Identifier: GPL-2.0-only
/* Functions on the shared state: events of the actuator, the budget, and log messages. */
#include "daemon/jetwattd.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "daemon/state.h"
#include "util/error.h"

/* Enter "yielding", because of JETWATTD_CEDED or JETWATTD_LEASED. */
static void enter_yielding(struct jetwattd *d, const char *why)
{
	jetwattd_enter(d, JETWATTD_YIELDING);
	snprintf(d->why, sizeof(d->why), "yielding: %.200s", why);
	atomic_store(&d->invalidate, 1);
}

void jetwattd_on_event(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode,
		       const char *why)
{
	struct jetwattd *d = to;

	switch (event) {
	case JETWATTD_SWITCHED:
	case JETWATTD_RESTORED:
		if (d->doing == JETWATTD_RESTORING)
			jetwattd_enter(d, d->pause ? JETWATTD_PAUSED : JETWATTD_IDLE);
		break;
	case JETWATTD_LOW_REFUSED:
		/* The safe mode was refused, so the next step down must not try it again. */
		if (d->cap.have_safe && jetwatt_mode_same(mode, &d->cap.safe))
			d->cap.have_safe = 0;
		break;
	case JETWATTD_CEDED:
		d->cap.have_safe = 0;
		enter_yielding(d, why);
		break;
	case JETWATTD_LEASED:
		enter_yielding(d, why);
		break;
	case JETWATTD_UNRESTORED:
		jetwattd_enter(d, JETWATTD_RESTORING);
		snprintf(d->why, sizeof(d->why), "restoring: %.200s", why);
		break;
	case JETWATTD_UNGUARDED:
		jetwattd_unguarded(d);
		break;
	}
}

void jetwattd_unguarded(struct jetwattd *d)
{
	if (!atomic_exchange(&d->stop, JETWATT_EXIT_FAILED))
		jetwatt_notice("ending, because the process that restores the knobs has ended: %s",
				   d->by_remote ? "jetwatt-knobs" : "guardian of jetwattd");
	atomic_store(&d->invalidate, 1);
}

void jetwattd_budget(struct jetwattd *d, double watts)
{
	if (watts == d->cap.budget_w)
		return;
	d->cap.budget_w = watts;
	atomic_store(&d->invalidate, 1);
}

/* Return the minutes since midnight, local time. */
static unsigned int minute_of_day(void)
{
	time_t now = time(NULL);
	struct tm tm;

	/* localtime_r() alone would not see that the time zone has changed. */
	tzset();
	localtime_r(&now, &tm);
	return 60 * tm.tm_hour + tm.tm_min;
}

void jetwattd_budget_now(struct jetwattd *d, const char *cgroup)
{
	double watts = d->override_w;

	jetwattd_budget(d, watts > 0 ? watts : jetwattd_policy_budget(d->policy, minute_of_day(), cgroup));
}

void jetwattd_log(struct jetwattd *d, const char *text, ...)
{
	char why[sizeof(d->why)];
	va_list ap;

	va_start(ap, text);
	vsnprintf(why, sizeof(why), text, ap);
	va_end(ap);
	jetwatt_notice("%s", why);
	pthread_mutex_lock(&d->lock);
	memcpy(d->why, why, sizeof(why));
	pthread_mutex_unlock(&d->lock);
}
