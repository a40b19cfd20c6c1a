// SPDX-License-Identifier: GPL-2.0-only
/* What changes the time and power of a mode besides the knobs: governors, masks of gated GPU parts,
 * and the release of the board's software. */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "board/preset.h"

/* Append " NAME=VALUE" to @buf if the text fits; otherwise append nothing. */
static void params_append(char *buf, size_t len, const char *name, const char *value)
{
	size_t n = strlen(buf);

	if (n + strlen(name) + strlen(value) + 3 < len)
		snprintf(buf + n, len - n, "%s%s=%s", n ? " " : "", name, value);
}

static void params_append_file(const struct jetwatt_board *b, const char *path, const char *name,
			       char *buf, size_t len)
{
	char text[64];

	if (jetwatt_sysfs_text(b, path, text, sizeof(text)) < 0)
		return;
	text[strcspn(text, " \n")] = '\0';
	if (*text)
		params_append(buf, len, name, text);
}

/* names of the masks, of the first three also of their files, in the order of enum
 * jetwatt_preset_mask */
static const char * const mask_names[JETWATT_MASKS] = {
	"tpc_pg_mask", "fbp_pg_mask", "gpc_pg_mask", "gpu_pg_mask",
};

/*
 * Read the mask that Thor's drivers have sent to the firmware. Up to JetPack 7.1, OpenRM sends it:
 * the line "TegraGpuPgMask: 512" of its parameters. On JetPack 7.2, nv-gpu-static-pg does, before
 * OpenRM is loaded, and shows the mask in /sys/kernel/gpu_static_pg; 0 if it has sent none
 * (forecr/forecr_xavier_kernel, nvidia-oot/drivers/gpu/power/tegra/nv-gpu-static-pg.c). OpenRM's
 * mask, if it is set, replaces that mask (NVIDIA/open-gpu-kernel-modules 595.45.04,
 * kernel-open/nvidia/nv.c).
 */
static int thor_mask(const struct jetwatt_board *b, uint64_t *mask)
{
	char path[PATH_LEN], line[256];
	int rc = -ENOENT;
	FILE *f;

	snprintf(path, sizeof(path), "%s/driver/nvidia/params", b->proc);
	f = fopen(path, "re");
	while (f && rc && fgets(line, sizeof(line), f))
		/* A mask of all ones means that the parameter was not set, as on a PC. */
		if (sscanf(line, "TegraGpuPgMask: %" SCNu64, mask) == 1 && *mask != UINT32_MAX)
			rc = 0;
	if (f)
		fclose(f);
	return rc ? jetwatt_sysfs_u64(b, "kernel/gpu_static_pg/gpu_pg_mask", mask) : 0;
}

int jetwatt_board_gated(const struct jetwatt_board *b, enum jetwatt_preset_mask which,
			uint64_t *mask)
{
	/* Directory of the GPU's device: the first path is that of JetPack 6, the second that of
	 * JetPack 5. */
	static const char * const gpu[] = { "devices/platform/gpu.0", "devices/gpu.0" };
	char path[PATH_LEN];
	int rc = -ENOENT;

	if (which == JETWATT_MASK_GPU)
		return thor_mask(b, mask);
	for (int i = 0; i < 2 && rc; i++) {
		snprintf(path, sizeof(path), "%s/%s", gpu[i], mask_names[which]);
		rc = jetwatt_sysfs_u64(b, path, mask);
	}
	return rc;
}

void jetwatt_board_params(const struct jetwatt_board *b, char *buf, size_t len)
{
	char path[PATH_LEN], value[24];
	uint64_t mask;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_governor",
		 b->policy[0]);
	params_append_file(b, path, "cpu_governor", buf, len);
	snprintf(path, sizeof(path), "class/devfreq/%s/governor",
		 b->device[JETWATT_KNOB_GPU]);
	params_append_file(b, path, "gpu_governor", buf, len);
	for (int i = 0; i < JETWATT_MASKS; i++) {
		if (jetwatt_board_gated(b, (enum jetwatt_preset_mask)i, &mask))
			continue;
		snprintf(value, sizeof(value), "%" PRIu64, mask);
		params_append(buf, len, mask_names[i], value);
	}
}

/* Read the first line of a file outside sysfs; an empty string if it cannot be read. */
static void params_first_line(const char *root, const char *leaf, char *buf, size_t len)
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

/* nv_tegra_release: "# R36 (release), REVISION: 4.3, GCID: ..." is L4T 36.4.3. */
void jetwatt_board_release(const struct jetwatt_board *b, char *buf, size_t len)
{
	unsigned int major, minor, patch;
	char line[256];

	params_first_line(b->etc, "nv_tegra_release", line, sizeof(line));
	if (sscanf(line, "# R%u (release), REVISION: %u.%u", &major, &minor, &patch) == 3) {
		snprintf(buf, len, "L4T %u.%u.%u", major, minor, patch);
		return;
	}
	params_first_line(b->proc, "sys/kernel/osrelease", line, sizeof(line));
	snprintf(buf, len, "Linux %.80s", line);
}
