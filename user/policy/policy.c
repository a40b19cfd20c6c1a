// SPDX-License-Identifier: GPL-2.0-only
#include "policy/policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/units.h"

enum { BUDGET, HOURS, WINDOW, MODES, IDLE, DB, CONTROL, READERS, WRITERS, MOST, SECONDS, ENERGY,
       OTHERS, METRICS, CGROUP, RATE, TURNS, BLIND, METHOD, SHARE };

static const char *const names[] = {
	[BUDGET] = "budget", [HOURS] = "hours", [WINDOW] = "window", [MODES] = "modes",
	[IDLE] = "idle", [DB] = "db", [CONTROL] = "control", [READERS] = "readers",
	[WRITERS] = "writers", [MOST] = "most", [SECONDS] = "learn-time", [ENERGY] = "learn-energy",
	[OTHERS] = "others", [METRICS] = "metrics", [CGROUP] = "cgroup",
	[RATE] = "rate", [TURNS] = "turns", [BLIND] = "blind",
	[METHOD] = "method", [SHARE] = "learn-share", NULL
};

/* Texts, and how long they may be. */
static char *text_of(struct jetwattd_policy *p, int name, size_t *room)
{
	switch (name) {
	case MODES:
		*room = sizeof(p->modes);
		return p->modes;
	case DB:
		*room = sizeof(p->db);
		return p->db;
	case CONTROL:
		*room = sizeof(p->control);
		return p->control;
	case IDLE:
		*room = sizeof(p->idle);
		return p->idle;
	case METRICS:
		*room = sizeof(p->metrics);
		return p->metrics;
	case READERS:
		*room = sizeof(p->readers);
		return p->readers;
	case WRITERS:
		*room = sizeof(p->writers);
		return p->writers;
	case METHOD:
		*room = sizeof(p->method);
		return p->method;
	default:
		return NULL;
	}
}

/* Quantities: unit, where to, least and most. */
static double *number_of(struct jetwattd_policy *p, int name, const char **unit, double *lo,
			 double *hi)
{
	*unit = "s";
	*lo = 0.1;
	switch (name) {
	case BUDGET:
		*unit = "W";
		*hi = 1000;
		return &p->budget_w;
	case WINDOW:
		*hi = 10;
		return &p->window_s;
	case RATE:
		*unit = "Hz";
		*lo = 20;
		*hi = 10000;
		return &p->rate_hz;
	case SECONDS:
		*hi = 86400;
		return &p->learn_s;
	case SHARE:
		*unit = "%";
		*hi = 50;
		return &p->learn_share;
	default:
		*unit = "J";
		*hi = 1e9;
		return &p->learn_j;
	}
}

#define DAY_MIN	1440

static int within(const struct jetwattd_hours *h, unsigned int minute)
{
	int after = minute >= h->from_min, before = minute < h->to_min;

	return h->from_min < h->to_min ? after && before : after || before;
}

/* Do two of them share a minute? Then what holds would hang on their order. */
static int overlap(const struct jetwattd_hours *a, const struct jetwattd_hours *b)
{
	return within(a, b->from_min) || within(b, a->from_min);
}

/* A time of the day, as one digit or two each. Return: minutes since midnight, -1. */
static int clock_time(const char *text, const char **end)
{
	unsigned int hour, minute;
	int n = 0;

	if (sscanf(text, "%2u:%2u%n", &hour, &minute, &n) != 2 || !n || minute > 59 ||
	    60 * hour + minute > DAY_MIN || strcspn(text, "+-") < (size_t)n)
		return -1;
	*end = text + n;
	return (int)(60 * hour + minute);
}

/* "22:00-06:00 15W" */
static int hours(struct jetwattd_policy *p, const char *value, unsigned int line,
		 struct jetwatt_conf_error *e)
{
	struct jetwattd_hours *h = &p->hours[p->nr_hours];
	const char *at = value;
	int from, to = -1, n = 0;
	char watts[32];

	if (p->nr_hours == JETWATTD_HOURS)
		return jetwatt_conf_refuse(e, line, "fewer of them", "there are more than %d hours",
					   JETWATTD_HOURS);
	from = clock_time(at, &at);
	if (from >= 0 && *at++ == '-')
		to = clock_time(at, &at);
	/* Nothing behind the budget: what would it be for? */
	if (from < 0 || to < 0 || sscanf(at, " %31s%n", watts, &n) != 1 || at[n] ||
	    jetwatt_unit_parse(watts, "W", &h->budget_w) || h->budget_w < 0.1 || h->budget_w > 1000)
		return jetwatt_conf_refuse(e, line, "like hours = 22:00-06:00 15W",
					   "\"%.40s\" are no hours with a budget", value);
	h->from_min = (unsigned int)from;
	h->to_min = (unsigned int)to;
	if (from == DAY_MIN || from == to)
		return jetwatt_conf_refuse(e, line, "for the whole day: budget =; midnight is 24:00 as an end, 00:00 as a beginning",
					   "\"%.40s\" hold at no time of the day", value);
	for (int i = 0; i < p->nr_hours; i++)
		if (overlap(h, &p->hours[i]))
			return jetwatt_conf_refuse(e, line, "hours that do not overlap",
						   "some of \"%.40s\" have another budget already", value);
	p->nr_hours++;
	return 0;
}

/* "/user.slice 15W" */
static int cgroup(struct jetwattd_policy *p, const char *value, unsigned int line,
		  struct jetwatt_conf_error *e)
{
	struct jetwattd_cgroup *c = &p->cgroups[p->nr_cgroups];
	const char *watts = strrchr(value, ' ');
	size_t len = watts ? (size_t)(watts - value) : 0;

	if (p->nr_cgroups == JETWATTD_CGROUPS)
		return jetwatt_conf_refuse(e, line, "fewer of them", "there are more than %d cgroups",
					   JETWATTD_CGROUPS);
	while (len && value[len - 1] == ' ')
		len--;
	if (*value != '/' || !len || len >= sizeof(c->path) ||
	    jetwatt_unit_parse(watts + 1, "W", &c->budget_w) || c->budget_w < 0.1 || c->budget_w > 1000)
		return jetwatt_conf_refuse(e, line, "like cgroup = /user.slice 15W",
					   "\"%.40s\" is no cgroup with a budget", value);
	memcpy(c->path, value, len);
	c->path[len] = '\0';
	p->nr_cgroups++;
	return 0;
}

/* "/batch.slice /system.slice/serve.service 100ms" */
static int turns(struct jetwattd_policy *p, const char *value, unsigned int line,
		 struct jetwatt_conf_error *e)
{
	struct jetwattd_turns *t = &p->turns;
	char latency[32];
	double s;
	int end = 0;

	if (*t->train)
		return jetwatt_conf_refuse(e, line, "one of them", "there is another line turns =");
	if (sscanf(value, "%223s %223s %31s%n", t->train, t->serve, latency, &end) != 3 || value[end] ||
	    *t->train != '/' || *t->serve != '/' || jetwatt_unit_parse(latency, "s", &s) || s < 1e-4 ||
	    s > 1e4)
		return jetwatt_conf_refuse(e, line, "like turns = /batch.slice /system.slice/serve.service 100ms",
					   "\"%.40s\" are no two cgroups with a latency", value);
	if (jetwatt_cgroup_below(t->train, t->serve) || jetwatt_cgroup_below(t->serve, t->train))
		return jetwatt_conf_refuse(e, line, "two that can be held one without the other",
					   "one of the cgroups is in the other");
	t->latency_ms = 1e3 * s;
	return 0;
}

static int set(const char *name, const char *value, unsigned int line, void *arg,
	       struct jetwatt_conf_error *e)
{
	struct jetwattd_policy *p = arg;
	int i = jetwatt_conf_name(name, names, line, e);
	double lo, hi, v, *number;
	const char *unit;
	char *text;
	size_t room;

	if (i < 0)
		return i;
	if (i != HOURS && i != CGROUP && i != TURNS && p->given & 1u << i)
		return jetwatt_conf_refuse(e, line, "one of them", "there is another line %s =", name);
	p->given |= 1u << i;
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			return jetwatt_conf_refuse(e, line, "a plain text file", "there is a control character in it");
	if (i == HOURS)
		return hours(p, value, line, e);
	if (i == CGROUP)
		return cgroup(p, value, line, e);
	if (i == TURNS)
		return turns(p, value, line, e);
	if (i == OTHERS && strcmp(value, "yield") && strcmp(value, "reassert"))
		return jetwatt_conf_refuse(e, line, "yield or reassert", "\"%.40s\" is neither", value);
	if (i == OTHERS) {
		p->reassert = !strcmp(value, "reassert");
		return 0;
	}
	if (i == BLIND && strcmp(value, "floor") && strcmp(value, "restore"))
		return jetwatt_conf_refuse(e, line, "floor or restore", "\"%.40s\" is neither", value);
	if (i == BLIND) {
		p->blind_restore = !strcmp(value, "restore");
		return 0;
	}
	if (i == MOST)
		return jetwatt_unit_count(value, 3, 1000, &p->most) ?
		       jetwatt_conf_refuse(e, line, "a whole number from 3 to 1000",
					   "\"%.40s\" is no such number", value) : 0;
	if (i == METRICS && jetwattd_policy_address(value, &(struct sockaddr_storage){ 0 }))
		return jetwatt_conf_refuse(e, line, "like metrics = 127.0.0.1:9417",
					   "\"%.40s\" is no address with a port", value);
	text = text_of(p, i, &room);
	if (text && strlen(value) >= room)
		return jetwatt_conf_refuse(e, line, "a shorter one", "%s is too long", name);
	if (text) {
		strcpy(text, value);
		return 0;
	}
	number = number_of(p, i, &unit, &lo, &hi);
	if (jetwatt_unit_parse(value, unit, &v) || v < lo || v > hi)
		return jetwatt_conf_refuse(e, line, "man jetwattd.conf says what fits",
					   "\"%.40s\" is no %s from %g to %g%s", value, name, lo, hi,
					   unit);
	*number = v;
	return 0;
}

int jetwattd_policy_address(const char *text, struct sockaddr_storage *at)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)at;
	const char *colon = strrchr(text, ':');
	int six = *text == '[';
	char host[64];
	size_t len;
	long port;

	if (!colon || jetwatt_unit_count(colon + 1, 1, 65535, &port))
		return -EINVAL;
	len = (size_t)(colon - text);
	if (len >= sizeof(host) || (six && (len < 2 || colon[-1] != ']')))
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)len - 2 * six, text + six);
	memset(at, 0, sizeof(*at));
	at->ss_family = six ? AF_INET6 : AF_INET;
	if (six)
		v6->sin6_port = htons((uint16_t)port);
	else
		v4->sin_port = htons((uint16_t)port);
	return inet_pton(at->ss_family, host, six ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr) == 1 ?
	       0 : -EINVAL;
}

int jetwattd_policy_parse(const char *text, size_t size, struct jetwattd_policy *p,
			  struct jetwatt_conf_error *e)
{
	*p = (struct jetwattd_policy){
		.window_s = 1, .learn_j = 1e9, .most = 25,
		.control = "/run/jetwatt/control", .metrics = "127.0.0.1:9417",
	};
	return jetwatt_conf_parse(text, size, set, p, e);
}

int jetwattd_policy_read(const char *path, int must, struct jetwattd_policy *p)
{
	struct jetwatt_conf_error e;
	const char *text = "";
	size_t size = 0;
	int err = !must && access(path, F_OK) ? 0 :
		  jetwatt_conf_read(path, "jetwattd.conf", &text, &size);

	if (err)
		return err;
	return jetwattd_policy_parse(text, size, p, &e) ? jetwatt_conf_say(path, &e) : 0;
}

static double of_day(const struct jetwattd_policy *p, unsigned int minute)
{
	for (int i = 0; i < p->nr_hours; i++)
		if (within(&p->hours[i], minute))
			return p->hours[i].budget_w;
	return p->budget_w;
}

double jetwattd_policy_budget(const struct jetwattd_policy *p, unsigned int minute,
			      const char *cgroup)
{
	double w = of_day(p, minute);

	for (int i = 0; i < p->nr_cgroups; i++)
		if (jetwatt_cgroup_below(cgroup, p->cgroups[i].path) && p->cgroups[i].budget_w < w)
			w = p->cgroups[i].budget_w;
	return w;
}

void jetwattd_policy_override(struct jetwattd_policy *p, double power_w)
{
	if (!(power_w > 0))
		return;
	p->budget_w = power_w;
	p->nr_hours = p->nr_cgroups = 0;
}
