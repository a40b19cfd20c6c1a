// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of Prometheus text: make fuzz FUZZ=prometheus. The first line of the
 * input selects the samples. */
#include <stdint.h>

#include "../../user/util/prometheus.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_prometheus_selector s;
	const char *text = (const char *)data, *eol = memchr(data, '\n', len);
	char line[512];
	size_t n = eol ? (size_t)(eol - text) : 0;
	double sum = 0, again = 0;
	long found;

	jetwatt_prometheus_number(text, len, &sum);
	if (!eol || n >= sizeof(line))
		return 0;
	memcpy(line, text, n);
	line[n] = '\0';
	if (jetwatt_prometheus_select(&s, line))
		return 0;
	found = jetwatt_prometheus_sum(eol + 1, len - n - 1, &s, &sum);
	/* Fewer labels never select fewer samples. */
	s.labels = 0;
	if (found > jetwatt_prometheus_sum(eol + 1, len - n - 1, &s, &again))
		abort();
	return 0;
}
