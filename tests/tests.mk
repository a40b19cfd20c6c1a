# SPDX-License-Identifier: GPL-2.0-only
#
# What tests need built. `make arm64` and `make units` call make again with the
# output directory and the compiler of that build; the rules are the same ones.

kit := build/kit
selftests := $(kit)/linux-6.1/tools/testing/selftests
# Two makes at once must not write the same files.
lock := flock build/.lock
test_cflags := $(cflags) -I. -Itests -Itests/sim -isystem $(selftests) -Wno-sign-compare

comma := ,

# --- the simulated board's side -------------------------------------------------
# Room by room, so that what does not build keeps nothing else from being built
# (with make -k); the status tells.
arm := B=build/arm64 CROSS=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-12 \
	KERNEL_HEADERS=/usr/aarch64-linux-gnu/include \
	SYSROOT_CFLAGS="$(patsubst %,-idirafter $(kit)/sysroot/usr/include%,/libnl3 / /aarch64-linux-gnu)" \
	SYSROOT_LDFLAGS="$(foreach d,usr/lib lib,-L$(kit)/sysroot/$(d)/aarch64-linux-gnu \
		-Wl$(comma)-rpath-link$(comma)$(kit)/sysroot/$(d)/aarch64-linux-gnu)" \
	KDIR=$(kit)/linux-headers \
	KARGS="ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-12 CONFIG_DEBUG_INFO_BTF_MODULES="

arm64: $(kit)/complete
	+@$(lock) $(MAKE) --no-print-directory $(arm) board

$(kit)/complete: tests/setup.sh
	tests/setup.sh

jobs := $(patsubst tests/sim/jobs/%.c,$(B)/jobs/%,$(wildcard tests/sim/jobs/*.c))
guest_rooms := kmod lib bpf cmd loop
guest_tests := $(patsubst %.c,$(B)/%,$(wildcard tests/sim/test_*.c $(guest_rooms:%=tests/%/*.c)))
board: board-programs board-modules
board-programs: $(B)/jetwatt $(B)/libjetwatt.so $(jobs) $(guest_tests)
board-modules: $(B)/ina3221.ko $(if $(wildcard Kbuild),$(B)/jetwatt.ko) $(if $(wildcard tests/sim/Kbuild),$(B)/jetwatt-sim.ko)

$(B)/jobs/%: tests/sim/jobs/%.c
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(cflags) -Itests/sim -o $@ $< $(ldflags) -lm -lpthread

$(guest_tests): $(B)/tests/%: tests/%.c $(B)/libjetwatt.so $(B)/sync.skel.h
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(test_cflags) -o $@ $< $(ldflags) -ljetwatt $(libs) -lpthread

$(B)/jetwatt-sim.ko: links FORCE
	+@$(call kbuild,/tests/sim)
	@cmp -s $(B)/mod/tests/sim/jetwatt-sim.ko $@ || cp $(B)/mod/tests/sim/jetwatt-sim.ko $@

# The driver that owns the chips on a real board, from the guest kernel's source.
$(B)/ina3221.ko: $(selftests)/../../../drivers/hwmon/ina3221.c
	@mkdir -p $(B)/mod/ina3221
	@cp $< $(B)/mod/ina3221/
	@echo 'obj-m := ina3221.o' > $(B)/mod/ina3221/Kbuild
	+@$(call kbuild,/ina3221)
	@cp $(B)/mod/ina3221/ina3221.ko $@

# --- unit tests: on the host, with sanitizers -----------------------------------
# Everything but main() as an archive, of which a test takes what it needs.
units: $(kit)/complete
	+@$(lock) $(MAKE) --no-print-directory -k B=build/unit units-here \
		OPT="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

unit_tests := $(patsubst tests/unit/%.c,$(B)/%,$(wildcard tests/unit/*.c))
unit_objects := $(lib_objects) $(filter-out $(B)/user/cmd/%,$(tool_objects))
units-here: $(unit_tests)

$(unit_tests): $(B)/%: tests/unit/%.c $(B)/rooms.a
	$(call quiet,CC)$(CC) $(test_cflags) -MT $@ -MF $(B)/tests/$*.d -o $@ $< $(B)/rooms.a $(ldflags) $(libs)

# A room that does not compile is reported and left out; tests of the others still link.
$(B)/rooms.a: FORCE
	@mkdir -p $(B)/tests
	@+$(MAKE) --no-print-directory -k B=$(B) OPT="$(OPT)" $(unit_objects) || echo 'units: some rooms are left out'
	@for o in $(unit_objects); do [ ! "$$o" -nt $@ ] || { rm -f $@; break; }; done
	@[ -e $@ ] || ar qcs $@ $$(ls $(unit_objects) 2>/dev/null)

# --- other tests on the host -----------------------------------------------------
host_tests := $(patsubst tests/host/%.c,build/host/%,$(wildcard tests/host/*.c))
host-tests: $(host_tests)

$(host_tests): build/host/%: tests/host/%.c build/libjetwatt.so build/sync.skel.h | $(kit)/complete
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(test_cflags) -MF build/tests/host-$*.d -o $@ $< $(ldflags) \
		-Wl,-rpath,'$$ORIGIN/..' -ljetwatt $(libs) -lpthread

# --- the demo's report, on the host ----------------------------------------------
build/demo-report: $(patsubst %.c,build/%.o,$(wildcard tests/demo/*.c user/out/*.c user/store/*.c))
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

# The search alone, on files of measured modes and on random boards; minutes.
build/bench/search: tests/bench/search.c tests/unit/search_run.h tests/unit/world.h $(patsubst %.c,build/%.o,tests/demo/optimum.c $(wildcard user/model/*.c user/plan/*.c))
	@mkdir -p $(@D) build/tests
	$(call quiet,CC)$(CC) $(cflags) -Itests -MF build/tests/bench-search.d -o $@ $(filter %.c %.o,$^) $(ldflags) -lopenblas -lm

bench_files := $(wildcard $(or $(JETWATT_SHARED_DATA),../shared/data)/orin-agx-*-train.csv)
bench_boards := orin:301 dirty-orin:302 xavier:303 dirty-xavier:304 nano:305 dirty-nano:306
bench-search: build/bench/search
	OPENBLAS_NUM_THREADS=1 $< -s 2 -o build/bench/search.json $(bench_files) $(bench_boards)

bench-model: build/jetwatt
	tests/bench/model.py -o build/bench/model.json

check:
	tests/run

.PHONY: arm64 board board-programs board-modules units units-here host-tests demo bench-demo bench-search bench-model check
