#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#   tests/clients/kepler.sh KEPLER
# Compiles kepler.go with the sources of Kepler in the directory KEPLER for the guest:
# build/integrations/kepler. Go and the libraries are Debian 13's packages, unpacked into
# build/kernels/go. Kepler's package internal/k8s/pod is replaced by its interface, because its
# libraries (client-go, controller-runtime) are large and the guest has no Kubernetes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/kernels/debian.inc
die() { echo "kepler.sh: $*" >&2; exit 1; }

packages=(golang-1.24-go golang-github-imdario-mergo-dev golang-github-oklog-run-dev
	  golang-github-prometheus-procfs-dev golang-github-stretchr-testify-dev
	  golang-golang-x-sync-dev golang-golang-x-sys-dev
	  golang-gopkg-alecthomas-kingpin.v2-dev golang-gopkg-yaml.v3-dev golang-k8s-utils-dev)
go=$PWD/build/kernels/go
arch=$(dpkg --print-architecture)
if [ "$(cat "$go/complete" 2> /dev/null)" != "${packages[*]}" ]; then
	rm -rf "$go"
	mkdir -p "$go/apt"
	sources_of trixie main > "$go/apt/sources.list"
	apt_lists "$go/apt" "$arch" || die "cannot fetch the lists of Debian 13"
	apt_in "$go/apt" "$arch" apt-get install -y --download-only --no-install-recommends \
		"${packages[@]}" > "$go/apt/log" 2>&1 ||
		{ cat "$go/apt/log" >&2; die "cannot download Go and its libraries"; }
	for deb in "$go"/apt/cache/archives/*.deb; do dpkg-deb -x "$deb" "$go"; done
	rm -rf "$go/apt"
	echo "${packages[*]}" > "$go/complete"
fi

work=$PWD/build/integrations
kepler=$work/go/src/github.com/sustainable-computing-io/kepler
rm -rf "$work/go"
mkdir -p "$kepler" "$work/go/src/github.com/alecthomas/kingpin"
cp -r "$1"/{config,internal} "$kepler/"
pod=$kepler/internal/k8s/pod
awk '/^\tInformer interface/, /^$/; /^\tContainerInfo struct/, /^\t}/' "$pod/pod.go" > "$work/types"
rm "$pod"/*
{
	echo 'package pod; import "github.com/sustainable-computing-io/kepler/internal/service"; type ('
	cat "$work/types"
	echo ')'
} > "$pod/pod.go"
mkdir -p "$kepler/cmd/reader"
cp tests/clients/kepler.go "$kepler/cmd/reader/main.go"
gocode=$go/usr/share/gocode
ln -s "$gocode/src/gopkg.in/alecthomas/kingpin.v2" "$work/go/src/github.com/alecthomas/kingpin/v2"
export GO111MODULE=off GOTOOLCHAIN=local GOPATH=$work/go:$gocode GOCACHE=$work/cache
GOARCH=arm64 CGO_ENABLED=0 "$go/usr/lib/go-1.24/bin/go" build -o "$work/kepler" \
	github.com/sustainable-computing-io/kepler/cmd/reader
