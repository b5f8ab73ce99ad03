# shellcheck shell=bash
# Sourced by tests/run, viewer/run and .ci/run: installs what is missing, configures and builds.

texton_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Everything that building and testing takes on Debian 12. CUDA is used where its toolkit is, and is not installed here.
# shellcheck disable=SC2034  # read by the scripts that source this
texton_packages=(
    g++ cmake ninja-build
    libfmt-dev libtbb-dev libhwy-dev
    libopenimageio-dev
    qt6-base-dev libcli11-dev fonts-dejavu-core
    nlohmann-json3-dev libdlpack-dev libgtest-dev libgmock-dev libbenchmark-dev
)

# A screen of X11 without a computer's own, for the window's tests.
# shellcheck disable=SC2034
texton_screen_packages=(xvfb xauth)

texton_fail() {
    echo "$*" >&2
    exit 1
}

# texton_install PACKAGE...: quiet if all are there already.
texton_install() {
    local package missing=() as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian or Ubuntu: nothing is installed. Needed (by their Debian names): $*" >&2
        return 0
    fi
    for package in "$@"; do
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null || texton_fail "Packages are missing, and neither root nor sudo is at hand to install" \
            "them. As root, run: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
    echo "Installing: ${missing[*]}"
    # Known lists may do; without them, or where they are out of date, fetch them once.
    if [[ -z $(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null) ]] ||
        ! "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"; then
        "${as_root[@]}" update || texton_fail "apt-get update failed: is there a network?"
        "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" ||
            texton_fail "These packages could not be installed: ${missing[*]}"
    fi
}

# The preset for this machine: cuda where nvcc is, else cpu.
texton_preset() {
    if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc || -x ${CUDA_PATH:-}/bin/nvcc ]]; then
        echo cuda
    else
        echo cpu
    fi
}

# texton_build PRESET [TARGET...]: configures and builds, in build/PRESET.
texton_build() {
    local preset=$1 targets=()
    shift
    if (($#)); then
        targets=(--target "$@")
    fi
    cd "$texton_root" || exit
    cmake --preset "$preset" || texton_fail "cmake --preset $preset failed in $texton_root"
    cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}" || texton_fail "The build failed: build/$preset"
}
