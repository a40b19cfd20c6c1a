/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error messages on standard error: what failed, why, and a fix, one line each. Thread-safe.
 */
#ifndef JETWATT_UTIL_ERROR_H
#define JETWATT_UTIL_ERROR_H

#include <stdio.h>

/* Exit status of every verb. stat, record, optimize and schedule return the status of the command
 * that they ran, if they have not failed themselves. */
enum {
	JETWATT_EXIT_OK,
	JETWATT_EXIT_FAILED,
	JETWATT_EXIT_USAGE,
	JETWATT_EXIT_INFEASIBLE,
	JETWATT_EXIT_PERMISSION,
	JETWATT_EXIT_UNSUPPORTED,
	JETWATT_EXIT_NOEXEC = 126,
	JETWATT_EXIT_NOTFOUND = 127,
};

/* The three lines of an error: what failed, why, how to fix it. */
struct jetwatt_error_text {
	char what[320], why[256], fix[256];
};

/* Set the prefix of every message, for example "jetwatt stat". @name is not copied. */
void jetwatt_error_name(const char *name);
/* Suppress jetwatt_notice() if @quiet. */
void jetwatt_error_quiet(int quiet);

/* Print an error; @why and @fix may be NULL. Return: @code. */
int jetwatt_error_report(int code, const char *why, const char *fix, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* Print the error @e of a function that returned the negative errno @err. Return: exit status. */
int jetwatt_error_board(int err, const struct jetwatt_error_text *e);

/* Print a notice, which is not an error; print nothing after jetwatt_error_quiet(1). */
void jetwatt_notice(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Flush @f. Return: 0; negative errno, -EIO if an earlier write has failed for a reason that is not
 * known. The reason of the first failure of standard output is kept for jetwatt_error_output(),
 * because stdio keeps only that a write has failed. */
int jetwatt_error_flush(FILE *f);
/* Return: errno of the first failure of standard output; 0: none, or not known. */
int jetwatt_error_output(void);

/* Return a fix that usually helps against an errno, positive or negative; NULL: none. */
const char *jetwatt_error_advice(int err);

/* Return the exit status for a negative errno. */
int jetwatt_error_code(int err);

#endif
