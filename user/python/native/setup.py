# SPDX-License-Identifier: LGPL-2.1-only
"""Builds the extension module of jetwatt.stream, with the version of the source tree."""
import os
import shutil
import sys

from setuptools import setup
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(HERE)
sys.path[:0] = [HERE]
import build_native  # noqa: E402


def version():
    for path, start in (("../../../Makefile", "VERSION := "), ("PKG-INFO", "Version: ")):
        try:
            with open(os.path.join(HERE, path), encoding="utf-8") as f:
                found = [line[len(start):].strip() for line in f if line.startswith(start)]
        except OSError:
            continue
        if found:
            return found[0]
    raise SystemExit("setup.py: no version\n  why: neither ../../../Makefile nor PKG-INFO is here\n"
                     "  fix: build in a checkout of jetwatt")


class Sdist(sdist):
    """Adds the files of the checkout that the extension is compiled from."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if build_native.TREE == ".":
            raise SystemExit("setup.py: sdist needs a checkout of jetwatt")
        build_native.collect(base_dir)
        shutil.copy2("build_native.py", base_dir)


setup(version=version(), cmdclass={"sdist": Sdist}, cffi_modules=["build_native.py:ffibuilder"])
