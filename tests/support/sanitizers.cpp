// Suppresses false reports of the sanitizers.

// TBB and OpenImageIO are not built with the thread sanitizer, so it reports their task hand-over as data races.
extern "C" const char* __tsan_default_suppressions() { return "race:oneapi/tbb/\nrace:libtbb\nrace:libOpenImageIO\n"; }

// A thread that is exiting while the process ends still holds the 24 bytes that the C library allocates for dlerror().
extern "C" const char* __lsan_default_suppressions() { return "leak:_dlerror_run\n"; }
