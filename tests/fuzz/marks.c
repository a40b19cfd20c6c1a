// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the parsers of mark lines and of /proc/PID/maps, which the job controls
 * (make fuzz FUZZ=marks).
 */
#include "../../user/lib/marks.c"
#include "../../user/lib/library.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int jetwatt_probe_refuse(struct jetwatt_probe *p, uint32_t rungs, int err, const char *why, ...)
{
	(void)p, (void)rungs, (void)why;
	return err;
}

void jetwatt_probe_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s)
{
	(void)p;
	if (s->enter_ns > s->exit_ns || s->ret < 0 || s->ret >= JETWATT_MARKS_MAX)
		abort();
}

struct jetwatt_probe_state *jetwatt_probe_of(struct jetwatt_probe *p)
{
	static struct jetwatt_probe_state st;

	(void)p;
	return &st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct marks m;
	struct jetwatt_library lib;
	size_t at, n;
	char *text;

	for (at = 0; at < len; at += n + 1) {
		const uint8_t *e = memchr(data + at, '\n', len - at);

		n = e ? (size_t)(e - (data + at)) : len - at;
		receive_mark(&m, (const char *)data + at, n, 1);
		text = strndup((const char *)data + at, n);
		if (jetwatt_library_line(text, &lib) == 1 && lib.path[0] != '/')
			abort();
		free(text);
	}
	return 0;
}
