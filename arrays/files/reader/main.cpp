// The program texton-reader, which reads image files for a process that does not trust them. The library starts it with
// a control socket as descriptor 3. See arrays/files/isolated/protocol.h.
//
// The program loads OpenImageIO once, which takes a quarter of a second, and then forks the processes that read files.
// It reads no file itself, so that it cannot be damaged by one, and each process begins in its initial state.
#include <unistd.h>

#include "arrays/files/reader/helper_process.h"

int main() { ::_exit(texton::reader::run_helper()); }
