// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The text of the last error of a connection: what happened, why, and for some errors what to do.
 */
#include "lib/lib.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text of the thread's last failed jetwatt_open(), which leaves no connection to store it in. */
static _Thread_local char open_error[JETWATT_ERROR_LEN];

const char *jetwatt_error(const struct jetwatt *jw)
{
	return jw ? jw->error : open_error;
}

/* Set the text of the last error. Return: @err, so that callers can return the result of this
 * function. */
int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(jw->error, sizeof(jw->error), fmt, ap);
	va_end(ap);
	return err;
}

/**
 * jetwatt_error_kernel() - set the error text for an error that the kernel reported
 * @jw: the connection
 * @err: negative errno
 * @text: text of the extended ack; "": none
 * @what: the operation that failed, for the error text
 *
 * Generic netlink checks CAP_NET_ADMIN before the module sees the request, and the -EPERM of that
 * check has no extended ack.
 *
 * Return: @err.
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

/* Copy the text to where jetwatt_error(NULL) finds it. */
void jetwatt_error_keep(const char *text)
{
	snprintf(open_error, sizeof(open_error), "%s", text);
}
