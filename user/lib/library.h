/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where a process has its libcuda, and where in it the calls are.
 */
#ifndef JETWATT_LIB_LIBRARY_H
#define JETWATT_LIB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct jetwatt_library - one file that is mapped
 * @start, @end: of the mapping that was met first
 * @path: as the process calls it: inside its own mount namespace
 */
struct jetwatt_library {
	uint64_t start, end;
	char path[256];
};

/* What an entry point does, as far as the probe is concerned. */
enum jetwatt_library_what {
	JETWATT_LIBRARY_STREAM,		/* waits for a stream */
	JETWATT_LIBRARY_EVENT,		/* waits for an event */
	JETWATT_LIBRARY_CONTEXT,	/* waits for all of a context, or device */
	JETWATT_LIBRARY_COPY,		/* copies, after the work that was launched before */
	JETWATT_LIBRARY_QUERY,		/* asks whether work is done */
	JETWATT_LIBRARY_LAUNCH,		/* launches work */
	JETWATT_LIBRARY_WHATS
};

/**
 * struct jetwatt_library_entry - an entry point that is known
 * @since: CUDA_VERSION of the first release that has it
 */
struct jetwatt_library_entry {
	const char *name;
	enum jetwatt_library_what what;
	unsigned int since;
};

/* Look up an exported name. Return: NULL: it is not watched. */
const struct jetwatt_library_entry *jetwatt_library_entry(const char *name);

struct jetwatt_library_call {
	enum jetwatt_library_what what;
	const char *name;
	uint64_t offset;	/* in the file */
};

#define JETWATT_LIBRARY_CALLS_MAX	64

/* Is a file of this name libcuda or a shared libcudart? */
int jetwatt_library_is(const char *path);

/**
 * jetwatt_library_file() - one line of /proc/PID/maps, of any file
 *
 * Return: JETWATT_LIBRARY_CODE: it maps a file's code; 1: something else of a file; 0: none.
 */
int jetwatt_library_file(const char *line, struct jetwatt_library *lib);
#define JETWATT_LIBRARY_CODE	2

/**
 * jetwatt_library_line() - one line of /proc/PID/maps
 *
 * Return: 1: it maps such a library, @lib is filled in; 0: something else.
 */
int jetwatt_library_line(const char *line, struct jetwatt_library *lib);

/**
 * jetwatt_library_of() - the libraries of a process
 * @max: no more than these
 *
 * Return: how many; negative errno: the process is gone, or not ours to read.
 */
int jetwatt_library_of(pid_t pid, struct jetwatt_library *lib, int max);

/* Those of the system that a program would be given: paths, at most @max. */
int jetwatt_library_system(char path[][256], int max);

/**
 * jetwatt_library_calls() - the calls that the file has
 * @call: JETWATT_LIBRARY_CALLS_MAX entries; two names of one place count once
 *
 * Return: how many; -ENOEXEC: no shared library or program of this machine.
 */
int jetwatt_library_calls(const char *path, struct jetwatt_library_call *call);

#endif
