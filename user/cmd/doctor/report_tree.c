// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device tree's part of a report: model of the board, power sensors and thermal zones with all their
 * properties, and a few properties of the sensors' parent nodes and of the nodes of GPU, memory,
 * nvpmodel and host1x. Sensors are found by "compatible", wherever their nodes are in the tree.
 */
#include "cmd/doctor/report.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TREE		"proc/device-tree"
#define DEPTH_MAX	16
#define PATH_LEN	400

enum extent { NOTHING, NODE, SUBTREE };

static bool tree_has_prefix(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Return: the extent to which a node is added to the report: NOTHING; NODE: some of its properties;
 * SUBTREE: the node and all nodes below it. */
static enum extent node_extent(const char *name, const char *compatible, size_t len)
{
	static const char *const nodes[] = { "nvpmodel", "bwmgr", "icc", "emc", NULL };

	if (!strcmp(name, "thermal-zones"))
		return SUBTREE;
	for (size_t at = 0; at < len; at += strlen(compatible + at) + 1) {
		const char *c = compatible + at;

		if (tree_has_prefix(c, "ti,ina"))
			return SUBTREE;
		if (tree_has_prefix(c, "nvidia,") &&
		    (strstr(c, "-emc") || strstr(c, "ga10b") || strstr(c, "gv11b") ||
		     strstr(c, "gpu") || strstr(c, "host1x")))
			return NODE;
	}
	for (int i = 0; nodes[i]; i++)
		if (!strcmp(name, nodes[i]))
			return NODE;
	return NOTHING;
}

static size_t read_compatible(struct jetwatt_gather *g, const char *path, char *buf, size_t size)
{
	char name[PATH_LEN + 128];
	size_t len = 0;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s/compatible", g->root, path);
	f = fopen(name, "re");
	if (f) {
		len = fread(buf, 1, size - 1, f);
		fclose(f);
	}
	buf[len] = '\0';
	return len;
}

/* Add the main properties of all parents of a sensor's node, except the root node: of the sensor's bus,
 * and of the nodes above the bus. */
static void report_parent_nodes(struct jetwatt_gather *g, const char *path)
{
	static const char *const leaf[] = {
		"compatible", "reg", "status", "clock-frequency", "#address-cells", "#size-cells", NULL
	};
	char at[PATH_LEN], name[PATH_LEN + 32], *slash;

	snprintf(at, sizeof(at), "%s", path);
	while ((slash = strrchr(at, '/')) && (size_t)(slash - at) > strlen(TREE)) {
		*slash = '\0';
		for (int i = 0; leaf[i]; i++) {
			snprintf(name, sizeof(name), "%s/%s", at, leaf[i]);
			jetwatt_gather_file(g, name);
		}
	}
}

static void walk_tree(struct jetwatt_gather *g, const char *path, int depth, bool all)
{
	char name[PATH_LEN + 128], below[PATH_LEN], compatible[512];
	struct dirent *e;
	enum extent take;
	struct stat st;
	DIR *d;

	snprintf(name, sizeof(name), "%s/%s", g->root, path);
	d = depth < DEPTH_MAX ? opendir(name) : NULL;
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' ||
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) >= (int)sizeof(below))
			continue;
		snprintf(name, sizeof(name), "%s/%s", g->root, below);
		if (lstat(name, &st))
			continue;
		if (S_ISREG(st.st_mode) && all)
			jetwatt_gather_file(g, below);
		if (!S_ISDIR(st.st_mode))
			continue;
		take = node_extent(e->d_name, compatible,
				   read_compatible(g, below, compatible, sizeof(compatible)));
		if (take == SUBTREE && strcmp(e->d_name, "thermal-zones"))
			report_parent_nodes(g, below);
		walk_tree(g, below, depth + 1, all || take == SUBTREE);
		if (take == NODE && !all) {
			static const char *const leaf[] = { "compatible", "reg", "status",
							    "clock-names", "clocks", NULL };

			for (int i = 0; leaf[i]; i++) {
				snprintf(name, sizeof(name), "%.360s/%s", below, leaf[i]);
				jetwatt_gather_file(g, name);
			}
		}
	}
	closedir(d);
}

void jetwatt_gather_tree(struct jetwatt_gather *g)
{
	jetwatt_gather_file(g, TREE "/model");
	jetwatt_gather_file(g, TREE "/compatible");
	jetwatt_gather_file(g, TREE "/nvidia,dtsfilename");
	jetwatt_gather_file(g, TREE "/#address-cells");
	jetwatt_gather_file(g, TREE "/#size-cells");
	walk_tree(g, TREE, 0, false);
}
