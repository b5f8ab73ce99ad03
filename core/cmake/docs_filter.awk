# Input filter of Doxygen for public headers: the comment after `#pragma once` describes the file. Functions that are defaulted or
# deleted need no documentation.
/= (default|delete);/ { next }
begun == 1 && /^\/\/ / {
    print "/" $0
    next
}
{ print }
begun == 1 { begun = 2 }
/^#pragma once$/ && !begun {
    print "/// @file"
    begun = 1
}
