# Writes each program of the READMEs to a file in the folder `out`, and examples.dox, which makes them examples of what they call and
# shows a program on the page of each public header: the example NAME.cpp of NAME.h, or else the first program that includes it.
#   awk -v out=FOLDER -v root=TREE/ -f docs_examples.awk tests/examples/*.cpp README.md...
function path_of(name) { return substr(name, 1, length(root)) == root ? substr(name, length(root) + 1) : name }
# Notes that a program includes a header.
function note(line, file, header, stem) {
    header = line
    sub(/^#include <texton\//, "", header)
    sub(/>.*/, "", header)
    stem = file
    sub(/\.[a-z]+$/, "", stem)
    if (!(header in shown) || header == stem ".h") shown[header] = file
}
FNR == 1 {
    folder = path_of(FILENAME)
    example = ""
    inside = 0
    if (folder !~ /README\.md$/) {
        example = folder
        sub(/.*\//, "", example)
    }
    sub(/\/?README\.md$/, "", folder)
    title = folder
    gsub(/\//, "-", folder)
    if (folder == "") folder = "texton"
    count = 0
}
example != "" {
    print >(out "/" example)
    if ($0 ~ /^#include <texton\//) note($0, example)
    next
}
!inside && /^#+ / {
    heading = $0
    sub(/^#+ /, "", heading)
}
!inside && $0 == "```cpp" {
    inside = 1
    file = folder "-" ++count ".cpp"
    printf "/** @example %s\n * %s%s */\n", file, (title == "" ? "" : title ": "), heading >(out "/examples.dox")
    next
}
inside && /^```/ {
    inside = 0
    close(out "/" file)
    next
}
inside {
    print >(out "/" file)
    if ($0 ~ /^#include <texton\//) note($0, file)
}
END {
    for (header in shown)
        printf "/** @file %s\n * @par Example\n * @include %s */\n", header, shown[header] >(out "/examples.dox")
}
