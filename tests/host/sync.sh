#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# jetwatt sync with a private PostgreSQL server: a fleet of simulated devices shares its
# measurements, and a new device uses them as prior.
cd "$(dirname "$0")/../.." || exit 1
d=$(mktemp -d)
export HOME=$d/home XDG_CONFIG_HOME=$d/config JETWATT_DB= JETWATT_POOL=
J=build/jetwatt
as=()
pids=

end()
{
	[ -z "$pids" ] || kill $pids
	[ ! -e "$d/run/data/postmaster.pid" ] || "${as[@]}" "$pg/pg_ctl" -D "$d/run/data" -m immediate -w stop > /dev/null 2>&1
	rm -rf "$d"
}
trap end EXIT
. tests/host/check.inc

pg=$(ls -d /usr/lib/postgresql/*/bin build/postgres/usr/lib/postgresql/*/bin 2> /dev/null | tail -n 1)
[ -x build/jetwatt-sync ] || { echo "1..0 # SKIP jetwatt-sync was not built: no libpq"; exit 4; }
[ -n "$pg" ] || { echo "1..0 # SKIP no PostgreSQL"; exit 4; }
if [ "$(id -u)" = 0 ]; then
	# PostgreSQL refuses to run as root, so another user runs the server and must be able to
	# read its files.
	chmod 755 "$d"
	case $pg in build/*) cp -a build/postgres "$d/pg"; pg=$d/pg/${pg#build/postgres/};; esac
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	mkdir "$d/run" && chown 65534:65534 "$d/run"
else
	mkdir "$d/run"
fi
data=$d/run/data
start() { "${as[@]}" "$pg/pg_ctl" -D "$data" -l "$d/run/log" -w -o "-c listen_addresses= -k $d/run -c fsync=off -c max_connections=20 -c jit=off" start > "$d/run/start" 2>&1; }
stop() { "${as[@]}" "$pg/pg_ctl" -D "$data" -m fast -w stop > "$d/run/stop" 2>&1; }
"${as[@]}" "$pg/initdb" -D "$data" -A trust -U fleet -E UTF8 --locale=C > "$d/run/initdb" 2>&1 && start ||
	{ tail -n 5 "$d"/run/{initdb,start,log} | sed 's/^/# /'; echo "1..1"; echo "not ok 1 PostgreSQL starts"; exit 1; }
sql() { "$pg/psql" -X -q -A -t -h "$d/run" -U fleet -d postgres -c "$1"; }

export JETWATT_POOL="host=$d/run user=fleet dbname=postgres"
board="Jetson Test"

# made MODES SEED: print the rows of MODES modes of one job, as one device measures them; MODES 0:
# all modes, without noise
made()
{
	awk -v modes="$1" -v seed="$2" '
	function gauss() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
	BEGIN {
		srand(seed)
		slow = exp(0.01 * gauss()) ; hot = exp(0.03 * gauss()); leak = 0.2 * gauss()
		if (!modes) { slow = hot = 1; leak = 0 }
		print "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w"
		for (c = 2; c <= 12; c += 2) for (f = 4; f <= 22; f += 6) for (g = 3; g <= 13; g += 2) for (m = 1; m <= 2; m++)
			line[n++] = c " " f " " g " " m
		for (i = 0; i < (modes ? modes : n); i++) {
			k = modes ? i + int(rand() * (n - i)) : i
			swap = line[k]; line[k] = line[i]; line[i] = swap
			split(line[i], v, " ")
			t = 3 * (480 / v[3] + 40 / v[2]) + 960 / v[2] / (v[1] < 4 ? v[1] : 4) + 60 / v[4]
			w = 8 + v[1] * v[2] / 50 + v[3] ^ 2 / 9 + v[4]
			if (modes) { t *= slow * exp(0.004 * gauss()); w = (w * hot + leak) * exp(0.01 * gauss()) }
			printf "%d,%d,%.0f,%.0f,%.4f,%.4f\n", v[1], 1e5 * v[2], v[3] * 1e8, v[4] * 1.6e9, t, w
		}
	}'
}

device()	# N: has measured fifteen modes, and shares them
{
	made 15 "$1" > "$d/$1.csv"
	$J import "$d/$1.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/$1.db" -q &&
		$J sync --device "device-$1" --db "$d/$1.db" --json > "$d/$1.out" 2> "$d/$1.err"
}
rows() { sql "SELECT count(*) FROM jetwatt.measurement"; }

echo 1..27
mkdir -p "$d/home"
run $J sync --db none
check "without a profile database: an error with a fix" '[ $status = 2 ] && grep -q fix: "$d/err"'
JETWATT_POOL="host=$d/nowhere user=fleet" run $J sync --device a --db "$d/a.db"
check "no server: an error, and no row is lost" '[ $status = 1 ] && grep -q "cannot reach the pool" "$d/err" && grep -q "fix: nothing is lost" "$d/err"'

# Sync all 200 devices, eight at a time; the first ones create the tables concurrently.
export -f device made
export d J board
seq 200 | xargs -P 8 -I N bash -c 'device N' > "$d/xargs" 2>&1
sort "$d"/*.err | uniq -c | sed 's/^/# err: /'
echo "# $(rows) rows of $(sql 'SELECT count(DISTINCT device) FROM jetwatt.measurement') devices"
check "200 devices share 15 modes each" '[ "$(rows)" = 3000 ] && [ "$(sql "SELECT count(*) FROM jetwatt.workload")" = 1 ] && [ ! -s "$d/xargs" ]'
run $J sync --device device-7 --db "$d/7.db" --json
pulled=$(jq .pulled "$d/out")
check "a second sync sends nothing" '[ $status = 0 ] && [ "$(jq .pushed "$d/out")" = 0 ] && [ "$(rows)" = 3000 ]'
check "every device has the rows of all others, apart from its own" '[ $((pulled + $(jq .pulled "$d/7.out"))) = 2985 ] &&
	$J list profiles --json --db "$d/7.db" | jq -e ".[0].rows == 15 and .[0].pooled == 2985 and length == 1"'
run $J sync --device device-7 --db "$d/7.db" --json
check "a third sync transfers nothing" '[ $status = 0 ] && jq -e ".pushed == 0 and .pulled == 0 and .refused == 0" "$d/out"'
run $J sync --device device-7 --db "$d/7.db" --json --again
check "--again: sends everything, and stores nothing twice" '[ $status = 0 ] && jq -e ".pushed == 0 and .pulled == 0" "$d/out" && [ "$(rows)" = 3000 ]'

# Rows that are measured while the server is down are sent by a later sync.
stop
made 4 1001 > "$d/late.csv"
$J import "$d/late.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/7.db" -q
run $J sync --device device-7 --db "$d/7.db"
offline=$status
start
run $J sync --device device-7 --db "$d/7.db" --json
check "rows measured while the server was down are sent later" '[ $offline = 1 ] && [ $status = 0 ] && jq -e ".pushed == 4" "$d/out" && [ "$(rows)" = 3004 ]'

# A writer's transaction begins before a sync and ends after it, so its rows have lower numbers than
# rows already received: the next sync must fetch them.
key=$(sql "SELECT key FROM jetwatt.workload")
odd="INSERT INTO jetwatt.measurement(key, workload, device, cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w, time_sd, power_sd, minibatches, span_s, settled, lost, when_ms)
	VALUES (repeat('%s', 64), '$key', 'slow', 4, 1000000, 500000000, 1600000000, %s, 20, 0, 0, 5, 1, true, 0, 0)"
(printf "BEGIN; $odd;" a 100; sleep 3; echo "COMMIT;") | "$pg/psql" -X -q -h "$d/run" -U fleet -d postgres > "$d/slow" 2>&1 &
slow=$!
sleep 0.5
device 300
run $J sync --device device-8 --db "$d/8.db" --json
before=$(jq .pulled "$d/out")
wait $slow
run $J sync --device device-8 --db "$d/8.db" --json
check "a row that was committed late is not missed" '[ $before -ge 4 ] && [ $((before + $(jq .pulled "$d/out"))) -ge 20 ] && [ "$(sql "SELECT count(*) FROM jetwatt.measurement WHERE device = '\''slow'\''")" = 1 ] &&
	python3 -c "import sqlite3; c = sqlite3.connect(\"$d/8.db\"); assert c.execute(\"select count(*) from measurement where device = \\\"slow\\\"\").fetchone()[0] == 1"'

# A server with invalid rows; SQL in every text.
sql "ALTER TABLE jetwatt.measurement DROP CONSTRAINT measurement_time_ms_check"
sql "$(printf "$odd" b "'NaN'")"; sql "$(printf "$odd" c -3)"; sql "$(printf "$odd" d "'-infinity'")"
run $J sync --device device-8 --db "$d/8.db" --json
check "invalid rows of the server are not stored" '[ $status = 0 ] && jq -e ".refused == 3" "$d/out" && grep -q "not valid measurements" "$d/err"'
bad="'); DROP TABLE jetwatt.measurement; -- \$1 \\\" %s"
$J import "$d/1.csv" --command "$bad" --board "$bad" --release "$bad" --db "$d/bad.db" -q
run $J sync --device "$bad" --db "$d/bad.db" --json
check "SQL in text is not executed" '[ $status = 0 ] && jq -e ".pushed == 15" "$d/out" && [ "$(sql "SELECT count(*) FROM jetwatt.workload WHERE command LIKE '\''%DROP TABLE%'\''")" = 1 ]'
# The pool has a constraint that two rows of a batch violate: only these rows are refused.
sql "ALTER TABLE jetwatt.measurement ADD CONSTRAINT cores_check2 CHECK (cores <> 7 OR device <> 'device-20') NOT VALID"
made 9 1003 | awk -F, -v OFS=, 'NR == 4 || NR == 8 { $1 = 7 } { print }' > "$d/odd.csv"
$J import "$d/odd.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/20.db" -q
run $J sync --device device-20 --db "$d/20.db" --json
check "rows that the pool refuses do not block other rows" '[ $status = 0 ] && jq -e ".pushed == 7 and .refused_by_pool == 2" "$d/out" && grep -q "cores_check2" "$d/err"'
made 3 1004 > "$d/odd.csv"
$J import "$d/odd.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/20.db" -q
run $J sync --device device-20 --db "$d/20.db" --json
check "refused rows do not block later rows" '[ $status = 0 ] && jq -e ".pushed == 3 and .refused_by_pool == 0" "$d/out"'
# Rows are also refused by a row policy, by a trigger with its own error code, and by a limit of the
# server.
sql "CREATE ROLE writer LOGIN; GRANT USAGE ON SCHEMA jetwatt TO writer; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA jetwatt TO writer; GRANT USAGE ON ALL SEQUENCES IN SCHEMA jetwatt TO writer
	; ALTER TABLE jetwatt.measurement ENABLE ROW LEVEL SECURITY; CREATE POLICY sees ON jetwatt.measurement FOR SELECT USING (true)
	; CREATE POLICY few ON jetwatt.measurement FOR INSERT WITH CHECK (cores <> 7)
	; CREATE FUNCTION own_code() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
		IF new.cores = 5 THEN RAISE EXCEPTION 'five cores' USING ERRCODE = 'JW001'; END IF
		; IF new.cores = 9 THEN RAISE EXCEPTION 'too complex' USING ERRCODE = '54001'; END IF
		; RETURN new; END \$\$
	; CREATE TRIGGER own_code BEFORE INSERT ON jetwatt.measurement FOR EACH ROW EXECUTE FUNCTION own_code()"
made 9 1006 | awk -F, -v OFS=, 'NR == 3 { $1 = 5 } NR == 6 { $1 = 9 } NR == 8 { $1 = 7 } { print }' > "$d/odd.csv"
$J import "$d/odd.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/21.db" -q
JETWATT_POOL="host=$d/run user=writer dbname=postgres" run $J sync --device device-21 --db "$d/21.db" --json
check "rows refused by a policy, a trigger or a limit do not block other rows" '[ $status = 0 ] && jq -e ".pushed == 6 and .refused_by_pool == 3" "$d/out"'
# If a privilege is missing, the sync fails as a whole: no row is skipped.
made 3 1007 > "$d/odd.csv"
$J import "$d/odd.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/21.db" -q
sql "REVOKE INSERT ON jetwatt.measurement FROM writer"
JETWATT_POOL="host=$d/run user=writer dbname=postgres" run $J sync --device device-21 --db "$d/21.db" --json
refused=$status
sql "GRANT INSERT ON jetwatt.measurement TO writer"
JETWATT_POOL="host=$d/run user=writer dbname=postgres" run $J sync --device device-21 --db "$d/21.db" --json
check "a temporarily missing privilege loses no row" '[ $refused = 4 ] && [ $status = 0 ] && jq -e ".pushed == 3 and .refused_by_pool == 0" "$d/out"'
sql "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA jetwatt TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA jetwatt TO reader"
made 3 1002 > "$d/more.csv"
$J import "$d/more.csv" --command x --board "$board" --db "$d/9.db" -q
JETWATT_POOL="host=$d/run user=reader dbname=postgres" run $J sync --device device-9 --db "$d/9.db"
check "a missing privilege is reported with the GRANT to run" '[ $status = 4 ] && grep -q "permission denied" "$d/err" && grep -q "GRANT" "$d/err"'
sql "UPDATE jetwatt.pool SET version = 9"
run $J sync --device device-9 --db "$d/9.db"
check "a pool of another version is refused" '[ $status = 1 ] && grep -q "version 9" "$d/err"'
sql "UPDATE jetwatt.pool SET version = 1; ALTER TABLE jetwatt.pool RENAME COLUMN version TO other"
run $J sync --device device-9 --db "$d/9.db"
failed_query=$status
cp "$d/err" "$d/failed_query"
sql "ALTER TABLE jetwatt.pool RENAME COLUMN other TO version; CREATE TABLE jetwatt.was AS TABLE jetwatt.pool; DELETE FROM jetwatt.pool"
run $J sync --device device-9 --db "$d/9.db"
sql "INSERT INTO jetwatt.pool TABLE jetwatt.was; DROP TABLE jetwatt.was"
check "a query that failed is not taken for an empty table" '[ $failed_query = 1 ] && grep -q "fix: nothing is lost" "$d/failed_query" && ! grep -q DROP "$d/failed_query" &&
	[ $status = 1 ] && grep -q "jetwatt.pool is empty" "$d/err"'

# A pool that was dumped and restored on a new server: its rows have higher transaction numbers than that
# server has given so far.
sql "UPDATE jetwatt.measurement SET xact = (xact::text::bigint + 1000000000)::text::xid8"
run $J sync --device restored --db "$d/restored.db" --board "$board" --json
moved=$(jq .pulled "$d/out")
run $J sync --device device-8 --db "$d/8.db" --board "$board" --again
check "rows of a pool that was restored on another server are pulled" '[ "$moved" = "$(sql "SELECT count(*) FROM jetwatt.profile WHERE board = '\''$board'\'' AND time_ms > 0 AND time_ms < '\''infinity'\''")" ] && [ $status = 0 ] &&
	python3 -c "import sqlite3; assert [sqlite3.connect(f\"$d/{x}.db\").execute(\"select count(*) from measurement\").fetchone()[0] for x in (\"restored\", \"8\")] == 2 * [$moved]"'

# A pull as a whole takes longer than the time limit of a statement, here 10 s: the server needs 4 ms for
# each row.
sql "CREATE ROLE slow LOGIN; GRANT USAGE ON SCHEMA jetwatt TO slow; GRANT SELECT ON ALL TABLES IN SCHEMA jetwatt TO slow
	; CREATE FUNCTION late() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_sleep(0.004); RETURN true; END \$\$
	; CREATE POLICY late ON jetwatt.measurement AS RESTRICTIVE FOR SELECT TO slow USING (late())"
JETWATT_POOL="host=$d/run user=slow dbname=postgres options='-c statement_timeout=10s'" $J sync --device late --db "$d/late.db" --board "$board" --json > "$d/late.out" 2> "$d/late.err" &
late=$! begun=$SECONDS

# A new device uses the rows of other devices as prior, which saves most measurements.
run $J sync --device new --db "$d/new.db" --board "$board" --json
new=$($J list profiles --json --db "$d/new.db" | jq -r '[.[] | select(.command == "python3 train.py")][0].key')
run $J export -f profile --pooled "$new" --db "$d/new.db" -o "$d/prior.csv"
echo "# $(($(wc -l < "$d/prior.csv") - 1)) modes are known from elsewhere"
check "a new device gets one merged row per mode" '[ $status = 0 ] && [ "$(wc -l < "$d/prior.csv")" -gt 200 ] && [ "$($J list profiles --json --db "$d/new.db" | jq "map(.rows) | add")" = 0 ]'
run $J export -f profile "$new" --db "$d/new.db"
check "received rows are not rows of the new device" '[ $status = 1 ] && grep -q "the profile has no rows" "$d/err"'
made 0 0 > "$d/truth.csv"
ask="$J eval optimize --corpus $d/truth.csv --budgets 12:34:2 --repeats 5 --json"
$ask --samples 15 > "$d/cold" && $ask --samples 1 --verify 3 --pool "$d/prior.csv" > "$d/warm"
jq -c '[.modes_profiled, .penalty_pct.median, .penalty_pct.mean, .above_limit_pct, .unsolved]' "$d/cold" "$d/warm" | sed 's/^/# measured, penalty (median, mean), over, unsolved: /'
check "with the prior, four modes instead of fifteen give nearly the same result" 'jq -es ".[1].modes_profiled <= 4 and .[1].penalty_pct.median <= .[0].penalty_pct.median + 0.5 and .[1].penalty_pct.mean <= .[0].penalty_pct.mean + 1 and .[1].above_limit_pct == 0 and .[1].unsolved == 0" "$d/cold" "$d/warm"'

# As in the systemd units, the process that talks to the server may not open the profile database;
# it sends requests to a second process that may.
outside=() inside=()
mkdir "$d/own" "$d/door"
made 15 1005 > "$d/own.csv"
if [ "$(id -u)" = 0 ]; then
	chown 990:990 "$d/own"
	chmod 700 "$d/own"
	inside=(setpriv --reuid=990 --regid=990 --clear-groups)
	outside=(setpriv --reuid=992 --regid=992 --clear-groups)
fi
$J import "$d/own.csv" --command "python3 train.py" --batch 16 --board "$board" --release "L4T 36.4" --db "$d/own/p.db" -q
python3 tests/host/sync_door.py "$d/door/s" "${inside[@]}" build/jetwatt-sync --serve --db "$d/own/p.db" 2> "$d/door/err" &
pids=$!
for _ in $(seq 300); do [ -S "$d/door/s" ] && break; sleep 0.1; done
had=$(rows)
run "${outside[@]}" $J sync --device outside --through "$d/door/s" --json
listed=$($J list profiles --json --db "$d/own/p.db" | jq -c '[.[] | select(.command == "python3 train.py")][0] | [.rows, .pooled > 2985]')
check "through a process of another user: rows are sent and received" '[ $status = 0 ] && jq -e ".pushed == 15 and .pulled > 2985" "$d/out" &&
	[ "$(rows)" = $((had + 15)) ] && [ "$listed" = "[15,true]" ]'
run "${outside[@]}" $J sync --device outside --through "$d/door/s" --json
again=$status
cp "$d/out" "$d/again"
run "${outside[@]}" $J sync --device outside --db "$d/own/p.db"
check "a second sync transfers nothing, and the network process cannot open the profiles" '[ $again = 0 ] && jq -e ".pushed == 0 and .pulled == 0" "$d/again" &&
	{ [ "$(id -u)" != 0 ] || { [ $status = 4 ] && grep -q fix: "$d/err"; }; }'
kill $pids
wait $pids 2> /dev/null
pids=
check "noise on its socket: disconnected, and the profiles are intact" 'python3 tests/host/sync_door.py - build/jetwatt-sync --serve --db "$d/own/p.db" 2> "$d/noise" &&
	[ "$($J list profiles --json --db "$d/own/p.db" | jq -c "[.[] | select(.command == \"python3 train.py\")][0] | [.rows, .pooled > 2985]")" = "$listed" ]'
wait $late
late=$?
cat "$d/late.err" > "$d/err"
check "a pull may take longer than the time limit of a statement" '[ $late = 0 ] && [ $((SECONDS - begun)) -ge 10 ] && [ "$(jq .pulled "$d/late.out")" = $moved ]'
run $J sync --db "$d/7.db" --device "$(printf 'x%.0s' $(seq 80))"
check "a device name that is too long is refused" '[ $status = 2 ]'
exit $failed
