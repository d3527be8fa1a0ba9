#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sources.sh FOLDER: the sources of the libraries in the WASM module, as Debian ships them. apt
# checks their signatures; its list of sources is kept in the folder, so that no root is needed.
set -euo pipefail

packages=(jansson libarchive libisal libyaml libzstd sqlite3 zlib)
folder=$1
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=${STEPSCOPE_DEBIAN_MIRROR:-http://deb.debian.org/debian}

mkdir -p "$folder/apt/lists/partial" "$folder/new"
cd "$folder"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" \
    >apt/sources.list
own=(-q -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$PWD/apt/lists" -o APT::Sandbox::User="$(id -un)")
apt-get "${own[@]}" update
for package in "${packages[@]}"; do
    rm -rf "new/$package" "$package"
    mkdir "new/$package"
    (cd "new/$package" && apt-get "${own[@]}" source --download-only "$package" &&
        dpkg-source --no-check -x ./*.dsc source)
    mv "new/$package/source" "$package"
done

# SQLite is generated from its parts, into one file.
mkdir -p sqlite3/one
make -s -C sqlite3/one -f ../Makefile.linux-gcc TOP=.. sqlite3.c
rm -rf new
touch complete
