#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Python packages as users get them: built as wheel and sdist with Debian's tools and without a
# network, installed into a fresh virtual environment, used without privileges on a directory of
# sysfs files (tests/python/board.py). Runs the examples of doc/python.md. tests/host/python_units.sh
# and python_stream.sh have the unit tests; tests/clients/check compares energies with the simulated board.
cd "$(dirname "$0")/../.." || exit 1
d=$PWD/build/check-python
rm -rf "$d"
. tests/host/check.inc
python=/usr/bin/python3
version=$(sed -n 's/^VERSION := //p' Makefile)
pids=()
trap 'kill "${pids[@]}" 2> /dev/null' EXIT
unset PYTHONPATH JETWATT_ROOT JETWATT_MARK_FD
# Fail instead of asking a package index.
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1

for module in setuptools wheel venv ensurepip cffi numpy; do
	$python -c "import $module" 2> /dev/null || { echo "1..0 # SKIP no $module here"; exit 4; }
done

compgen -G '/usr/include/python3*/Python.h' > /dev/null || { echo "1..0 # SKIP no Python.h here"; exit 4; }

echo 1..24
# A copy with the layout of the tree, so that nothing is built in the checkout.
mkdir -p "$d/tree"
git ls-files -co --exclude-standard -- Makefile include user/minibatch user/energy user/python 2> /dev/null | tar c -T - | tar x -C "$d/tree"
src=$d/tree/user/python
(cd "$src" && $python setup.py -q sdist -d "$d/dist" bdist_wheel -d "$d/dist") > "$d/out" 2> "$d/err"
check "sdist and wheel build" "ls '$d/dist/jetwatt-$version.tar.gz' '$d/dist/jetwatt-$version-py3-none-any.whl'"
check "the wheel contains all modules and py.typed, and nothing else" \
	"diff <($python -m zipfile -l '$d'/dist/*.whl | awk '\$1 ~ /^jetwatt\\// { print \$1 }' | sort) <(cd '$src' && find jetwatt -name '*.py' -o -name py.typed | sort)"
check "the wheel depends on nothing, and needs Python 3.8" \
	"$python -c 'import glob, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.read(next(n for n in z.namelist() if n.endswith(\"/METADATA\"))).decode())' '$d'/dist/*.whl > '$d/metadata' && ! grep -i '^Requires-Dist' '$d/metadata' && grep -qx 'Requires-Python: >=3.8' '$d/metadata'"
check "every file compiles as Python 3.8" \
	"$python -c 'import ast, sys; [ast.parse(open(f).read(), f, feature_version=(3, 8)) for f in sys.argv[1:]]' '$src'/*.py '$src'/*/*.py"
check "no module imports anything outside the standard library at its top" "$python - '$src'/jetwatt/*.py << 'EOF'
import ast, sys
bad = [(f, n.lineno) for f in sys.argv[1:] for n in ast.parse(open(f).read()).body if isinstance(n, (ast.Import, ast.ImportFrom))
       and not getattr(n, 'level', 0) and not {a.name.split('.')[0] for a in n.names if isinstance(n, ast.Import)} |
       {(getattr(n, 'module', None) or 'sys').split('.')[0]} <= sys.stdlib_module_names]
sys.exit(str(bad) if bad else 0)
EOF"
cat > "$d/documented.py" << 'EOF'
import importlib, inspect, sys
module = importlib.import_module(sys.argv[1])
bad = []
for name in module.__all__:
    what = getattr(module, name)
    if name == "Record":        # a type
        continue
    parts = [(name, what)] + [(name + '.' + k, getattr(v, 'fget', v)) for k, v in vars(what).items()
                              if not k.startswith('_') and inspect.isclass(what) and (inspect.isfunction(v) or isinstance(v, property))]
    for at, part in parts:
        doc = inspect.getdoc(part)
        if not doc or inspect.isfunction(part) and 'return' not in part.__annotations__:
            bad.append(at)
sys.exit(str(bad) if bad else 0)
EOF
check "the public functions and classes have docstrings and annotations" "PYTHONPATH='$src' $python -B '$d/documented.py' jetwatt"

run $python -m venv "$d/fresh"
check "a fresh virtual environment" "[ $status = 0 ]"
run "$d/fresh/bin/pip" install --no-index "$d/dist/jetwatt-$version-py3-none-any.whl"
check "the wheel installs without a network" "[ $status = 0 ]"
check "the version is the tree's" \
	"[ \"\$(env -C / '$d/fresh/bin/python' -c 'import jetwatt; print(jetwatt.__version__)')\" = '$version' ]"
check "import loads no module outside the standard library, and starts no thread" "env -C / '$d/fresh/bin/python' -c '
import sys
before = set(sys.modules)
import jetwatt, jetwatt.callbacks, threading
new = {m.split(\".\")[0] for m in set(sys.modules) - before} - {\"jetwatt\"}
assert new <= sys.stdlib_module_names, new - sys.stdlib_module_names
assert threading.active_count() == 1'"

check "without the extension module, jetwatt.stream says what to install" \
	"! env -C / '$d/fresh/bin/python' -c 'import jetwatt.stream' 2> '$d/err' && grep -q '^ImportError: jetwatt.stream needs its extension module: No module named' '$d/err' && grep -q 'package python3-jetwatt-stream' '$d/err'"

# With pip, as in pyproject.toml, from the sdist and from the tree: the same wheel.
run $python -m venv --system-site-packages "$d/build-venv"
mkdir -p "$d/sdist"
tar x -C "$d/sdist" -f "$d/dist/jetwatt-$version.tar.gz"
run "$d/build-venv/bin/pip" wheel -q --no-build-isolation --no-deps -w "$d/again" "$d/sdist/jetwatt-$version"
check "pip builds the wheel from the sdist" "[ $status = 0 ]"
check "with the same contents" \
	"cmp <($python -m zipfile -l '$d'/dist/*.whl | awk '{ print \$1, \$NF }') <($python -m zipfile -l '$d'/again/*.whl | awk '{ print \$1, \$NF }')"

# The extension module, from the tree and from its sdist. pip finds cffi in Debian's package.
export LDFLAGS=-L$PWD/build LD_LIBRARY_PATH=$PWD/build
(cd "$src/native" && $python setup.py -q sdist -d "$d/stream" bdist_wheel -d "$d/stream") > "$d/out" 2> "$d/err"
check "sdist and wheel of the extension module build, for every later Python" \
	"ls '$d/stream/jetwatt-stream-$version.tar.gz' && $python -m zipfile -l '$d'/stream/*.whl | grep -q '^_jetwatt_stream.abi3.so '"
tar x -C "$d/sdist" -f "$d/stream/jetwatt-stream-$version.tar.gz"
run "$d/build-venv/bin/pip" wheel -q --no-build-isolation --no-deps -w "$d/stream-again" "$d/sdist/jetwatt-stream-$version"
check "pip builds the same wheel from the sdist" \
	"[ $status = 0 ] && cmp <($python -m zipfile -l '$d'/stream/*.whl | awk '{ print \$1 }' | sort) <($python -m zipfile -l '$d'/stream-again/*.whl | awk '{ print \$1 }' | sort)"
run "$d/build-venv/bin/pip" install -q --no-index "$d/dist/jetwatt-$version-py3-none-any.whl" "$d"/stream-again/*.whl
check "both wheels install without a network" "[ $status = 0 ] && env -C / '$d/build-venv/bin/python' -c 'import jetwatt.stream'"
check "the public functions and classes of jetwatt.stream, too" "env -C / '$d/build-venv/bin/python' -B '$d/documented.py' jetwatt.stream"

cp -r "$src" "$d/alone"
rm -rf "$d"/alone/*.egg-info
run env -C "$d/alone" $python setup.py --version
check "without a version: what, why, fix" "[ $status != 0 ] && grep -q 'why: neither' '$d/err' && grep -q 'fix: build in a checkout' '$d/err'"

tests/python/board.py "$d/board" &
pids+=($!)
until [ -e "$d/board/sys/class/hwmon/hwmon3/power5_input" ]; do sleep 0.1; done

# as_nobody COMMAND...: run the command as the user nobody if this user is root
as_nobody()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
	else
		"$@"
	fi
}
cat > "$d/five.py" << 'E'
import time
import jetwatt
with jetwatt.measure("five lines") as m:
    time.sleep(1)
print(m)
E
chmod -R a+rX "$d"
run as_nobody env -C / JETWATT_ROOT="$d/board" "$d/fresh/bin/python" -B "$d/five.py"
check "five lines print joules, without privileges" \
	"[ $status = 0 ] && grep -qE '^five lines: [0-9.]+ J \\+- [0-9.]+ J in 1\\.[0-9]+ s, (1[4-9]|2[012])\\.[0-9]+ W \\(hwmon\\)\$' '$d/out'"
check "in at most 80 columns" "[ -s '$d/out' ] && awk 'length() > 80 { exit 1 }' '$d/out'"
run as_nobody env -C / JETWATT_ROOT="$d/empty" JETWATT_EXPORTER=127.0.0.1:1 "$d/fresh/bin/python" -B "$d/five.py"
check "without a source: what, why, fix" \
	"[ $status = 1 ] && grep -q 'SourceError: no source of energy' '$d/err' && grep -q '^  why: ' '$d/err' && grep -q '^  fix: ' '$d/err'"

# Each Python block of the page is a program. Stand-ins replace the training libraries.
awk -v d="$d" '/^```python$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (d "/example" n ".py") }' doc/python.md
cp tests/python/libraries.py "$d/"
build/make-trace "$d/run.jwt" n=60 marks=1 > /dev/null && build/jetwatt report --json "$d/run.jwt" > "$d/energy.json"
examples()
{
	local f top=$PWD rc=0
	for f in "$d"/example*.py; do
		(cd "$d" && PATH=$top/build:$PATH JETWATT_ROOT=$d/board timeout 60 "$d/build-venv/bin/python" -B -W error -c '
import sys, libraries
libraries.install()
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), {"__name__": "__main__"})' "$f") \
			> "$f.out" 2> "$f.err" || { rc=1; echo "$f"; cat "$f.err"; }
	done
	return $rc
}
check "the examples of doc/python.md run" "[ \$(ls '$d'/example*.py | wc -l) -ge 8 ] && examples"
check "what they print fits into 80 columns" \
	"awk 'length() > 80 { print FILENAME \": \" \$0; bad = 1 } END { exit bad }' '$d'/example*.out"
# forms: print the lines that contain figures, with N for each number
forms() { sed -nE '/ J /{s/^ +//; s/-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?/N/g; p}' "$@" | sort -u; }
check "and has the form that the page shows" \
	"awk '/^\`\`\`text\$/ { on = 1; next } /^\`\`\`\$/ { on = 0 } on' doc/python.md | forms > '$d/shown'
	 [ -s '$d/shown' ] && forms '$d'/example*.out | comm -23 '$d/shown' - | tee '$d/lacks' && [ ! -s '$d/lacks' ]"
exit $failed
