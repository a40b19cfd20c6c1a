/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the running kernel enforce module signatures, and does the module jetwatt have one? For
 * jetwatt doctor.
 */
#ifndef JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H
#define JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H

#include <stdbool.h>

/**
 * enum jetwatt_sign - result of the check
 * @JETWATT_SIGN_FREE: signatures are not enforced: the module loads without one
 * @JETWATT_SIGN_GOOD: enforced, and the module is loaded: its key is trusted
 * @JETWATT_SIGN_UNSIGNED: enforced, and the installed module has no signature: it is rejected
 * @JETWATT_SIGN_UNTRUSTED: enforced, and the installed module is signed but not loaded: its key may
 *	be untrusted
 * @JETWATT_SIGN_ABSENT: enforced, and no installed module was found
 */
enum jetwatt_sign {
	JETWATT_SIGN_FREE,
	JETWATT_SIGN_GOOD,
	JETWATT_SIGN_UNSIGNED,
	JETWATT_SIGN_UNTRUSTED,
	JETWATT_SIGN_ABSENT,
};

/**
 * jetwatt_sign_look() - check signature enforcement and the module's signature
 * @root: prefix of all paths: "" or the directory of a test tree
 * @release: release of the running kernel (uname -r)
 * @loaded: whether the module is loaded
 *
 * A compressed module counts as signed, because its signature is inside the compressed data.
 * Return: the result; it never fails.
 */
enum jetwatt_sign jetwatt_sign_look(const char *root, const char *release, bool loaded);

#endif
