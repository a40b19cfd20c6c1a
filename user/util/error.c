// SPDX-License-Identifier: GPL-2.0-only
/* Print messages on standard error. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>

static const char *self = "jetwatt";
static int silent;
/* errno of the first failure of standard output; 0: none. */
static atomic_int output;

void jetwatt_error_name(const char *name)
{
	self = name;
}

void jetwatt_error_quiet(int quiet)
{
	silent = quiet;
}

int jetwatt_error_flush(FILE *f)
{
	int none = 0, err = fflush(f) ? errno : 0;

	if (err && f == stdout)
		atomic_compare_exchange_strong(&output, &none, err);
	return err ? -err : ferror(f) ? -EIO : 0;
}

int jetwatt_error_output(void)
{
	return output;
}

int jetwatt_error_report(int code, const char *why, const char *fix, const char *what, ...)
{
	va_list ap;

	jetwatt_error_flush(stdout);
	/* Lock the stream, so that messages of several threads do not mix. */
	flockfile(stderr);
	fprintf(stderr, "%s: ", self);
	va_start(ap, what);
	vfprintf(stderr, what, ap);
	va_end(ap);
	putc('\n', stderr);
	if (why && *why)
		fprintf(stderr, "  why: %s\n", why);
	if (fix && *fix)
		fprintf(stderr, "  fix: %s\n", fix);
	funlockfile(stderr);
	return code;
}

const char *jetwatt_error_advice(int err)
{
	switch (err < 0 ? -err : err) {
	case ENOMEM:
		return "free some memory; free -h shows what is used";
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "free some space (df -h), or name another file";
	case EACCES:
	case EPERM:
	case EROFS:
		return "run as root, or name another file";
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
		return "check the path";
	case EIO:
		return "check whether the disk is full or failing: df -h; dmesg";
	default:
		return NULL;
	}
}

int jetwatt_error_code(int err)
{
	switch (err) {
	case 0:
		return JETWATT_EXIT_OK;
	case -EPERM:
	case -EACCES:
		return JETWATT_EXIT_PERMISSION;
	case -ENODEV:
	case -EOPNOTSUPP:
		return JETWATT_EXIT_UNSUPPORTED;
	case -EINVAL:
		return JETWATT_EXIT_USAGE;
	default:
		return JETWATT_EXIT_FAILED;
	}
}

int jetwatt_error_board(int err, const struct jetwatt_error_text *e)
{
	return jetwatt_error_report(jetwatt_error_code(err), e->why, e->fix, "%s", e->what);
}

void jetwatt_notice(const char *text, ...)
{
	va_list ap;

	if (silent)
		return;
	jetwatt_error_flush(stdout);
	flockfile(stderr);
	fprintf(stderr, "%s: ", self);
	va_start(ap, text);
	vfprintf(stderr, text, ap);
	va_end(ap);
	putc('\n', stderr);
	funlockfile(stderr);
}
