/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does this kernel want its modules signed, and what does that mean for ours?
 */
#ifndef JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H
#define JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H

#include <stdbool.h>

/**
 * enum jetwatt_sign - what signatures do to the module
 * @JETWATT_SIGN_FREE: they are not enforced: it loads without one
 * @JETWATT_SIGN_GOOD: they are, and it is loaded: signed with a trusted key
 * @JETWATT_SIGN_UNSIGNED: they are, and the installed module has none: rejected
 * @JETWATT_SIGN_UNTRUSTED: they are, and it has one that did not help or was not tried
 * @JETWATT_SIGN_ABSENT: they are, and no module is installed that could be looked at
 */
enum jetwatt_sign {
	JETWATT_SIGN_FREE,
	JETWATT_SIGN_GOOD,
	JETWATT_SIGN_UNSIGNED,
	JETWATT_SIGN_UNTRUSTED,
	JETWATT_SIGN_ABSENT,
};

/**
 * jetwatt_sign_look() - find out
 * @root: "" or the directory in place of /
 * @release: of the running kernel
 * @loaded: whether the module is there
 *
 * A compressed module's signature is taken for granted: it is inside.
 */
enum jetwatt_sign jetwatt_sign_look(const char *root, const char *release, bool loaded);

#endif
