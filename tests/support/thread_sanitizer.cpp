// TBB's libraries are not built with the thread sanitizer, which therefore takes the hand-over of their tasks for races.
extern "C" const char* __tsan_default_suppressions() { return "race:oneapi/tbb/\nrace:libtbb\n"; }
