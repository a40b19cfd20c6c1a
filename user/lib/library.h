/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which CUDA libraries a process has mapped, and at which file offsets their functions are. For
 * the uprobe backend.
 */
#ifndef JETWATT_LIB_LIBRARY_H
#define JETWATT_LIB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct jetwatt_library - a mapped file
 * @start: start address of the mapping; of a result of jetwatt_library_of(), of the library's first
 *	mapping in the process
 * @end: end address of that mapping
 * @path: path in the mount namespace of the process
 */
struct jetwatt_library {
	uint64_t start, end;
	char path[256];
};

/* What an entry point of a CUDA library does. */
enum jetwatt_library_what {
	JETWATT_LIBRARY_STREAM,		/* waits for a stream */
	JETWATT_LIBRARY_EVENT,		/* waits for an event */
	/* entry point that waits for all work of a context or device */
	JETWATT_LIBRARY_CONTEXT,
	/* entry point that copies data once the work launched before is complete */
	JETWATT_LIBRARY_COPY,
	/* entry point that waits and copies if the host's memory is not pinned, else only queues a
	 * copy */
	JETWATT_LIBRARY_COPY_ASYNC,
	/* entry point that queries whether work is complete, without waiting */
	JETWATT_LIBRARY_QUERY,
	JETWATT_LIBRARY_LAUNCH,		/* launches work */
	/* entry point that has libcuda call a function of the program */
	JETWATT_LIBRARY_CALLBACK,
	JETWATT_LIBRARY_WHATS
};

/**
 * struct jetwatt_library_entry - a known entry point
 * @name: exported name
 * @what: what the entry point does
 * @since: CUDA_VERSION of the first CUDA release that exports the name
 */
struct jetwatt_library_entry {
	const char *name;
	enum jetwatt_library_what what;
	unsigned int since;
};

/* Look up an exported name in the table of entry points. Return: NULL if the probe does not
 * trace the name. */
const struct jetwatt_library_entry *jetwatt_library_entry(const char *name);

/**
 * struct jetwatt_library_call - an entry point in a file
 * @what: what the entry point does
 * @name: exported name, a constant of library_calls.c
 * @offset: offset of the entry point in the file, bytes
 */
struct jetwatt_library_call {
	enum jetwatt_library_what what;
	const char *name;
	uint64_t offset;
};

#define JETWATT_LIBRARY_CALLS_MAX	64

/* Return whether the file, judged by its name, is libcuda or a shared libcudart. */
int jetwatt_library_is(const char *path);

/**
 * jetwatt_library_file() - parse a line of /proc/PID/maps
 * @line: the line
 * @lib: receives the mapping
 *
 * Return: JETWATT_LIBRARY_CODE if the line maps code of a file; 1 if it maps another part of a
 * file; 0 if it maps no file, or the path does not fit into @lib.
 */
int jetwatt_library_file(const char *line, struct jetwatt_library *lib);
#define JETWATT_LIBRARY_CODE	2

/**
 * jetwatt_library_line() - parse a line of /proc/PID/maps that maps libcuda or libcudart
 * @line: the line
 * @lib: receives the mapping
 *
 * Return: 1: the line maps libcuda or libcudart; 0: it does not.
 */
int jetwatt_library_line(const char *line, struct jetwatt_library *lib);

/**
 * jetwatt_library_of() - list the CUDA libraries of a process
 * @pid: process id
 * @lib: receives the libraries
 * @max: number of entries of @lib
 *
 * Return: number of libraries; or a negative errno, for instance if the process has ended, or the
 * caller may not read its maps.
 */
int jetwatt_library_of(pid_t pid, struct jetwatt_library *lib, int max);

/*
 * List the readable files libcuda.so.1 in the directories of LD_LIBRARY_PATH with names of fewer
 * than 200 bytes, and in the usual library directories. Return: number of paths, at most @max.
 */
int jetwatt_library_system(char path[][256], int max);

/**
 * jetwatt_library_calls() - list the known entry points of CUDA that a file contains
 * @path: the file
 * @call: receives up to JETWATT_LIBRARY_CALLS_MAX entries; two names of the same address
 *	give one entry
 *
 * Return: number of entries; -ENOEXEC: not a shared library or program in the format ELF; or
 * another negative errno.
 */
int jetwatt_library_calls(const char *path, struct jetwatt_library_call *call);

#endif
