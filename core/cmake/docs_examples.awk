# Writes each program of the READMEs to a file in the folder `out`, and examples.dox, which makes them examples of what they call.
#   awk -v out=FOLDER -v root=TREE/ -f docs_examples.awk README.md...
function path_of(name) { return substr(name, 1, length(root)) == root ? substr(name, length(root) + 1) : name }
FNR == 1 {
    folder = path_of(FILENAME)
    sub(/\/?README\.md$/, "", folder)
    title = folder
    gsub(/\//, "-", folder)
    if (folder == "") folder = "texton"
    count = 0
    inside = 0
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
inside { print >(out "/" file) }
