#!/usr/bin/env bash
# Puts `cuvee` on the PATH of the steps that follow: the binary of a release, compared with its
# checksum, or what Cargo builds where there is none for this version and machine.
set -euo pipefail

fail() {
    echo "::error title=cuvee::$1"
    exit 1
}

# What releases call this machine; nothing where they know it not. On Linux it is the static
# binary, which runs in every container.
machine() {
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) echo x86_64-unknown-linux-musl ;;
        Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
        Darwin-x86_64) echo x86_64-apple-darwin ;;
        Darwin-arm64) echo aarch64-apple-darwin ;;
        MINGW*-x86_64 | MSYS*-x86_64) echo x86_64-pc-windows-msvc ;;
    esac
}

fetch() {
    curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$1" | cut -d ' ' -f 1
}

# What was altered is not run, and nothing else in its place.
verify() {
    local archive=$1 release=$2 expected=${ACTION_CHECKSUM:-} actual
    if [ -z "$expected" ]; then
        fetch "$release/SHA256SUMS" SHA256SUMS || fail "$release has no checksums"
        expected=$(awk -v name="$archive" '$2 == name { print $1 }' SHA256SUMS)
        [ -n "$expected" ] || fail "$release has no checksum of $archive"
    fi
    actual=$(sha256 "$archive")
    [ "$actual" = "$expected" ] || fail "$archive has the checksum $actual instead of $expected"
}

# From the source that this script belongs to, or that of another version.
build() {
    echo "::notice title=cuvee::there is no binary of $version for this machine, so it is built"
    command -v cargo >/dev/null || fail "there is no Cargo to build cuvee with"
    if [ "$version" = "$own_version" ]; then
        cargo install --locked --root "$RUNNER_TEMP/cuvee" --path "$source"
    elif [ -n "$repository" ]; then
        cargo install --locked --root "$RUNNER_TEMP/cuvee" --git "$repository" --tag "v$version" cuvee
    else
        fail "this source is cuvee $own_version, and nothing says where $version is"
    fi
}

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
own_version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml")
version=${ACTION_VERSION:-$own_version}
version=${version#v}
case $version in
    *[!0-9A-Za-z.+-]* | [!0-9]*) fail "\`$version\` is no version" ;;
esac
repository=${ACTION_REPOSITORY:+$GITHUB_SERVER_URL/$ACTION_REPOSITORY}
releases=${ACTION_DOWNLOAD_URL:-${repository:+$repository/releases/download}}
target=$(machine)
name=cuvee-$version-$target

# Names are relative from here on: tar takes `D:` for a machine.
cd "$RUNNER_TEMP"
if [ -n "$target" ] && [ -n "$releases" ] && fetch "$releases/v$version/$name.tar.gz" "$name.tar.gz"; then
    verify "$name.tar.gz" "$releases/v$version"
    tar -xzf "$name.tar.gz"
    directory=$RUNNER_TEMP/$name
else
    build
    directory=$RUNNER_TEMP/cuvee/bin
fi
"$directory/cuvee" --version
echo "$directory" >>"$GITHUB_PATH"
