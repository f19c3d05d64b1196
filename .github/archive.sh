#!/usr/bin/env bash
# Usage: archive.sh BINARY TARGET
# Puts what a release has for a target into `dist`: one archive, with one directory of its name.
set -euo pipefail

source=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml")
name=cuvee-$version-$2
mkdir -p "dist/$name"
cp "$1" "$source"/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT} "dist/$name"
tar -czf "dist/$name.tar.gz" -C dist "$name"
rm -r "dist/${name:?}"
