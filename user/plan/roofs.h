/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time roof and the energy roof of each power mode (Pagoda, arXiv 2509.20189),
 * from kernels of known work that were measured in it:
 *
 *	t = max(W / F, Q / B)		W operations, Q bytes
 *	e = eps_flop W + eps_mem Q + pi0 t
 */
#ifndef JETWATT_ROOFS_H
#define JETWATT_ROOFS_H

#include "model/graph.h"
#include "model/model.h"

/* Operations, bytes, time and energy: kernels of both kinds are needed to tell
 * these four apart. */
#define JETWATT_ROOFS_KERNELS	4

/* One kernel in one mode. */
struct jetwatt_roofs_kernel {
	double flop, bytes, time_ms, power_w;
};

/**
 * struct jetwatt_roofs - of a mode
 * @flop_s, @byte_s: peaks, F and B
 * @eps_flop, @eps_mem: joules for an operation and for a byte; @pi0: watts all along
 * @time_off, @energy_off: mean error of the fit, relative
 */
struct jetwatt_roofs {
	struct jetwatt_mode mode;
	double flop_s, byte_s, eps_flop, eps_mem, pi0;
	double time_off, energy_off;
};

/**
 * jetwatt_roofs_fit() - from @n kernels in each of @modes modes
 * @k: mode by mode; @r: one for each mode
 *
 * What an operation takes hangs on the GPU's clock, and its voltage, alone; what a byte
 * takes on both clocks, as the GPU's units wait for it with theirs running: modes that
 * share these share that, as far as each can tell.
 * Return: 0; -EINVAL: a figure that is not finite and positive (@flop may be 0);
 * -ENODATA: too few, or in some mode none that is clearly under one of the two roofs;
 * -ENOMEM.
 */
int jetwatt_roofs_fit(const struct jetwatt_mode *mode, size_t modes,
		      const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r);

/* Operations for each byte above which arithmetic takes the longer, and above which
 * it takes the more energy, with what is drawn all along. */
double jetwatt_roofs_time_balance(const struct jetwatt_roofs *r);
double jetwatt_roofs_energy_balance(const struct jetwatt_roofs *r);

/**
 * struct jetwatt_roofs_cost - of a network in a mode
 * @compute: share of the time in layers that arithmetic binds
 */
struct jetwatt_roofs_cost {
	double time_s, energy_j, compute;
};

/* Layer by layer: each is bound by what binds it. */
void jetwatt_roofs_cost(const struct jetwatt_roofs *r, const struct jetwatt_work *work, size_t n,
			struct jetwatt_roofs_cost *c);

/**
 * struct jetwatt_roofs_answer - indices of modes
 * @fastest; @frugal: least energy of all; @tuned: least energy of those that are at
 *	most @slower slower than the fastest
 */
struct jetwatt_roofs_answer {
	size_t fastest, frugal, tuned;
};

/* @c: of @n modes, at least one; of equal ones the first. */
void jetwatt_roofs_tune(const struct jetwatt_roofs_cost *c, size_t n, double slower,
			struct jetwatt_roofs_answer *a);

#endif
