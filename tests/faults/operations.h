#pragma once
// The operations whose calls fail one after the other, and how a test runs them.
//
// An operation allocates its own objects in the library, so that it leaves nothing. Memory of the test is allocated
// while an Aside exists, or in prepare().
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <texton/device.h>
#include <texton/graph.h>
#include <texton/stream.h>
#include <texton/streamed_texture.h>
#include <texton/view.h>

#include "tests/faults/calls.h"
#include "tests/support/texels.h"

namespace texton::test {

/// An operation that is ready to run, any number of times.
struct Prepared {
    std::function<Bytes()> run;  ///< returns the same bytes each time, or throws Error
    /// Checks what a run has left, after a failure too. Can be empty. Must not be armed.
    std::function<void()> check{};
};

/// A named operation.
struct Operation {
    std::string name;                  ///< letters and digits
    std::vector<std::string> headers;  ///< the public headers that it covers, without "texton/" and ".h"
    std::function<Prepared(const Device&)> prepare;
    bool cpu_only = false;  ///< true if it needs the CPU device
    /// True if other libraries take part, which report missing memory as other errors.
    bool foreign_memory = false;
    /// True if a destructor of another library allocates memory and ends the process if there is none. See "Not
    /// promised" in tests/README.md.
    bool needs_memory = false;
    /// Calls after whose failure another library does not free its memory. See there too.
    Call leaks_after = Call::none;
};

/// Returns the operations of the program.
[[nodiscard]] std::vector<Operation> all_operations();
/// Returns the folders of the public headers that the operations cover, for example "core/texton".
[[nodiscard]] std::vector<std::string> covered_folders();

// Operations of one source file each.
[[nodiscard]] std::vector<Operation> memory_operations();
[[nodiscard]] std::vector<Operation> work_operations();
[[nodiscard]] std::vector<Operation> exchange_operations();
[[nodiscard]] std::vector<Operation> array_operations();
[[nodiscard]] std::vector<Operation> mapping_operations();
[[nodiscard]] std::vector<Operation> kernel_operations();
[[nodiscard]] std::vector<Operation> launch_operations();

// What operations call.

/// Returns memory of the test.
[[nodiscard]] inline Bytes own_bytes(std::size_t count) {
    const Aside own;
    return Bytes(count);
}
/// Returns the packed texels of the view.
[[nodiscard]] Bytes texels_of(const ConstView& view);
/// Returns the packed texels of the view after the work of the stream.
[[nodiscard]] Bytes texels_of(const ConstView& view, const Stream& stream);
/// Records a graph.
template <class Record>
[[nodiscard]] Graph captured(const Stream& stream, const Record& record) {
    const std::function<void()> function = [&] {
        const Aside own;
        return std::function<void()>(record);
    }();
    return Graph::capture(stream, function);
}
/// Updates a streamed texture until its tiles have been read. Throws Error{out_of_memory} if more than `unfit` tiles found
/// no memory: a texture without memory is no failure, but tells so.
void settle(StreamedTexture& texture, const Stream& stream, std::size_t unfit = 0);
/// Appends bytes.
void append(Bytes& to, std::span<const std::byte> bytes);
/// Returns a prepared operation that needs the device only.
[[nodiscard]] inline std::function<Prepared(const Device&)> with_device(std::function<Bytes(const Device&)> run) {
    return [run](const Device& device) { return Prepared{[run, device] { return run(device); }}; };
}

}  // namespace texton::test
