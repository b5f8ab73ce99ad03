// What the sanitizers report without cause.

// TBB and OpenImageIO are not built with the thread sanitizer, which therefore takes the hand-over of their tasks for
// races.
extern "C" const char* __tsan_default_suppressions() { return "race:oneapi/tbb/\nrace:libtbb\nrace:libOpenImageIO\n"; }

// A thread that is on its way out as the process ends still holds the C library's 24 bytes for dlerror().
extern "C" const char* __lsan_default_suppressions() { return "leak:_dlerror_run\n"; }
