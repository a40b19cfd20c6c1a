/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that runs GPU kernels of known work: a CUDA program that nvcc compiles on this board,
 * or a program that the user names.
 */
#ifndef JETWATT_KERNEL_PROGRAM_H
#define JETWATT_KERNEL_PROGRAM_H

/**
 * struct jetwatt_kernel_program - the program: @path FLOP BYTES [LAUNCHES], until SIGTERM
 * @dir: temporary directory in which the program was compiled; "": the user named the program
 * @path: path of the program
 */
struct jetwatt_kernel_program {
	char dir[128], path[256];
};

/*
 * Use the program @given; NULL: compile one. Return: 0, or an exit code after printing the error.
 * Call jetwatt_kernel_program_remove() in both cases.
 */
int jetwatt_kernel_program_get(struct jetwatt_kernel_program *p, const char *given);
/* Remove the compiled program; does nothing if @p is all zero. */
void jetwatt_kernel_program_remove(struct jetwatt_kernel_program *p);

#endif
