/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests whether the running kernel enforces module signatures, and whether the module jetwatt is
 * signed. For jetwatt doctor.
 */
#ifndef JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H
#define JETWATT_CMD_DOCTOR_MODULE_SIGNATURE_H

#include <stdbool.h>

/**
 * enum jetwatt_module_signature - result of the check
 * @JETWATT_SIGNATURE_NOT_ENFORCED: the kernel does not enforce signatures: the module loads without
 *	a signature
 * @JETWATT_SIGNATURE_TRUSTED: the kernel enforces signatures, and the module is loaded: the key of
 *	its signature is trusted
 * @JETWATT_SIGNATURE_MISSING: the kernel enforces signatures, and the installed module has none:
 *	the kernel rejects the module
 * @JETWATT_SIGNATURE_UNVERIFIED: the kernel enforces signatures, and the installed module is signed
 *	but not loaded: its key may be untrusted
 * @JETWATT_SIGNATURE_NO_MODULE: the kernel enforces signatures, and no installed module was found
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
 * @loaded: whether the module jetwatt is loaded
 *
 * A compressed module counts as signed, because a signature would be inside the compressed data.
 * Return: the result of the check; the check never fails.
 */
enum jetwatt_module_signature jetwatt_module_signature_check(const char *root, const char *release,
							     bool loaded);

#endif
