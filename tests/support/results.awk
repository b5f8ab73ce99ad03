# Adds up result files of GoogleTest and of texton verify (JUnit XML): prints "N passed, N failed, N skipped".
function number(name) {
    return match($0, " " name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) + 0 : 0
}
/^ *<testsuites / { tests += number("tests") - number("disabled"); failed += number("failures") + number("errors") }
/^ *<testsuite / { skipped += number("skipped") }
END { printf "%d passed, %d failed, %d skipped\n", tests - failed - skipped, failed, skipped }
