// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the reported power sensors as a device tree overlay for the simulated board (format of
 * tests/sim/boards): the board's model, and each i2c bus that has a power sensor, with the
 * simulated adapter, and on it the sensors and channels with their reported properties, except
 * phandles and supplies.
 */
#include "cmd/doctor/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/report.h"

#define TREE		"proc/device-tree/"
#define BUSES_MAX	16
#define PATH_LEN	256

struct overlay {
	const struct jetwatt_board_report *r;
	FILE *f;
	int depth;
};

static void overlay_indent(const struct overlay *o)
{
	for (int i = 0; i < o->depth; i++)
		putc('\t', o->f);
}

/* Return: whether the string is not empty and safe as a name or string in the DTS source. The report
 * comes from another machine, so nodes and properties with other names are left out of the overlay. */
static bool is_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || (unsigned char)s[i] > '~' || strchr("\"\\{};=<>", s[i]))
			return false;
	return len;
}

static bool overlay_has_prefix(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Return: whether the property is a list of zero-terminated strings, all of them safe (is_plain()). The
 * value of any other property is written as cells or bytes. */
static bool is_string_list(const uint8_t *p, size_t len)
{
	if (!len || p[len - 1])
		return false;
	for (size_t at = 0; at < len; at += strlen((const char *)p + at) + 1)
		if (!is_plain((const char *)p + at, strlen((const char *)p + at)))
			return false;
	return true;
}

static void overlay_property(struct overlay *o, const char *name,
			     const struct jetwatt_report_file *file)
{
	const uint8_t *p = file->data;

	/* Phandles and supplies refer to nodes of the board's tree that the overlay does not define. */
	if (!strcmp(name, "phandle") || !strcmp(name, "linux,phandle") || !strcmp(name, "name") ||
	    strstr(name, "supply") || !is_plain(name, strlen(name)))
		return;
	overlay_indent(o);
	fprintf(o->f, "%s", name);
	if (is_string_list(p, file->len)) {
		for (size_t at = 0; at < file->len; at += strlen((const char *)p + at) + 1)
			fprintf(o->f, "%s\"%s\"", at ? ", " : " = ", (const char *)p + at);
	} else if (file->len && file->len % 4 == 0) {
		for (size_t i = 0; i < file->len; i += 4)
			fprintf(o->f, "%s0x%x", i ? " " : " = <", (unsigned int)p[i] << 24 |
				(unsigned int)p[i + 1] << 16 | (unsigned int)p[i + 2] << 8 | p[i + 3]);
		putc('>', o->f);
	} else if (file->len) {
		for (size_t i = 0; i < file->len; i++)
			fprintf(o->f, "%s%02x", i ? " " : " = [", p[i]);
		putc(']', o->f);
	}
	fputs(";\n", o->f);
}

/* Write the node at @path ("proc/device-tree/.../ina3221@40"): its properties first, then its child
 * nodes. */
static void overlay_node(struct overlay *o, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	/* @done: the child node that was written last. Files are sorted by path, so all files of a
	 * child node follow each other. */
	char child[PATH_LEN], done[PATH_LEN] = "";
	size_t n = strlen(path);

	if (!is_plain(name, strlen(name)) || o->depth > 8)
		return;
	putc('\n', o->f);
	overlay_indent(o);
	fprintf(o->f, "%s {\n", name);
	o->depth++;
	for (size_t i = 0; i < o->r->nr_files; i++) {
		const struct jetwatt_report_file *file = &o->r->file[i];

		if (overlay_has_prefix(file->path, path) && file->path[n] == '/' && file->data &&
		    !strchr(file->path + n + 1, '/'))
			overlay_property(o, file->path + n + 1, file);
	}
	for (size_t i = 0; i < o->r->nr_files; i++) {
		const char *p = o->r->file[i].path;

		if (!overlay_has_prefix(p, path) || p[n] != '/' || !strchr(p + n + 1, '/'))
			continue;
		snprintf(child, sizeof(child), "%.*s", (int)(n + 1 + strcspn(p + n + 1, "/")), p);
		if (!strcmp(child, done))
			continue;
		strcpy(done, child);
		overlay_node(o, child);
	}
	o->depth--;
	overlay_indent(o);
	fputs("};\n", o->f);
}

/* If @file is the "compatible" property of a power sensor, store the paths of its node and of its
 * bus node, and return true. */
static bool is_sensor(const struct jetwatt_report_file *file, char *chip, char *bus)
{
	const char *leaf = strrchr(file->path, '/');

	if (!file->data || !overlay_has_prefix(file->path, TREE) || strcmp(leaf, "/compatible") ||
	    !is_string_list(file->data, file->len) ||
	    !overlay_has_prefix((const char *)file->data, "ti,ina"))
		return false;
	snprintf(chip, PATH_LEN, "%.*s", (int)(leaf - file->path), file->path);
	snprintf(bus, PATH_LEN, "%s", chip);
	*strrchr(bus, '/') = '\0';
	/* A sensor directly below the root node of the device tree is on no bus. */
	return strlen(bus) > strlen(TREE) && is_plain(bus, strlen(bus));
}

/* Write one bus. Its address is the part of its node name after "@", or 0 if the name has no "@". */
static void overlay_bus(struct overlay *o, const char *path)
{
	const char *name = strrchr(path, '/') + 1, *at = strchr(name, '@');
	unsigned long long address = at ? strtoull(at + 1, NULL, 16) : 0;
	char leaf[PATH_LEN + 32], chip[PATH_LEN], on[PATH_LEN];
	const struct jetwatt_report_file *clock;

	fprintf(o->f, "\n\ti2c@%llx {\n\t\tcompatible = \"jetwatt,sim-i2c\";\n"
		"\t\treg = <0x%llx 0x%llx 0x0 0x100>;\n\t\t#address-cells = <1>;\n\t\t#size-cells = <0>;\n",
		address, address >> 32, address & 0xffffffff);
	o->depth = 2;
	snprintf(leaf, sizeof(leaf), "%.255s/clock-frequency", path);
	clock = jetwatt_report_find(o->r, leaf);
	if (clock)
		overlay_property(o, "clock-frequency", clock);
	for (size_t i = 0; i < o->r->nr_files; i++)
		if (is_sensor(&o->r->file[i], chip, on) && !strcmp(on, path))
			overlay_node(o, chip);
	fputs("\t};\n", o->f);
}

/* Return: number of the bus on the board, from the aliases of its device tree; -1 if the bus has no
 * alias. */
static int overlay_bus_number(const struct overlay *o, const char *path)
{
	static const char alias[] = TREE "aliases/i2c";

	for (size_t i = 0; i < o->r->nr_files; i++) {
		const struct jetwatt_report_file *f = &o->r->file[i];

		if (overlay_has_prefix(f->path, alias) && f->data &&
		    is_string_list(f->data, f->len) &&
		    !strcmp((const char *)f->data, path + strlen(TREE) - 1))
			return atoi(f->path + strlen(alias));
	}
	return -1;
}

int jetwatt_replay_overlay(const struct jetwatt_board_report *r, FILE *f)
{
	struct overlay o = { .r = r, .f = f, .depth = 1 };
	const struct jetwatt_report_file *file;
	char path[BUSES_MAX][PATH_LEN], chip[PATH_LEN], on[PATH_LEN];
	int n = 0, i;

	for (size_t k = 0; k < r->nr_files; k++) {
		if (!is_sensor(&r->file[k], chip, on))
			continue;
		for (i = 0; i < n && strcmp(path[i], on); i++)
			;
		if (i == n && n < BUSES_MAX)
			strcpy(path[n++], on);
	}
	if (!n)
		return -ENODATA;
	fputs("// SPDX-License-Identifier: GPL-2.0-only\n/* Written by jetwatt doctor --replay from a report. */\n"
	      "/dts-v1/;\n/plugin/;\n\n&{/} {\n", f);
	file = jetwatt_report_find(r, TREE "model");
	if (file)
		overlay_property(&o, "model", file);
	file = jetwatt_report_find(r, TREE "compatible");
	if (file)
		overlay_property(&o, "compatible", file);
	fputs("\n\taliases {\n", f);
	for (i = 0; i < n; i++) {
		const char *at = strchr(strrchr(path[i], '/'), '@');

		if (overlay_bus_number(&o, path[i]) >= 0)
			fprintf(f, "\t\ti2c%d = \"/i2c@%llx\";\n", overlay_bus_number(&o, path[i]),
				at ? strtoull(at + 1, NULL, 16) : 0);
	}
	fputs("\t};\n", f);
	for (i = 0; i < n; i++)
		overlay_bus(&o, path[i]);
	fputs("};\n", f);
	return ferror(f) ? -EIO : 0;
}
