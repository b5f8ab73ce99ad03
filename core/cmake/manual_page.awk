# Makes a manual page of the help of a program.
#   awk -v name=texton-run -v version=1.0 -v all="run verify" -f manual_page.awk HELP
# all: the commands of the program texton, whose pages are named at the end
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}
function section(title) {
    print verbatim ? ".fi\n.SH " title : ".SH " title
    verbatim = 0
}
function entry(text, description) {
    print ".TP\n.B " escaped(text)
    if (description != "") print escaped(description)
}
NR == 1 {
    printf ".TH %s 1 \"\" \"Texton %s\" \"Texton\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, escaped(name), escaped($0)
    next
}
/^Usage: / {
    section("SYNOPSIS")
    print ".nf"
    verbatim = 1
    print escaped(substr($0, 8))
    next
}
/^[A-Z][A-Za-z ]*:$/ {
    title = substr($0, 1, length($0) - 1)
    if (title == "Positionals") title = "Arguments"
    if (title == "Subcommands") title = "Commands"
    lists = title ~ /^(Arguments|Options|Commands|Exit status)$/
    section(toupper(title))
    if (!lists) {
        print ".nf"
        verbatim = 1
    }
    next
}
lists && /^  [^ ]/ {
    if (length($0) > 30 && substr($0, 30, 1) == " " && substr($0, 31, 1) != " ") {  # the descriptions begin in column 31
        name_of = substr($0, 3, 27)
        sub(/ +$/, "", name_of)
        entry(name_of, substr($0, 31))
    } else if (match(substr($0, 3), /  +/)) {
        entry(substr($0, 3, RSTART - 1), substr($0, 2 + RSTART + RLENGTH))
    } else {
        entry(substr($0, 3), "")
    }
    next
}
lists && /^   / {
    sub(/^ +/, "")
    print escaped($0)
    next
}
verbatim {
    sub(/^       /, "", $0)
    print escaped($0)
    next
}
/^$/ {
    after_blank = 1
    next
}
{
    if (lists) section("DESCRIPTION")
    else if (after_blank) print ".PP"
    lists = after_blank = 0
    print escaped($0)
}
END {
    if (verbatim) print ".fi"
    if (name == "texton-view") pages = "texton(1)"
    else if (name != "texton") pages = "texton(1), texton-view(1)"
    count = split(all, names, " ")
    if (name == "texton") {
        for (i = 1; i <= count; ++i) pages = pages (pages == "" ? "" : ", ") "texton\\-" names[i] "(1)"
    }
    print ".SH SEE ALSO\n" pages
}
