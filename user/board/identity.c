// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of boards: their names, rails, and levels of the knobs. A board is identified by its
 * device tree. The rails of a board come from kmod/sensors/board_rails.h, which the kernel module
 * uses too.
 */
#include "board/knobs.h"
#include "../kmod/sensors/board_rails.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Levels as the boards' drivers list them (AGX boards: in JetPack 5), CPU in kHz, GPU and EMC in
 * Hz; ends with 0. */
static const uint64_t agx_orin_cpu[] = {
	115200, 192000, 268800, 345600, 422400, 499200, 576000, 652800, 729600, 806400, 883200,
	960000, 1036800, 1113600, 1190400, 1267200, 1344000, 1420800, 1497600, 1574400, 1651200,
	1728000, 1804800, 1881600, 1958400, 2035200, 2112000, 2188800, 2201600, 0,
};
static const uint64_t agx_orin_gpu[] = {
	114750000, 216750000, 318750000, 420750000, 522750000, 624750000, 726750000, 828750000,
	930750000, 1032750000, 1134750000, 1236750000, 1300500000, 0,
};
static const uint64_t agx_xavier_cpu[] = {
	115200, 192000, 268800, 345600, 422400, 499200, 576000, 652800, 729600, 806400, 883200,
	960000, 1036800, 1113600, 1190400, 1267200, 1344000, 1420800, 1497600, 1574400, 1651200,
	1728000, 1804800, 1881600, 1958400, 2035200, 2112000, 2188800, 2265600, 0,
};
static const uint64_t agx_xavier_gpu[] = {
	114750000, 216750000, 318750000, 420750000, 522750000, 624750000, 675750000, 828750000,
	905250000, 1032750000, 1198500000, 1236750000, 1338750000, 1377000000, 0,
};
/* Caps of the accelerators in NVIDIA's power modes: LineageOS/android_device_nvidia_galen,
 * nvpmodel/nvpmodel_t194.conf and nvpmodel_t194_p3668.conf. No file of AGX Xavier Industrial was
 * found; it has the same SoC as AGX Xavier. */
static const uint64_t agx_xavier_dla[] = { 115200000, 550000000, 750000000, 1050000000, 0 };
static const uint64_t xavier_nx_dla[] = { 896000000, 1100800000, 0 };
static const uint64_t orin_emc[] = { 204000000, 665600000, 2133000000, 3199000000, 0 };
/* Orin NX and Orin Nano with the clocks of their MAXN_SUPER modes (JetPack 6.2): CPU 1984 and
 * 1728 MHz, GPU 1173 and 1020 MHz, EMC 3199 MHz. A board in another configuration has lower
 * maximum clocks, which its sysfs lists. */
static const uint64_t orin_nx_cpu[] = {
	115200, 192000, 268800, 345600, 422400, 499200, 576000, 652800, 729600, 806400, 883200,
	960000, 1036800, 1113600, 1190400, 1267200, 1344000, 1420800, 1497600, 1574400, 1651200,
	1728000, 1804800, 1881600, 1958400, 1984000, 0,
};
static const uint64_t orin_nx_gpu[] = {
	306000000, 408000000, 510000000, 612000000, 714000000, 816000000, 918000000, 1173000000, 0,
};
static const uint64_t orin_nano_cpu[] = {
	115200, 192000, 268800, 345600, 422400, 499200, 576000, 652800, 729600, 806400, 883200,
	960000, 1036800, 1113600, 1190400, 1267200, 1344000, 1420800, 1497600, 1574400, 1651200,
	1728000, 0,
};
static const uint64_t orin_nano_gpu[] = {
	306000000, 408000000, 510000000, 612000000, 714000000, 816000000, 918000000, 1020000000, 0,
};

#define CLOCKS(cpu, gpu, emc)	\
	{ [JETWATT_KNOB_CPU] = cpu, [JETWATT_KNOB_GPU] = gpu, [JETWATT_KNOB_EMC] = emc }
#define AGX_XAVIER_CLOCKS	\
	{ [JETWATT_KNOB_CPU] = agx_xavier_cpu, [JETWATT_KNOB_GPU] = agx_xavier_gpu,	\
	  [JETWATT_KNOB_DLA] = agx_xavier_dla }

/* The first entry of "compatible" that a row matches decides; of several such rows, the first. */
static const struct jetwatt_board_kind kinds[] = {
	{ "p3834", "Jetson AGX Thor", "module", thor_rails, { NULL } },
	{ "p3740", "IGX Orin", "module", agx_orin_rails,
	  CLOCKS(agx_orin_cpu, agx_orin_gpu, orin_emc) },
	{ "p3701", "Jetson AGX Orin", "module", agx_orin_rails,
	  CLOCKS(agx_orin_cpu, agx_orin_gpu, orin_emc) },
	{ "p3767-0000", "Jetson Orin NX", "module", one_input_rails,
	  CLOCKS(orin_nx_cpu, orin_nx_gpu, orin_emc) },
	{ "p3767-0001", "Jetson Orin NX", "module", one_input_rails,
	  CLOCKS(orin_nx_cpu, orin_nx_gpu, orin_emc) },
	{ "p3767-0002", "Jetson Orin NX", "module", one_input_rails,
	  CLOCKS(orin_nx_cpu, orin_nx_gpu, orin_emc) },
	{ "p3767", "Jetson Orin Nano", "module", one_input_rails,
	  CLOCKS(orin_nano_cpu, orin_nano_gpu, orin_emc) },
	{ "p2888", "Jetson AGX Xavier", "module", agx_xavier_rails, AGX_XAVIER_CLOCKS },
	{ "p2972", "Jetson AGX Xavier", "module", agx_xavier_rails, AGX_XAVIER_CLOCKS },
	{ "jetson-xavier-industrial", "Jetson AGX Xavier Industrial", "module", agx_xavier_rails,
	  { [JETWATT_KNOB_DLA] = agx_xavier_dla } },
	{ "nvidia,galen", "Jetson AGX Xavier", "module", agx_xavier_rails, AGX_XAVIER_CLOCKS },
	{ "p3668", "Jetson Xavier NX", "module", one_input_rails,
	  { [JETWATT_KNOB_DLA] = xavier_nx_dla } },
	{ "tegra264", "Jetson AGX Thor", "module", thor_rails, { NULL } },
};
static const struct jetwatt_board_kind unknown = {
	"", "unknown board", "partial sum", anywhere_rails, { NULL },
};

static size_t read_proc_file(const struct jetwatt_board *b, const char *path, char *buf, size_t len)
{
	char name[PATH_LEN];
	ssize_t got;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", b->proc, path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, buf, len - 1);
	close(fd);
	if (got < 0)
		got = 0;
	buf[got] = '\0';
	return (size_t)got;
}

/* The entries of "compatible" end with a zero byte; the most specific entry comes first. */
void jetwatt_identity_find(struct jetwatt_board *b)
{
	char text[1024];
	size_t len = read_proc_file(b, "device-tree/compatible", text, sizeof(text));

	b->kind = &unknown;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		b->tegra |= strstr(text + at, "nvidia,tegra") != NULL;
	for (size_t at = 0; at < len && b->kind == &unknown; at += strlen(text + at) + 1)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strstr(text + at, kinds[i].compatible)) {
				b->kind = &kinds[i];
				break;
			}
	b->tegra |= b->kind != &unknown;
	snprintf(b->name, sizeof(b->name), "%s", b->kind->name);
	if (b->kind == &unknown && read_proc_file(b, "device-tree/model", text, sizeof(text)))
		snprintf(b->name, sizeof(b->name), "%.80s", text);
}

const char *jetwatt_board_name(const struct jetwatt_board *b)
{
	return b->name;
}

/* Return the length of a rail's label without the " (ID)" that jetwatt_rails() appends if an
 * earlier rail has the same label. */
static size_t label_len(const struct jetwatt_rail *rail)
{
	size_t len = strlen(rail->label), n;
	char id[16];

	n = (size_t)snprintf(id, sizeof(id), " (%u)", rail->id);
	return len > n && !strcmp(rail->label + len - n, id) ? len - n : len;
}

static int find_rail(const struct jetwatt_rail *rails, int n, const char *label, size_t len)
{
	for (int i = 0; i < n; i++)
		if (rails[i].enabled && rails[i].shunt_uohm && label_len(&rails[i]) == len &&
		    !strncmp(rails[i].label, label, len))
			return i;
	return -1;
}

static int rail_index(const struct jetwatt_rail *rails, int n, const char *label)
{
	return find_rail(rails, n, label, strlen(label));
}

/* Check whether a rail is measured, and is the first measured rail with its label. */
static bool is_first(const struct jetwatt_rail *rails, int n, int i)
{
	return find_rail(rails, n, rails[i].label, label_len(&rails[i])) == i;
}

/* @label: may end with the " (ID)" of jetwatt_rails(); no label in the tables contains a
 * parenthesis. */
static const struct jetwatt_node *rail_node(const struct jetwatt_board *b, const char *label)
{
	const char *id = strstr(label, " (");
	char plain[JETWATT_LABEL_LEN];

	snprintf(plain, sizeof(plain), "%.*s", (int)(id ? id - label : (long)strlen(label)), label);
	return jetwatt_node_find(b->kind->rails, plain);
}

/* Check whether a rail above @label in the Jetson module's power tree is measured too. A rail that
 * also feeds the carrier board does not count. */
static bool has_measured_parent(const struct jetwatt_board *b, const struct jetwatt_rail *rails,
				int n, const char *label)
{
	const struct jetwatt_node *r = rail_node(b, label);

	while (r && r->parent) {
		int i = rail_index(rails, n, r->parent);

		r = rail_node(b, r->parent);
		if (i >= 0 && !(r && r->upstream))
			return true;
	}
	return false;
}

const char *jetwatt_board_parent(const struct jetwatt_board *b, const char *label)
{
	const struct jetwatt_node *r = rail_node(b, label);

	return r ? r->parent : NULL;
}

int jetwatt_board_total(const struct jetwatt_board *b, const struct jetwatt_rail *rails, int n,
			int *rail, const char **scope)
{
	bool listed_only = b->kind != &unknown;
	int count = 0;

	/* The kernel module chooses the rails of the total by the labels of all rails that it found,
	 * so it handles boards that are not in the table. Its total has all rails without a label. */
	for (int i = 0; i < n && !listed_only; i++)
		if (rails[i].in_total && rails[i].enabled && rails[i].shunt_uohm)
			rail[count++] = i;
	if (count) {
		*scope = b->kind->scope;
		return count;
	}
	/* On an unknown board, a rail that is not listed may be fed by a measured input. */
	for (const struct jetwatt_node *r = b->kind->rails; r->label; r++)
		if (jetwatt_node_input(b->kind->rails, r) && rail_index(rails, n, r->label) >= 0)
			listed_only = true;
	for (int i = 0; i < n; i++) {
		if (!is_first(rails, n, i))
			continue;	/* disabled, shunt not known, or a duplicate label */
		if (listed_only && !rail_node(b, rails[i].label))
			continue;
		if (rail_node(b, rails[i].label) && rail_node(b, rails[i].label)->upstream)
			continue;	/* feeds the carrier board too */
		if (!has_measured_parent(b, rails, n, rails[i].label))
			rail[count++] = i;
	}
	/* If an input is not measured, the sum of the other inputs is not the power of the Jetson
	 * module. */
	*scope = b->kind->scope;
	for (const struct jetwatt_node *r = b->kind->rails; r->label; r++)
		if (jetwatt_node_input(b->kind->rails, r) && rail_index(rails, n, r->label) < 0)
			*scope = "partial sum";
	/* If only the input of the whole board is measured, it is the total. */
	for (int i = 0; i < n && !count; i++)
		if (is_first(rails, n, i) && rail_node(b, rails[i].label) &&
		    rail_node(b, rails[i].label)->upstream) {
			rail[count++] = i;
			*scope = "board";
		}
	return count;
}
