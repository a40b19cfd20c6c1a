#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tokens_guest.sh: optimize --per on two servers of a language model, with three kinds of limits.
. /common.inc
. /tokens.inc
plan 6

for args in "llama 1 llamacpp:tokens_predicted_total" "vllm 4 vllm:generation_tokens_total"; do
	serve_tokens $args
	by_rate
	by_latency
	by_power
	stop_server
done
finish
