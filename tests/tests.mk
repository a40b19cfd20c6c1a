# SPDX-License-Identifier: GPL-2.0-only
#
# Builds what the tests need. `make arm64` and `make units` call make recursively with the output
# directory (B) and the compiler or the options of that build, so that the same rules serve every build.

kit := build/kit
selftests := $(kit)/linux-6.1/tools/testing/selftests
# Concurrent makes must not write the same files.
lock := flock build/.lock
test_cflags := $(cflags) -I. -Itests -Itests/harness -Itests/sim -isystem $(selftests) -Wno-sign-compare -Wno-missing-field-initializers \
	-Werror=incompatible-pointer-types

comma := ,

# --- programs and modules of the arm64 guest, with the simulated board -----------
# The sysroot's libtinfo.so is an absolute link, so -ltinfo, also that in libncursesw.so, would link
# libtinfo.a, with which jetwatt top crashes: its structures differ from those of libncursesw.so.6.
arm := B=build/arm64 CROSS=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-12 \
	KERNEL_HEADERS=/usr/aarch64-linux-gnu/include \
	SYSROOT_CFLAGS="$(patsubst %,-idirafter $(kit)/sysroot/usr/include%,/libnl3 / /aarch64-linux-gnu)" \
	SYSROOT_LDFLAGS="$(foreach d,usr/lib lib,-L$(kit)/sysroot/$(d)/aarch64-linux-gnu \
		-Wl$(comma)-rpath-link$(comma)$(kit)/sysroot/$(d)/aarch64-linux-gnu)" \
	curses="-l:libncursesw.so.6 -l:libtinfo.so.6" KDIR=$(kit)/linux-headers \
	KARGS="ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-12 CONFIG_DEBUG_INFO_BTF_MODULES="

arm64: $(kit)/complete
	+@$(lock) $(MAKE) --no-print-directory $(arm) board

$(kit)/complete: tests/setup.sh
	tests/setup.sh

# The simulated CUDA libraries, under the names by which programs load them.
cuda := $(B)/cuda/libcuda.so.1 $(B)/cuda/libcudart.so.12
jobs := $(patsubst tests/sim/jobs/%.c,$(B)/jobs/%,$(wildcard tests/sim/jobs/*.c))
guest_dirs := kmod lib bpf cmd loop
guest_tests := $(patsubst %.c,$(B)/%,$(wildcard tests/sim/test_*.c tests/fuzz/netlink*.c tests/bench/kmod*.c tests/kernels/*.c tests/trees/*.c $(guest_dirs:%=tests/%/*.c)))
board: board-programs board-modules
board-programs: $(B)/jetwatt $(B)/jetwattd $(B)/jetwatt-knobs $(B)/jetwatt-files $(B)/libjetwatt.so $(jobs) $(cuda) $(guest_tests) $(B)/hw-measure $(B)/library-watch $(B)/waits
board-modules: $(B)/ina3221.ko $(if $(wildcard Kbuild),$(B)/jetwatt.ko) $(if $(wildcard tests/sim/Kbuild),$(B)/jetwatt-sim.ko)

$(B)/jobs/%: tests/sim/jobs/%.c
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(cflags) -Itests/sim -o $@ $(filter %.c,$^) $(ldflags) -lm -lpthread

$(jobs): tests/sim/gpu_uapi.h

# The program "plain" of frameworks.c needs the CUDA runtime linked in.
$(B)/jobs/frameworks $(B)/jobs/llmserve: tests/sim/libcuda/cudart.c tests/sim/libcuda/cudart.h tests/sim/libcuda/cuda.h tests/sim/jobs/frameworks.h tests/sim/jobs/llm_requests.h

# The simulated CUDA driver library and runtime library.
$(B)/cuda/libcuda.so.1: tests/sim/libcuda/cuda.c tests/sim/libcuda/queue.c tests/sim/libcuda/queue.h
$(B)/cuda/libcudart.so.12: tests/sim/libcuda/cudart.c tests/sim/libcuda/cudart.h
$(cuda): tests/sim/libcuda/cuda.h
	@mkdir -p $(@D) $(B)/tests
	$(call quiet,LD)$(CC) $(cflags) -Itests/sim -shared -Wl,-soname,$(@F) -MF $(B)/tests/$(@F).d -o $@ $(filter %.c,$^)

# Compares the minibatch boundaries that one backend of the probe finds with those that the job
# itself records.
$(B)/waits: tests/bench/waits.c $(B)/minibatch.a $(B)/libjetwatt.so
	@mkdir -p $(B)/tests
	$(call quiet,CC)$(CC) $(cflags) -MF $(B)/tests/waits.d -o $@ $(filter %.c %.a,$^) $(ldflags) -ljetwatt $(libs)

$(guest_tests): $(B)/tests/%: tests/%.c $(B)/libjetwatt.so $(B)/sync.skel.h
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(test_cflags) -o $@ $< $(ldflags) -ljetwatt $(libs) -lpthread

$(B)/jetwatt-sim.ko: links FORCE
	+@$(call kbuild,/tests/sim)
	@cmp -s $(B)/mod/tests/sim/jetwatt-sim.ko $@ || cp $(B)/mod/tests/sim/jetwatt-sim.ko $@

# The hwmon driver ina3221, which owns the chips on a real board, from the guest kernel's source.
INA3221 ?= $(selftests)/../../../drivers/hwmon/ina3221.c
$(B)/ina3221.ko: $(INA3221)
	@mkdir -p $(B)/mod/ina3221
	@cp $< $(B)/mod/ina3221/
	@echo 'obj-m := ina3221.o' > $(B)/mod/ina3221/Kbuild
	+@$(call kbuild,/ina3221)
	@cp $(B)/mod/ina3221/ina3221.ko $@

# The C example of doc/library.md, extracted from the page.
$(B)/library-watch: doc/library.md $(B)/libjetwatt.so
	@awk '$$0 == "```c" { on = 1; next } /^```$$/ { on = 0 } on' $< > $@.c
	$(call quiet,CC)$(CC) $(filter-out -MMD -MP,$(cflags)) -Wno-unused-parameter -o $@ $@.c $(ldflags) -ljetwatt

$(B)/hw-measure: tests/hw/measure.c $(B)/libjetwatt.so
	@mkdir -p $(B)/tests
	$(call quiet,CC)$(CC) $(cflags) -MF $(B)/tests/hw-measure.d -o $@ $< $(ldflags) -Wl,-rpath,'$$ORIGIN' -ljetwatt

# Check jetwatt on a real board. The check restores all knobs, and needs no QEMU.
check-hw: all build/hw-measure
	tests/hw/check build

# Build the modules for a kernel that tests/kernels/prepare has fetched or built:
#     make kernel K=5.10
K ?= 5.10
.PHONY: kernel bench-kmod
kernel:
	+@$(lock)-$(K) $(MAKE) --no-print-directory B=build/kernels/$(K)/out KDIR=build/kernels/$(K)/linux-headers \
		KARGS="$$(cat build/kernels/$(K)/make.args)" INA3221=build/kernels/$(K)/ina3221.c \
		INSIDE="tests/kernels/inside $(K)" board-modules

# --- unit tests: on the host, with sanitizers -----------------------------------
# The directories that unit tests use are in one archive, from which the linker takes the objects
# that a test uses.
units: $(kit)/complete
	+@$(lock) $(MAKE) --no-print-directory -k B=build/unit units-here \
		OPT="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

unit_tests := $(patsubst tests/unit/%.c,$(B)/%,$(wildcard tests/unit/*.c))
unit_objects := $(foreach a,lib daemon policy $(shared),$($(a)_objects))
# UNITS="NAME ..." builds only these tests.
units-here: $(if $(UNITS),$(UNITS:%=$(B)/%),$(unit_tests))

$(unit_tests): $(B)/%: tests/unit/%.c $(B)/user.a
	$(call quiet,CC)$(CC) $(test_cflags) -MT $@ -MF $(B)/tests/$*.d -o $@ $< $(B)/user.a $(ldflags) $(libs) -lpthread

# An object that does not compile is reported and left out of the archive; tests that do not use it
# still link.
$(B)/user.a: FORCE
	@mkdir -p $(B)/tests
	@+$(MAKE) --no-print-directory -k B=$(B) OPT="$(OPT)" $(unit_objects) || echo 'units: some objects are left out'
	@ls $(unit_objects) > $@.new 2>/dev/null; cmp -s $@.new $(B)/user.members || mv $@.new $(B)/user.members
	@for o in $(B)/user.members $(unit_objects); do [ ! "$$o" -nt $@ ] || { rm -f $@; break; }; done
	@[ -e $@ ] || $(AR) qcs $@ $$(cat $(B)/user.members)

# --- other tests on the host -----------------------------------------------------
host_tests := $(patsubst tests/host/%.c,build/host/%,$(wildcard tests/host/*.c))
host-tests: $(host_tests) $(cuda) build/jobs/cutrain build/jobs/llmserve build/make-trace build/demo-report build/serve-metrics build/read-units

$(host_tests): build/host/%: tests/host/%.c build/libjetwatt.so build/sync.skel.h | $(kit)/complete
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(test_cflags) -MF build/tests/host-$*.d -o $@ $< $(ldflags) \
		-Wl,-rpath,'$$ORIGIN/..' -ljetwatt $(libs) -lpthread

# Writes traces with known minibatch boundaries, for tests of programs that read traces.
build/make-trace: tests/trace/make.c build/libjetwatt.so
	@mkdir -p build/tests
	$(call quiet,CC)$(CC) $(test_cflags) -MF build/tests/make-trace.d -o $@ $< $(ldflags) -Wl,-rpath,'$$ORIGIN' -ljetwatt $(libs)

# Serves jetwattd's control socket and metrics without a board.
build/serve-metrics: tests/metrics/serve.c $(patsubst %,build/%.a,daemon policy $(shared)) build/libjetwatt.so
	@mkdir -p build/tests
	$(call quiet,CC)$(CC) $(cflags) -MF build/tests/serve-metrics.d -o $@ $(filter %.c %.a,$^) $(ldflags) \
		-Wl,-rpath,'$$ORIGIN' -ljetwatt $(libs) -lpthread

# Reads counters of work units without a board.
build/read-units: tests/metrics/units.c build/measure.a build/util.a
	@mkdir -p build/tests
	$(call quiet,CC)$(CC) $(cflags) -MF build/tests/read-units.d -o $@ $(filter %.c %.a,$^) -lm -lpthread

# --- the demo's report, on the host ----------------------------------------------
build/demo-report: $(patsubst %.c,build/%.o,$(wildcard tests/demo/*.c)) build/out.a build/store.a build/util.a
	$(call quiet,LD)$(CC) $(OPT) -o $@ $^ -ljansson -lm

demo:
	@tests/demo/demo.sh check
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64 build/demo-report
	@tests/demo/demo.sh

bench-demo:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64 build/demo-report
	@tests/demo/matrix.sh

# Benchmark of the search, on files of measured modes and on random boards. Takes minutes.
build/bench/search: tests/bench/search.c tests/unit/search_run.h tests/unit/synth.h build/tests/demo/optimum.o build/plan.a build/model.a
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -MF build/tests/bench-search.d -o $@ $(filter %.c %.o %.a,$^) $(ldflags) -lopenblas -lz -lm

bench_files := $(wildcard $(or $(JETWATT_SHARED_DATA),../shared/data)/orin-agx-*-train.csv)
bench_boards := orin:301 dirty-orin:302 xavier:303 dirty-xavier:304 nano:305 dirty-nano:306
bench-search: build/bench/search
	OPENBLAS_NUM_THREADS=1 $< -s 2 -o build/bench/search.json $(bench_files) $(bench_boards)

# Benchmark of jetwattd's learner in virtual time: the modes that it chooses. Takes minutes. JOBS=
# (default 10): number of jobs for each file and minibatch length.
build/bench/learner build/bench/learner-day: tests/bench/learner_job.h tests/bench/learner_file.h tests/unit/search_run.h \
		build/tests/demo/optimum.o $(addprefix build/,daemon.a policy.a $(shared:%=%.a))
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -MF build/tests/bench-$(@F).d -o $@ $(filter %.c,$^) $(filter %.o %.a,$^) $(ldflags) $(libs)
build/bench/learner: tests/bench/learner.c
build/bench/learner-day: tests/bench/learner_day.c

bench-learner: build/bench/learner
	OPENBLAS_NUM_THREADS=1 tests/bench/learner.py -j $(or $(JOBS),10) -o build/bench/learner.json $(bench_files)

# A day of jobs with jetwattd's learner, in virtual time. HOURS= (default 24), LENGTHS=LO:HI of the jobs
# in seconds (default 30:10800; 60:60: jobs of one minute), SEEDS= (default "1 2 3 4 5").
bench-learner-day: build/bench/learner-day
	OPENBLAS_NUM_THREADS=1 tests/bench/learner_day.py -H $(or $(HOURS),24) -l $(or $(LENGTHS),30:10800) \
		$(addprefix -s ,$(or $(SEEDS),1 2 3 4 5)) -o build/bench/learner-day $(bench_files)

# Benchmark of the overhead that the probe adds to a job, on this machine, as root.
build/bench/probe: tests/bench/probe.c tests/bpf/node.h build/libjetwatt.so
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -MF build/tests/bench-probe.d -o $@ $< $(ldflags) \
		-Wl,-rpath,'$$ORIGIN/..' -ljetwatt $(libs)

bench-probe: build/bench/probe
	$< -o build/bench/probe.json

# Benchmark of minibatch detection: errors of the bounds and of the energies. SEED= selects other
# jobs.
build/bench/batch: tests/bench/batch.c $(wildcard tests/unit/*.h) build/energy.a build/minibatch.a
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -Itests/unit -MF build/tests/bench-batch.d -o $@ $(filter %.c %.a,$^) $(ldflags) -lm

build/bench/batch-trace: tests/bench/batch_trace.c build/energy.a build/minibatch.a build/libjetwatt.so
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -MF build/tests/bench-batch-trace.d -o $@ $(filter %.c %.a,$^) $(ldflags) \
		-Wl,-rpath,'$$ORIGIN/..' -ljetwatt -lm

bench-batch: build/bench/batch build/bench/batch-trace build/bench/probe
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	tests/bench/batch.py -o build/bench/batch.json

# Benchmark of the probe's backends: for each program, which backends detect its minibatches. Takes
# 15 minutes.
bench-waits:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	tests/bench/waits.py -o build/bench/waits.json

# Compare time slices with running training and server side by side, in a guest. KILLS=0 leaves out
# bench-schedule-kills, which takes hours.
build/bench/schedule: tests/bench/schedule.c build/out.a build/util.a
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -MF build/tests/bench-schedule.d -o $@ $(filter %.c %.a,$^) $(ldflags) -lm

bench-schedule: build/bench/schedule
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@tests/bench/schedule.sh

# Kill `jetwatt schedule` KILLS= times at random moments (SEED=), in GUESTS= guests at a time.
bench-schedule-kills:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@tests/bench/schedule_kills.sh

# Benchmark of jetwattd. CORPUS=: a file of measured modes to simulate; SEED= selects other random
# numbers.
bench-daemon:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@mkdir -p build/bench
	@tests/bench/daemon.py $(if $(CORPUS),--corpus "$(CORPUS)") --seed $(or $(SEED),1)

# Measure memory, open descriptors and CPU time of jetwattd under load for HOURS= of guest time.
bench-day:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@tests/bench/day.sh

# Searches by energy and time per token of two servers, in a guest.
bench-tokens:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@mkdir -p build/bench
	@tests/bench/tokens.sh

# The Python package in a guest: energy that an unprivileged user measures, without and with a container,
# and CPU time of a stream.
bench-python:
	@tests/setup.sh
	@tests/bench/python.sh

# Kill jetwattd ROUNDS= times and cut the power CUTS= times, at random moments (SEED=).
bench-kills:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@mkdir -p build/bench
	@tests/bench/kills.sh

# Benchmark of the predictors, compared with PyTorch and scikit-learn if these can be installed.
bench-model: build/jetwatt
	@[ "$$(id -u)" != 0 ] || /usr/bin/python3 -c 'import torch, sklearn' 2>/dev/null || \
		apt-get install -y --no-install-recommends python3-torch python3-sklearn || true
	tests/bench/model.py -o build/bench/model.json

# Benchmark of searches, and of plans for two workloads, on files of measured modes. QUERIES=:
# number of queries drawn from each sweep (default 100); SEED= selects other queries.
bench-plan: build/jetwatt
	@mkdir -p build/bench
	tests/bench/plan.py -o build/bench/plan.json -q $(or $(QUERIES),100) -s $(or $(SEED),1)

# Compare operations and bytes of exported ONNX networks with published figures; installs the
# exporters. Then measure the rooflines of the simulated board in a guest. Takes minutes.
bench-roofline: build/jetwatt
	@[ "$$(id -u)" != 0 ] || /usr/bin/python3 -c 'import torchvision, onnx' 2>/dev/null || \
		apt-get install -y --no-install-recommends python3-torch python3-torchvision python3-onnx || true
	tests/bench/roofline.py -o build/bench/roofline.json
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	tests/bench/roofline.sh

# --- the HTML report in Chromium (make check does this too, if a browser is installed) ---
check-report:
	command -v chromium > /dev/null || apt-get install -y --no-install-recommends chromium
	tests/run host/page

# --- fuzzers of tests/fuzz/, FUZZ_S seconds each; FUZZ="NAME ..." selects some -----
FUZZ_S ?= 600
# tests/fuzz/netlink.c needs the module, so it runs as a guest test.
FUZZ ?= $(filter-out netlink,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
fuzz: $(kit)/complete
	+@$(MAKE) --no-print-directory B=build/fuzz CC=clang fuzz-here \
		OPT="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
	@for f in $(FUZZ); do mkdir -p build/fuzz/corpus/$$f && \
		build/fuzz/$$f -max_total_time=$(FUZZ_S) -max_len=65536 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/$$f- build/fuzz/corpus/$$f || exit 1; done

fuzz-here: $(FUZZ:%=$(B)/%)
$(FUZZ:%=build/fuzz/%): build/fuzz/%: tests/fuzz/%.c $(B)/user.a
	$(call quiet,CC)$(CC) $(test_cflags) -fsanitize=fuzzer -MT $@ -MF $(B)/tests/$*.d -o $@ $< $(B)/user.a \
		$(ldflags) $(libs)

# Reproduce published findings about training on Jetson boards with jetwatt's commands, in a guest.
# Takes minutes.
bench-characterise: build/jetwatt
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	tests/bench/characterise.py -o build/bench/characterise.json

# Benchmark of the module's overhead, in guests. Takes minutes.
bench-kmod:
	@tests/setup.sh
	+@$(MAKE) --no-print-directory arm64
	@tests/bench/kmod.sh

# Run all tests, or those that match TESTS="DIR/NAME ..." (shell patterns).
check:
	tests/run $(TESTS)

# Run the tests that were flaky, and those in TESTS="DIR/NAME ...", N= times each (default 20) while
# two busy loops run.
check-flaky:
	@tests/flaky -n "$(or $(N),20)" $(TESTS)

# Run the module's tests on every known kernel: packaged in Debian, or built from source. The first
# run takes an hour. KSRC=DIR: only on the kernel source tree DIR, with the configurations
# KCONFIG='NAME|FILE...' (tests/kernels/tree.inc).
check-kernels:
	tests/kernels/check $(if $(KSRC),--tree "$(KSRC)" "$(KCONFIG)")

# Build and run user space in Debian 11, 12 and 13, whose compilers and libraries are close to those
# of JetPack 5, 6 and 7. Needs root, takes ten minutes.
check-userlands:
	tests/kernels/userlands

# Install, upgrade and purge the packages in a minimal Debian, also with piuparts. Needs root, takes
# 15 minutes. KEEP_PACKAGES=1 uses the packages of the last run.
check-packages:
	@tests/kernels/install.sh
	@KEEP_PACKAGES=1 tests/kernels/piuparts.sh

# Check in guests that perf, sensors, the node exporter, YNL and Python read the same energy, and that
# the Python package measures it within its uncertainty. Takes 20 minutes.
check-clients:
	@tests/clients/check

# Compare what Zeus, jtop and Kepler read with the true energy of the simulated board, in a guest.
# ZEUS=, JTOP=, KEPLER=: directories with their sources; SEED= selects other random numbers.
check-integrations:
	@ZEUS="$(ZEUS)" JTOP="$(JTOP)" KEPLER="$(KEPLER)" SEED="$(SEED)" tests/clients/integrations.sh

# Test the systemd units in a guest whose process 1 is systemd. Takes minutes.
check-systemd:
	@tests/systemd/check

# Install the arm64 build, for check-systemd. Takes DESTDIR=, PREFIX=, and the paths of libraries
# that build/kit lacks.
install-arm64:
	+@$(lock) $(MAKE) --no-print-directory $(arm) install

# Run the module's tests and the netlink fuzzer on a debug kernel (KASAN, lockdep, kmemleak,
# failslab).
check-debug:
	tests/kernels/debug

.PHONY: check-clients check-integrations check-flaky check-userlands check-hw check-kernels check-debug check-packages check-systemd install-arm64
.PHONY: arm64 board board-programs board-modules units units-here host-tests demo bench-demo bench-search bench-learner bench-learner-day bench-tokens bench-python bench-probe bench-batch bench-waits bench-model bench-plan bench-roofline bench-schedule bench-schedule-kills bench-daemon bench-day bench-kills bench-characterise fuzz fuzz-here check-report check

# Test discovery with a vendor's compiled device trees: their power sensors are simulated in a
# guest.
#     make check-trees DTB="a.dtb b.dtb"
.PHONY: check-trees
check-trees: arm64
	tests/trees/check $(DTB)
