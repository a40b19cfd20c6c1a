// SPDX-License-Identifier: GPL-2.0-only
/* Parser of the policy file: a table of keys, each with the function that parses its value. */
#include "policy/policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/units.h"

/**
 * struct policy_key - one key of the policy file
 * @name: the key
 * @set: parses a value and stores it
 * @at: offset of the member in struct jetwattd_policy
 * @size: size of the member, in bytes
 * @unit: unit of a number
 * @word: for a key with two allowed words: the words that set the value 0 and the value 1; for a power
 *	limit: an example of a value, in the first element
 * @lo: lowest value of a number, a count or a power limit
 * @hi: highest value of a number, a count or a power limit
 * @window_at: for a power limit: offset of the member with its averaging window
 * @min_window_s: for a power limit: shortest averaging window, in s
 * @repeats: 1: the key may be given several times
 * @restart: 1: the value is a text, and jetwattd uses a new one only after a restart
 */
struct policy_key {
	const char *name;
	int (*set)(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		   unsigned int line, struct jetwatt_conf_error *e);
	size_t at, size, window_at;
	const char *unit, *word[2];
	double lo, hi, min_window_s;
	int repeats, restart;
};

#define DAY_MIN	1440
/* Separates a power limit from its averaging window. */
#define OVER	" over "

/* Return: 1 if the minute of the day is within the period of a line "hours", else 0. */
static int hours_contain(const struct jetwattd_hours *h, unsigned int minute)
{
	int after = minute >= h->from_min, before = minute < h->to_min;

	return h->from_min < h->to_min ? after && before : after || before;
}

/* Return: 1 if the periods of two lines "hours" share a minute, so that the budget would depend
 * on the order of the lines. */
static int hours_overlap(const struct jetwattd_hours *a, const struct jetwattd_hours *b)
{
	return hours_contain(a, b->from_min) || hours_contain(b, a->from_min);
}

/* Parse a time of day such as 6:00 or 22:30. @end: set to the first character after the time.
 * Return: minutes since midnight; -1 if the text is not a time of day. */
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

/* Parse "22:00-06:00 15W". */
static int set_hours(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		     unsigned int line, struct jetwatt_conf_error *e)
{
	struct jetwattd_hours *h = &p->hours[p->nr_hours];
	const char *at = value;
	int from, to = -1, n = 0;
	char watts[32];

	(void)k;
	if (p->nr_hours == JETWATTD_HOURS)
		return jetwatt_conf_refuse(e, line, "remove some of them", "there are more than %d lines hours =",
					   JETWATTD_HOURS);
	from = clock_time(at, &at);
	if (from >= 0 && *at++ == '-')
		to = clock_time(at, &at);
	/* Text after the budget in a line is an error, not a comment. */
	if (from < 0 || to < 0 || sscanf(at, " %31s%n", watts, &n) != 1 || at[n] ||
	    jetwatt_unit_parse(watts, "W", &h->budget_w) || h->budget_w < 0.1 || h->budget_w > 1000)
		return jetwatt_conf_refuse(e, line, "write it like hours = 22:00-06:00 15W",
					   "\"%.40s\" is not a period with a budget", value);
	h->from_min = (unsigned int)from;
	h->to_min = (unsigned int)to;
	if (from == DAY_MIN || from == to)
		return jetwatt_conf_refuse(e, line, "for the whole day use budget =; midnight is 24:00 as the end, 00:00 as the start",
					   "\"%.40s\" is an empty period", value);
	for (int i = 0; i < p->nr_hours; i++)
		if (hours_overlap(h, &p->hours[i]))
			return jetwatt_conf_refuse(e, line, "use periods that do not overlap",
						   "\"%.40s\" overlaps another line hours =", value);
	p->nr_hours++;
	return 0;
}

/* Bring the path of a cgroup to the form of /proc/PID/cgroup, with which it is compared: without slashes
 * at the end. Refuse the path of the cgroup's directory. */
static int normalise_cgroup(char *path, unsigned int line, struct jetwatt_conf_error *e)
{
	static const char mount[] = "/sys/fs/cgroup";
	size_t n = strlen(path), m = strlen(mount);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	return strncmp(path, mount, m) || (path[m] && path[m] != '/') ? 0 :
	       jetwatt_conf_refuse(e, line, "leave out /sys/fs/cgroup: the path as in /proc/PID/cgroup",
				   "\"%.40s\" is the directory of a cgroup", path);
}

/* Parse "/user.slice 15W". */
static int set_cgroup(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		      unsigned int line, struct jetwatt_conf_error *e)
{
	struct jetwattd_cgroup *c = &p->cgroups[p->nr_cgroups];
	const char *watts = strrchr(value, ' ');
	size_t len = watts ? (size_t)(watts - value) : 0;

	(void)k;
	if (p->nr_cgroups == JETWATTD_CGROUPS)
		return jetwatt_conf_refuse(e, line, "remove some of them", "there are more than %d lines cgroup =",
					   JETWATTD_CGROUPS);
	while (len && value[len - 1] == ' ')
		len--;
	if (*value != '/' || !len || len >= sizeof(c->path) ||
	    jetwatt_unit_parse(watts + 1, "W", &c->budget_w) || c->budget_w < 0.1 || c->budget_w > 1000)
		return jetwatt_conf_refuse(e, line, "write it like cgroup = /user.slice 15W",
					   "\"%.40s\" is not a cgroup with a budget", value);
	memcpy(c->path, value, len);
	c->path[len] = '\0';
	if (normalise_cgroup(c->path, line, e))
		return -EINVAL;
	p->nr_cgroups++;
	return 0;
}

/* Parse the value of "turns", such as "/batch.slice /system.slice/serve.service 100ms". */
static int set_turns(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		     unsigned int line, struct jetwatt_conf_error *e)
{
	struct jetwattd_timeshare *t = &p->timeshare;
	char latency[32];
	double s;
	int end = 0;

	(void)k;
	if (*t->train)
		return jetwatt_conf_refuse(e, line, "remove one of them", "there is another line turns =");
	if (sscanf(value, "%223s %223s %31s%n", t->train, t->serve, latency, &end) != 3 || value[end] ||
	    *t->train != '/' || *t->serve != '/' || jetwatt_unit_parse(latency, "s", &s) || s < 1e-4 ||
	    s > 1e4)
		return jetwatt_conf_refuse(e, line, "write it like turns = /batch.slice /system.slice/serve.service 100ms",
					   "\"%.40s\" is not two cgroups with a latency", value);
	if (normalise_cgroup(t->train, line, e) || normalise_cgroup(t->serve, line, e))
		return -EINVAL;
	if (jetwatt_cgroup_below(t->train, t->serve) || jetwatt_cgroup_below(t->serve, t->train))
		return jetwatt_conf_refuse(e, line, "use two cgroups that can be frozen independently",
					   "one of the cgroups is inside the other");
	t->latency_ms = 1e3 * s;
	return 0;
}

static int set_text(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		    unsigned int line, struct jetwatt_conf_error *e)
{
	if (strlen(value) >= k->size)
		return jetwatt_conf_refuse(e, line, "use a shorter value", "%s is too long", k->name);
	strcpy((char *)p + k->at, value);
	return 0;
}

/* Parse the cgroup of "tokens". */
static int set_server(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		      unsigned int line, struct jetwatt_conf_error *e)
{
	if (*value != '/')
		return jetwatt_conf_refuse(e, line, "write it like tokens = /system.slice/llama.service",
					   "\"%.40s\" is not a cgroup", value);
	return set_text(p, k, value, line, e) ?: normalise_cgroup(p->server, line, e);
}

static int set_address(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		       unsigned int line, struct jetwatt_conf_error *e)
{
	if (jetwattd_policy_address(value, &(struct sockaddr_storage){ 0 }))
		return jetwatt_conf_refuse(e, line, "write it like metrics = 127.0.0.1:9417",
					   "\"%.40s\" is not a numeric address with a port", value);
	return set_text(p, k, value, line, e);
}

static int set_number(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		      unsigned int line, struct jetwatt_conf_error *e)
{
	double v;

	if (jetwatt_unit_parse(value, k->unit, &v) || v < k->lo || v > k->hi)
		return jetwatt_conf_refuse(e, line, "see man jetwattd.conf",
					   "\"%.40s\" is not a %s from %g to %g%s", value, k->name, k->lo,
					   k->hi, k->unit);
	memcpy((char *)p + k->at, &v, sizeof(v));
	return 0;
}

/* Parse a time such as 50ms, and store it in ms. */
static int set_ms(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		  unsigned int line, struct jetwatt_conf_error *e)
{
	int err = set_number(p, k, value, line, e);

	if (!err)
		*(double *)((char *)p + k->at) *= 1e3;
	return err;
}

/* Parse a power limit with an optional averaging window, such as "16W over 0.1s". */
static int set_power_over(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
			  unsigned int line, struct jetwatt_conf_error *e)
{
	const char *over = strstr(value, OVER);
	char fix[64], watts[32];
	double w, s = 0;

	snprintf(fix, sizeof(fix), "write it like %s = %s", k->name, k->word[0]);
	snprintf(watts, sizeof(watts), "%.*s", over ? (int)(over - value) : (int)strlen(value), value);
	if (jetwatt_unit_parse(watts, k->unit, &w) || w < k->lo || w > k->hi ||
	    (over && (jetwatt_unit_parse(over + strlen(OVER), "s", &s) || s < k->min_window_s ||
		      s > JETWATTD_WINDOW_MAX_S)))
		return jetwatt_conf_refuse(
			e, line, fix, "\"%.40s\" is not a %s from %g to %g%s, over %g to %gs",
			value, k->name, k->lo, k->hi, k->unit, k->min_window_s,
			JETWATTD_WINDOW_MAX_S);
	memcpy((char *)p + k->at, &w, sizeof(w));
	if (over)
		memcpy((char *)p + k->window_at, &s, sizeof(s));
	return 0;
}

static int set_count(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		     unsigned int line, struct jetwatt_conf_error *e)
{
	char fix[64];
	long n;

	snprintf(fix, sizeof(fix), "use a whole number from %g to %g", k->lo, k->hi);
	if (jetwatt_unit_count(value, (long)k->lo, (long)k->hi, &n))
		return jetwatt_conf_refuse(e, line, fix, "\"%.40s\" is not a valid value of %s", value, k->name);
	memcpy((char *)p + k->at, &n, sizeof(n));
	return 0;
}

static int set_choice(struct jetwattd_policy *p, const struct policy_key *k, const char *value,
		      unsigned int line, struct jetwatt_conf_error *e)
{
	int second = !strcmp(value, k->word[1]);
	char fix[64];

	snprintf(fix, sizeof(fix), "use %s or %s", k->word[0], k->word[1]);
	if (!second && strcmp(value, k->word[0]))
		return jetwatt_conf_refuse(e, line, fix, "\"%.40s\" is not a valid value of %s", value, k->name);
	memcpy((char *)p + k->at, &second, sizeof(second));
	return 0;
}

#define AT(member)	.at = offsetof(struct jetwattd_policy, member), \
			.size = sizeof(((struct jetwattd_policy *)0)->member)
#define NUMBER(key, type, member, unit_, lo_, hi_, default_) \
	{ key, set_##type, AT(member), .unit = unit_, .lo = lo_, .hi = hi_ },
#define POWER(member, window, example, min_window_s_) \
	set_power_over, AT(member), .unit = "W", .lo = 0.1, .hi = 1000, .word = { example }, \
	.window_at = offsetof(struct jetwattd_policy, window), .min_window_s = min_window_s_
#define CHOICE(key, member, first, second)	{ key, set_choice, AT(member), .word = { first, second } },

/* The keys of the policy file. Bit i of @given belongs to row i. */
static const struct policy_key keys[] = {
	{ "budget", POWER(budget_w, window_s, "15W over 1s", JETWATTD_WINDOW_MIN_S) },
	{ "cap", POWER(cap_w, cap_window_s, "20W over 0.1s", JETWATTD_CAP_WINDOW_MIN_S) },
	{ "hours", set_hours, .repeats = 1 },
	{ "cgroup", set_cgroup, .repeats = 1 },
	{ "turns", set_turns, .repeats = 1 },
	{ "tokens", set_server, AT(server) },
	JETWATTD_POLICY_NUMBERS(NUMBER)
	JETWATTD_POLICY_CHOICES(CHOICE)
	{ "modes", set_text, AT(modes), .restart = 1 },
	{ "idle", set_text, AT(idle) },
	{ "method", set_text, AT(method), .restart = 1 },
	{ "db", set_text, AT(db), .restart = 1 },
	{ "control", set_text, AT(control), .restart = 1 },
	{ "metrics", set_address, AT(metrics) },
	{ "readers", set_text, AT(readers), .restart = 1 },
	{ "writers", set_text, AT(writers), .restart = 1 },
};
#define KEYS	(sizeof(keys) / sizeof(*keys))
_Static_assert(KEYS <= 8 * sizeof(((struct jetwattd_policy *)0)->given),
	       "the mask @given has one bit for each key");

/* Callback for each setting of the file. */
static int policy_set(const char *name, const char *value, unsigned int line, void *arg,
		      struct jetwatt_conf_error *e)
{
	struct jetwattd_policy *p = arg;
	const char *names[KEYS + 1] = { NULL };
	int i;

	for (size_t k = 0; k < KEYS; k++)
		names[k] = keys[k].name;
	i = jetwatt_conf_name(name, names, line, e);
	if (i < 0)
		return i;
	/* The averaging window of the budget may have a line of its own. */
	for (size_t k = 0; k < KEYS && strstr(value, OVER); k++)
		if (keys[i].window_at && keys[k].at == keys[i].window_at) {
			if (p->given & 1u << k)
				return jetwatt_conf_refuse(e, line, "remove one of them", "there is another line %s =",
							   keys[k].name);
			p->given |= 1u << k;
		}
	if (!keys[i].repeats && p->given & 1u << i)
		return jetwatt_conf_refuse(e, line, "remove one of them", "there is another line %s =", name);
	p->given |= 1u << i;
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			return jetwatt_conf_refuse(e, line, "remove it", "the value contains a control character");
	return keys[i].set(p, &keys[i], value, line, e);
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
#define DEFAULT(key, type, member, unit, lowest, highest, value)	.member = value,
		JETWATTD_POLICY_NUMBERS(DEFAULT)
#undef DEFAULT
		.cap_window_s = 0.1,
		.control = "/run/jetwatt/control", .metrics = "127.0.0.1:9417",
	};
	return jetwatt_conf_parse(text, size, policy_set, p, e);
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
	return jetwattd_policy_parse(text, size, p, &e) ? jetwatt_conf_report(path, &e) : 0;
}

/* Return the budget of the period that contains the minute, or the general budget if no period
 * does, in W. */
static double budget_of_day(const struct jetwattd_policy *p, unsigned int minute)
{
	for (int i = 0; i < p->nr_hours; i++)
		if (hours_contain(&p->hours[i], minute))
			return p->hours[i].budget_w;
	return p->budget_w;
}

double jetwattd_policy_budget(const struct jetwattd_policy *p, unsigned int minute,
			      const char *cgroup)
{
	double w = budget_of_day(p, minute);

	for (int i = 0; i < p->nr_cgroups; i++)
		if (jetwatt_cgroup_below(cgroup, p->cgroups[i].path) && p->cgroups[i].budget_w < w)
			w = p->cgroups[i].budget_w;
	return w;
}

int jetwattd_policy_keep(struct jetwattd_policy *p, const struct jetwattd_policy *was, char *names,
			 size_t len)
{
	int differs = 0;
	size_t at = 0;

	for (size_t k = 0; k < KEYS; k++) {
		const char *old = (const char *)was + keys[k].at;
		char *now = (char *)p + keys[k].at;

		if (!keys[k].restart)
			continue;
		differs |= strcmp(now, old) != 0;
		memcpy(now, old, keys[k].size);
		if (at < len)
			at += (size_t)snprintf(names + at, len - at, "%s%s", at ? ", " : "", keys[k].name);
	}
	return differs;
}

void jetwattd_policy_override(struct jetwattd_policy *p, double power_w)
{
	if (!(power_w > 0))
		return;
	p->budget_w = power_w;
	p->nr_hours = p->nr_cgroups = 0;
}
