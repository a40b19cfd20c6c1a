#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Python package in a container of rootless podman, with the options of doc/recipes.md: counters,
# marks, and jetwattd's socket. The container has no image: its files are those of this machine,
# read-only, with a directory of sysfs files (tests/python/board.py). Skipped where podman cannot start
# a container: it needs user namespaces, which the container of a CI system often forbids.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-rootless
rm -rf $d
. tests/host/check.inc
skip() { echo "1..0 # SKIP $1"; exit 4; }
{ command -v podman && command -v crun && command -v newuidmap; } > $d/out || skip "no podman, crun or uidmap here"
[ "$(id -u)" = 0 ] || skip "needs root, to run containers of a user that has only the group of the socket"

user=nobody group=audio gid=$(getent group audio | cut -d: -f3)
# Not in the checkout, which need not be a place that every user may search.
at=$(mktemp -d)
pids=()
end()
{
	kill "${pids[@]}" 2> /dev/null
	# podman's process that keeps the namespaces of the user.
	[ ! -s "$at/run/libpod/tmp/pause.pid" ] || kill "$(cat "$at/run/libpod/tmp/pause.pid")"
	sleep 0.2
	rm -rf "$at"
}
trap end EXIT
mkdir -p "$at"/{board,home,jetwatt,package,run,root/{usr,proc,sys,dev,tmp,etc,run/jetwatt,board,opt}}
for l in bin sbin lib lib64; do ln -s usr/$l "$at/root/$l"; done
cp -r user/python/jetwatt tests/python/container.py user/dist/container/measured "$at/package/"
cat > "$at/podman" << X
#!/bin/sh
exec env HOME=$at/home XDG_RUNTIME_DIR=$at/run podman --log-level=error "\$@"
X
chmod 755 "$at" "$at/podman"
chown -R $user "$at/run" "$at/home" "$at/root"
/usr/bin/python3 -B tests/python/board.py "$at/board" &
pids+=($!)
build/serve-metrics "$at/jetwatt/control" $group 2> $d/serve &
pids+=($!)
for _ in $(seq 100); do
	[ ! -S "$at/jetwatt/control" ] || [ ! -e "$at/board/sys/class/hwmon/hwmon3/sample_time_ns" ] || break
	sleep 0.1
done

# inside COMMAND...: run a command where /sys/fs/cgroup is cgroup v2 alone; crun refuses a mixture
inside()
{
	# shellcheck disable=SC2016
	unshare -m --propagation private sh -c 'umount -qR /sys/fs/cgroup
		mount -t cgroup2 none /sys/fs/cgroup && mount --make-rshared / && exec "$@"' sh "$@"
}
# here: what replaces image and board
here=(--cgroups=disabled --network=none -v "/usr:/usr:ro" -v "$at/package:/opt:ro" -v "$at/board:/board:ro"
	--env PYTHONPATH=/opt --env JETWATT_ROOT=/board --rootfs "$at/root" /usr/bin/python3 -B)
as_user() { inside setpriv --reuid=$user --regid=nogroup "$1" "$at/podman" run --rm "${@:2}"; }

run as_user --clear-groups "${here[@]}" -c 'print("started")'
grep -qx started $d/out || skip "podman cannot start a container here: $(tail -n 1 $d/err)"
echo 1..7
for o in 'podman run --rm IMAGE' '-v /run/jetwatt:/run/jetwatt:ro --group-add keep-groups' 'measured $USER podman run --rm IMAGE'; do
	grep -qF -- "$o" doc/recipes.md || missing+=" $o"
done
check "the options are those of doc/recipes.md" "[ -z '${missing-}' ] || { echo '${missing-}'; false; }"
run as_user --clear-groups "${here[@]}" -c '
import os
print(os.statvfs("/sys").f_flag & os.ST_RDONLY, *[f for f in os.listdir("/dev") if f.startswith(("nv", "i2c"))])
print(*[line.split()[1] for line in open("/proc/self/uid_map")])
print(*sorted(os.listdir("/sys/class")))'
check "the container has no device, its root is $user, and /sys is this machine's, read-only" \
	"sed -n 1p $d/out | grep -qx 1 && sed -n 2p $d/out | grep -q '^$(id -u $user)' && [ \"\$(sed -n 3p $d/out)\" = '$(cd /sys/class && LC_ALL=C ls | xargs)' ]"

run inside /usr/bin/python3 -B tests/python/container.py marks "$at/package/measured" $user "$at/podman" run --rm "${here[@]}" /opt/container.py job
# The counters advance ten times a second, so the energy may be off by that of 0.1 s, or of some more if
# their process is delayed.
check "the counters in hwmon: 18 W for the time of the measurement" \
	"[ $status = 0 ] && awk '/^joules/ { found = 1; off = \$2 - 18 * \$4; bad = \$4 < 0.9 || off < -5 || off > 5 || \$7 != \"hwmon\" || \$9 != \"module\" } END { exit !found || bad }' $d/out"
check "three marks arrive, with the kernel's process id" \
	"[ \"\$(grep -c '^mark step pid [0-9][0-9]' $d/out)\" = 3 ]"
run inside "$at/package/measured" $user "$at/podman" run --rm "${here[@]}" /opt/container.py job
check "without a verb of jetwatt: measured all the same" "[ $status = 0 ] && grep -q '^joules' $d/out"

socket=(-v "$at/jetwatt:/run/jetwatt:ro")
meter='import jetwatt; print(jetwatt.Meter(root="/", sources=["jetwattd"]))'
run as_user "--groups=$gid" "${socket[@]}" --group-add keep-groups "${here[@]}" -c "$meter"
check "jetwattd's socket, for a user in the group of its readers" "[ $status = 0 ] && grep -q 'metrics of jetwattd' $d/out"
run as_user --clear-groups "${socket[@]}" --group-add keep-groups "${here[@]}" -c "$meter"
check "and not for another user" "[ $status = 1 ] && grep -qE 'refused|Permission denied' $d/err"
exit $failed
