// Sets TEXTON_READER in programs of tests that read images in separate processes, and the fonts of windows: images of windows are
// compared, so they must not depend on the fonts that are installed.
#include <cstdlib>

namespace {

[[maybe_unused]] const int kReader = setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
[[maybe_unused]] const int kFonts = setenv("FONTCONFIG_FILE", TEXTON_TEST_FONTS, 0);

}  // namespace
