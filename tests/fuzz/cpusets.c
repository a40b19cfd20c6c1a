// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the record of the cpusets and for mountinfo: make fuzz FUZZ=cpusets */
#include "../../user/board/cpuset.c"
#include "../../user/board/cpuset_record.c"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void fuzz_mountinfo(char *text)
{
	struct jetwatt_cpuset_mount m = { 0 };
	char *line;

	while ((line = strsep(&text, "\n")))
		if (mount_parse(line, &m) && !m.leaf)
			abort();
}

/* Formatted and parsed again, each entry is the same. */
static void fuzz_entry(const struct jetwatt_cpuset_entry *e)
{
	char list[JETWATT_CPUS_LEN], *path = malloc(4 * strlen(e->path) + 1);
	cpu_set_t again;

	if (*e->path != '/' || strstr(e->path, "/../") || strstr(e->path, "//") || !path ||
	    !jetwatt_cpus_subset(&e->left, &e->all) ||
	    !jetwatt_cpus_parse(jetwatt_cpus_format(&e->all, list), &again) ||
	    !CPU_EQUAL(&again, &e->all) || strpbrk(jetwatt_octal_encode(e->path, path), " \n"))
		abort();
	jetwatt_octal_decode(path);
	if (strcmp(path, e->path))
		abort();
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_cpuset_record r = { 0 };
	char *text = strndup((const char *)data, len), *copy = strdup(text);

	fuzz_mountinfo(copy);
	if (!jetwatt_cpuset_record_parse(text, &r) && (r.n || r.entry))
		abort();
	for (size_t i = 0; i < r.n; i++)
		fuzz_entry(&r.entry[i]);
	jetwatt_cpuset_record_free(&r);
	free(text);
	free(copy);
	return 0;
}
