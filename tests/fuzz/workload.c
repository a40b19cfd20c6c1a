// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the identification of a workload by its command line and cgroup: make fuzz
 * FUZZ=workload
 */
#include "../../user/store/workload.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The input is a command line and a line of /proc/PID/cgroup, separated by zero bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_workload w = { .batch = 0 };
	char *text = malloc(len + 1), key[JETWATT_WORKLOAD_KEY];
	const char *arg[256];
	size_t at = 0;
	int n = 0;

	memcpy(text, data, len);
	text[len] = '\0';
	while (at < len && n < 256) {
		arg[n++] = text + at;
		at += strlen(text + at) + 1;
	}
	jetwatt_workload_command(arg, n, w.command, sizeof(w.command));
	w.batch = jetwatt_workload_batch(arg, n);
	jetwatt_workload_cgroup(n ? arg[n - 1] : "", w.cgroup, sizeof(w.cgroup));
	jetwatt_workload_key(&w, key);
	if (strlen(w.command) >= sizeof(w.command) || strlen(key) != 64)
		abort();
	free(text);
	return 0;
}
