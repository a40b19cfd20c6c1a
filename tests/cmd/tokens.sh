#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest: smp=4 icount timeout=1200 modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
# optimize --per: energy per token of a language model's server in the chosen mode. Two servers and
# three kinds of limits: make bench-tokens.
. "${0%/*}/common.inc"
. "${0%/*}/tokens.inc"
plan 4

knobs > "$T/before"
serve_tokens llama 1 llamacpp:tokens_predicted_total
by_rate
stop_server
as_before "$T/before"
result $? "--dry-run: the knobs are restored"
run jetwatt optimize --per "token=$T/metrics#none_total" --power 25W --most 4 -- llmserve vllm --tokens 100000000
exits 1 && form && says "no unit was counted" "no such counter" && as_before "$T/before"
result $? "a counter that does not exist: nothing is chosen, knobs restored"
run jetwatt optimize --per "token=$T/metrics#$metric" -p 1
exits 2 && form && says "no limit"
result $? "--per without a limit: status 2"
finish
