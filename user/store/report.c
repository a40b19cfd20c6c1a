// SPDX-License-Identifier: GPL-2.0-only
/* Parse a board report into files, rails and chips. The parser checks every limit and type,
 * because a report may be malicious. */
#include "store/report.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX	20000
#define PATH_MAX_LEN	256

struct report_reader {
	struct jetwatt_board_report *out;
	uint8_t *at;
	unsigned int line;
	const char *why;
};

static int report_refuse(struct report_reader *r, const struct jetwatt_json_value *v,
			 const char *why)
{
	r->line = v ? v->line : 0;
	r->why = why;
	return -EINVAL;
}

/* Check that a path is below one of the roots that a board is read from, without the names "." and "..",
 * spaces, control characters and backslashes. */
static bool report_path_ok(const char *path)
{
	static const char *const root[] = { "sys/", "proc/", "etc/", "var/lib/" };
	bool below = false;

	for (size_t i = 0; i < sizeof(root) / sizeof(root[0]); i++)
		below |= !strncmp(path, root[i], strlen(root[i]));
	if (!below || strlen(path) >= PATH_MAX_LEN)
		return false;
	for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/') {
		size_t n = strcspn(p, "/");

		if (!n || (n == 1 && *p == '.') || (n == 2 && !memcmp(p, "..", 2)))
			return false;
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)p[i] <= ' ' || p[i] == 0x7f || p[i] == '\\')
				return false;
	}
	return path[strlen(path) - 1] != '/';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool append_hex(struct report_reader *r, const char *text)
{
	for (; *text; text += 2) {
		int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0)
			return false;
		*r->at++ = (uint8_t)(high << 4 | low);
	}
	return true;
}

static void append_bytes(struct report_reader *r, const char *text, size_t len)
{
	memcpy(r->at, text, len);
	r->at += len;
}

/* {"path": ..., "text" | "strings" | "hex" | "error": ...} */
static int take_file(struct report_reader *r, const struct jetwatt_json_value *v)
{
	struct jetwatt_report_file *f = &r->out->file[r->out->nr_files];
	const struct jetwatt_json_value *list = jetwatt_json_get(v, "strings");
	const char *text = jetwatt_json_get_string(v, "text");
	const char *digits = jetwatt_json_get_string(v, "hex");

	f->path = jetwatt_json_get_string(v, "path");
	if (!f->path)
		return report_refuse(r, v, "a file without a path");
	if (!report_path_ok(f->path))
		return report_refuse(r, v,
				     "a path outside /sys, /proc, /etc, /var/lib, or invalid");
	f->data = r->at;
	if (text) {
		append_bytes(r, text, strlen(text));
	} else if (digits) {
		if (!append_hex(r, digits))
			return report_refuse(r, v,
					     "bytes that are not pairs of hexadecimal digits");
	} else if (list && list->type == JETWATT_JSON_ARRAY) {
		for (list = list->first; list; list = list->next) {
			if (list->type != JETWATT_JSON_STRING)
				return report_refuse(r, list,
						     "a list of strings with something else in it");
			append_bytes(r, list->text, strlen(list->text) + 1);
		}
	} else if (jetwatt_json_get_string(v, "error")) {
		f->data = NULL;
	} else {
		return report_refuse(r, v, "a file without contents");
	}
	f->len = f->data ? (size_t)(r->at - f->data) : 0;
	r->out->nr_files++;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct jetwatt_report_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int take_files(struct report_reader *r, const struct jetwatt_json_value *top)
{
	const struct jetwatt_json_value *list = jetwatt_json_get(top, "files"), *v;
	size_t n = 0;
	int rc = 0;

	if (!list || list->type != JETWATT_JSON_ARRAY)
		return report_refuse(r, top, "the list \"files\" is missing");
	for (v = list->first; v; v = v->next)
		n++;
	if (n > FILES_MAX)
		return report_refuse(r, list, "too many files");
	r->out->file = calloc(n + 1, sizeof(*r->out->file));
	if (!r->out->file)
		return -ENOMEM;
	for (v = list->first; v && !rc; v = v->next)
		rc = take_file(r, v);
	if (rc)
		return rc;
	qsort(r->out->file, r->out->nr_files, sizeof(*r->out->file), by_path);
	for (size_t i = 1; i < r->out->nr_files; i++)
		if (!by_path(&r->out->file[i - 1], &r->out->file[i]))
			return report_refuse(r, list, "one file twice");
	return 0;
}

static int report_uint(struct report_reader *r, const struct jetwatt_json_value *v, const char *key,
		       uint32_t *to)
{
	uint64_t n;

	if (jetwatt_json_get_uint(v, key, UINT32_MAX, &n))
		return report_refuse(r, v, "a rail or a chip lacks a number");
	*to = (uint32_t)n;
	return 0;
}

static int take_rail(struct report_reader *r, const struct jetwatt_json_value *v)
{
	struct jetwatt_rail *rail = &r->out->rail[r->out->nr_rails];
	const struct jetwatt_json_value *on = jetwatt_json_get(v, "enabled");
	const struct jetwatt_json_value *total = jetwatt_json_get(v, "in_total");
	const char *label = jetwatt_json_get_string(v, "label");
	int rc;

	if (r->out->nr_rails == JETWATT_RAILS_MAX)
		return report_refuse(r, v, "too many rails");
	if (!label || strlen(label) >= sizeof(rail->label) || !on)
		return report_refuse(r, v,
				     "a rail without \"label\" or \"enabled\"");
	memset(rail, 0, sizeof(*rail));
	strcpy(rail->label, label);
	rail->enabled = on->type == JETWATT_JSON_TRUE;
	rail->in_total = total && total->type == JETWATT_JSON_TRUE;
	rc = report_uint(r, v, "id", &rail->id);
	rc = rc ? rc : report_uint(r, v, "chip", &rail->chip);
	rc = rc ? rc : report_uint(r, v, "channel", &rail->channel);
	rc = rc ? rc : report_uint(r, v, "shunt_uohm", &rail->shunt_uohm);
	r->out->nr_rails += !rc;
	return rc;
}

static int take_chip(struct report_reader *r, const struct jetwatt_json_value *v)
{
	struct jetwatt_chip *chip = &r->out->chip[r->out->nr_chips];
	const char *model = jetwatt_json_get_string(v, "model");
	int rc;

	if (r->out->nr_chips == JETWATT_REPORT_CHIPS)
		return report_refuse(r, v, "too many chips");
	if (!model || strlen(model) >= sizeof(chip->model))
		return report_refuse(r, v, "a chip without a model");
	memset(chip, 0, sizeof(*chip));
	strcpy(chip->model, model);
	rc = report_uint(r, v, "id", &chip->id);
	rc = rc ? rc : report_uint(r, v, "bus", &chip->bus);
	rc = rc ? rc : report_uint(r, v, "addr", &chip->addr);
	r->out->nr_chips += !rc;
	return rc;
}

/* Read each element of a list with @take. A list may be missing because the module was not loaded;
 * a missing list counts as empty. */
static int take_list(struct report_reader *r, const struct jetwatt_json_value *top, const char *key,
		     int (*take)(struct report_reader *r, const struct jetwatt_json_value *v))
{
	const struct jetwatt_json_value *list = jetwatt_json_get(top, key), *v;
	int rc = 0;

	if (!list)
		return 0;
	if (list->type != JETWATT_JSON_ARRAY)
		return report_refuse(r, list, "\"rails\" or \"chips\" is not a list");
	for (v = list->first; v && !rc; v = v->next)
		rc = take(r, v);
	return rc;
}

int jetwatt_report_parse(const char *text, size_t len, struct jetwatt_board_report **report,
			 unsigned int *line, const char **why)
{
	struct report_reader r = { .why = "out of memory" };
	const char *schema;
	int rc;

	r.out = calloc(1, sizeof(*r.out));
	*line = 0;
	*why = r.why;
	if (!r.out)
		return -ENOMEM;
	rc = jetwatt_json_parse(text, len, &r.out->doc, line, why);
	if (rc)
		goto out;
	r.out->top = jetwatt_json_top(r.out->doc);
	/* The decoded contents are never longer than their JSON text. */
	r.out->bytes = r.at = malloc(len + 1);
	if (!r.at) {
		rc = -ENOMEM;
		goto refused;
	}
	schema = jetwatt_json_get_string(r.out->top, "schema");
	if (!schema)
		rc = report_refuse(&r, r.out->top,
				   "the member \"schema\" is missing: not a report of jetwatt");
	else if (strcmp(schema, JETWATT_REPORT_SCHEMA))
		rc = report_refuse(&r, r.out->top,
				   "a report of another version, not " JETWATT_REPORT_SCHEMA);
	rc = rc ? rc : take_files(&r, r.out->top);
	rc = rc ? rc : take_list(&r, r.out->top, "rails", take_rail);
	rc = rc ? rc : take_list(&r, r.out->top, "chips", take_chip);
refused:
	*line = r.line;
	*why = r.why;
out:
	if (rc)
		jetwatt_report_free(r.out);
	else
		*report = r.out;
	return rc;
}

void jetwatt_report_free(struct jetwatt_board_report *report)
{
	if (!report)
		return;
	jetwatt_json_free(report->doc);
	free(report->file);
	free(report->bytes);
	free(report);
}

const struct jetwatt_report_file *jetwatt_report_find(const struct jetwatt_board_report *report,
						      const char *path)
{
	const struct jetwatt_report_file key = { .path = path }, *f;

	f = report->nr_files ? bsearch(&key, report->file, report->nr_files, sizeof(key), by_path) :
			       NULL;
	return f && f->data ? f : NULL;
}
