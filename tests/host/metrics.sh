#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# host: waits
#
# jetwattd's metrics, from its control socket to the dashboard: the real socket, the real
# exporter, and where they are installed a real Prometheus on loopback (packages: prometheus,
# python3-prometheus-client) and a real mosquitto. tests/metrics/serve.c generates the values.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-metrics
rm -rf $d
. tests/host/check.inc
http=tests/metrics/client.py
monitoring=user/dist/monitoring
pids=()
trap 'kill "${pids[@]}" 2> /dev/null' EXIT

# with TOOL TEXT COMMAND: run the check COMMAND, or skip it if TOOL (a command or a Python module)
# is missing
with()
{
	if command -v "$1" > /dev/null || /usr/bin/python3 -c "import $1" 2> /dev/null; then
		check "$2" "$3"
	else
		n=$((n + 1))
		echo "ok $n $2 # SKIP no $1 here"
	fi
}

# until_ COMMAND: repeat COMMAND until it succeeds, for up to 20 s
until_() { for _ in $(seq 100); do "$@" > /dev/null 2>&1 && return 0; sleep 0.2; done; return 1; }

# body FILE: print the body of the HTTP response in FILE
body() { sed '1,/^\r$/d' "$1"; }
value() { sed -n "s/^$1 //p" $d/plain; }

# serve: start the exporter on a free port; sets $port and $exporter
serve()
{
	for _ in 1 2 3 4 5; do
		port=$($http port)
		build/jetwatt-exporter --listen 127.0.0.1:"$port" --socket $d/control 2>> $d/exporter.log &
		exporter=$!
		pids+=($exporter)
		until_ $http get "$port" / && kill -0 $exporter && return 0
	done
	return 1
}

echo 1..40
build/serve-metrics $d/control &
board=$!
pids+=($board)
until_ test -S $d/control

check "the control socket survives silent clients, long lines and noise" "[ \"\$($http socket $d/control)\" = done ]"
check "jetwatt daemon metrics: output for a file" \
	"build/jetwatt daemon --socket $d/control metrics > $d/file && grep -q '^jetwatt_budget_watts 30$' $d/file"

# respond PATH: answer the requests to the socket PATH with stdin
respond() { $http answer "$1" <&0 & pids+=($!); until_ test -S "$1"; }
{ head -c 250000 /dev/zero | tr '\0' a; echo; } > $d/long
respond $d/long.socket < $d/long
check "jetwatt daemon: a long response is complete" "build/jetwatt daemon --socket $d/long.socket > $d/file && cmp $d/file $d/long"
respond $d/no.socket <<< "refused: unknown request; no such group"
respond $d/permitted.socket <<< "refused: the client is not in the group that may read"
run build/jetwatt daemon --socket $d/no.socket
refused=$status
run build/jetwatt daemon --socket $d/permitted.socket
check "jetwatt daemon: an invalid request: status 2; a missing permission: status 4" "[ $refused = 2 ] && [ $status = 4 ]"

run build/jetwatt-exporter --listen 127.0.0.1
check "an invalid address: status 2, with a fix" "[ $status = 2 ] && grep -q 'fix: ADDRESS:PORT' $d/err"
serve
$http get "$port" /metrics > $d/http
body $d/http > $d/plain
check "the exporter serves metrics" "grep -q '200 OK' $d/http && grep -q 'text/plain; version=0.0.4' $d/http"
with promtool "promtool reports no error" "promtool check metrics < $d/plain 2>&1 | tee $d/lint && [ ! -s $d/lint ]"
check "values equal those of the daemon" \
	"[ \"$(value jetwatt_module_power_watts)\" = 28.5 ] && [ \"$(value 'jetwatt_doing{doing="holding"}')\" = 1 ] &&
	 [ \"$(value 'jetwatt_minibatch_duration_seconds_bucket{workload="0000000000000001",le="0.1"}')\" = 1 ] &&
	 [ \"$(value 'jetwatt_minibatch_energy_joules_sum{workload="0000000000000001"}')\" = 2 ] &&
	 [ \"$(value 'jetwatt_minibatch_duration_seconds_bucket{workload="0000000000000001",le="0.05"}')\" = 0 ]"
check "workloads beyond the eighth share one label" \
	"[ \"$(value 'jetwatt_minibatch_energy_joules_count{workload="other"}')\" = 8 ] &&
	 [ \"$(grep -c '^jetwatt_minibatch_energy_joules_count' $d/plain)\" = 9 ]"
check "the mode is exported as numbers" \
	"[ \"$(value jetwatt_mode_cores)\" = 8 ] && [ \"$(value jetwatt_mode_gpu_hertz)\" = 624750000 ]"
check "a rail and its child rail have different names" \
	"[ \"$(grep -c '^jetwatt_rail_energy_joules_total{' $d/plain)\" = 1 ] &&
	 [ \"$(grep -c '^jetwatt_inner_rail_energy_joules_total{' $d/plain)\" = 2 ]"
check "invalid text in a label does not break the line" "grep -qF '{rail=\"a\\\"b\\\\c??\"}' $d/plain"
$http get "$port" /metrics 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' > $d/http
body $d/http > $d/open
check "OpenMetrics on request" \
	"grep -q 'application/openmetrics-text; version=1.0.0' $d/http && [ \"\$(tail -n 1 $d/open)\" = '# EOF' ]"
with prometheus_client "and it parses" "/usr/bin/python3 -c '
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
f = {m.name: m for m in parse(open(\"$d/open\").read())}
assert f[\"jetwatt_module_energy_joules\"].unit == \"joules\"
assert f[\"jetwatt_minibatch_energy_joules\"].type == \"histogram\"
assert f[\"process_cpu_seconds\"].type == \"counter\"'"

check "other paths: 404; other methods: 405; not HTTP: no response" \
	"$http get $port /../etc/passwd | head -n 1 | grep -q 404 &&
	 printf 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nnine-byte' | $http raw $port | head -n 1 | grep -q 405 &&
	 printf 'nonsense\r\n\r\n' | $http raw $port > $d/big; ! grep -q jetwatt $d/big"
before=$(ls /proc/$exporter/fd | wc -l)
# shellcheck disable=SC2016
check "endless headers and bodies are cut off" \
	"{ printf 'GET /metrics HTTP/1.1\r\nX: '; head -c 3000000 /dev/zero | tr '\0' a; } | $http raw $port > $d/big
	 ! grep -q '200 OK' $d/big &&
	 { printf 'GET /'; head -c 3000000 /dev/zero | tr '\0' a; } | $http raw $port > $d/big; ! grep -q '200 OK' $d/big &&
	 { printf 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n'; head -c 3000000 /dev/zero; } | $http raw $port > $d/big
	 ! grep -q '200 OK' $d/big && $http get $port /metrics | grep -q '200 OK'"
check "the exporter survives noise" "for i in 1 2; do head -c 20000 /dev/urandom | $http raw $port > $d/big; done; $http get $port /metrics | grep -q '200 OK'"
# The exporter limits a connection to 5 s, and closes the oldest one if there are more than 32. The
# test allows longer times, for a busy machine.
check "200 slow clients: scrapes are answered, slow clients are disconnected" \
	"$http loris $port 200 60 > $d/loris; cat $d/loris; awk '{ exit !(\$2 < 10 && \$4 == 0) }' $d/loris"
check "slow clients leave no descriptors and no memory" \
	"echo \$(ls /proc/$exporter/fd | wc -l) of $before; [ \$(ls /proc/$exporter/fd | wc -l) -le $before ] &&
	 [ \$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$exporter/status) -lt 32768 ]"

with promtool "the alert rules are valid" "promtool check rules $monitoring/alerts.yml"
with promtool "each alert fires on its condition" "promtool test rules tests/metrics/alerts_test.yml"
if command -v prometheus > /dev/null; then
	cat > $d/prometheus.yml <<-X
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [$PWD/$monitoring/alerts.yml]
		scrape_configs:
		  - job_name: jetwatt
		    static_configs: [{targets: ['127.0.0.1:$port']}]
	X
	prom=$($http port)
	prometheus --config.file=$d/prometheus.yml --storage.tsdb.path=$d/tsdb --web.listen-address=127.0.0.1:"$prom" \
		> $d/prometheus.log 2>&1 &
	pids+=($!)
fi
with prometheus "a real Prometheus has data for every query of the dashboard" \
	"$http queries ${prom-} $monitoring/dashboard.json || { tail -n 5 $d/prometheus.log; false; }"
with prometheus "a real Prometheus accepts the rules" \
	"$http get $prom /api/v1/rules | grep -q JetwattDown && ! $http get $prom /api/v1/rules | grep -q '\"health\":\"err\"'"

kill -STOP $board
check "a daemon that hangs: 503" "sleep 1; $http get $port /metrics | head -n 1 | grep -q 503"
# A request to a daemon that hangs takes 2 s; scrapes that arrive meanwhile share its result.
check "eight scrapes of a daemon that hangs: 503 after one request, not after eight" \
	"sleep 1; $http together $port 8 /metrics > $d/hang; cat $d/hang; [ \$(grep -c '^HTTP/1.1 503' $d/hang) = 8 ] &&
	 awk 'END { exit !(\$1 < 9) }' $d/hang"
kill -CONT $board
kill $board
wait $board
check "a daemon that has ended: 503 with the reason; a new daemon is served again" \
	"$http get $port /metrics > $d/gone; head -n 1 $d/gone | grep -q 503 && grep -q 'does not answer' $d/gone &&
	 { build/serve-metrics $d/control & pids+=(\$!); until_ test -S $d/control; } &&
	 until_ sh -c '$http get $port /metrics | grep -q \"200 OK\"'"
board=${pids[-1]}
run timeout 5 build/jetwatt-exporter --listen 127.0.0.1:"$port" --socket $d/control
check "a second exporter on the same address: status 1, with the reason" \
	"[ $status = 1 ] && grep -q 'cannot listen on' $d/err && grep -q 'in use' $d/err"
kill $exporter
wait $exporter
check "SIGTERM ends the exporter with status 0" "[ $? = 0 ]"
# The connections that the exporter closed are still in the state TIME_WAIT.
build/jetwatt-exporter --listen 127.0.0.1:"$port" --socket $d/control 2>> $d/exporter.log &
exporter=$!
pids+=($exporter)
check "it can be started again at once" "until_ $http get $port / && kill -0 $exporter"
kill $exporter

# --- MQTT: a real broker on loopback stores messages for a disconnected subscriber
unpacked=$PWD/build/mosquitto
export LD_LIBRARY_PATH=$unpacked/usr/lib/$(gcc -print-multiarch):$unpacked/lib/$(gcc -print-multiarch)
PATH=$PATH:$unpacked/usr/sbin:$unpacked/usr/bin
[ -e build/jetwatt-mqtt ] || PATH=/nonexistent
mqtt_port=$($http port)
printf 'listener %s 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location %s/\nmax_queued_messages 0\nuser root\n' \
	"$mqtt_port" "$PWD/$d" > $d/mosquitto.conf
# broker: start mosquitto and wait until it answers
broker()
{
	mosquitto -c $d/mosquitto.conf >> $d/mosquitto.log 2>&1 &
	mosquitto=$!
	pids+=($mosquitto)
	until_ mosquitto_pub -h 127.0.0.1 -p "$mqtt_port" -t x -m y
}
broker_ends() { kill $mosquitto; wait $mosquitto; }
# got FILTER: receive further messages, and run jq on all messages received so far
got()
{
	mosquitto_sub -h 127.0.0.1 -p "$mqtt_port" -c -i test -q 1 -t jetwatt/one/metrics -W 1 >> $d/mqtt.got 2> $d/mqtt.err
	jq -s "$@" $d/mqtt.got > $d/mqtt.jq
}
# got_all: does the broker have no further message?
got_all() { local had; had=$(wc -c < $d/mqtt.got); got . && [ "$(wc -c < $d/mqtt.got)" = "$had" ]; }
# All messages that have not arrived are counted, as are the seconds that jetwatt-mqtt misses on a busy machine.
# The broker may send a message twice.
counted='([.[].seq] | unique | max + 1 - length) == max_by(.seq).dropped'
state_is() { [ "$(mosquitto_sub -h 127.0.0.1 -p "$mqtt_port" -t jetwatt/one/state -C 1 -W 2)" = "$1" ]; }
# publish OPTION...: start jetwatt-mqtt
publish()
{
	build/jetwatt-mqtt --broker 127.0.0.1:"$mqtt_port" --device one --socket $d/control "$@" 2>> $d/mqtt.log &
	mqtt=$!
	pids+=($mqtt)
}
run build/jetwatt-mqtt --broker host:port
with mosquitto "MQTT: an invalid broker address: status 2, with a fix" "[ $status = 2 ] && grep -q 'fix: --broker' $d/err"
# sent: print the first packet that jetwatt-mqtt sends with the file login; user and password are in it
sent()
{
	rm -f $d/listening
	timeout 60 /usr/bin/python3 -c 'import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as s:
    open(sys.argv[2], "w"); sys.stdout.buffer.write(s.accept()[0].recv(65536))' "$mqtt_port" $d/listening > $d/packet &
	local listener=$!
	until_ test -e $d/listening
	timeout 5 build/jetwatt-mqtt --broker 127.0.0.1:"$mqtt_port" --device one --socket $d/control --login $d/login 2> $d/err
	wait $listener
	tr -c '[:alnum:]\r\n' ' ' < $d/packet
}
token=$(head -c 600 /dev/zero | tr '\0' t)
printf 'board\r\n%s\r\n' "$token" > $d/login
with mosquitto "MQTT: a password of 600 bytes is sent as a whole, without the end of the line" \
	"sent > $d/sent; grep -q '^.*board.*$token\$' $d/sent && [ \$(wc -c < $d/packet) -lt 680 ] && ! grep -q \$'\r' $d/packet"
printf '%s\npassword\n' "$token$token" > $d/login
run timeout 5 build/jetwatt-mqtt --broker 127.0.0.1:"$mqtt_port" --login $d/login
with mosquitto "MQTT: a line that is too long is refused" "[ $status = 1 ] && grep -q 'too long' $d/err"
command -v mosquitto > /dev/null && broker && mosquitto_sub -h 127.0.0.1 -p "$mqtt_port" -c -i test -q 1 -t jetwatt/one/metrics -E && publish
with mosquitto "MQTT: values of the daemon, one message per second, and the state" \
	"until_ eval 'got -e \"length >= 3\"' && state_is online &&
	 jq -se 'all(.jetwatt_module_power_watts == 28.5 and .[\"jetwatt_doing{doing=\\\"holding\\\"}\"] == 1) and $counted' $d/mqtt.got"
with mosquitto "MQTT: messages from while the broker was down arrive later" \
	"broker_ends; sleep 8; had=\$(jq -s length $d/mqtt.got); broker && until_ eval 'got -e \"length >= \$had + 8\"' &&
	 jq -se '$counted and .[-1].dropped < 6' $d/mqtt.got"
with mosquitto "MQTT: after SIGKILL the broker publishes offline" "kill -KILL $mqtt; until_ state_is offline && until_ got_all"
command -v mosquitto > /dev/null && { : > $d/mqtt.got; broker_ends; publish --keep 2; sleep 5; broker; }
with mosquitto "MQTT: messages that exceed the queue are counted exactly" \
	"until_ eval 'got -e \"map(select(.dropped > 0)) | length >= 4\"' && jq -se '$counted' $d/mqtt.got"
with mosquitto "MQTT: an ended daemon is reported" \
	"kill $board; until_ eval 'got -e \"any(has(\\\"error\\\"))\"'"
with mosquitto "MQTT: after SIGTERM status 0 and offline" "kill $mqtt; wait $mqtt && until_ state_is offline"
# A board that loses its power does not close its connection, and the broker keeps it for 45 s. Its last will
# must not follow the state "online" of the board that has booted again.
command -v mosquitto > /dev/null && publish && until_ state_is online && kill -STOP $mqtt && lost=$mqtt &&
	{ timeout 30 mosquitto_sub -h 127.0.0.1 -p "$mqtt_port" -t jetwatt/one/state -C 3 > $d/states & states=$!; } &&
	until_ test -s $d/states && publish
with mosquitto "MQTT: a new connection of the device replaces a lost one, and the state stays online" \
	"wait $states; [ \"\$(tr '\\n' ' ' < $d/states)\" = 'online offline online ' ] && until_ state_is online"
command -v mosquitto > /dev/null && { kill -KILL $lost; kill $mqtt; wait $lost $mqtt 2> /dev/null; }
# poll() fails if it is passed more descriptors than the process may have.
command -v mosquitto > /dev/null && publish && until_ state_is online && prlimit --nofile=1: --pid $mqtt
with mosquitto "MQTT: after a failed poll() status 1, so that systemd restarts jetwatt-mqtt" \
	"wait $mqtt; [ \$? = 1 ] && tail -n 2 $d/mqtt.log | grep -q 'cannot wait'"
exit $failed
