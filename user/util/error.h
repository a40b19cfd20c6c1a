/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How jetwatt says no: what, why, fix, one line each, on stderr.
 */
#ifndef JETWATT_UTIL_ERROR_H
#define JETWATT_UTIL_ERROR_H

/* Exit status of every verb; stat and record return their command's own. */
enum {
	JETWATT_EXIT_OK,
	JETWATT_EXIT_FAILED,
	JETWATT_EXIT_USAGE,
	JETWATT_EXIT_INFEASIBLE,
	JETWATT_EXIT_PERMISSION,
	JETWATT_EXIT_UNSUPPORTED,
	JETWATT_EXIT_POOR,
	JETWATT_EXIT_NOEXEC = 126,
	JETWATT_EXIT_NOTFOUND = 127,
};

/* What went wrong, one line each: what, why, how to fix it. */
struct jetwatt_error_text {
	char what[320], why[256], fix[256];
};

/* The name in front of every message: "jetwatt stat". */
void jetwatt_error_name(const char *name);
void jetwatt_error_quiet(int quiet);

/* Say what is wrong, why, and what to do; @why and @fix may be NULL.
 * Return: @code. */
int jetwatt_error_say(int code, const char *why, const char *fix, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* The board's own words. @err: what its function returned. Return: exit code. */
int jetwatt_error_board(int err, const struct jetwatt_error_text *e);

/* Something worth knowing that does not stop us; silent under -q. */
void jetwatt_error_note(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* What usually helps against an errno, of either sign; NULL: nothing is known to. */
const char *jetwatt_error_advice(int err);

/* Exit code that fits a negative errno. */
int jetwatt_error_code(int err);

#endif
