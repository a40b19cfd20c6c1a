// SPDX-License-Identifier: GPL-2.0-only
/* Presets as modes of a board, and a mode as a preset. */
#include "board/knobs.h"
#include "board/preset.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX	(1u << 20)

/* Steps seen so far: the highest, the one that a cap comes to from below and from above. */
struct step {
	uint64_t top, below, above, bottom;
};

static void see(struct step *s, uint64_t v, uint64_t cap)
{
	s->top = v > s->top ? v : s->top;
	s->bottom = !s->bottom || v < s->bottom ? v : s->bottom;
	if (v <= cap && v > s->below)
		s->below = v;
	if (v >= cap && (!s->above || v < s->above))
		s->above = v;
}

static uint64_t settle(const struct step *s, long long asked, bool up)
{
	if (asked < 0)
		return s->top;
	if (up)
		return s->above ? s->above : s->top;
	return s->below ? s->below : s->bottom;
}

unsigned int jetwatt_preset_mode_of(const struct jetwatt_mode *all, size_t n,
				    const struct jetwatt_preset *p, struct jetwatt_mode *mode)
{
	struct step cores = { 0 }, cpu = { 0 }, gpu = { 0 }, emc = { 0 };
	unsigned int rounded = 0;

	for (size_t i = 0; i < n; i++) {
		see(&cores, all[i].cores, p->cores);
		see(&cpu, all[i].cpu_khz, (uint64_t)p->cpu_khz);
		see(&gpu, all[i].gpu_hz, (uint64_t)p->gpu_hz);
		see(&emc, all[i].emc_hz, (uint64_t)p->emc_hz);
	}
	*mode = (struct jetwatt_mode){
		.cores = (uint32_t)settle(&cores, p->cores ? (long long)p->cores : -1, false),
		.cpu_khz = (uint32_t)settle(&cpu, p->cpu_khz, false),
		.gpu_hz = settle(&gpu, p->gpu_hz, true),
		.emc_hz = settle(&emc, p->emc_hz, false),
	};
	/* A cap above the top is no cap. */
	if (p->cpu_khz >= 0 && (uint64_t)p->cpu_khz < cpu.top && (uint64_t)p->cpu_khz != mode->cpu_khz)
		rounded |= JETWATT_PRESET_ROUNDED_CPU;
	if (p->gpu_hz >= 0 && (uint64_t)p->gpu_hz < gpu.top && (uint64_t)p->gpu_hz != mode->gpu_hz)
		rounded |= JETWATT_PRESET_ROUNDED_GPU;
	if (p->emc_hz >= 0 && (uint64_t)p->emc_hz < emc.top && (uint64_t)p->emc_hz != mode->emc_hz)
		rounded |= JETWATT_PRESET_ROUNDED_EMC;
	if (p->cores && p->cores != mode->cores)
		rounded |= JETWATT_PRESET_FEWER_CORES;
	return rounded;
}

unsigned int jetwatt_preset_mode(const struct jetwatt_board *b, const struct jetwatt_preset *p,
				 struct jetwatt_mode *mode)
{
	struct jetwatt_mode all[CPUS_MAX + 3 * JETWATT_BOARD_FREQS_MAX];
	size_t n = 0;

	/* One mode for every step of every knob has all the steps. */
	for (int i = 0; i < b->nr_cores || i < b->nr_cpu || i < b->nr_gpu || i < b->nr_emc; i++)
		all[n++] = (struct jetwatt_mode){
			b->cores[i < b->nr_cores ? i : 0], b->cpu_khz[i < b->nr_cpu ? i : 0],
			b->gpu_hz[i < b->nr_gpu ? i : 0], b->emc_hz[i < b->nr_emc ? i : 0],
		};
	return jetwatt_preset_mode_of(all, n, p, mode);
}

int jetwatt_preset_reboot(const struct jetwatt_board *b, const struct jetwatt_preset *p)
{
	for (size_t i = 0; i < p->nr_lines; i++) {
		const struct jetwatt_preset_line *l = &p->line[i];
		uint64_t now = 0;

		if (l->knob != JETWATT_PRESET_MASK)
			continue;
		if (b && jetwatt_board_gated(b, l->mask, &now))
			now = 0;
		if ((uint64_t)strtoll(l->value, NULL, 0) != now)
			return 1;
	}
	return 0;
}

static int slurp(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	*len = 0;
	*text = malloc(FILE_MAX);
	if (!*text)
		rc = -ENOMEM;
	while (!rc && got > 0) {
		got = read(fd, *text + *len, FILE_MAX - *len);
		if (got < 0)
			rc = -errno;
		else
			*len += (size_t)got;
		if (*len == FILE_MAX)
			rc = -EFBIG;
	}
	close(fd);
	return rc;
}

int jetwatt_presets_read(struct jetwatt_presets **p, const struct jetwatt_board *b,
			 const char *path, struct jetwatt_error_text *err)
{
	char own[PATH_LEN], *text = NULL;
	const char *why = "";
	unsigned int line = 0;
	size_t len = 0;
	int rc;

	if (!path) {
		snprintf(own, sizeof(own), "%s/nvpmodel.conf", b->etc);
		path = own;
	}
	rc = slurp(path, &text, &len);
	if (rc) {
		jetwatt_error_sys(err, rc, "cannot read the presets in %s", path);
		if (rc == -ENOENT)
			jetwatt_error_fix(err, "JetPack puts them into /etc/nvpmodel.conf; name another file with --presets FILE");
		goto out;
	}
	rc = jetwatt_presets_parse(text, len, p, &line, &why);
	if (rc) {
		jetwatt_board_error_set(err, rc, "%s is no file of presets", path);
		jetwatt_error_why(err, "line %u: %s", line, why);
		jetwatt_error_fix(err, "name the board's own nvpmodel.conf with --presets FILE");
	}
out:
	free(text);
	return rc;
}

static bool one_word(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
		n++;
	return n && n < JETWATT_PRESET_NAME && !s[n];
}

/* How many lines of @p are about @knob; for cores: those that @mode can have online. */
static unsigned int count(const struct jetwatt_preset *p, enum jetwatt_preset_knob knob)
{
	unsigned int n = 0;

	for (size_t i = 0; i < p->nr_lines; i++)
		n += p->line[i].knob == knob;
	return n;
}

/* Is it among the first @n cores that the block names? */
static bool online(const struct jetwatt_preset *p, unsigned int core, unsigned int n)
{
	unsigned int before = 0;

	for (size_t i = 0; i < p->nr_lines; i++)
		before += p->line[i].knob == JETWATT_PRESET_CORE && p->line[i].core < core;
	return before < n;
}

/* A floor is as in @like, but never above the cap. */
static unsigned long long floor_of(const char *value, unsigned long long cap)
{
	long long v = strtoll(value, NULL, 0);

	return v >= 0 && (unsigned long long)v <= cap ? (unsigned long long)v : cap;
}

/* "No cap" is what @like says: 0 for JetPack 5's emc_iso_cap, -1 for JetPack 6's
 * nvpmodel_clk_cap, which takes 0 for the lowest clock. */
static void emc_cap(FILE *f, const char *like, uint64_t hz, uint64_t top)
{
	if (hz >= top && strtoll(like, NULL, 0) <= 0)
		fprintf(f, "%s\n", like);
	else
		fprintf(f, "%llu\n", (unsigned long long)hz);
}

int jetwatt_preset_print(FILE *f, const struct jetwatt_preset *like, int id, const char *name,
			 const struct jetwatt_mode *mode, uint64_t top)
{
	bool cpu = mode->cpu_khz != JETWATT_BOARD_NO_CLOCK;
	bool gpu = mode->gpu_hz != JETWATT_BOARD_NO_CLOCK;
	bool emc = mode->emc_hz != JETWATT_BOARD_NO_CLOCK;

	/* What is said of a knob that the board lacks stays as in @like. */
	if (!one_word(name) || id < 0 || count(like, JETWATT_PRESET_CORE) < mode->cores ||
	    (cpu && !count(like, JETWATT_PRESET_CPU_MAX)) ||
	    (gpu && !count(like, JETWATT_PRESET_GPU_MAX)) ||
	    (emc && !count(like, JETWATT_PRESET_EMC_MAX)))
		return -EINVAL;
	fprintf(f, "< POWER_MODEL ID=%d NAME=%s >\n", id, name);
	for (size_t i = 0; i < like->nr_lines; i++) {
		const struct jetwatt_preset_line *l = &like->line[i];
		enum jetwatt_preset_knob knob = l->knob;

		if ((!cpu && (knob == JETWATT_PRESET_CPU_MIN || knob == JETWATT_PRESET_CPU_MAX)) ||
		    (!gpu && (knob == JETWATT_PRESET_GPU_MIN || knob == JETWATT_PRESET_GPU_MAX)) ||
		    (!emc && knob == JETWATT_PRESET_EMC_MAX))
			knob = JETWATT_PRESET_OTHER;
		fprintf(f, "%s %s ", l->param, l->arg);
		switch (knob) {
		case JETWATT_PRESET_CORE:
			fprintf(f, "%d\n", online(like, l->core, mode->cores));
			break;
		case JETWATT_PRESET_CPU_MIN:
			fprintf(f, "%llu\n", floor_of(l->value, mode->cpu_khz));
			break;
		case JETWATT_PRESET_CPU_MAX:
			fprintf(f, "%u\n", mode->cpu_khz);
			break;
		case JETWATT_PRESET_GPU_MIN:
			fprintf(f, "%llu\n", floor_of(l->value, mode->gpu_hz));
			break;
		case JETWATT_PRESET_GPU_MAX:
			fprintf(f, "%llu\n", (unsigned long long)mode->gpu_hz);
			break;
		case JETWATT_PRESET_EMC_MAX:
			emc_cap(f, l->value, mode->emc_hz, top);
			break;
		default:
			fprintf(f, "%s\n", l->value);
		}
	}
	return ferror(f) ? -EIO : 0;
}
