// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of the saved state: the values of all knobs from before jetwatt changed the board. The
 * file consists of lines of text; the last line is a checksum of the other lines (statefile.c):
 *
 *	jetwatt-saved 1
 *	boot 6f0d...			id of the boot in which the values were read
 *	cpu 3 1				CPU, online
 *	policy 4 729600 2201600		cpufreq policy, lowest and highest clock in kHz
 *	gpu 17000000.gpu 114750000 1300500000
 *	emc kernel/nvpmodel_clk_cap/emc 9223372036854775807
 *	sum 1c291ca3
 *
 * A cpufreq policy without an online CPU gets its line in the file when its first CPU comes online.
 * A clock that was missing when the state was saved has no line in the file. A knob with several
 * cap files has a line for each. The line of a clock that is missing now is ignored: its value was
 * lost when its driver was removed.
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

static int saved_compose(const struct jetwatt_board *b, char *buf, size_t len)
{
	FILE *f = fmemopen(buf, len, "w");

	if (!f)
		return -errno;
	jetwatt_statefile_begin(b, KIND, f);
	jetwatt_each_knob(k)
		jetwatt_knob_ops(k)->save(b, k, f);
	return jetwatt_statefile_end(f, buf);
}

/* Write jetwatt_board::saved to the file. Return: 0; negative errno. */
int jetwatt_saved_store(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char text[JETWATT_STATEFILE_MAX];
	int len = saved_compose(b, text, sizeof(text));

	if (len < 0)
		return jetwatt_error_sys(err, len, "cannot save the board's state");
	return jetwatt_statefile_store(b, "saved", text, len, err);
}

static int saved_damaged(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			 const char *why)
{
	char path[PATH_LEN];

	jetwatt_board_error_set(err, -EBADMSG, "the saved state %s can't be used",
			  jetwatt_statefile_path(b, "saved", path));
	jetwatt_error_why(err, "%s", why);
	jetwatt_error_fix(err, "reboot (that resets every knob), or set the knobs by hand; then remove it");
	return -EBADMSG;
}

/* Parse one line into jetwatt_board::saved. Return: NULL if the line is valid, else what is
 * wrong with it. */
static const char *saved_load_line(struct jetwatt_board *b, const char *line)
{
	jetwatt_each_knob(k) {
		bool matched;
		const char *wrong = jetwatt_knob_ops(k)->load(b, k, line, &matched);

		if (matched)
			return wrong;
	}
	return "a line has an unknown form";
}

/* Parse the text, without its checksum, into jetwatt_board::saved. Return: NULL, or what is
 * wrong. */
static const char *saved_parse(struct jetwatt_board *b, char *text)
{
	const char *wrong = NULL;
	char *save, *line;

	memset(&b->saved, 0, sizeof(b->saved));
	strtok_r(text, "\n", &save);
	strtok_r(NULL, "\n", &save);
	while (!wrong && (line = strtok_r(NULL, "\n", &save)))
		wrong = saved_load_line(b, line);
	/* A knob without a line was missing when the state was saved, so jetwatt has not changed
	 * it. */
	jetwatt_each_knob(k)
		if (!wrong && jetwatt_knob_ops(k)->loaded)
			wrong = jetwatt_knob_ops(k)->loaded(b);
	return wrong;
}

/**
 * jetwatt_saved_load() - read the file into jetwatt_board::saved
 *
 * Return: 0; 1 if the file is of an earlier boot; -ENOENT: no file; -EBADMSG: damaged; other
 * negative errno.
 */
int jetwatt_saved_load(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], text[JETWATT_STATEFILE_MAX], boot[64];
	ssize_t len = jetwatt_statefile_load(b, "saved", path, text, sizeof(text));
	const char *wrong;

	if (len < 0)
		return jetwatt_error_sys(err, (int)len, "cannot read the saved state %s", path);
	b->have_saved = false;
	wrong = jetwatt_statefile_intact(KIND, text, (size_t)len, boot);
	if (!wrong)
		wrong = saved_parse(b, text);
	if (wrong)
		return saved_damaged(b, err, wrong);
	/* The state of an earlier boot is not restored: a reboot has reset the knobs. */
	b->have_saved = jetwatt_statefile_now(b, boot);
	return !b->have_saved;
}

/* Check whether the file is of an earlier boot: then no mode is applied now, because knobs do not
 * survive a reboot. A damaged file does not count as a file of an earlier boot. */
bool jetwatt_saved_old(const struct jetwatt_board *b)
{
	char path[PATH_LEN], text[JETWATT_STATEFILE_MAX], boot[64];
	ssize_t len = jetwatt_statefile_load(b, "saved", path, text, sizeof(text));

	if (len < 0 || jetwatt_statefile_intact(KIND, text, (size_t)len, boot))
		return false;
	return !jetwatt_statefile_now(b, boot);
}

int jetwatt_saved_delete(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	b->have_saved = false;
	return jetwatt_statefile_delete(b, "saved", err);
}
