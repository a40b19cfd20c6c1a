// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parser of nvpmodel.conf. A < PARAM > section names the path behind each argument; a
 * < POWER_MODEL > section (one preset) gives values to arguments. The parser bounds all lengths and
 * counts, because any file may be given as nvpmodel.conf.
 */
#include "board/knobs.h"
#include "board/preset.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the parser, well above the largest known nvpmodel.conf, which has some 20 presets of
 * 60 lines. */
#define PARAMS_MAX	512
#define PRESETS_MAX	128
#define LINES_MAX	256
#define PATH_MAX_LEN	256

/* One line of a < PARAM > section: the path that an argument stands for. */
struct param {
	char name[JETWATT_PRESET_NAME], arg[JETWATT_PRESET_NAME];
	char path[PATH_MAX_LEN];
};

enum section { NONE, PARAM, MODEL };

struct preset_reader {
	const char *at, *end;
	unsigned int line;
	enum section in;
	char name[JETWATT_PRESET_NAME];		/* of the current section */
	struct param *param;
	size_t nr_params;
	struct jetwatt_presets *out;
	const char *why;
};

struct preset_word {
	const char *p;
	size_t n;
};

static int preset_refuse(struct preset_reader *r, const char *why)
{
	r->why = why;
	return -EINVAL;
}

static struct preset_word next_word(struct preset_word *rest)
{
	struct preset_word w;

	while (rest->n && isspace((unsigned char)*rest->p)) {
		rest->p++;
		rest->n--;
	}
	w.p = rest->p;
	while (rest->n && !isspace((unsigned char)*rest->p)) {
		rest->p++;
		rest->n--;
	}
	w.n = (size_t)(rest->p - w.p);
	return w;
}

static bool word_copy(struct preset_word w, char *buf, size_t len)
{
	if (!w.n || w.n >= len)
		return false;
	memcpy(buf, w.p, w.n);
	buf[w.n] = '\0';
	return true;
}

static bool word_is(struct preset_word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.p, text, w.n);
}

/* Split NAME=value. Return: false if the text has another form, or another name than @name. */
static bool preset_attribute(struct preset_word w, const char *name, struct preset_word *value)
{
	size_t n = strlen(name);

	if (w.n <= n || memcmp(w.p, name, n) || w.p[n] != '=')
		return false;
	*value = (struct preset_word){ w.p + n + 1, w.n - n - 1 };
	return true;
}

static bool parse_integer(const char *text, long long *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 0);
	return *text && !isspace((unsigned char)*text) && !*end && !errno;
}

static bool parse_id(struct preset_word w, int *v)
{
	char text[16];
	long long wide;

	if (!word_copy(w, text, sizeof(text)) || !parse_integer(text, &wide) || wide < 0 ||
	    wide > 1000000)
		return false;
	*v = (int)wide;
	return true;
}

static int add_preset(struct preset_reader *r, int id, struct preset_word name)
{
	struct jetwatt_presets *all = r->out;
	struct jetwatt_preset *p;

	if (all->nr == PRESETS_MAX)
		return preset_refuse(r, "too many power modes");
	p = &all->preset[all->nr];
	*p = (struct jetwatt_preset){ .id = id };
	jetwatt_each_knob(k)
		p->cap[k] = JETWATT_PRESET_UNCAPPED;
	if (!word_copy(name, p->name, sizeof(p->name)))
		return preset_refuse(r, "a POWER_MODEL without a name");
	for (size_t i = 0; i < all->nr; i++)
		if (all->preset[i].id == id)
			return preset_refuse(r, "two POWER_MODEL with the same ID");
	p->line = calloc(LINES_MAX, sizeof(*p->line));
	if (!p->line)
		return -ENOMEM;
	all->nr++;
	r->in = MODEL;
	return 0;
}

/* Parse the head of a section: < KIND NAME=value ... > */
static int read_section(struct preset_reader *r, struct preset_word rest)
{
	struct preset_word kind, w, value, name = { NULL, 0 };
	int id = -1;

	r->in = NONE;
	if (!memchr(rest.p, '>', rest.n))
		return preset_refuse(r, "a < without a >");
	rest.n = (size_t)((const char *)memchr(rest.p, '>', rest.n) - rest.p);
	rest.p++;
	rest.n--;
	kind = next_word(&rest);
	while ((w = next_word(&rest)).n) {
		if (preset_attribute(w, "NAME", &value))
			name = value;
		if (preset_attribute(w, "ID", &value) && !parse_id(value, &id))
			return preset_refuse(r, "an ID that is not a number");
		if (word_is(kind, "PM_CONFIG") && preset_attribute(w, "DEFAULT", &value) &&
		    !parse_id(value, &r->out->chosen))
			return preset_refuse(r, "a DEFAULT that is not a number");
	}
	if (word_is(kind, "POWER_MODEL"))
		return id < 0 ? preset_refuse(r, "a POWER_MODEL without an ID")
			      : add_preset(r, id, name);
	if (word_is(kind, "PARAM")) {
		if (!word_copy(name, r->name, sizeof(r->name)))
			return preset_refuse(r, "a PARAM without a name");
		r->in = PARAM;
	}
	return 0;
}

static int read_param(struct preset_reader *r, struct preset_word rest)
{
	struct preset_word arg = next_word(&rest), path = next_word(&rest);
	struct param *p = &r->param[r->nr_params];

	if (r->nr_params == PARAMS_MAX)
		return preset_refuse(r, "too many parameters");
	if (!word_copy(arg, p->arg, sizeof(p->arg)) || !word_copy(path, p->path, sizeof(p->path)))
		return preset_refuse(r, "not of the form ARGUMENT PATH");
	strcpy(p->name, r->name);
	r->nr_params++;
	return 0;
}

/* Return the path that a PARAM line of the file gives for the parameter and argument of line @l;
 * NULL: none. A file for a newer kernel may name the argument ARG_KNEXT, in addition to ARG or in
 * its place. */
static const char *param_path(const struct preset_reader *r, const struct jetwatt_preset_line *l)
{
	size_t n = strlen(l->arg);

	for (size_t i = 0; i < r->nr_params; i++)
		if (!strcmp(r->param[i].name, l->param) && !strncmp(r->param[i].arg, l->arg, n) &&
		    (!r->param[i].arg[n] || !strcmp(r->param[i].arg + n, "_KNEXT")))
			return r->param[i].path;
	return NULL;
}

/* Check whether a path or an argument is a mask of gated GPU parts. On Thor, the mask is
 * NVreg_TegraGpuPgMask, a parameter of the module nvidia, or gpu_pg_mask_param, one of the module
 * nv-gpu-static-pg. */
static bool is_mask(const char *name, enum jetwatt_preset_mask *which)
{
	static const char * const part[JETWATT_MASKS] = {
		[JETWATT_MASK_TPC] = "tpc_pg_mask", [JETWATT_MASK_FBP] = "fbp_pg_mask",
		[JETWATT_MASK_GPC] = "gpc_pg_mask", [JETWATT_MASK_GPU] = "TegraGpuPgMask",
	};

	for (int i = 0; i < JETWATT_MASKS; i++)
		if (strcasestr(name, part[i])) {
			*which = (enum jetwatt_preset_mask)i;
			return true;
		}
	*which = JETWATT_MASK_GPU;
	return strcasestr(name, "gpu_pg_mask");
}

static enum jetwatt_preset_kind line_kind(const char *path, struct jetwatt_preset_line *l)
{
	if (is_mask(path, &l->mask) || is_mask(l->arg, &l->mask))
		return JETWATT_PRESET_MASK;
	jetwatt_each_knob(k)
		if (jetwatt_knob_ops(k)->preset(path, l)) {
			l->knob = k;
			return l->kind;
		}
	return JETWATT_PRESET_OTHER;
}

/* Combine the cap @v of line @l, the last one so far, with the caps of earlier lines. A negative
 * value and 0 mean no cap. */
static void preset_add_cap(struct jetwatt_preset *p, const struct jetwatt_preset_line *l, long long v)
{
	bool highest = jetwatt_knob_ops(l->knob)->preset_highest, take = true;
	long long *cap = &p->cap[l->knob];

	v = v > 0 ? v : JETWATT_PRESET_UNCAPPED;
	/* As an unsigned number, "no cap" is higher than any cap. */
	for (size_t i = 0; i + 1 < p->nr_lines; i++)
		if (p->line[i].kind == JETWATT_PRESET_MAX && p->line[i].knob == l->knob)
			take = ((uint64_t)v > (uint64_t)*cap) == highest;
	if (take)
		*cap = v;
}

static int read_model_line(struct preset_reader *r, struct preset_word rest)
{
	struct jetwatt_preset *p = &r->out->preset[r->out->nr - 1];
	struct jetwatt_preset_line *l = &p->line[p->nr_lines];
	const char *path;
	long long v = 0;
	bool number;

	if (p->nr_lines == LINES_MAX)
		return preset_refuse(r, "a power mode with too many lines");
	*l = (struct jetwatt_preset_line){ .kind = JETWATT_PRESET_OTHER };
	if (!word_copy(next_word(&rest), l->param, sizeof(l->param)) ||
	    !word_copy(next_word(&rest), l->arg, sizeof(l->arg)) ||
	    !word_copy(next_word(&rest), l->value, sizeof(l->value)))
		return preset_refuse(r, "not of the form PARAM ARGUMENT VALUE");
	p->nr_lines++;
	path = param_path(r, l);
	if (path)
		l->kind = line_kind(path, l);
	number = parse_integer(l->value, &v);
	if (l->kind != JETWATT_PRESET_OTHER && !number)
		return preset_refuse(r, "a value that is not a number");
	switch (l->kind) {
	case JETWATT_PRESET_CORE:
		if (v == 1)
			p->cap[l->knob] = p->cap[l->knob] < 0 ? 1 : p->cap[l->knob] + 1;
		break;
	case JETWATT_PRESET_MAX:
		preset_add_cap(p, l, v);
		break;
	case JETWATT_PRESET_MASK:
		p->mask |= (unsigned long long)v;
		break;
	default:
		break;
	}
	return 0;
}

static int read_lines(struct preset_reader *r)
{
	int rc = 0;

	while (!rc && r->at < r->end) {
		const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
		struct preset_word l = { r->at, (size_t)((nl ? nl : r->end) - r->at) }, rest = l;

		r->at = nl ? nl + 1 : r->end;
		r->line++;
		if (memchr(l.p, '\0', l.n))
			return preset_refuse(r, "a zero byte: not a text file");
		/* Only a < at the start of a line opens a section. */
		if (l.n && *l.p == '<') {
			rc = read_section(r, l);
			continue;
		}
		l = next_word(&rest);
		if (!l.n || *l.p == '#')
			continue;
		rest.n += (size_t)(rest.p - l.p);
		rest.p = l.p;
		rc = r->in == PARAM   ? read_param(r, rest)
		     : r->in == MODEL ? read_model_line(r, rest)
				      : 0;
	}
	return rc;
}

unsigned int jetwatt_preset_implied(const struct jetwatt_preset *p)
{
	unsigned int implied = 0;

	for (size_t i = 0; i < p->nr_lines; i++) {
		if (p->line[i].kind != JETWATT_PRESET_CORE)
			continue;
		if (!p->line[i].core)
			return 0;
		implied = 1;
	}
	return implied;
}

static void count_implied(struct jetwatt_presets *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		long long *cores = &all->preset[i].cap[JETWATT_KNOB_CORES];

		if (jetwatt_preset_implied(&all->preset[i]))
			*cores = *cores < 0 ? 1 : *cores + 1;
	}
}

int jetwatt_presets_parse(const char *text, size_t len, struct jetwatt_presets **p,
			  unsigned int *line, const char **why)
{
	struct preset_reader r = { .at = text, .end = text + len };
	int rc = -ENOMEM;

	r.out = calloc(1, sizeof(*r.out));
	r.param = calloc(PARAMS_MAX, sizeof(*r.param));
	if (r.out)
		r.out->preset = calloc(PRESETS_MAX, sizeof(*r.out->preset));
	if (r.out && r.param && r.out->preset) {
		r.out->chosen = -1;
		rc = read_lines(&r);
		if (!rc && !r.out->nr) {
			r.line = 0;
			rc = preset_refuse(&r, "no POWER_MODEL in the file");
		}
		count_implied(r.out);
	}
	free(r.param);
	*line = r.line;
	*why = r.why ? r.why : "";
	if (rc)
		jetwatt_presets_free(r.out);
	else
		*p = r.out;
	return rc;
}

void jetwatt_presets_free(struct jetwatt_presets *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->preset && i < p->nr; i++)
		free(p->preset[i].line);
	free(p->preset);
	free(p);
}
