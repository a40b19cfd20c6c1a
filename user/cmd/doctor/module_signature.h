/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the running kernel enforce module signatures, and does the module jetwatt have one? For
 * jetwatt doctor.
 */
#ifndef JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H
#define JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H

#include <stdbool.h>

/**
 * enum jetwatt_module_signature - result of the check
 * @JETWATT_SIGNATURE_NOT_ENFORCED: signatures are not enforced: the module loads without one
 * @JETWATT_SIGNATURE_TRUSTED: enforced, and the module is loaded: its key is trusted
 * @JETWATT_SIGNATURE_MISSING: enforced, and the installed module has no signature: it is rejected
 * @JETWATT_SIGNATURE_UNVERIFIED: enforced, and the installed module is signed but not loaded: its
 *	key may be untrusted
 * @JETWATT_SIGNATURE_NO_MODULE: enforced, and no installed module was found
 */
enum jetwatt_module_signature {
	JETWATT_SIGNATURE_NOT_ENFORCED,
	JETWATT_SIGNATURE_TRUSTED,
	JETWATT_SIGNATURE_MISSING,
	JETWATT_SIGNATURE_UNVERIFIED,
	JETWATT_SIGNATURE_NO_MODULE,
};

/**
 * jetwatt_module_signature_check() - check signature enforcement and the module's signature
 * @root: prefix of all paths: "" or the directory of a test tree
 * @release: release of the running kernel (uname -r)
 * @loaded: whether the module is loaded
 *
 * A compressed module counts as signed, because its signature is inside the compressed data.
 * Return: the result; it never fails.
 */
enum jetwatt_module_signature jetwatt_module_signature_check(const char *root, const char *release,
							     bool loaded);

#endif
