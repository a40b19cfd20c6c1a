// SPDX-License-Identifier: GPL-2.0-only
/* Prints or stores the findings of jetwatt doctor. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/doctor/doctor.h"
#include "cmd/doctor/report.h"
#include "out/terminal.h"

static const char *const level_name[] = { "ok", "warn", "fail" };

void jetwatt_doctor_finding(struct jetwatt_doctor *d, enum jetwatt_doctor_level level, int code,
			    const char *name, const char *fix, const char *text, ...)
{
	static const char color[] = { 'g', 'y', 'r' };
	char line[320];
	va_list ap;

	va_start(ap, text);
	vsnprintf(line, sizeof(line), text, ap);
	va_end(ap);
	d->warnings += level == WARN;
	if (level == FAIL) {
		d->failures++;
		d->code = d->code ? d->code : code;
	}
	if (level == OK)
		fix = NULL;
	if (d->want_json) {
		jetwatt_json_object(&d->json, NULL);
		jetwatt_json_string(&d->json, "check", name);
		jetwatt_json_string(&d->json, "level", level_name[level]);
		if (d->hide) {
			char *clean = jetwatt_private_hide(d->hide, line, true);

			jetwatt_json_string(&d->json, "text", clean);
			free(clean);
		} else {
			jetwatt_json_string(&d->json, "text", line);
		}
		if (fix)
			jetwatt_json_string(&d->json, "fix", fix);
		jetwatt_json_end(&d->json);
		return;
	}
	if (level == OK && d->args.quiet)
		return;
	printf(" %s%-4s%s %-8s %s\n", jetwatt_terminal_color(&d->args, color[level]),
	       level_name[level], jetwatt_terminal_color_end(&d->args), name, line);
	if (fix)
		printf("      %-8s fix: %s\n", "", fix);
}
