# SPDX-License-Identifier: LGPL-2.1-only
"""Describes the extension module _jetwatt_stream to cffi, in API mode.

libjetwatt is taken from build/ of a checkout if it is there, else from where the linker finds it.
An sdist has copies of the files of the checkout that are compiled.
"""
import glob
import os
import shutil

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.join(HERE, "../../..")
# Below this directory, relative to HERE, are the files of the checkout that are compiled.
TREE = "build/tree" if os.path.exists(os.path.join(CHECKOUT, "include/jetwatt.h")) else "."
OWN = ("stream.c", "collect.c", "live.c", "trace.c")
PATTERNS = ("include/jetwatt.h", "include/uapi/linux/jetwatt.h", "user/python/native/*.h",
            "user/minibatch/*.[ch]", "user/energy/energy.h", "user/energy/integrate.c")


def collect(to):
    """Copy the files of the checkout that are compiled to a directory."""
    for pattern in PATTERNS:
        for path in glob.glob(os.path.join(CHECKOUT, pattern)):
            copy = os.path.join(to, os.path.relpath(path, CHECKOUT))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy2(path, copy)


def sources():
    """Return the C files, relative to HERE."""
    if TREE != ".":
        collect(os.path.join(HERE, TREE))
    return list(OWN) + sorted(os.path.relpath(path, HERE) for pattern in PATTERNS if "/python/" not in pattern
                              for path in glob.glob(os.path.join(HERE, TREE, pattern)) if path.endswith(".c"))


# "...;" and [...]: the compiler fills in the rest.
CDEF = """
struct jetwatt_telemetry { int64_t value[...]; ...; };
struct jetwatt_power {
    uint64_t seq, time_ns; uint32_t nr, valid; int gap; int64_t uw[...];
    struct jetwatt_telemetry telemetry; ...;
};
struct jetwatt_rail { uint32_t id, enabled, in_total; char label[...]; ...; };
struct jetwatt_series_row { uint32_t per; const char *name, *unit; ...; };
const struct jetwatt_series_row *jetwatt_telemetry_row(unsigned int slot, unsigned int *channel);
const char *jetwatt_telemetry_name(unsigned int slot, char *buf);
#define JETWATT_TELEMETRY_NAME_LEN ...
static const int SLOTS;

struct jetwatt_stream_minibatch {
    uint64_t start_ns, end_ns; double uj; uint32_t tgid, kind, phase, marked; ...;
};
struct jetwatt_stream_lost { uint64_t samples, waits, late, damaged; ...; };
struct jetwatt_stream;
int jetwatt_stream_live(struct jetwatt_stream **s, uint32_t pid, uint32_t rate_hz);
int jetwatt_stream_trace(struct jetwatt_stream **s, const char *path);
void jetwatt_stream_close(struct jetwatt_stream *s);
const char *jetwatt_stream_error(const struct jetwatt_stream *s);
int jetwatt_stream_fd(const struct jetwatt_stream *s);
int jetwatt_stream_step(struct jetwatt_stream *s);
const struct jetwatt_power *jetwatt_stream_power(const struct jetwatt_stream *s, size_t *n);
const struct jetwatt_stream_minibatch *jetwatt_stream_minibatches(const struct jetwatt_stream *s, size_t *n);
void jetwatt_stream_rows(const struct jetwatt_stream *s, int nr_rails, void *rows);
int jetwatt_stream_rails(const struct jetwatt_stream *s, const struct jetwatt_rail **rail);
void jetwatt_stream_lost(const struct jetwatt_stream *s, struct jetwatt_stream_lost *lost);
"""


ffibuilder = cffi.FFI()
ffibuilder.cdef(CDEF)
ffibuilder.set_source("_jetwatt_stream", """
#include "python/native/stream.h"
static const int SLOTS = JETWATT_TELEMETRY_SLOTS;
""", sources=sources(), libraries=["jetwatt", "m"], define_macros=[("_GNU_SOURCE", None)],
                      extra_compile_args=["-std=gnu11"], library_dirs=[os.path.join(CHECKOUT, "build")],
                      include_dirs=[os.path.join(TREE, d) for d in ("include", "include/uapi", "user")])
