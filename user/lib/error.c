// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The last error in words: what, why, and what to do about it.
 */
#include "lib/lib.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a jetwatt_open() that failed: there is no handle to ask. */
static _Thread_local char open_error[JETWATT_ERROR_LEN];

const char *jetwatt_error(const struct jetwatt *jw)
{
	return jw ? jw->error : open_error;
}

/* Returns @err, so that it can end a function. */
int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(jw->error, sizeof(jw->error), fmt, ap);
	va_end(ap);
	return err;
}

/**
 * jetwatt_error_kernel() - word a refusal by the kernel
 * @text: of the extended ack, "" if it had none
 * @what: the operation
 *
 * Generic netlink itself refuses the unprivileged before the module sees the
 * request, without a word.
 */
int jetwatt_error_kernel(struct jetwatt *jw, int err, const char *text, const char *what)
{
	if (*text)
		return jetwatt_error_set(jw, err, "%s: %s", what, text);
	if (err == -EPERM)
		return jetwatt_error_set(jw, err,
					 "%s: needs CAP_NET_ADMIN and CAP_PERFMON in the initial user namespace: run as root (a container needs more than its own root)",
					 what);
	if (err == -ENOENT && jw->family != GENL_ID_CTRL)
		return jetwatt_error_set(jw, err,
					 "%s: kernel module jetwatt has been unloaded: modprobe jetwatt and start again",
					 what);
	return jetwatt_error_set(jw, err, "%s: %s", what, strerror(-err));
}

void jetwatt_error_keep(const struct jetwatt *jw)
{
	memcpy(open_error, jw->error, sizeof(open_error));
}
