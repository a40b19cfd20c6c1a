// SPDX-License-Identifier: GPL-2.0-only
/*
 * The saved state. The file is lines of text, the last of
 * which is a checksum of those before:
 *
 *	jetwatt-saved 1
 *	boot 6f0d...			of the boot whose knobs these are
 *	cpu 3 1				CPU, online
 *	policy 4 729600 2201600		cpufreq policy, lowest and highest kHz
 *	gpu 17000000.gpu 114750000 1300500000
 *	emc kernel/nvpmodel_clk_cap/emc 9223372036854775807
 *	sum 1c291ca3
 *
 * A policy that had no CPU online has no line until it gets one. A knob that was missing
 * has no line; a board with several caps of the memory clock has a line for each. A line of
 * a knob that is missing now is passed over: its value has gone with its driver.
 */
#include "board/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIND	"jetwatt-saved"

static int compose(const struct jetwatt_board *b, char *buf, size_t len)
{
	const struct jetwatt_board_state *s = &b->saved;
	FILE *f = fmemopen(buf, len, "w");

	if (!f)
		return -errno;
	jetwatt_sealed_begin(b, KIND, f);
	for (int i = 0; i < b->cpus; i++)
		fprintf(f, "cpu %u %d\n", b->cpu[i].id, s->online[i]);
	for (int p = 0; p < b->policies; p++)
		if (s->policy[p].known)
			fprintf(f, "policy %u %" PRIu64 " %" PRIu64 "\n", b->policy[p],
				s->policy[p].min, s->policy[p].max);
	if (s->gpu.known)
		fprintf(f, "gpu %s %" PRIu64 " %" PRIu64 "\n", b->gpu, s->gpu.min, s->gpu.max);
	for (int i = 0; i < b->nr_caps; i++)
		if (s->emc[i].known)
			fprintf(f, "emc %s %" PRIu64 "\n", b->emc[i].path, s->emc[i].hz);
	return jetwatt_sealed_end(f, buf);
}

/* jetwatt_board::saved to the file. */
int jetwatt_saved_store(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char text[JETWATT_SEALED_MAX];
	int len = compose(b, text, sizeof(text));

	if (len < 0)
		return jetwatt_error_sys(err, len, "cannot save the board's state");
	return jetwatt_sealed_store(b, "saved", text, len, err);
}

static int damaged(const struct jetwatt_board *b, struct jetwatt_error_text *err, const char *why)
{
	char path[PATH_LEN];

	jetwatt_board_error_set(err, -EBADMSG, "the saved state %s can't be used",
			  jetwatt_lease_path(b, "saved", path));
	jetwatt_error_why(err, "%s", why);
	jetwatt_error_fix(err, "reboot (that resets every knob), or set the knobs by hand; then remove it");
	return -EBADMSG;
}

static const char *take_cap(struct jetwatt_board *b, const char *name, uint64_t hz)
{
	for (int i = 0; i < b->nr_caps; i++) {
		if (strcmp(name, b->emc[i].path))
			continue;
		if (b->saved.emc[i].known)
			return "it names a memory clock twice";
		b->saved.emc[i] = (struct jetwatt_cap){ true, hz };
	}
	return NULL;
}

/* One line. NULL, or what is wrong with it. */
static const char *take_line(struct jetwatt_board *b, const char *line, bool *cpu_seen)
{
	struct jetwatt_board_state *s = &b->saved;
	char name[NAME_LEN], tail;
	uint64_t min, max;
	unsigned int id;
	int i;

	if (sscanf(line, "cpu %u %" SCNu64 "%c", &id, &min, &tail) == 2) {
		for (i = 0; i < b->cpus && b->cpu[i].id != id; i++)
			;
		if (i == b->cpus || min > 1 || cpu_seen[i])
			return "it names a CPU that this board does not have";
		s->online[i] = min;
		cpu_seen[i] = true;
		return NULL;
	}
	if (sscanf(line, "policy %u %" SCNu64 " %" SCNu64 "%c", &id, &min, &max, &tail) == 3) {
		for (i = 0; i < b->policies && b->policy[i] != id; i++)
			;
		/* Its directory may be gone with its CPUs. */
		if (i == b->policies && i < POLICIES_MAX)
			b->policy[b->policies++] = id;
		if (i == POLICIES_MAX || s->policy[i].known || min > max)
			return "it names a CPU clock that this board does not have";
		s->policy[i] = (struct jetwatt_range){ true, min, max };
		return NULL;
	}
	if (sscanf(line, "gpu %95s %" SCNu64 " %" SCNu64 "%c", name, &min, &max, &tail) == 3) {
		if (!jetwatt_lack_not(b, JETWATT_BOARD_GPU))
			return NULL;
		if (strcmp(name, b->gpu) || s->gpu.known || min > max)
			return "it is of another GPU";
		s->gpu = (struct jetwatt_range){ true, min, max };
		return NULL;
	}
	if (sscanf(line, "emc %95s %" SCNu64 "%c", name, &min, &tail) == 2)
		return take_cap(b, name, min);
	return "a line is not of the known form";
}

/* What jetwatt_sealed_intact() has left of it, to jetwatt_board::saved. */
static const char *take(struct jetwatt_board *b, char *text)
{
	bool cpu_seen[CPUS_MAX] = { false };
	const char *wrong = NULL;
	char *save, *line;

	memset(&b->saved, 0, sizeof(b->saved));
	strtok_r(text, "\n", &save);
	strtok_r(NULL, "\n", &save);
	while (!wrong && (line = strtok_r(NULL, "\n", &save)))
		wrong = take_line(b, line, cpu_seen);
	if (wrong)
		return wrong;
	for (int i = 0; i < b->cpus; i++)
		if (!cpu_seen[i] || (b->cpu[i].fixed && !b->saved.online[i]))
			return "it does not name every CPU of this board";
	/* A knob without a line was missing when the state was saved: it was not changed. */
	return NULL;
}

/**
 * jetwatt_saved_load() - the file to jetwatt_board::saved
 *
 * Return: 0; 1: and it is of an earlier boot; -ENOENT; -EBADMSG.
 */
int jetwatt_saved_load(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], text[JETWATT_SEALED_MAX], boot[64];
	ssize_t len = jetwatt_sealed_load(b, "saved", path, text);
	const char *wrong;

	if (len < 0)
		return jetwatt_error_sys(err, (int)len, "cannot read the saved state %s", path);
	b->have_saved = false;
	wrong = jetwatt_sealed_intact(KIND, text, (size_t)len, boot);
	if (!wrong)
		wrong = take(b, text);
	if (wrong)
		return damaged(b, err, wrong);
	/* What an earlier boot has left is no way back: its knobs went with the power. */
	b->have_saved = jetwatt_sealed_now(b, boot);
	return !b->have_saved;
}

/* Is the file of an earlier boot? Then nothing of ours is applied: knobs do
 * not survive a reboot. A damaged one is not said to be. */
bool jetwatt_saved_old(const struct jetwatt_board *b)
{
	char path[PATH_LEN], text[JETWATT_SEALED_MAX], boot[64];
	ssize_t len = jetwatt_sealed_load(b, "saved", path, text);

	if (len < 0 || jetwatt_sealed_intact(KIND, text, (size_t)len, boot))
		return false;
	return !jetwatt_sealed_now(b, boot);
}

int jetwatt_saved_delete(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	b->have_saved = false;
	return jetwatt_sealed_delete(b, "saved", err);
}
