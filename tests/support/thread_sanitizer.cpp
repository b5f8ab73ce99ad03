// TBB's library is not built with the thread sanitizer, which therefore takes the hand-over of its tasks for races.
extern "C" const char* __tsan_default_suppressions() {
    return "race:oneapi/tbb/\n";
}
