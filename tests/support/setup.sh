# shellcheck shell=bash
# Sourced by tests/run, tests/long/run, viewer/run and .ci/run: installs what is missing, configures, builds and runs tests.

texton_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# All packages for building and testing on Debian 12. The CUDA Toolkit is used if present; the scripts do not install it.
# shellcheck disable=SC2034  # read by the scripts that source this
texton_packages=(
    g++ cmake ninja-build
    libfmt-dev libtbb-dev libhwy-dev
    libopenimageio-dev libopencolorio-dev libzstd-dev zlib1g-dev libjpeg62-turbo-dev libdeflate-dev libssl-dev
    qt6-base-dev libcli11-dev fonts-dejavu-core
    nlohmann-json3-dev libdlpack-dev libgtest-dev libgmock-dev libbenchmark-dev
    python3
)

# The programs idiff and iinfo, whose results the tests compare with those of texton, and parallel, which runs shards of a batch.
# shellcheck disable=SC2034
texton_peer_packages=(openimageio-tools parallel)

# Libraries of the programs in tests/clients.
# shellcheck disable=SC2034
texton_client_packages=(libopencv-imgcodecs-dev)

# A virtual X11 display for the tests of the window.
# shellcheck disable=SC2034
texton_screen_packages=(xvfb xauth)

# The browser of the tests of reports.
# shellcheck disable=SC2034
texton_browser_packages=(chromium)

texton_fail() {
    echo "$*" >&2
    exit 1
}

# texton_install PACKAGE...: installs missing packages; prints nothing if all are installed.
texton_install() {
    local package missing=() as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "Packages are installed on Debian and Ubuntu only. Install these yourself (Debian names): $*" >&2
        return 0
    fi
    for package in "$@"; do
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null || texton_fail "Packages are missing, and installing them needs root or sudo." \
            "As root, run: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
    echo "Installing: ${missing[*]}"
    # Try the existing package lists first. Update them only if there are none or the installation fails.
    if [[ -z $(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null) ]] ||
        ! "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"; then
        "${as_root[@]}" update || texton_fail "apt-get update failed. Check the network connection."
        "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" ||
            texton_fail "apt-get could not install these packages: ${missing[*]}"
    fi
}

# Prints the preset for this machine: cuda if nvcc is found, else cpu.
texton_preset() {
    if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc || -x ${CUDA_PATH:-}/bin/nvcc ]]; then
        echo cuda
    else
        echo cpu
    fi
}

# texton_build PRESET [TARGET...]: configures and builds in build/PRESET.
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

# Set by the caller: texts of which a test's name must contain one, and further arguments for ctest.
texton_wanted=()
texton_ctest_arguments=()

# texton_run_tests PRESET [PROGRAM...]: runs the tests of build/PRESET, or of these programs, in parallel. The last line of the
# output gives the totals.
texton_run_tests() {
    local tree=$texton_root/build/$1 status=0 pattern suite name text sum lost=() list=() select=()
    shift
    if (($#)); then
        select+=(-R "^($(IFS='|' && echo "$*"))\\.")
    fi
    if ((${#texton_wanted[@]})); then
        pattern=$(printf ':*%s*' "${texton_wanted[@]}")
        export GTEST_FILTER=${pattern#:}
        # Each suite of tests/regress is one test, named texton.NAME.
        for suite in "$texton_root"/tests/regress/*.json; do
            name=texton.$(basename "$suite" .json)
            for text in "${texton_wanted[@]}"; do
                # shellcheck disable=SC2053  # TEXT may be a pattern
                [[ $name != *$text* ]] || continue 2
            done
            list+=("${name//./\\.}")
        done
        ((${#list[@]} == 0)) || select+=(-E "^($(IFS='|' && echo "${list[*]}"))\$")
    fi
    rm -rf "$tree/tests/results" "$tree/tests/texton-reports"/*.xml
    select+=("${texton_ctest_arguments[@]}")
    ctest --test-dir "$tree" --output-on-failure --no-tests=error -j "$(nproc)" "${select[@]}" || status=$?

    # A process that crashed writes no result file.
    list=()
    while read -r name; do
        suite=$tree/tests/results/$name.xml
        [[ $name != texton.* ]] || suite=$tree/tests/texton-reports/${name#texton.}.xml
        if [[ -s $suite ]]; then list+=("$suite"); else lost+=("$name"); fi
    done < <(ctest --test-dir "$tree" -N "${select[@]}" | sed -n 's/^ *Test *#[0-9]*: *//p')
    sum=$(awk -f "$texton_root/tests/support/results.awk" "${list[@]}" </dev/null)
    if [[ $sum == "0 passed, 0 failed, 0 skipped" && $status == 0 ]]; then
        echo "No test ran${texton_wanted[*]:+: no test name contains ${texton_wanted[*]}}."
        status=1
    fi
    ((${#lost[@]} == 0)) || echo "These processes ended without a result; their output above names the test: ${lost[*]}"
    echo "$sum"
    return $status
}
