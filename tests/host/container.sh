#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The texts for containers agree with what they are about; no container is built here.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-container
. tests/host/check.inc
at=user/dist/container
echo 1..5
# manifest EXPRESSION: of Python, with m the documents and pod, c what the DaemonSet runs
manifest() { /usr/bin/python3 -c "
import re, sys, yaml
m = list(yaml.safe_load_all(open('$at/daemonset.yaml')))
pod = next(x for x in m if x['kind'] == 'DaemonSet')['spec']['template']['spec']
c = {x['name']: x for x in pod['containers']}
read = lambda f: open(f).read()
sys.exit(not ($1))"; }
check "the manifest gives what the units may have" "manifest '{x[4:] for f in __import__(\"glob\").glob(\"user/dist/jetwattd*.service\")
	for x in re.findall(\"CAP_\\w+\", \" \".join(re.findall(\"^CapabilityBoundingSet=(.*)\", read(f), re.M)))} <=
	set(c[\"jetwattd\"][\"securityContext\"][\"capabilities\"][\"add\"])'"
check "root may become the user who owns the profiles" \
	"manifest '{\"SETUID\", \"SETGID\"} <= set(c[\"jetwattd\"][\"securityContext\"][\"capabilities\"][\"add\"])'"
check "nothing is privileged, whoever serves the network has nothing" \
	"manifest 'not any(x[\"securityContext\"].get(\"privileged\") for x in c.values()) and \"add\" not in c[\"exporter\"][\"securityContext\"][\"capabilities\"]'"
check "each volume that is mounted is there" \
	"manifest '{v[\"name\"] for x in c.values() for v in x[\"volumeMounts\"]} == {v[\"name\"] for v in pod[\"volumes\"]}'"
check "the exporter's group is the image's" \
	"manifest '\"--gid %d jetwatt \" % c[\"exporter\"][\"securityContext\"][\"runAsGroup\"] in read(\"$at/Containerfile\")'"
exit $failed
