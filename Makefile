# SPDX-License-Identifier: GPL-2.0-only
#
#   make             module for the running kernel, BPF, library and programs, in build/
#   make install     install these under PREFIX (/usr/local) and DESTDIR, and the module's source for
#                    DKMS
#   make modules     jetwatt.ko only; KDIR=, W=1, C=1 as for any kernel module
#   make arm64       the same and the tests for the simulated board, in build/arm64/
#   make check       the tests of tests/run; installs what it needs (Debian 12)
#   make check-flaky                   tests that have failed sporadically, N= times each under load
#   make check-kernels, check-debug    tests of the module on other kernels; on a kernel with KASAN
#   sudo make check-userlands          user space with libraries close to those of JetPack 5, 6, 7
#   make check-systemd                 the units under systemd, in a guest
#   sudo make check-packages           the packages installed, upgraded, purged in a clean Debian
#   make check-clients                 other programs that read the module's energy counters
#   make check-integrations            Zeus, jtop and Kepler on the simulated board; ZEUS= JTOP= KEPLER=
#   make check-trees DTB="a.dtb ..."   rails of compiled device trees, in the guest
#   sudo make check-hw                 tests on a real board; restores what it changes
#   make bench-kmod  CPU time and timing of the module
#   make demo        optimize a job on the simulated board; BOARD= BUDGET_W= CORPUS= WORKLOAD=
#   make clean

# V=1 shows the commands.

VERSION := 0.1.0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
UNITDIR ?= /lib/systemd/system
B ?= build
CROSS ?=
CC := $(CROSS)gcc
HOSTCC ?= gcc
AR := $(CROSS)ar
CLANG ?= clang
# Ubuntu's /usr/sbin/bpftool runs the bpftool of the running kernel's package, which does not exist
# for a Jetson's kernel.
BPFTOOL ?= $(firstword $(wildcard /usr/lib/linux-tools/*/bpftool /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
KDIR ?= /lib/modules/$(shell uname -r)/build
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

OPT ?= -O2 -g
CFLAGS ?=
machine := $(shell $(CC) -print-multiarch 2>/dev/null)
warn := -Wall -Wextra
cflags := -std=gnu11 $(OPT) $(warn) -fPIC -MMD -MP -D_GNU_SOURCE -DJETWATT_VERSION='"$(VERSION)"' \
	-Iinclude -Iinclude/uapi -Iuser -I$(B) $(SYSROOT_CFLAGS) \
	$(if $(SYSROOT_CFLAGS),,-isystem /usr/include/libnl3) $(CFLAGS)
ldflags := -L$(B) $(SYSROOT_LDFLAGS) -Wl,--as-needed $(LDFLAGS)
libs := -lnl-genl-3 -lnl-3 -lbpf -lelf -lz -lopenblas -lsqlite3 -lmd -lm
curses := -lncursesw -ltinfo

# --- directories of user/ -------------------------------------------------------
# Each directory becomes one archive of all objects without a main(). A program links its main() and
# some archives; an archive may use only the archives after it in the list (tests/host/tree.sh).
mains := cmd/jetwatt daemon/main knobs/main files/main sync/main exporter/http exporter/mqtt
shared := timeshare tune measure job plan out store energy minibatch board model util
archives := cmd daemon knobs sync exporter policy $(shared) lib
objects = $(patsubst %.c,$(B)/%.o,$(filter-out $(mains:%=user/%.c),$(wildcard user/$(1)/*.c user/$(1)/*/*.c)))
$(foreach a,$(archives),$(eval $(a)_objects := $(call objects,$(a))))
main = $(B)/user/$(1).o $(patsubst %,$(B)/%.a,$(2))

# jetwatt-sync needs libpq.
libpq := $(if $(CROSS),,$(shell pkg-config --libs libpq 2>/dev/null))
# jetwatt-mqtt needs libmosquitto.
mosquitto := $(if $(CROSS),,$(shell pkg-config --libs libmosquitto 2>/dev/null))

all: $(B)/jetwatt $(B)/jetwattd $(B)/jetwatt-knobs $(B)/jetwatt-files $(B)/jetwatt-exporter $(if $(libpq),$(B)/jetwatt-sync,no-sync) $(if $(mosquitto),$(B)/jetwatt-mqtt,no-mqtt) $(B)/libjetwatt.so pages modules

no-sync:
	@echo "jetwatt-sync is not built: no libpq (package libpq-dev)"

no-mqtt:
	@echo "jetwatt-mqtt is not built: no libmosquitto (package libmosquitto-dev)"

quiet = $(if $(V),,@echo "  $(1)	$@";)

# --- user space ---------------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(cflags) -c -o $@ $<

# The file .members lists the objects of an archive, so that it is rebuilt when a source is removed.
$(foreach a,$(archives),$(eval $(B)/$(a).a: $($(a)_objects) $(B)/$(a).members))
$(archives:%=$(B)/%.a):
	$(call quiet,AR)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)

$(archives:%=$(B)/%.members): $(B)/%.members: FORCE
	@mkdir -p $(@D)
	@echo "$($*_objects)" | cmp -s - $@ || echo "$($*_objects)" > $@

$(B)/libjetwatt.so.1: $(lib_objects) $(B)/lib.members user/lib/libjetwatt.map
	$(call quiet,LD)$(CC) -shared -Wl,-soname,libjetwatt.so.1 -Wl,--version-script=user/lib/libjetwatt.map \
		$(OPT) $(ldflags) -o $@ $(lib_objects) $(libs)

$(B)/libjetwatt.so: $(B)/libjetwatt.so.1
	@ln -sf $(<F) $@

# A program finds libjetwatt in its own directory (build tree) and in ../lib (installed).
RPATH ?= -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'
$(B)/jetwatt: $(call main,cmd/jetwatt,cmd $(shared)) $(B)/libjetwatt.so
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) $(RPATH) -o $@ $(filter %.o %.a,$^) -ljetwatt $(libs) $(curses) -lpthread

$(B)/jetwattd: $(call main,daemon/main,daemon policy $(shared)) $(B)/libjetwatt.so
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) $(RPATH) -o $@ $(filter %.o %.a,$^) -ljetwatt $(libs) -lpthread

# Runs as root, so it links as little as possible.
$(B)/jetwatt-knobs: $(call main,knobs/main,knobs policy board util)
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) -o $@ $^

# Has CAP_SYS_PTRACE, so it links as little as possible.
$(B)/jetwatt-files: $(call main,files/main,util lib)
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) -o $@ $^

# Serves the network, so it links only what it needs of libjetwatt.
$(B)/jetwatt-exporter: $(call main,exporter/http,exporter policy out util lib)
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) -o $@ $^ -lmicrohttpd -lnl-genl-3 -lnl-3 -lm

$(B)/user/sync/main.o $(sync_objects): cflags += $(shell pkg-config --cflags libpq 2>/dev/null)
$(B)/jetwatt-sync: $(call main,sync/main,sync $(shared)) $(B)/libjetwatt.so
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) $(if $(RPATH),$(RPATH):'$$ORIGIN/../../lib') -o $@ $(filter %.o %.a,$^) -ljetwatt $(libs) $(libpq)

$(B)/jetwatt-mqtt: $(call main,exporter/mqtt,exporter policy out util)
	$(call quiet,LD)$(CC) $(OPT) $(ldflags) -o $@ $^ $(mosquitto) -lmd -lm -lpthread

# These files have long loops over floats. -O2 does not vectorise them. Without -fno-trapping-math
# gcc must keep branches around float operations, because these could trap.
$(B)/user/model/nn.o $(B)/user/model/nn_train.o $(B)/user/plan/slice.o: cflags += -O3 -fno-math-errno -fno-trapping-math

# --- BPF: uses no kernel BTF and no relocations, so it needs no vmlinux.h -----
bpf_arch := $(if $(findstring aarch64,$(machine)),arm64,x86)
$(B)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call quiet,BPF)$(CLANG) -target bpf -O2 -g $(warn) -Wno-unused-parameter -D__TARGET_ARCH_$(bpf_arch) -MMD -MP -MT $@ -MF $(@:.o=.d) \
		-Iinclude/uapi -idirafter $(or $(KERNEL_HEADERS),/usr/include/$(machine)) -c -o $@ $<

# The skeleton is named after its file: bpftool before 5.13 has no option for the name.
$(B)/%.skel.h: $(B)/bpf/%.bpf.o
	@cp $< $(B)/bpf/$*.o
	$(call quiet,GEN)$(BPFTOOL) gen skeleton $(B)/bpf/$*.o > $@

$(B)/user/lib/probe_bpf.o $(B)/user/lib/probe_uprobe.o $(B)/user/lib/probe_callback.o: $(B)/sync.skel.h
$(B)/user/lib/arrivals.o: $(B)/arrive.skel.h

# --- modules ------------------------------------------------------------------
# Kbuild writes objects next to the sources, so it builds in a tree of links to them.
links:
	@mkdir -p $(B)/mod/tests
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/include $(B)/mod/
	@cp -rsf $(CURDIR)/tests/sim $(B)/mod/tests/
	@find $(B)/mod -xtype l -delete

# INSIDE= is for tests: a command that runs make in a root with the tools of that kernel.
kbuild = $(INSIDE) $(MAKE) -C $(KDIR) $(KARGS) M=$(abspath $(B)/mod$(1)) modules

$(B)/jetwatt.ko: links FORCE
	+@$(call kbuild)
	@cmp -s $(B)/mod/jetwatt.ko $@ || cp $(B)/mod/jetwatt.ko $@

modules: $(if $(wildcard $(KDIR)/Makefile),$(B)/jetwatt.ko,no-modules)

no-modules:
	@echo "jetwatt.ko is not built: no headers of the running kernel in $(KDIR) (package linux-headers-$(shell uname -r))"

# --- man pages: tables.c inserts lists from tables of the programs and of the module ---
pages := $(patsubst %,$(B)/%,$(wildcard man/*.[1-8]))
pages: $(pages)

$(B)/man/tables: man/tables.c user/cmd/verbs.h user/minibatch/rules.h include/jetwatt.h kmod/sensors/chips.h
	@mkdir -p $(@D)
	$(call quiet,HOSTCC)$(HOSTCC) $(warn) -Iuser -Iinclude -Iinclude/uapi -Ikmod -o $@ $<

$(pages): $(B)/%: % $(B)/man/tables
	@$(B)/man/tables < $< > $@

# --- the rest -----------------------------------------------------------------
include tests/tests.mk

share := $(DESTDIR)$(PREFIX)/share
lib := $(DESTDIR)$(LIBDIR)
units := user/dist/jetwattd.service user/dist/jetwatt-exporter.service user/dist/jetwatt-telemetry.service user/dist/jetwatt-knobs.service user/dist/jetwatt-files.service $(if $(mosquitto),user/dist/jetwatt-mqtt.service)
dkms := $(DESTDIR)/usr/src/jetwatt-$(VERSION)
install: all
	install -D -m755 $(B)/jetwatt $(DESTDIR)$(PREFIX)/bin/jetwatt
	install -D -m755 $(B)/jetwattd $(DESTDIR)$(PREFIX)/sbin/jetwattd
	install -D -m755 $(B)/jetwatt-knobs $(DESTDIR)$(PREFIX)/sbin/jetwatt-knobs
	install -D -m755 $(B)/jetwatt-files $(DESTDIR)$(PREFIX)/sbin/jetwatt-files
	install -D -m755 $(B)/jetwatt-exporter $(DESTDIR)$(PREFIX)/sbin/jetwatt-exporter
	@[ ! -e $(B)/jetwatt-mqtt ] || install -D -m755 $(B)/jetwatt-mqtt $(DESTDIR)$(PREFIX)/sbin/jetwatt-mqtt
	@[ ! -e $(B)/jetwatt-sync ] || install -D -m755 $(B)/jetwatt-sync $(DESTDIR)$(PREFIX)/libexec/jetwatt/jetwatt-sync
	install -D -m755 $(B)/libjetwatt.so.1 $(lib)/libjetwatt.so.1
	ln -sf libjetwatt.so.1 $(lib)/libjetwatt.so
	install -D -m644 include/jetwatt.h $(DESTDIR)$(PREFIX)/include/jetwatt.h
	install -D -m644 include/uapi/linux/jetwatt.h $(DESTDIR)$(PREFIX)/include/linux/jetwatt.h
	mkdir -p $(lib)/pkgconfig
	sed -e 's,@PREFIX@,$(PREFIX),;s,@LIBDIR@,$(LIBDIR:$(PREFIX)/%=$${prefix}/%),;s,@INCLUDEDIR@,$${prefix}/include,;s,@VERSION@,$(VERSION),' \
		user/lib/jetwatt.pc.in > $(lib)/pkgconfig/libjetwatt.pc
	$(foreach spec,$(wildcard include/netlink/specs/*.yaml),install -D -m644 -t $(share)/ynl/specs $(spec);)
	$(foreach page,$(pages),install -D -m644 -t $(share)/man/man$(subst .,,$(suffix $(page))) $(page);)
	$(foreach unit,$(units),sed "s,/usr/sbin,$(PREFIX)/sbin,;s,/usr/bin,$(PREFIX)/bin," $(unit) > $(B)/$(notdir $(unit));)
	install -D -m644 -t $(DESTDIR)$(UNITDIR) $(addprefix $(B)/,$(notdir $(units)))
	install -D -m644 user/dist/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/jetwatt.conf
	install -D -m644 user/dist/tmpfiles.conf $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/jetwatt.conf
	install -D -m644 -t $(share)/jetwatt/monitoring user/dist/monitoring/dashboard.json user/dist/monitoring/alerts.yml
	@[ ! -e $(B)/jetwatt-sync ] || { for u in jetwatt-sync.service jetwatt-profiles@.service; do \
		sed "s,/usr/bin,$(PREFIX)/bin," user/dist/$$u > $(B)/$$u; done; \
		install -D -m644 -t $(DESTDIR)$(UNITDIR) $(B)/jetwatt-sync.service $(B)/jetwatt-profiles@.service \
			user/dist/jetwatt-profiles.socket user/dist/jetwatt-sync.timer; }
	install -D -m644 -t $(share)/doc/jetwatt/examples user/dist/jetwattd.conf user/dist/container/Containerfile \
		user/dist/container/daemonset.yaml
	install -D -m755 -t $(share)/doc/jetwatt/examples user/dist/container/measured
	$(foreach f,$(wildcard user/cmd/jetwatt.bash-completion),install -D -m644 $(f) $(share)/bash-completion/completions/jetwatt;)
	mkdir -p $(dkms)
	cp -r Kbuild dkms.conf kmod LICENSES $(dkms)/
	install -D -m644 -t $(dkms)/include/uapi/linux include/uapi/linux/jetwatt.h
	@[ ! -e $(B)/jetwatt.ko ] || $(MAKE) --no-print-directory install-module
	-@[ -n "$(DESTDIR)" ] || /sbin/ldconfig

# Install under the kernel release that the module was built for, where modprobe finds it.
release = $(firstword $(shell /sbin/modinfo -F vermagic $(B)/jetwatt.ko))
install-module:
	install -D -m644 $(B)/jetwatt.ko $(DESTDIR)/lib/modules/$(release)/updates/jetwatt.ko
	[ -n "$(DESTDIR)" ] || /sbin/depmod $(release)

clean:
	find build -mindepth 1 -maxdepth 1 ! -name kit -exec rm -rf {} +

distclean:
	rm -rf build

FORCE:
.PHONY: all pages links modules no-modules install install-module clean distclean FORCE
-include $(shell [ ! -d $(B) ] || find $(B)/user $(B)/bpf $(B)/tests -name '*.d' 2>/dev/null)
