#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the Containerfile and the Kubernetes manifest agree with the systemd units; no
# container is built.
cd "$(dirname "$0")/../.." || exit 1
d=build/check-container
. tests/host/check.inc
at=user/dist/container
echo 1..5
# manifest EXPRESSION: pass if the Python expression is true. Variables: m: the YAML documents; pod,
# c: the pod and the containers of the DaemonSet
manifest() { /usr/bin/python3 -c "
import re, sys, yaml
m = list(yaml.safe_load_all(open('$at/daemonset.yaml')))
pod = next(x for x in m if x['kind'] == 'DaemonSet')['spec']['template']['spec']
c = {x['name']: x for x in pod['containers']}
read = lambda f: open(f).read()
sys.exit(not ($1))"; }
check "the manifest grants the capabilities of the units" "manifest '{x[4:] for f in __import__(\"glob\").glob(\"user/dist/jetwattd*.service\")
	for x in re.findall(\"CAP_\\w+\", \" \".join(re.findall(\"^CapabilityBoundingSet=(.*)\", read(f), re.M)))} <=
	set(c[\"jetwattd\"][\"securityContext\"][\"capabilities\"][\"add\"])'"
check "root may become the user who owns the profiles" \
	"manifest '{\"SETUID\", \"SETGID\"} <= set(c[\"jetwattd\"][\"securityContext\"][\"capabilities\"][\"add\"])'"
check "no container is privileged, and those that serve the network have no capability" \
	"manifest 'not any(x[\"securityContext\"].get(\"privileged\") for x in c.values()) and \"add\" not in c[\"exporter\"][\"securityContext\"][\"capabilities\"]'"
check "every mounted volume is defined" \
	"manifest '{v[\"name\"] for x in c.values() for v in x[\"volumeMounts\"]} == {v[\"name\"] for v in pod[\"volumes\"]}'"
check "the exporter has the group of the image" \
	"manifest '\"--gid %d jetwatt \" % c[\"exporter\"][\"securityContext\"][\"runAsGroup\"] in read(\"$at/Containerfile\")'"
exit $failed
