// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reported sensors as an overlay of the simulated board's device tree (as those in
 * tests/sim/boards): each bus with the simulation's adapter on it, the chips and their
 * channels with all their properties as reported, but for references to other nodes.
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

static void indent(const struct overlay *o)
{
	for (int i = 0; i < o->depth; i++)
		putc('\t', o->f);
}

/* Names and strings are from another machine: nothing else gets into the source. */
static bool plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || (unsigned char)s[i] > '~' || strchr("\"\\{};=<>", s[i]))
			return false;
	return len;
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* A list of zero-terminated strings; else cells or bytes. */
static bool strings(const uint8_t *p, size_t len)
{
	if (!len || p[len - 1])
		return false;
	for (size_t at = 0; at < len; at += strlen((const char *)p + at) + 1)
		if (!plain((const char *)p + at, strlen((const char *)p + at)))
			return false;
	return true;
}

static void property(struct overlay *o, const char *name, const struct jetwatt_report_file *file)
{
	const uint8_t *p = file->data;

	/* A number of the other tree's; nothing in an overlay may have one of its own. */
	if (!strcmp(name, "phandle") || !strcmp(name, "linux,phandle") || !strcmp(name, "name") ||
	    strstr(name, "supply") || !plain(name, strlen(name)))
		return;
	indent(o);
	fprintf(o->f, "%s", name);
	if (strings(p, file->len)) {
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

/* The node at @path ("proc/device-tree/.../ina3221@40"): its properties, then its children. */
static void node(struct overlay *o, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char child[PATH_LEN], done[PATH_LEN] = "";	/* sorted: files of one directory are together */
	size_t n = strlen(path);

	if (!plain(name, strlen(name)) || o->depth > 8)
		return;
	putc('\n', o->f);
	indent(o);
	fprintf(o->f, "%s {\n", name);
	o->depth++;
	for (size_t i = 0; i < o->r->nr_files; i++) {
		const struct jetwatt_report_file *file = &o->r->file[i];

		if (begins(file->path, path) && file->path[n] == '/' && file->data &&
		    !strchr(file->path + n + 1, '/'))
			property(o, file->path + n + 1, file);
	}
	for (size_t i = 0; i < o->r->nr_files; i++) {
		const char *p = o->r->file[i].path;

		if (!begins(p, path) || p[n] != '/' || !strchr(p + n + 1, '/'))
			continue;
		snprintf(child, sizeof(child), "%.*s", (int)(n + 1 + strcspn(p + n + 1, "/")), p);
		if (!strcmp(child, done))
			continue;
		strcpy(done, child);
		node(o, child);
	}
	o->depth--;
	indent(o);
	fputs("};\n", o->f);
}

/* Is it the compatible of a power sensor? Then its bus is what the sensor's node is in. */
static bool sensor(const struct jetwatt_report_file *file, char *chip, char *bus)
{
	const char *leaf = strrchr(file->path, '/');

	if (!file->data || !begins(file->path, TREE) || strcmp(leaf, "/compatible") ||
	    !strings(file->data, file->len) || !begins((const char *)file->data, "ti,ina"))
		return false;
	snprintf(chip, PATH_LEN, "%.*s", (int)(leaf - file->path), file->path);
	snprintf(bus, PATH_LEN, "%s", chip);
	*strrchr(bus, '/') = '\0';
	/* A sensor at the root would be on no bus. */
	return strlen(bus) > strlen(TREE) && plain(bus, strlen(bus));
}

/* One bus: the address is the last part of its node's name, as everywhere in such trees. */
static void bus(struct overlay *o, const char *path)
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
		property(o, "clock-frequency", clock);
	for (size_t i = 0; i < o->r->nr_files; i++)
		if (sensor(&o->r->file[i], chip, on) && !strcmp(on, path))
			node(o, chip);
	fputs("\t};\n", o->f);
}

/* The bus's number on the board, from the aliases of its tree; -1: it has none. */
static int number(const struct overlay *o, const char *path)
{
	static const char alias[] = TREE "aliases/i2c";

	for (size_t i = 0; i < o->r->nr_files; i++) {
		const struct jetwatt_report_file *f = &o->r->file[i];

		if (begins(f->path, alias) && f->data && strings(f->data, f->len) &&
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
		if (!sensor(&r->file[k], chip, on))
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
		property(&o, "model", file);
	file = jetwatt_report_find(r, TREE "compatible");
	if (file)
		property(&o, "compatible", file);
	fputs("\n\taliases {\n", f);
	for (i = 0; i < n; i++) {
		const char *at = strchr(strrchr(path[i], '/'), '@');

		if (number(&o, path[i]) >= 0)
			fprintf(f, "\t\ti2c%d = \"/i2c@%llx\";\n", number(&o, path[i]),
				at ? strtoull(at + 1, NULL, 16) : 0);
	}
	fputs("\t};\n", f);
	for (i = 0; i < n; i++)
		bus(&o, path[i]);
	fputs("};\n", f);
	return ferror(f) ? -EIO : 0;
}
