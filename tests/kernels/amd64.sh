#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test on Debian's amd64 kernel, in a guest without sensors: the module builds without a warning
# (W=1), can be loaded and unloaded, also after jetwatt list chips, and the kernel logs no warning.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
say() { echo "amd64: $*"; }
list() { say "$@"; }
die() { say "$*"; exit 1; }
log=build/setup.log

[ "$(dpkg --print-architecture)" = amd64 ] || { echo "needs an amd64 machine"; exit 4; }
why=$(tests/kernels/prepare 6.1-amd64) || { s=$?; echo "$why"; exit $s; }
need qemu-system-x86 busybox-static
kernel=build/kernels/6.1-amd64
rm -rf $kernel/out $kernel/guest
make B=$kernel/out KDIR=$kernel/linux-headers KARGS="$(cat $kernel/make.args) W=1" \
	$kernel/out/jetwatt.ko > $kernel/build.log 2>&1 || { tail $kernel/build.log; echo "the module does not build ($kernel/build.log)"; exit 1; }
! grep -E 'warning:|WARNING:' $kernel/build.log || { echo "the module builds with warnings ($kernel/build.log)"; exit 1; }
make -s all KDIR=/nonexistent > /dev/null

d=$kernel/guest
mkdir -p $d/{bin,dev,proc,sys,lib,lib64,usr/lib}
cp "$(command -v busybox)" $d/bin/
cp build/jetwatt build/libjetwatt.so.[0-9] $kernel/out/jetwatt.ko $d/bin/
ldd build/jetwatt build/libjetwatt.so | awk '$3 ~ "^/" { print $3 } $1 ~ "^/lib" { print $1 }' | sort -u |
	grep -v "$PWD/" | while read -r so; do
		mkdir -p "$d$(dirname "$so")"
		cp -L "$so" "$d$so"
	done
cat > $d/init <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys
insmod /bin/jetwatt.ko && echo "loaded"
LD_LIBRARY_PATH=/bin /bin/jetwatt list chips; echo "list: $?"
for i in 1 2 3 4 5; do rmmod jetwatt && insmod /bin/jetwatt.ko; done && rmmod jetwatt && echo "gone"
dmesg | grep -E 'WARNING|BUG|Oops|Call Trace' || echo "no complaint"
poweroff -f
INIT
chmod +x $d/init
(cd $d && find . -mindepth 1 | cpio -o -H newc -R 0:0 --quiet) > $kernel/initrd
timeout 300 qemu-system-x86_64 -M q35 -cpu max -m 1G -accel tcg -nodefaults -display none -no-reboot \
	-serial file:$kernel/console -kernel $kernel/Image -initrd $kernel/initrd \
	-append 'console=ttyS0 loglevel=4 panic=-1' < /dev/null || true
tail -n 12 $kernel/console
for line in loaded 'list: 0' gone 'no complaint'; do
	tr -d '\r' < $kernel/console | grep -qx "$line" || { echo "the guest did not print \"$line\""; exit 1; }
done
echo "the module builds without a warning, loads, answers and unloads"
