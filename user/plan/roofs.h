/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roofline and energy roofline of each power mode (Pagoda, arXiv 2509.20189), fitted to
 * measurements of kernels with known work in that mode:
 *
 *	t = max(W / F, Q / B)		W operations, Q bytes
 *	e = eps_flop W + eps_mem Q + pi0 t
 *
 * Used by jetwatt roofline.
 */
#ifndef JETWATT_ROOFS_H
#define JETWATT_ROOFS_H

#include "model/graph.h"
#include "model/model.h"

/*
 * Fewest kernels in a mode. Kernels limited by arithmetic and kernels limited by memory are needed
 * to separate the coefficients.
 */
#define JETWATT_ROOFS_KERNELS	4

/**
 * struct jetwatt_roofs_kernel - measurement of one kernel in one mode
 * @flop: floating-point operations
 * @bytes: number of bytes that the kernel moves to and from memory
 * @time_ms: duration, in milliseconds
 * @power_w: mean power, in watts
 */
struct jetwatt_roofs_kernel {
	double flop, bytes, time_ms, power_w;
};

/**
 * struct jetwatt_roofs - rooflines of a mode
 * @mode: the mode
 * @flop_s: peak rate F of arithmetic, in operations per second
 * @byte_s: peak bandwidth B, in bytes per second
 * @eps_flop: energy of a floating-point operation, in joules
 * @eps_mem: energy of a byte moved to or from memory, in joules
 * @pi0: constant power, in watts
 * @time_off: mean relative error of the fitted times of the kernels
 * @energy_off: mean relative error of the fitted energies of the kernels
 */
struct jetwatt_roofs {
	struct jetwatt_mode mode;
	double flop_s, byte_s, eps_flop, eps_mem, pi0;
	double time_off, energy_off;
};

/**
 * jetwatt_roofs_fit() - fit the rooflines of several modes
 * @mode: the modes
 * @modes: number of modes
 * @k: @modes x @n kernels, mode by mode
 * @n: number of kernels in each mode
 * @r: set to the rooflines, one for each mode
 *
 * The energy of an operation depends only on the GPU clock (and the GPU voltage); the energy of a
 * byte depends on GPU and EMC clock, because GPU units wait for it with their clock running. Modes
 * that share these clocks share the coefficients, weighted by how well each mode's kernels
 * determine them.
 *
 * Return: 0; -EINVAL if a measurement is not finite and positive (@flop may be 0); -ENODATA if @n
 * is too small, or a mode lacks a kernel that is clearly limited by arithmetic or a kernel that is
 * clearly limited by memory, or no non-negative energies fit a mode's kernels; -ENOMEM.
 */
int jetwatt_roofs_fit(const struct jetwatt_mode *mode, size_t modes,
		      const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r);

/*
 * jetwatt_roofs_time_balance() returns the intensity, in operations per byte, above which
 * arithmetic takes more time than memory traffic. jetwatt_roofs_energy_balance() returns the
 * intensity above which arithmetic takes more energy, including the constant power.
 */
double jetwatt_roofs_time_balance(const struct jetwatt_roofs *r);
double jetwatt_roofs_energy_balance(const struct jetwatt_roofs *r);

/**
 * struct jetwatt_roofs_cost - predicted cost of a network in a mode
 * @time_s: time of a minibatch, in seconds
 * @energy_j: energy of a minibatch, in joules
 * @compute: share of the time in layers that are limited by arithmetic
 */
struct jetwatt_roofs_cost {
	double time_s, energy_j, compute;
};

/* Predict the cost of @n layers @work; each layer is limited by arithmetic or by memory. */
void jetwatt_roofs_cost(const struct jetwatt_roofs *r, const struct jetwatt_work *work, size_t n,
			struct jetwatt_roofs_cost *c);

/**
 * struct jetwatt_roofs_choice - modes chosen by their predicted cost, as indices
 * @fastest: least time; of equal times, the most energy, as with the highest clocks. The other
 *	modes are compared with this mode
 * @frugal: least energy
 * @tuned: least energy among the modes that are at most @slower slower than the fastest mode
 * @race: 1: the mode with the least energy takes the least time too, so that running at full speed
 *	and then idling needs the least energy
 */
struct jetwatt_roofs_choice {
	size_t fastest, frugal, tuned;
	int race;
};

/*
 * Choose modes. @c: costs of @n modes, at least one; @slower: accepted relative slowdown. Of modes
 * with equal time and energy the first is chosen.
 */
void jetwatt_roofs_tune(const struct jetwatt_roofs_cost *c, size_t n, double slower,
			struct jetwatt_roofs_choice *a);

#endif
