#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# host: waits
#
# Counters of work units (stat --per) from an HTTP server with the faults of real ones, from files and
# from a pipe. tests/metrics/units.py is the server; build/read-units reads as jetwatt stat does.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-units
rm -rf $d
. tests/host/check.inc
tests/metrics/units.py $d/port $d/requests &
server=$!
trap 'kill $server 2> /dev/null' EXIT
for _ in $(seq 100); do [ -s $d/port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat $d/port)

# reads SECONDS NAME=SOURCE...: read the counters for SECONDS, with the output in $d/out
reads() { run build/read-units "$@"; }
# refused PATH REASON: every reading of the path fails, with this reason
refused()
{
	reads 0.1 "a=$url$1#a_total"
	[ "$status" = 0 ] && grep -q "none: $2" $d/out && ! grep -q value $d/out
}
# slowest: print the duration of the slowest reading, ms
slowest() { awk '$3 == "ms" && $2 > m { m = $2 } END { print m + 0 }' $d/out; }

echo 1..26
# How many readings there are depends on how busy the machine is; what they count does not.
reads 6 "token=$url/vllm#vllm:generation_tokens_total" "one=$url/vllm#vllm:generation_tokens_total{engine=\"0\"}"
check "vLLM: sum over label sets, from the first request on" \
	"grep -q 'token .* none: no such counter' $d/out && grep -q 'token .* value 1120' $d/out && grep -q 'one .* value 120' $d/out"
check "counters of one URL share a request" \
	"[ \$(grep -c '^token .*ms' $d/out) = \$(grep -c ' /vllm ' $d/requests) ]"
check "at most one request per second, and one at the end" \
	"cat $d/requests; awk '\$2 == \"/vllm\" { t[++n] = \$1 } END { for (i = 2; i < n; i++) if (t[i] - t[i - 1] < 0.99) exit 1
		exit !(n >= 4 && n <= 8) }' $d/requests"
check "the request asks for text format 0.0.4" "grep -q 'text/plain;version=0.0.4' $d/requests"
reads 1.2 "token=$url/llama#llamacpp:tokens_predicted_total"
check "llama.cpp: the increase" \
	"awk '\$2 == \"units\" { exit !(\$7 >= 2 && \$3 == 128 * (\$7 - 1) && \$5 == 0) }' $d/out && [ \$(grep -c value $d/out) -ge 2 ]"
reads 4 "a=$url/reset#a_total"
# 100, 150, 20, 40, and so on
check "a counter that falls: counted on from 0" \
	"awk '\$2 == \"units\" { exit !(\$7 >= 3 && \$3 == 50 + 20 * (\$7 - 2) && \$5 == 1) }' $d/out && grep -q 'resets 1 readings' $d/out"

# The slow server replies after 5 s, and the other one needs 10 s; a busy machine may delay the end of the second.
check "a slow server: 1 s, not more" "refused /slow 'no complete reply within 1 s' && [ \$(slowest) -ge 1000 ] && [ \$(slowest) -lt 4000 ]"
check "a server that drips: 1 s in all" "refused /drip 'no complete reply within 1 s' && [ \$(slowest) -lt 4000 ]"
check "a truncated body" "refused /cut 'empty or truncated'"
check "a truncated chunked body" "refused /cutchunk 'empty or truncated'"
check "a body that ends within a line" "refused /cutline 'not in the Prometheus text format'"
check "a body of 5 MiB" "refused /huge 'more than 4 MiB'"
check "an endless body" "refused /endless 'more than 4 MiB\|no complete reply'"
check "a web page" "refused /html 'not in the Prometheus text format'"
check "a compressed body" "refused /gzip 'the reply is compressed'"
check "redirects are not followed" "refused /redirect '.*HTTP status 307, a redirect' && [ \$(grep -c /llama $d/requests) = 3 ]"
check "a server error" "refused /error '.*HTTP status 503'"
check "NaN is no count" "refused /nan 'no such counter'"
check "another protocol" "refused /garbage 'not in the Prometheus text format'"

kill $server
wait $server 2> /dev/null
# A simulated server writes the number of generated tokens after each step to $d/times; each reading must be
# one of these numbers. llama.cpp counts the tokens of a request at its end, of one request at a time here.
for args in "llama 1 llamacpp:tokens_predicted_total" "vllm 4 vllm:generation_tokens_total"; do
	# shellcheck disable=SC2086
	set -- $args
	rm -f $d/port
	LD_LIBRARY_PATH=build/cuda build/jobs/llmserve $1 --slots $2 --tokens $((500 * $2)) --idle 0.1 --times $d/times --listen 0 > $d/port &
	server=$!
	for _ in $(seq 100); do [ -s $d/port ] && break; sleep 0.1; done
	reads 3 "token=http://127.0.0.1:$(sed 's/port //' $d/port)/metrics#$3"
	wait $server
	check "$1, $2 at once: its counter over loopback" \
		"[ $? = 0 ] && awk 'NR == FNR { n[\$4] = 1; next } \$4 == \"value\" && \$5 { seen++; bad += !n[\$5] } END { exit !(seen > 1 && !bad) }' $d/times $d/out && grep -q 'token units [1-9]' $d/out"
done
check "no server: refused" "refused /llama 'Connection refused'"
check "localhost, where only one of its addresses has a server" \
	"python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); print(s.getsockname()[1], flush=True)
c, _ = s.accept(); c.recv(4096); c.sendall(b\"HTTP/1.0 200 OK\r\n\r\na_total 5\n\"); c.close()
c, _ = s.accept(); c.recv(4096); c.sendall(b\"HTTP/1.0 200 OK\r\n\r\na_total 7\n\"); c.close()' > $d/other &
	 for _ in {1..100}; do [ -s $d/other ] && break; sleep 0.1; done; reads 0.1 \"a=http://localhost:\$(cat $d/other)/#a_total\"; cat $d/out; grep -q 'units 2 ' $d/out"

printf '12\n' > $d/number
printf 'a_total{x="1"} 3\na_total{x="2"} 4\n' > $d/prom
check "files: a number, and Prometheus text" \
	"reads 0.1 n=$d/number a=$d/prom#a_total; grep -q 'n .* value 12' $d/out && grep -q 'a .* value 7' $d/out"
: > $d/empty
mkfifo $d/fifo
check "no file, an empty file, a pipe: the reason, and no waiting" \
	"reads 0.1 a=$d/none b=$d/empty c=$d/fifo; cat $d/out; grep -q 'a .* No such file' $d/out &&
	 grep -q 'b .* empty' $d/out && grep -q 'c .* not a regular file' $d/out && [ \$(slowest) -lt 2000 ]"
# 300 kB in half a second: more than a pipe holds.
check "a pipe: the last whole line, and the writer never waits for a second" \
	"python3 -c 'import time
slow = 0
for i in range(50000):
    t = time.monotonic(); print(i, flush=i % 100 == 0); slow = max(slow, time.monotonic() - t)
print(\"5000\", end=\"\", flush=True)
time.sleep(1); open(\"$d/slow\", \"w\").write(str(slow))' | build/read-units 6 n=fd:0 > $d/out
	 tail -n 3 $d/out; cat $d/slow; grep -q 'value 49999' $d/out && ! grep -q 'value 5000$' $d/out && awk '{ exit !(\$1 < 0.5) }' $d/slow"
exit $failed
