// SPDX-License-Identifier: GPL-2.0-only
/* Parser of jetwattd's policy file. */

#include "daemon/jetwattd.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

static struct jetwattd_policy p;
static struct jetwatt_conf_error e;

static int parse(const char *text)
{
	memset(&e, 0, sizeof(e));
	return jetwattd_policy_parse(text, strlen(text), &p, &e);
}

TEST(empty_policy_has_the_defaults)
{
	ASSERT_EQ(0, parse(""));
	EXPECT_EQ(0, p.budget_w);
	EXPECT_EQ(1, p.window_s);
	EXPECT_EQ(0, p.cap_w);
	EXPECT_EQ(0.1, p.cap_window_s);
	EXPECT_EQ(80, p.backoff_s);
	EXPECT_EQ(1000, p.most);
	EXPECT_EQ(5, p.learn_share);
	EXPECT_STREQ("/run/jetwatt/control", p.control);
	EXPECT_STREQ("127.0.0.1:9417", p.metrics);
	EXPECT_STREQ("", p.method);
}

TEST(power_limits_have_averaging_windows)
{
	ASSERT_EQ(0, parse("budget = 14W over 10s\ncap = 16W over 0.2s\n"));
	EXPECT_EQ(14, p.budget_w);
	EXPECT_EQ(10, p.window_s);
	EXPECT_EQ(16, p.cap_w);
	EXPECT_EQ(0.2, p.cap_window_s);
	ASSERT_EQ(0, parse("budget = 14W\nwindow = 5s\ncap = 16W\n"));
	EXPECT_EQ(5, p.window_s);
	EXPECT_EQ(0.1, p.cap_window_s);
}

TEST(every_setting_is_read)
{
	ASSERT_EQ(0, parse("# a board\nbudget = 30W\nwindow=500ms\nmodes = /x y.csv\n"
			   "idle = c2-729600-g306000000-e2133000000\nmost = 12\nlearn-time = 2min\n"
			   "learn-energy = 4kJ\nothers = reassert\ndb = none\n"
			   "control = /tmp/c\nreaders = a\nwriters = b\nmetrics = [::1]:80\n"
			   "back-off = 2min\nrate = 100Hz\nmethod = linreg\nlearn-share = 2.5%\n"));
	EXPECT_EQ(30, p.budget_w);
	EXPECT_EQ(0.5, p.window_s);
	EXPECT_STREQ("/x y.csv", p.modes);
	EXPECT_STREQ("c2-729600-g306000000-e2133000000", p.idle);
	EXPECT_EQ(12, p.most);
	EXPECT_EQ(120, p.learn_s);
	EXPECT_EQ(4000, p.learn_j);
	EXPECT_EQ(1, p.reassert);
	EXPECT_STREQ("none", p.db);
	EXPECT_STREQ("/tmp/c", p.control);
	EXPECT_STREQ("a", p.readers);
	EXPECT_STREQ("b", p.writers);
	EXPECT_STREQ("[::1]:80", p.metrics);
	EXPECT_EQ(120, p.backoff_s);
	EXPECT_EQ(100, p.rate_hz);
	EXPECT_EQ(2.5, p.learn_share);
	EXPECT_STREQ("linreg", p.method);
}

TEST(a_byte_order_mark_is_not_part_of_the_first_line)
{
	ASSERT_EQ(0, parse("\xef\xbb\xbf" "budget = 20W\r\n"));
	EXPECT_EQ(20, p.budget_w);
	ASSERT_EQ(0, parse("\xef\xbb\xbf# a board\n"));
	EXPECT_NE(0, parse("budget = 20W\n\xef\xbb\xbf# a board\n"));
	EXPECT_EQ(2, e.line);
}

TEST(settings_that_need_a_restart_are_kept)
{
	struct jetwattd_policy was;
	char names[96];

	ASSERT_EQ(0, parse("budget = 20W\ndb = a\nwriters = adm\n"));
	was = p;
	ASSERT_EQ(0, parse("budget = 30W\ndb = a\nwriters = adm\n"));
	EXPECT_EQ(0, jetwattd_policy_keep(&p, &was, names, sizeof(names)));
	ASSERT_EQ(0, parse("budget = 30W\ndb = b\n"));
	EXPECT_EQ(1, jetwattd_policy_keep(&p, &was, names, sizeof(names)));
	EXPECT_STREQ("modes, method, db, control, readers, writers", names);
	EXPECT_EQ(30, p.budget_w);
	EXPECT_STREQ("a", p.db);
	EXPECT_STREQ("adm", p.writers);
	EXPECT_STREQ("/run/jetwatt/control", p.control);
}

/* Types in JETWATTD_POLICY_NUMBERS(): the member is this many times the number of the file. */
#define number	1
#define count	1
#define ms	1e3

static const struct {
	const char *key, *unit;
	size_t at;
	double lowest, highest, preset, times;
	int whole;
} numbers[] = {
#define NUMBER(key, type, member, unit, lowest, highest, value)				\
	{ key, unit, offsetof(struct jetwattd_policy, member), lowest, highest, value, type,	\
	  _Generic(((struct jetwattd_policy *)0)->member, long: 1, double: 0) },
	JETWATTD_POLICY_NUMBERS(NUMBER)
};

#undef number
#undef count
#undef ms

static double value_of(size_t i)
{
	const char *at = (const char *)&p + numbers[i].at;
	double v;
	long n;

	memcpy(&v, at, sizeof(v));
	memcpy(&n, at, sizeof(n));
	return numbers[i].whole ? (double)n : v;
}

static int parse_number(size_t i, double v)
{
	char text[64];

	snprintf(text, sizeof(text), "%s = %.12g%s\n", numbers[i].key, v, numbers[i].unit);
	return parse(text);
}

/* Check that a member has the value @v of the file, except for rounding. */
static int is_near(size_t i, double v)
{
	double want = v * numbers[i].times;

	return fabs(value_of(i) - want) <= 1e-9 * fabs(want);
}

TEST(numbers_have_defaults_and_limits)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		double lowest = numbers[i].lowest, highest = numbers[i].highest;
		double step = numbers[i].whole ? 1 : 1e-3 * (lowest > 0 ? lowest : highest);
		const char *key = numbers[i].key;

		ASSERT_EQ(0, parse(""));
		EXPECT_EQ(numbers[i].preset, value_of(i)) TH_LOG("%s", key);
		EXPECT_EQ(0, parse_number(i, lowest)) TH_LOG("%s", key);
		EXPECT_TRUE(is_near(i, lowest)) TH_LOG("%s", key);
		EXPECT_EQ(0, parse_number(i, highest)) TH_LOG("%s", key);
		EXPECT_TRUE(is_near(i, highest)) TH_LOG("%s", key);
		EXPECT_EQ(-EINVAL, parse_number(i, lowest - step)) TH_LOG("%s", key);
		EXPECT_EQ(-EINVAL, parse_number(i, numbers[i].whole ? highest + 1 : 1.001 * highest)) TH_LOG("%s", key);
	}
}

static const struct {
	const char *key, *word[2];
	size_t at;
} choices[] = {
#define CHOICE(key, member, first, second)	{ key, { first, second }, offsetof(struct jetwattd_policy, member) },
	JETWATTD_POLICY_CHOICES(CHOICE)
};

TEST(choices_have_two_words)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		const int *v = (const int *)((const char *)&p + choices[i].at);
		char text[64];

		ASSERT_EQ(0, parse(""));
		EXPECT_EQ(0, *v) TH_LOG("%s", choices[i].key);
		for (int k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "%s = %s\n", choices[i].key, choices[i].word[k]);
			EXPECT_EQ(0, parse(text)) TH_LOG("%s", text);
			EXPECT_EQ(k, *v) TH_LOG("%s", text);
		}
		snprintf(text, sizeof(text), "%s = no-such-word\n", choices[i].key);
		EXPECT_EQ(-EINVAL, parse(text)) TH_LOG("%s", text);
	}
}

TEST(turns_names_two_cgroups_and_a_latency)
{
	ASSERT_EQ(0, parse("turns = /batch.slice  /system.slice/serve.service 100ms\n"));
	EXPECT_STREQ("/batch.slice", p.timeshare.train);
	EXPECT_STREQ("/system.slice/serve.service", p.timeshare.serve);
	EXPECT_EQ(100, p.timeshare.latency_ms);
	EXPECT_EQ(1, jetwatt_cgroup_below("/batch.slice/a.service", p.timeshare.train));
	EXPECT_EQ(0, jetwatt_cgroup_below("/batch.slices", p.timeshare.train));

	EXPECT_EQ(-EINVAL, parse("turns = /a /b 100ms\nturns = /c /d 100ms\n"));
	EXPECT_EQ(2, e.line);
	EXPECT_EQ(-EINVAL, parse("turns = /a /b\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a /b 100\nW"));
	EXPECT_EQ(-EINVAL, parse("turns = a /b 100ms\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a /b 100ms /c\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a /b 100W\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a /b 0s\n"));
	/* The cgroups of a turn must not contain each other: freezing one would freeze the
	 * other. */
	EXPECT_EQ(-EINVAL, parse("turns = /a /a/b 100ms\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a/b /a 100ms\n"));
	EXPECT_EQ(-EINVAL, parse("turns = /a /a 100ms\n"));
	EXPECT_EQ(0, parse("turns = /a /ab 100ms\n"));
}

/* /proc/PID/cgroup has no slash at the end of a path, so a path with one would match no process of the
 * cgroup itself, and the budget would not apply. */
TEST(slashes_at_the_end_of_a_cgroup_do_not_count)
{
	ASSERT_EQ(0, parse("budget = 30\ncgroup = /lab/job.service/ 20W\ncgroup = / 25W\n"
			   "turns = /batch.slice/ /serve.service// 100ms\ntokens = /llama.service/\n"));
	EXPECT_EQ(20, jetwattd_policy_budget(&p, 720, "/lab/job.service"));
	EXPECT_EQ(25, jetwattd_policy_budget(&p, 720, "/lab"));
	EXPECT_STREQ("/batch.slice", p.timeshare.train);
	EXPECT_STREQ("/serve.service", p.timeshare.serve);
	EXPECT_STREQ("/llama.service", p.server);
	EXPECT_EQ(-EINVAL, parse("turns = /a /a/ 100ms\n"));
}

TEST(settings_of_a_language_models_server)
{
	ASSERT_EQ(0, parse(""));
	EXPECT_STREQ("", p.server);
	EXPECT_EQ(0, p.least_energy);
	EXPECT_EQ(0, p.ttft_ms);
	ASSERT_EQ(0, parse("tokens = /system.slice/llama.service\nobjective = energy\nttft = 500ms\ntpot = 0.05\n"));
	EXPECT_STREQ("/system.slice/llama.service", p.server);
	EXPECT_EQ(1, p.least_energy);
	EXPECT_EQ(500, p.ttft_ms);
	EXPECT_EQ(50, p.tpot_ms);
	ASSERT_EQ(0, parse("objective = time\n"));
	EXPECT_EQ(0, p.least_energy);
	EXPECT_EQ(-EINVAL, parse("objective = tokens\n"));
	EXPECT_EQ(-EINVAL, parse("tokens = llama.service\n"));
	EXPECT_EQ(-EINVAL, parse("tokens = /a\ntokens = /b\n"));
	EXPECT_EQ(-EINVAL, parse("tpot = 0\n"));
	EXPECT_EQ(-EINVAL, parse("tpot = 50W\n"));
	EXPECT_EQ(-EINVAL, parse("ttft = 2000\n"));
}

TEST(budget_depends_on_the_hour)
{
	ASSERT_EQ(0, parse("budget = 30\nhours = 22:00-06:00 15W\nhours = 12:30-13:00 20W\n"));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 21 * 60 + 59, ""));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 22 * 60, ""));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 0, ""));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 6 * 60 - 1, ""));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 6 * 60, ""));
	EXPECT_EQ(20, jetwattd_policy_budget(&p, 12 * 60 + 30, ""));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 13 * 60, ""));
	/* A range of hours may begin when another ends, also at midnight. */
	ASSERT_EQ(0, parse("hours = 22:00-24:00 15W\nhours = 0:00-6:00 10W\nhours = 06:00-22:00 20W\n"));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 24 * 60 - 1, ""));
	EXPECT_EQ(10, jetwattd_policy_budget(&p, 0, ""));
	EXPECT_EQ(20, jetwattd_policy_budget(&p, 6 * 60, ""));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 22 * 60, ""));
}

/* The time zone is that of the moment: one of two zones half a day apart is before noon. */
TEST(hours_follow_the_time_zone)
{
	static struct jetwattd d = { .policy = &p };
	double before, after;

	ASSERT_EQ(0, parse("hours = 0:00-12:00 15W\nhours = 12:00-24:00 20W\n"));
	setenv("TZ", "AAA0", 1);
	jetwattd_budget_now(&d, "");
	before = d.cap.budget_w;
	setenv("TZ", "BBB-12", 1);
	jetwattd_budget_now(&d, "");
	after = d.cap.budget_w;
	unsetenv("TZ");
	EXPECT_EQ(35, before + after) TH_LOG("%g W, %g W", before, after);
}

/* Two ranges of hours that share a minute are refused, in either order. */
TEST(overlapping_hours_are_refused)
{
	static const char *const hours[][2] = {
		{ "22:00-06:00", "05:59-07:00" }, { "22:00-06:00", "21:00-22:01" }, { "22:00-06:00", "23:00-23:30" },
		{ "22:00-06:00", "00:00-24:00" }, { "10:00-12:00", "10:00-12:00" }, { "10:00-12:00", "11:00-13:00" },
		{ "22:00-06:00", "20:00-04:00" }, { "22:00-00:00", "23:59-00:01" }, { "00:00-24:00", "12:00-12:01" },
	};
	char text[128];

	for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++)
		for (int k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "hours = %s 15W\nhours = %s 20W\n", hours[i][k], hours[i][!k]);
			EXPECT_EQ(-EINVAL, parse(text)) TH_LOG("%s", text);
			EXPECT_EQ(2, e.line);
		}
}

TEST(budget_depends_on_the_cgroup)
{
	ASSERT_EQ(0, parse("budget = 30\nhours = 22:00-06:00 12W\ncgroup = /lab 20W\n"
			   "cgroup = /lab/night shift  15\ncgroup = /all 50W\n"));
	EXPECT_EQ(3, p.nr_cgroups);
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 720, ""));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 720, "/"));
	EXPECT_EQ(20, jetwattd_policy_budget(&p, 720, "/lab"));
	EXPECT_EQ(20, jetwattd_policy_budget(&p, 720, "/lab/a"));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 720, "/labour"));
	EXPECT_EQ(15, jetwattd_policy_budget(&p, 720, "/lab/night shift/b"));
	EXPECT_EQ(30, jetwattd_policy_budget(&p, 720, "/all"));
	EXPECT_EQ(12, jetwattd_policy_budget(&p, 0, "/lab"));
	jetwattd_policy_override(&p, 25);
	EXPECT_EQ(25, jetwattd_policy_budget(&p, 0, "/lab"));
}

TEST(malformed_policy_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *why;
	} bad[] = {
		{ "budget = 30W\nbugdet = 20W\n", 2, "there is no setting \"bugdet\"" },
		{ "budget = thirty\n", 1, "\"thirty\" is not a budget from 0.1 to 1000W, over 0.1 to 10s" },
		{ "budget = nan\n", 1, "\"nan\" is not a budget from 0.1 to 1000W, over 0.1 to 10s" },
		{ "budget = 14W over 20s\n", 1, "\"14W over 20s\" is not a budget from 0.1 to 1000W, over 0.1 to 10s" },
		{ "budget = 14W over\n", 1, "\"14W over\" is not a budget from 0.1 to 1000W, over 0.1 to 10s" },
		{ "cap = 16W over 10ms\n", 1, "\"16W over 10ms\" is not a cap from 0.1 to 1000W, over 0.05 to 10s" },
		{ "window = 5s\nbudget = 14W over 10s\n", 2, "there is another line window =" },
		{ "budget = 14W over 10s\nwindow = 5s\n", 2, "there is another line window =" },
		{ "budget\n", 1, "there is no =" },
		{ "\nbudget =\n", 2, "budget has no value" },
		{ "window = 20s\n", 1, "\"20s\" is not a window from 0.1 to 10s" },
		{ "hours = 22-6 15W\n", 1, "\"22-6 15W\" is not a period with a budget" },
		{ "hours = 25:00-06:00 15W\n", 1, "\"25:00-06:00 15W\" is not a period with a budget" },
		{ "hours = 22:00-06:00\n", 1, "\"22:00-06:00\" is not a period with a budget" },
		{ "hours = 24:59-06:00 15W\n", 1, "\"24:59-06:00 15W\" is not a period with a budget" },
		{ "hours = 22:00-24:01 15W\n", 1, "\"22:00-24:01 15W\" is not a period with a budget" },
		{ "hours = -1:00-06:00 15W\n", 1, "\"-1:00-06:00 15W\" is not a period with a budget" },
		{ "hours = 08:00-08:00 15W\n", 1, "\"08:00-08:00 15W\" is an empty period" },
		{ "hours = 24:00-06:00 15W\n", 1, "\"24:00-06:00 15W\" is an empty period" },
		{ "hours = 22:00-06:00 15W 20W\n", 1, "\"22:00-06:00 15W 20W\" is not a period with a budget" },
		{ "hours = 22:00-06:00 15W # cheap\n", 1, "\"22:00-06:00 15W # cheap\" is not a period with a budget" },
		{ "budget = 30W\nbudget = 10W\n", 2, "there is another line budget =" },
		{ "readers = \001\n", 1, "the value contains a control character" },
		{ "others = fight\n", 1, "\"fight\" is not a valid value of others" },
		{ "cgroup = lab 20W\n", 1, "\"lab 20W\" is not a cgroup with a budget" },
		{ "cgroup = /lab\n", 1, "\"/lab\" is not a cgroup with a budget" },
		{ "cgroup = /sys/fs/cgroup/lab 20W\n", 1, "\"/sys/fs/cgroup/lab\" is the directory of a cgroup" },
		{ "tokens = /sys/fs/cgroup/lab\n", 1, "\"/sys/fs/cgroup/lab\" is the directory of a cgroup" },
		{ "turns = /lab /sys/fs/cgroup 1s\n", 1, "\"/sys/fs/cgroup\" is the directory of a cgroup" },
		{ "cgroup = /lab 20V\n", 1, "\"/lab 20V\" is not a cgroup with a budget" },
		{ "metrics = localhost:80\n", 1, "\"localhost:80\" is not a numeric address with a port" },
		{ "metrics = 127.0.0.1\n", 1, "\"127.0.0.1\" is not a numeric address with a port" },
		{ "metrics = 127.0.0.1:0\n", 1, "\"127.0.0.1:0\" is not a numeric address with a port" },
		{ "metrics = [::1:80\n", 1, "\"[::1:80\" is not a numeric address with a port" },
		{ "metrics = :80\n", 1, "\":80\" is not a numeric address with a port" },
		{ "most = 2\n", 1, "\"2\" is not a valid value of most" },
		{ "idle = c2-729600-g306000000-e2133000000-c2-729600-g306000000-e2133000000-c2-729600-g306000000-e2133000000\n",
		  1, "idle is too long" },
	};
	char many[64 * (JETWATTD_HOURS + 1)] = "";

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(-EINVAL, parse(bad[i].text));
		EXPECT_EQ(bad[i].line, e.line);
		EXPECT_STREQ(bad[i].why, e.why);
		EXPECT_NE('\0', *e.fix);
	}
	for (int i = 0; i <= JETWATTD_HOURS; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "hours = %02d:00-%02d:30 15W\n", i, i);
	EXPECT_EQ(-EINVAL, parse(many));
	EXPECT_EQ(JETWATTD_HOURS + 1, e.line);
}

TEST_HARNESS_MAIN
