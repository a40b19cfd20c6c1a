// SPDX-License-Identifier: GPL-2.0-only
/* Prometheus text: which samples are added up, and which texts are refused. */
#include <math.h>

#include "kselftest_harness.h"

#include "../../user/util/prometheus.c"

/* The example text of the format's specification, with unusual spaces, exponents and escapes; then
 * lines that the specification does not have. */
static const char spec[] =
	"# HELP http_requests_total The total number of HTTP requests.\n"
	"# TYPE http_requests_total counter\n"
	"http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\n"
	"http_requests_total{method=\"post\",code=\"400\"}    3 1395066363000\n"
	"\n"
	"# Escaping in label values:\n"
	"msdos_file_access_time_seconds{path=\"C:\\\\DIR\\\\FILE.TXT\",error=\"Cannot find file:\\n\\\"FILE.TXT\\\"\"} 1.458255915e9\n"
	"# Minimalistic line:\n"
	"metric_without_timestamp_and_labels 12.47\n"
	"# A weird metric from before the epoch:\n"
	"something_weird{problem=\"division by zero\"} +Inf -3982045\n"
	"http_request_duration_seconds_bucket{le=\"+Inf\"} 144320\n"
	"vllm:generation_tokens_total{model_name=\"a\"} 1e3\r\n"
	"vllm:generation_tokens_total { model_name = \"b\" , engine=\"0\", }\t2.5E+2\r\n"
	"vllm:generation_tokens 7\n"
	"  indented_total\t 4\t \n"
	"nothing_total NaN\n"
	"minus_total -Inf\n"
	"brace_total{a=\"}\"} 5\n"
	"brace_total{a=\"x} 9\"} 6\n";

static long sum_of(const char *selector, const char *text, size_t len, double *sum)
{
	struct jetwatt_prometheus_selector s;
	int err = jetwatt_prometheus_select(&s, selector);

	return err ? err : jetwatt_prometheus_sum(text, len, &s, sum);
}

TEST(samples_of_the_selected_metric_are_added_up)
{
	static const struct { const char *selector; long n; double sum; } t[] = {
		{ "http_requests_total", 2, 1030 },
		{ "http_requests_total{code=\"200\"}", 1, 1027 },
		{ "http_requests_total{code=\"400\",method=\"post\"}", 1, 3 },
		{ "http_requests_total{ code = \"400\" , method=\"post\" , }", 1, 3 },
		{ "http_requests_total{}", 2, 1030 },
		{ "http_requests_total{code=\"404\"}", 0, 0 },
		{ "http_requests_total{other=\"200\"}", 0, 0 },
		{ "http_requests", 0, 0 },
		{ "msdos_file_access_time_seconds{path=\"C:\\\\DIR\\\\FILE.TXT\"}", 1, 1458255915 },
		{ "msdos_file_access_time_seconds{error=\"Cannot find file:\\n\\\"FILE.TXT\\\"\"}", 1,
		  1458255915 },
		{ "metric_without_timestamp_and_labels", 1, 12.47 },
		{ "something_weird", 1, INFINITY },
		{ "minus_total", 1, -INFINITY },
		{ "vllm:generation_tokens_total", 2, 1250 },
		{ "vllm:generation_tokens_total{engine=\"0\"}", 1, 250 },
		{ "vllm:generation_tokens", 1, 7 },
		{ "indented_total", 1, 4 },
		{ "brace_total", 2, 11 },
		{ "brace_total{a=\"}\"}", 1, 5 },
	};
	double sum;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(t[i].n, sum_of(t[i].selector, spec, sizeof(spec) - 1, &sum)) {
			TH_LOG("%s", t[i].selector);
		}
		EXPECT_EQ(t[i].sum, sum) {
			TH_LOG("%s", t[i].selector);
		}
	}
	EXPECT_EQ(1, sum_of("nothing_total", spec, sizeof(spec) - 1, &sum));
	EXPECT_TRUE(isnan(sum));
}

TEST(a_truncated_text_is_refused)
{
	double sum;
	int whole = 0;

	/* A truncated text is valid only if it ends with a complete line. */
	for (size_t len = 0; len < sizeof(spec) - 1; len++) {
		long n = sum_of("x", spec, len, &sum);

		EXPECT_EQ(len && spec[len - 1] != '\n' ? -EBADMSG : 0, n) {
			TH_LOG("%zu bytes", len);
		}
		whole += !n;
	}
	EXPECT_EQ(20, whole);
}

TEST(other_texts_are_refused)
{
	static const char *const t[] = {
		"<html>\n", "a\n", "a 1 x\n", "a 1 2 3\n", "a 1.2.3\n", "a 0x10\n", "a nan(1)\n", "a {\n",
		"a{b} 1\n", "a{b=1} 1\n", "a{b=\"1} 1\n", "a{b=\"1\" c=\"2\"} 1\n", "a{b=\"\\t\"} 1\n",
		"a{b=\"\\", "a{,} 1\n", "1a 1\n", "a{b:c=\"1\"} 1\n", "a 1 2.5\n", "a infinity\n", "a 1e\n",
		"a -\n", "{a=\"b\"} 1\n", "a{b=\"1\"}\n",
	};
	double sum;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(-EBADMSG, sum_of("a", t[i], strlen(t[i]), &sum)) {
			TH_LOG("%s", t[i]);
		}
	}
	EXPECT_EQ(-EBADMSG, sum_of("a", "a 1\0 \n", 6, &sum));
	EXPECT_EQ(-EBADMSG, sum_of("a", "a inf\0x\n", 8, &sum));
}

TEST(selectors_are_checked)
{
	static const char *const t[] = {
		"", "1a", "a b", "a{", "a{b", "a{b=", "a{b=\"", "a{b=\"c\"", "a{b=c}", "a{b=\"c\"}x", "a}",
		"{b=\"c\"}", "a{b=\"c\" d=\"e\"}", "a{,}", "a ", "a{b=\"\\x\"}",
	};
	char name[JETWATT_PROMETHEUS_NAME_LEN + 2], many[256] = "a{";
	struct jetwatt_prometheus_selector s;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(-EINVAL, jetwatt_prometheus_select(&s, t[i])) {
			TH_LOG("%s", t[i]);
		}
	}
	EXPECT_EQ(0, jetwatt_prometheus_select(&s, "a{b=\"\\n\\\\\\\"\"}"));
	EXPECT_STREQ("\n\\\"", s.label[0].value);
	memset(name, 'a', sizeof(name));
	name[JETWATT_PROMETHEUS_NAME_LEN] = '\0';
	EXPECT_EQ(-E2BIG, jetwatt_prometheus_select(&s, name));
	name[JETWATT_PROMETHEUS_NAME_LEN - 1] = '\0';
	EXPECT_EQ(0, jetwatt_prometheus_select(&s, name));
	for (int i = 0; i <= JETWATT_PROMETHEUS_LABELS; i++)
		strcat(many, "b=\"c\",");
	strcat(many, "}");
	EXPECT_EQ(-E2BIG, jetwatt_prometheus_select(&s, many));
}

/* A label value that is longer than the buffer differs from every value of a selector. */
TEST(a_long_label_value_is_another_value)
{
	char text[2 * JETWATT_PROMETHEUS_NAME_LEN + 32], selector[JETWATT_PROMETHEUS_NAME_LEN + 8];
	char value[JETWATT_PROMETHEUS_NAME_LEN];
	double sum;

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	snprintf(selector, sizeof(selector), "a{b=\"%s\"}", value);
	snprintf(text, sizeof(text), "a{b=\"%s\"} 1\n", value);
	EXPECT_EQ(1, sum_of(selector, text, strlen(text), &sum));
	snprintf(text, sizeof(text), "a{b=\"%sv\"} 1\n", value);
	EXPECT_EQ(0, sum_of(selector, text, strlen(text), &sum));
	EXPECT_EQ(1, sum_of("a", text, strlen(text), &sum));
}

TEST(numbers_are_parsed)
{
	double v;

	EXPECT_EQ(0, jetwatt_prometheus_number(" 12\r\n", 5, &v));
	EXPECT_EQ(12, v);
	EXPECT_EQ(0, jetwatt_prometheus_number("+1.5e-3", 7, &v));
	EXPECT_EQ(1.5e-3, v);
	EXPECT_EQ(-EINVAL, jetwatt_prometheus_number("", 0, &v));
	EXPECT_EQ(-EINVAL, jetwatt_prometheus_number("\n", 1, &v));
	EXPECT_EQ(-EINVAL, jetwatt_prometheus_number("1 2", 3, &v));
}

TEST_HARNESS_MAIN
