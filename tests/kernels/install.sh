#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check-packages: install the packages in a minimal Debian, start the programs, upgrade from a
# lower version, remove and purge; nothing must be left. DKMS builds the module for the kernel whose
# headers are installed in the minimal Debian. No systemd runs in it: policy-rc.d forbids services,
# and this script starts the programs itself (make check-systemd tests the units). Needs root, a
# mirror and some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
say() { echo "# $*"; }; list() { say "$@"; }; die() { say "$*"; exit 1; }; log=build/setup.log

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 4; }
need mmdebstrap
[ -n "${KEEP_PACKAGES-}" ] || tests/kernels/package.sh > build/package.log 2>&1 ||
	{ tail -n 20 build/package.log; die "the packages do not build"; }
version=$(sed -n 's/^VERSION := //p' Makefile)
older=0.0.9
work=$PWD/build/install
root=$work/root
state=$root/var/lib/jetwatt
rm -rf "$work"
mkdir -p "$work/old" "$work/new"
cp build/package/*.deb "$work/new/"
rm -f "$work"/new/*-dbgsym*
n=0 failed=0
check() # TEXT COMMAND
{
	n=$((n + 1))
	if eval "$2" > "$work/said" 2>&1; then
		echo "ok $n $1"
	else
		tail -n 20 "$work/said" | sed 's/^/# /'
		echo "not ok $n $1"
		failed=1
	fi
}
# inside COMMAND...: run COMMAND in the root directory $root, with its own /proc
inside()
{
	unshare --mount --pid --fork --mount-proc="$root/proc" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"
}
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./dev \) -prune -o -print | sort); }
ours() { inside dpkg-query -W -f '${Package}\n' | grep jetwatt; }
all() { inside dpkg "$1" $(ours); }
owner() { inside stat -c '%U:%G %a' "$1"; }

as_older "$version" "$older" "$work/old" "$work"/new/*.deb

# Install all dependencies first, so that later changes of files come from the packages alone.
depends=$(for deb in "$work"/new/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' |
	sed 's/|.*//;s/(.*//;s/:any//;s/ //g' | sort -u | grep -v -e jetwatt -e '^$')
sources_of "$(here_suite)" all > "$work/sources.list" || die "this machine's apt has no Debian mirror"
# shellcheck disable=SC2086,SC2016
mmdebstrap --quiet --variant=minbase \
	--include="$(echo $depends "linux-headers-$(dpkg --print-architecture)" adduser systemd | tr ' ' ,)" \
	--customize-hook='printf "#!/bin/sh\nexit 101\n" > "$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"' \
	"$(here_suite)" "$root" "$work/sources.list" > "$work/mmdebstrap.log" 2>&1 ||
	{ tail "$work/mmdebstrap.log"; die "cannot create a clean root ($work/mmdebstrap.log)"; }
rm -rf "$root"/var/log/* "$root"/var/lib/dpkg/*-old
say "a clean root: $(du -sh "$root" | cut -f 1)"
files > "$work/before"

mkdir -p "$root/tmp/old" "$root/tmp/new"
cp "$work"/old/*.deb "$root/tmp/old/"
cp "$work"/new/*.deb "$root/tmp/new/"
check "the packages can be installed" 'inside sh -c "dpkg -i /tmp/old/*.deb"'
check "DKMS has built the module" 'inside dkms status; inside dkms status | grep "jetwatt/$older" | grep -q installed'
check "systemd accepts the units" 'inside sh -c "systemd-analyze verify --man=no /lib/systemd/system/jetwatt*.service /lib/systemd/system/jetwatt*.timer"'
check "jetwatt-exporter is enabled, and jetwatt-telemetry, which would stop it, is not" \
	'inside systemctl is-enabled jetwatt-exporter && [ "$(inside systemctl is-enabled jetwatt-telemetry)" = disabled ]'
check "user, groups and directories exist" \
	'owner /var/lib/jetwatt && owner /var/lib/jetwatt/profiles && inside id jetwatt && grep "^jetwatt-control:" "$root/etc/group" &&
	 [ "$(owner /var/lib/jetwatt)" = "root:root 755" ] && [ "$(owner /var/lib/jetwatt/profiles)" = "jetwatt:jetwatt 755" ]'
check "the programs start" 'inside jetwatt --version && inside jetwattd --version && inside jetwatt-knobs --version && inside jetwatt-files --version'
mkdir -p "$root/etc/jetwatt"
echo "budget = 30W" > "$root/etc/jetwatt/jetwattd.conf"
for program in "jetwatt list knobs" jetwattd jetwatt-knobs; do
	check "$program without a board: it ends at once, with an error message and a fix" \
		'rc=0; inside timeout 20 $program > "$work/out" 2>&1 || rc=$?; cat "$work/out"; [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "fix:" "$work/out"'
done
check "jetwatt-exporter and jetwatt-mqtt find their libraries" 'inside jetwatt-exporter --version && inside jetwatt-mqtt --version && inside jetwatt sync --help'
printf 'cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1000000,500000000,1600000000,100,20\n' > "$root/tmp/a.csv"
check "a profile is stored, and belongs to the user jetwatt" \
	'inside jetwatt import /tmp/a.csv --command "train x" --board Orin -q && owner /var/lib/jetwatt/profiles/profiles.db && [ "$(owner /var/lib/jetwatt/profiles/profiles.db | cut -d" " -f 1)" = jetwatt:jetwatt ]'

# Create the state of an old version: root owns the database, one directory higher, with a WAL file.
inside sh -c 'cd /var/lib/jetwatt && mv profiles/* . && rmdir profiles && chown root:root profiles.db*'
rows=$(inside jetwatt list profiles --db /var/lib/jetwatt/profiles.db --json)
check "the packages can be upgraded" 'inside sh -c "dpkg -i /tmp/new/*.deb" && inside dpkg-query -W -f "\${Version}\n" jetwatt | grep -qx "$version"'
check "DKMS has the new module, and no longer the old one" \
	'inside dkms status; inside dkms status | grep "jetwatt/$version" | grep -q installed && ! inside dkms status | grep -q "jetwatt/$older"'
check "the policy is unchanged" 'grep -q 30W "$root/etc/jetwatt/jetwattd.conf"'
check "profiles of a jetwattd that ran as root are moved, and belong to the user jetwatt" \
	'ls -lR "$state"; [ "$(inside jetwatt list profiles --json)" = "$rows" ] && echo "$rows" | grep "train x" &&
	 [ ! -e "$state/profiles.db" ] && [ "$(owner /var/lib/jetwatt/profiles/profiles.db | cut -d" " -f 1)" = jetwatt:jetwatt ]'
touch "$state/profiles.db"
check "an old database is not moved if there is a new one" \
	'inside sh -c "dpkg -i /tmp/new/jetwatt_*.deb" > "$work/out" 2>&1; cat "$work/out"; grep -q "was not moved" "$work/out" && [ -e "$state/profiles.db" ] &&
	 [ "$(inside jetwatt list profiles --json)" = "$rows" ]'
rm -f "$state/profiles.db"

check "the packages can be removed" 'all -r'
check "the module is removed" '! find "$root/lib/modules" "$root/usr/lib/modules" -name "jetwatt.ko*" 2> /dev/null | grep .'
check "the profiles and the policy remain" '[ -s "$state/profiles/profiles.db" ] && [ -s "$root/etc/jetwatt/jetwattd.conf" ]'
check "after a new installation the profiles are used again" 'inside sh -c "dpkg -i /tmp/new/*.deb" && [ "$(inside jetwatt list profiles --json)" = "$rows" ]'
check "the packages can be purged" 'all -P; ! ours'
# Ignore files that dpkg, depmod, dkms, sysusers and systemctl keep.
files | comm -13 "$work/before" - | grep -v -E '^\./var/lib/dpkg/|^\./var/log|^\./var/cache/ldconfig|^\./etc/(passwd|group|shadow|gshadow)-$|^\./etc/\.pwd\.lock|^\./var/lib/systemd/|^\./var/lib/dkms/mok|^\./run/systemd|/lib/modules/[^/]*/modules\.[a-z.]*$' > "$work/left" || true
check "no file is left" 'cat "$work/left"; [ ! -s "$work/left" ]'
files | comm -23 "$work/before" - | grep -v -E '^\./var/lib/dpkg/|^\./var/lib/dkms' > "$work/gone" || true
check "no file of another package is missing" 'cat "$work/gone"; [ ! -s "$work/gone" ]'
echo "1..$n"
exit $failed
