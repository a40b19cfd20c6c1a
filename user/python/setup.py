# SPDX-License-Identifier: LGPL-2.1-only
"""Builds the package with the version of the source tree, which is in its Makefile.

An sdist has no Makefile; its version is that of its PKG-INFO.
"""
import os
import re

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))


def version():
    for path, pattern in (("../../Makefile", r"^VERSION := (\S+)$"), ("PKG-INFO", r"^Version: (\S+)$")):
        try:
            with open(os.path.join(HERE, path), encoding="utf-8") as f:
                found = re.search(pattern, f.read(), re.M)
        except OSError:
            continue
        if found:
            return found.group(1)
    raise SystemExit("setup.py: no version\n  why: neither ../../Makefile nor PKG-INFO is here\n"
                     "  fix: build in a checkout of jetwatt; pip before 21.3 needs "
                     "--use-feature=in-tree-build")


setup(version=version())
