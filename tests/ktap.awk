# SPDX-License-Identifier: GPL-2.0-only
#
# Judges one test program from its output (KTAP) and from how it ended:
#   awk -v how="exit 0" -v splats=0 -f tests/ktap.awk LOG
# "how" is "exit STATUS", "signal NUMBER", "timeout SECONDS" or "crash WHY".
# First line of the answer: PASSED FAILED SKIPPED; then one line per failure or
# skip, with its reason. A program that does not keep its plan has failed, and
# so has one that ended badly, whatever its results say.

/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	has_plan = 1
	if (planned == 0 && match($0, /# *SKIP/))
		skip_all = substr($0, RSTART)
}

/^(not )?ok([ \t]|$)/ {
	results++
	if (match($0, /# *SKIP/)) {
		skipped++
		say("skipped: " $0)
	} else if ($1 == "not") {
		failed++
		say("failed: " $0)
	} else {
		passed++
	}
}

END {
	split(how, end, " ")
	bad = ""
	if (end[1] != "exit")
		bad = "ended by " how
	else if (skip_all && (end[2] == 0 || end[2] == 4))
		skip(skip_all)
	else if (end[2] == 4 && !has_plan && !results)
		skip("status 4" (last != "" ? ": " last : ""))
	else if (!has_plan)
		bad = "no plan (1..N)"
	else if (results + 0 != planned)
		bad = "planned " planned " results, gave " results + 0
	else if (planned == 0)
		bad = "no tests and no reason (1..0 # SKIP why)"
	else if (end[2] != 0 && !failed && !(end[2] == 4 && skipped))
		bad = "status " end[2] " though nothing failed"
	else if (end[2] == 0 && failed)
		bad = "status 0 though something failed"
	if (bad != "") {
		failed++
		say("failed: " bad)
	}
	if (splats + 0) {
		failed++
		say("failed: the kernel complained")
	}
	print passed + 0, failed + 0, skipped + 0
	printf "%s", text
}

{ last = $0 }

function say(line) { text = text line "\n" }
function skip(why) { skipped++; say("skipped: " why) }
