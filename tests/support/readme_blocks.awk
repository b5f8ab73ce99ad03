# Prints the fenced code blocks of a language in a Markdown file, or writes each one to a file of its own.
#   awk -v language=cpp -f readme_blocks.awk README.md                             prints them, separated by form feeds
#   awk -v language=cpp -v prefix=OUT/readme- -v ending=.cpp -f readme_blocks.awk README.md   writes OUT/readme-1.cpp, ..., prints the paths
$0 == "```" language {
    inside = 1
    count += 1
    file = prefix count ending
    if (prefix != "") print file
    else if (count > 1) printf "\f\n"
    next
}
/^```/ {
    if (inside && prefix != "") close(file)
    inside = 0
    next
}
inside {
    if (prefix != "") print >file
    else print
}
