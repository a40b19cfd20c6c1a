// SPDX-License-Identifier: GPL-2.0-only
/* The three texts of every error of this directory: what failed, why, and a fix. */
#include "board/knobs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Return the fix that usually helps against an errno. */
static const char *default_fix(int rc)
{
	switch (-rc) {
	case EPERM:
	case EACCES:
		return "run it as root";
	case EROFS:
		return "mount it writable; in a container, give it the host's /sys and state directory";
	case ENOSPC:
	case EDQUOT:
		return "free some space there";
	case EBUSY:
	case EINVAL:
	case EIO:
		return "see dmesg; another program (nvpmodel, jetson_clocks, jtop) may hold this knob";
	default:
		return "run jetwatt doctor to see what this board supports";
	}
}

int jetwatt_board_error_set(struct jetwatt_error_text *err, int rc, const char *what, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, what);
	vsnprintf(err->what, sizeof(err->what), what, ap);
	va_end(ap);
	err->why[0] = err->fix[0] = '\0';
	return rc;
}

void jetwatt_error_why(struct jetwatt_error_text *err, const char *why, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, why);
	vsnprintf(err->why, sizeof(err->why), why, ap);
	va_end(ap);
}

void jetwatt_error_fix(struct jetwatt_error_text *err, const char *fix, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fix);
	vsnprintf(err->fix, sizeof(err->fix), fix, ap);
	va_end(ap);
}

int jetwatt_error_sys(struct jetwatt_error_text *err, int rc, const char *what, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, what);
		vsnprintf(err->what, sizeof(err->what), what, ap);
		va_end(ap);
		snprintf(err->why, sizeof(err->why), "%s", strerror(-rc));
		snprintf(err->fix, sizeof(err->fix), "%s", default_fix(rc));
	}
	return rc == -EACCES ? -EPERM : rc;
}
