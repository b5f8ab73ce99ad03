#include "viewer/model/file_reading.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace texton::viewer {
namespace {

ReadOptions& current() noexcept {
    static ReadOptions reading{.isolated = true, .reuses_process = true};
    return reading;
}

// Returns the folder of texton-reader, which belongs to this program: it is beside it or in libexec.
std::string folder_of_reader() {
    namespace fs = std::filesystem;
    std::error_code unreadable;
    const fs::path own = fs::read_symlink("/proc/self/exe", unreadable).parent_path();
    return (fs::exists(own / "texton-reader", unreadable) ? own : own / TEXTON_LIBEXEC).lexically_normal().string();
}

}  // namespace

const ReadOptions& file_reading() noexcept { return current(); }

void set_file_reading(const ReadOptions& reading) noexcept { current() = reading; }

}  // namespace texton::viewer

// Called by the library, which would search the folder where Texton was installed first: another version of it may be
// there. A program of another project that links texton::testing defines it instead (texton-config.cmake).
extern "C" __attribute__((weak)) const char* texton_installed_libexec() {
    static const std::string folder = texton::viewer::folder_of_reader();
    return folder.c_str();
}
