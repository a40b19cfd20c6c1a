// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of jetwatt schedule's configuration: make fuzz FUZZ=schedule */
#include "../../user/util/conf.c"
#include "../../user/util/error.c"
#include "../../user/timeshare/conf.c"
#include "../../user/util/suggest.c"
#include "../../user/util/units.c"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct jetwatt_timeshare_conf c;
	struct jetwatt_conf_error e;

	if (!jetwatt_timeshare_conf_parse((const char *)data, len, &c, &e)) {
		if (!*c.train || !*c.infer || !(c.latency_ms > 0) || c.arrival_hz < 0)
			abort();
	} else if (!*e.why || !*e.fix) {
		abort();
	}
	return 0;
}
