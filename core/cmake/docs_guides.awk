# Input filter of Doxygen for guides: gives each heading a label that is unique among all guides, as links on the web have them.
function slug(text) {
    text = tolower(text)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    return text
}
function label(path, anchor) {
    sub(/\/?README\.md$/, "", path)
    gsub(/[^A-Za-z0-9]/, "-", path)
    return (path == "" ? "texton" : path) "-" anchor
}
# Returns the path of a link in the file: ../core/README.md in viewer/README.md is core/README.md.
function linked(link, folder) {
    if (link == "") return here
    folder = here
    sub(/[^\/]*$/, "", folder)
    while (sub(/^\.\.\//, "", link)) sub(/[^\/]+\/$/, "", folder)
    return folder link
}
FNR == 1 { here = substr(FILENAME, 1, length(root)) == root ? substr(FILENAME, length(root) + 1) : FILENAME }
/^```/ { inside = !inside }
!inside && /^##+ / {
    title = $0
    sub(/^#+ /, "", title)
    $0 = $0 " {#" label(here, slug(title)) "}"
}
!inside {
    while (match($0, /!\[[^]]*\]\([^)]*\//))  # Doxygen finds images by their names
        $0 = substr($0, 1, RSTART) "[" substr($0, RSTART + 2, index(substr($0, RSTART + 2), "(")) substr($0, RSTART + RLENGTH)
    text = ""
    while (match($0, /\]\([^)#: ]*#[a-z0-9_-]+\)/)) {
        link = substr($0, RSTART + 2, RLENGTH - 3)
        mark = index(link, "#")
        text = text substr($0, 1, RSTART + 1) "#" label(linked(substr(link, 1, mark - 1)), substr(link, mark + 1)) ")"
        $0 = substr($0, RSTART + RLENGTH)
    }
    $0 = text $0
}
{ print }
