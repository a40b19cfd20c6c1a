#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check-packages: run Debian's piuparts on the eight packages together, then on each one.
# piuparts installs the packages in a minimal Debian, removes their dependencies, purges the
# packages, and compares all files. piuparts repeats these steps with an upgrade from a lower
# version, and with a removal or a purge between two installations. Needs root, a mirror and ten
# minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
say() { echo "piuparts: $*"; }; list() { say "$@"; }; die() { say "$*"; exit 1; }; log=build/setup.log

command -v dpkg-deb > /dev/null || { echo "not a Debian machine"; exit 4; }
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 4; }
need piuparts adequate mmdebstrap dpkg-dev
mkdir -p build
[ -n "${KEEP_PACKAGES-}" ] || tests/kernels/package.sh > build/package.log 2>&1 ||
	{ tail -n 20 build/package.log; die "the packages do not build"; }
version=$(sed -n 's/^VERSION := //p' Makefile)
work=$PWD/build/piuparts
rm -rf --one-file-system "$work"
mkdir -p "$work/srv/old" "$work/srv/new" "$work/scripts" "$work/tmp"
cp build/package/*.deb "$work/srv/new/"
rm -f "$work"/srv/new/*-dbgsym*
as_older "$version" 0.0.9 "$work/srv/old" "$work"/srv/new/*.deb
for d in old new; do
	(cd "$work/srv/$d" && dpkg-scanpackages . > Packages 2> /dev/null)
done

# Additional checks of piuparts: checksums, permissions, links, copyrights, no /home.
cp /etc/piuparts/scripts/pre_remove_[0-9]* /etc/piuparts/scripts/post_setup_forbid_home "$work/scripts/"
# Create the files of normal use, which a purge must remove.
cat > "$work/scripts/post_install_use" << 'EOF'
#!/bin/sh
set -e
case $PIUPARTS_OBJECTS in jetwatt=*|*/jetwatt_*) ;; *) exit 0; esac
mkdir -p /etc/jetwatt
echo "budget = 30W" > /etc/jetwatt/jetwattd.conf
printf 'cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1000000,500000000,1600000000,100,20\n' > /tmp/a.csv
jetwatt import /tmp/a.csv --command "train x" --board Orin -q
rm /tmp/a.csv
EOF
chmod 755 "$work"/scripts/*

# A local repository offers the lower version to apt in the minimal Debian. The headers are needed
# by DKMS. depmod runs here, so that modules.dep is the same before and after.
sources_of "$(here_suite)" all > "$work/sources.list" || die "this machine's apt has no Debian mirror"
# shellcheck disable=SC2016
mmdebstrap --quiet --variant=minbase \
	--include="linux-headers-$(dpkg --print-architecture),kmod,ca-certificates" \
	--customize-hook='for d in "$1"/lib/modules/*; do chroot "$1" depmod "${d##*/}"; done' \
	--customize-hook="copy-in '$work/srv' /" \
	--customize-hook='echo "deb [trusted=yes] file:///srv/old ./" > "$1/etc/apt/sources.list.d/old.list"' \
	"$(here_suite)" "$work/base.tar.gz" "$work/sources.list" > "$work/mmdebstrap.log" 2>&1 ||
	{ tail "$work/mmdebstrap.log"; die "cannot create a clean root ($work/mmdebstrap.log)"; }

# Files that systemd and DKMS create at their first start and do not remove when they are purged.
others='/(root/\.ssh|var/(cache|lib|log)/private|var/lib/systemd/(coredump|pstore)|var/lib/dkms)/(mok\.(key|pub))?'
complaints=' ERROR: |(WARN|FAIL|SKIP|Warning): |MD5SUM|MISSING (OBJECT|COPYRIGHT)|OBSOLETE CONFFILE|UNOWNED SYMLINK'
failed=0
# parts NAME OPTION... DEB...: run piuparts
parts()
{
	local name=$1 rc=0
	shift
	# piuparts runs in its own mount namespace, so that its mounts vanish when piuparts ends.
	unshare --mount piuparts -d "$(here_suite)" -b "$work/base.tar.gz" --keep-sources-list \
		--scriptsdir "$work/scripts" -t "$work/tmp" -I "$others" --pedantic-purge-test \
		--fail-on-broken-symlinks --fail-if-inadequate \
		"$@" > "$work/$name.log" 2>&1 || rc=$?
	grep -E 'PASS: Inst' "$work/$name.log" | sed "s/.*PASS: /piuparts: $name: pass: /" || true
	! grep -E -A 10 "$complaints" "$work/$name.log" | grep -v ' DEBUG: ' || rc=1
	# Both tests of piuparts must have passed; a test that did not run prints no PASS.
	[ "$(grep -c 'PASS: Inst' "$work/$name.log")" = 2 ] || rc=1
	[ "$rc" = 0 ] || { say "$name: FAIL (build/piuparts/$name.log)"; failed=1; }
}
parts together "$work"/srv/new/*.deb
parts removed-between --install-remove-install "$work"/srv/new/*.deb
# Pass the packages by name, because the scripts of piuparts examine the first named package.
for deb in "$work"/srv/new/*.deb; do
	name=$(dpkg-deb -f "$deb" Package)
	parts "$name" --testdebs-repo /srv/new --install-purge-install --warn-on-others \
		--apt "$name=$version"
done
exit $failed
