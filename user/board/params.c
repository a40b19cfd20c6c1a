// SPDX-License-Identifier: GPL-2.0-only
/* What else changes a mode's time and power: governors, gated parts of the GPU,
 * and the release of the board's software. */
#include "board/knobs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void add(const struct jetwatt_board *b, const char *path, const char *name, char *buf,
		size_t len)
{
	size_t n = strlen(buf);
	char text[64];

	if (jetwatt_sysfs_text(b, path, text, sizeof(text)) < 0)
		return;
	text[strcspn(text, " \n")] = '\0';
	if (*text && n + strlen(name) + strlen(text) + 3 < len)
		snprintf(buf + n, len - n, "%s%s=%s", n ? " " : "", name, text);
}

void jetwatt_board_params(const struct jetwatt_board *b, char *buf, size_t len)
{
	/* The masks are where the GPU's device is: JetPack 6, then 5. */
	static const char * const gpu[] = { "devices/platform/gpu.0", "devices/gpu.0" };
	static const char * const mask[] = { "tpc_pg_mask", "fbp_pg_mask", "gpc_pg_mask" };
	char path[PATH_LEN];

	buf[0] = '\0';
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_governor",
		 b->policy[0]);
	add(b, path, "cpu_governor", buf, len);
	snprintf(path, sizeof(path), "class/devfreq/%s/governor", b->gpu);
	add(b, path, "gpu_governor", buf, len);
	for (int i = 0; i < 3; i++) {
		size_t before = strlen(buf);

		for (int g = 0; g < 2 && strlen(buf) == before; g++) {
			snprintf(path, sizeof(path), "%s/%s", gpu[g], mask[i]);
			add(b, path, mask[i], buf, len);
		}
	}
}

/* The first line of a file outside sysfs; empty if it cannot be read. */
static void first_line(const char *root, const char *leaf, char *buf, size_t len)
{
	char path[PATH_LEN];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, leaf);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, len - 1);
		close(fd);
	}
	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* "# R36 (release), REVISION: 4.3, GCID: ..." is L4T 36.4.3. */
void jetwatt_board_release(const struct jetwatt_board *b, char *buf, size_t len)
{
	unsigned int major, minor, patch;
	char line[256];

	first_line(b->etc, "nv_tegra_release", line, sizeof(line));
	if (sscanf(line, "# R%u (release), REVISION: %u.%u", &major, &minor, &patch) == 3) {
		snprintf(buf, len, "L4T %u.%u.%u", major, minor, patch);
		return;
	}
	first_line(b->proc, "sys/kernel/osrelease", line, sizeof(line));
	snprintf(buf, len, "Linux %.80s", line);
}
