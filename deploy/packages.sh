#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by deploy/quickstart and tests/run: which Debian packages are needed, and installing them.

# shellcheck disable=SC2034 # the scripts that source this read the lists

# What the release build links and runs; gcc calls make to link in parallel.
build_packages=(
    ca-certificates cmake curl gcc gzip libarchive-dev libc6-dev libcivetweb-dev
    libcurl4-openssl-dev libisal-dev libjansson-dev libminizip-dev libseccomp-dev libsqlite3-dev
    libssl-dev libuv1-dev libxlsxwriter-dev libyaml-dev libzstd-dev make ninja-build pkg-config
    util-linux zlib1g-dev
)

# What the tests need beside it.
test_packages=(
    fonts-dejavu-core g++ libcmocka-dev libsimdjson-dev lld procps python3-openpyxl shellcheck
    sqlite3 strace systemd time zstd
)

lists_are_new=false

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "need root to run: $* (become root, or install sudo)" >&2
        return 1
    fi
}

is_installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Installs those of the named packages that are missing; does not touch the network when none is.
need_packages() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null; then
        echo "this is not Debian: please install the counterparts of: $*" >&2
        return 0
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        return 0
    fi
    echo "installing: ${missing[*]}"
    if ! $lists_are_new; then
        as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
        lists_are_new=true
    fi
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A node from elsewhere that will do is left alone: Debian's package would get in its way.
need_node() {
    local major=0
    if command -v node >/dev/null && command -v npm >/dev/null; then
        major=$(node -p 'process.versions.node.split(".")[0]')
    fi
    if ((major < 18)); then
        need_packages nodejs npm
    fi
}

# Ubuntu packages no Chromium: there STEPSCOPE_CHROMIUM names one installed by other means.
need_browser() {
    if [[ -z ${STEPSCOPE_CHROMIUM-} && ! -x /usr/bin/chromium ]]; then
        need_packages chromium-headless-shell
    fi
}

# Proxies whose configurations are tested; installing them must not leave services running.
need_proxies() {
    local package
    for package in nginx-light caddy; do
        if ! is_installed "$package"; then
            need_packages "$package"
            as_root systemctl disable --now "${package%-light}" 2>/dev/null || true
        fi
    done
}

# Tests start their own servers; installing PostgreSQL must not leave one running.
need_postgres() {
    if ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; then
        need_packages postgresql
        as_root systemctl disable --now postgresql 2>/dev/null || true
    fi
}

# The S3 of the tests of a cluster, which need root.
need_ceph() {
    if ((EUID == 0)) && ! is_installed radosgw; then
        need_packages ceph-mon ceph-osd radosgw
        as_root systemctl disable --now ceph.target 2>/dev/null || true
    fi
}

# Any Python will do that can run the notebook client.
need_python() {
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        need_packages python3
    fi
}

# Like need_node for clang, which also must be able to link a fuzz target.
need_clang() {
    local major probe='int LLVMFuzzerTestOneInput(void){return 0;}'
    command -v clang >/dev/null || need_packages clang
    command -v clang-format >/dev/null || need_packages clang-format
    if ! clang -x c -fsanitize=fuzzer,address,undefined -o /dev/null - 2>/dev/null <<<"$probe"; then
        major=$(clang -dumpversion | cut -d. -f1)
        need_packages "libclang-rt-$major-dev"
    fi
}

# What the WASM module is compiled and linked with; its libraries come as Debian's sources.
need_wasm() {
    local major
    need_clang
    major=$(clang -dumpversion | cut -d. -f1)
    need_packages dpkg-dev lld llvm make tcl wasi-libc xz-utils "libclang-rt-$major-dev-wasm32"
}
