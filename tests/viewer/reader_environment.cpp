// Sets TEXTON_READER in programs of tests that read images in separate processes.
#include <cstdlib>

namespace {

[[maybe_unused]] const int kSet = setenv("TEXTON_READER", TEXTON_TEST_READER, 0);

}  // namespace
