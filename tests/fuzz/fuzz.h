#pragma once
// What fuzz targets share. A target is a source NAME_fuzz.cpp that defines LLVMFuzzerTestOneInput(). It accepts any
// bytes, lets only texton::Error escape from the library, and checks what must hold for accepted inputs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/error.h>
#include <texton/format.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace texton::fuzz {

/// Bytes of an input.
using Bytes = std::span<const std::uint8_t>;

/// Ends the process with a message if the condition does not hold.
void require(bool holds, const char* property);

/// Returns the result of the call, or nullopt if it throws texton::Error. Other exceptions are findings, and so is an
/// Error without a description of the problem.
template <class Call>
auto accepted(const Call& call) -> std::optional<decltype(call())> {
    try {
        return call();
    } catch (const Error& error) {
        require(!error.problem().empty(), "an Error names the problem");
        return std::nullopt;
    }
}

/// A file in the temporary folder with a fixed name. The name contains the process ID, so that several processes can run
/// at once. The file is removed at the end of the process.
class ScratchFile {
public:
    /// `ending` is the extension with the dot.
    explicit ScratchFile(const std::string& ending);
    ~ScratchFile();
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }
    /// Replaces the contents and returns the path.
    const std::filesystem::path& with(Bytes bytes) const;

private:
    std::filesystem::path path_;
};

/// Takes numbers from the input. After its end all numbers are 0.
class Numbers {
public:
    explicit Numbers(Bytes bytes) : rest_(bytes) {}

    template <class Number>
    Number take() {
        Number number{};
        const std::size_t count = std::min(sizeof(number), rest_.size());
        if (count > 0) std::memcpy(&number, rest_.data(), count);
        rest_ = rest_.subspan(count);
        return number;
    }
    /// Returns a number from 0 to `count` - 1.
    std::size_t below(std::size_t count) { return take<std::uint8_t>() % count; }
    bool flag() { return below(2) == 1; }
    /// Returns a number as hostile files have it: mostly small, else a power of two, its neighbors or any bits.
    std::int64_t hostile();
    /// Returns such a number in the range of the type, by truncation.
    template <class Number>
    Number hostile_as() {
        return static_cast<Number>(hostile());
    }
    Format format() { return formats()[below(formats().size())].format; }
    Bytes rest() const noexcept { return rest_; }

private:
    Bytes rest_;
};

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Returns the parts of a text between separators.
std::vector<std::string> split(std::string_view text, char separator);

/// Returns true if the numbers are equal or both NaN.
inline bool same(double a, double b) { return a == b || (a != a && b != b); }

}  // namespace texton::fuzz
