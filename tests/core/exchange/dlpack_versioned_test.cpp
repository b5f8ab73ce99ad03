#include <texton/dlpack_versioned.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;
using test::same_bytes;

// The layout of the standard, version 1.0.
static_assert(offsetof(DLManagedTensorVersioned, version) == 0 && sizeof(DLPackVersion) == 8);
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(DLManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == 1 && DLPACK_FLAG_BITMASK_IS_COPIED == 2);

void release(DLManagedTensorVersioned* tensor) { tensor->deleter(tensor); }
using Tensor = std::unique_ptr<DLManagedTensorVersioned, decltype(&release)>;

// A tensor of another library: 10 rows of 100 bytes of the device. The deleter counts its calls and frees the memory.
struct Foreign {
    explicit Foreign(const Device& device) : memory(device, 1000) {
        tensor.version = {1, 0};
        tensor.manager_ctx = this;
        tensor.deleter = [](DLManagedTensorVersioned* self) {
            auto* foreign = static_cast<Foreign*>(self->manager_ctx);
            ++foreign->deleted;
            foreign->memory = Linear();
        };
        tensor.dl_tensor.data = memory.data();
        tensor.dl_tensor.device = {device.kind() == DeviceKind::cpu ? kDLCPU : kDLCUDA, device.index()};
        tensor.dl_tensor.ndim = 2;
        tensor.dl_tensor.dtype = {kDLUInt, 8, 1};
        tensor.dl_tensor.shape = shape;
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    Linear memory;
    std::int64_t shape[2] = {10, 100};
    DLManagedTensorVersioned tensor{};
    int deleted = 0;
};

class DlpackVersionedTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DlpackVersionedTest, test::every_device(), test::device_label);

TEST_P(DlpackVersionedTest, AnExportedTensorHasTheVersionAndKeepsTheMemoryAlive) {
    std::optional<Pitched2D> memory(std::in_place, device(), Format::rgba8_unorm, Extent{21, 13});
    const test::Bytes bytes = test::pattern(21 * 13 * 4, 1);
    test::upload(memory->view(), bytes);
    const View view = memory->view();
    Tensor tensor(to_dlpack_versioned(view), &release);
    EXPECT_EQ(tensor->version.major, 1u);
    EXPECT_EQ(tensor->flags, 0u);
    EXPECT_EQ(tensor->dl_tensor.ndim, 3);
    EXPECT_EQ(tensor->dl_tensor.data, view.data());
    const View again = from_dlpack_versioned(tensor.release(), Format::rgba8_unorm);
    memory.reset();
    EXPECT_EQ(again.data(), view.data());
    EXPECT_EQ(again.extent(), (Extent{21, 13}));
    EXPECT_EQ(again.device(), device());
    EXPECT_TRUE(same_bytes(test::download(again), bytes));
}

TEST_P(DlpackVersionedTest, AReadOnlyViewBecomesAReadOnlyTensorAndBack) {
    const Linear memory(device(), 1000);
    const ConstView read_only = memory.view();
    Tensor tensor(to_dlpack_versioned(read_only), &release);
    EXPECT_EQ(tensor->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    const ConstView again = const_from_dlpack_versioned(tensor.release());
    EXPECT_EQ(again.data(), memory.data());

    Foreign foreign(device());
    foreign.tensor.flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
    expect_error([&] { (void)from_dlpack_versioned(&foreign.tensor); }, ErrorCode::not_permitted, "texton::from_dlpack",
                 {"read-only", "const_from_dlpack_versioned"});
    EXPECT_EQ(foreign.deleted, 1);
}

TEST_P(DlpackVersionedTest, TensorsOfTheSameMajorVersionAreAcceptedWithUnknownFlags) {
    Foreign foreign(device());
    foreign.tensor.version.minor = 9;
    foreign.tensor.flags = DLPACK_FLAG_BITMASK_IS_COPIED | 0xFF00;
    {
        const View view = from_dlpack_versioned(&foreign.tensor);
        EXPECT_EQ(view.extent(), (Extent{100, 10}));
        EXPECT_EQ(foreign.deleted, 0);
    }
    EXPECT_EQ(foreign.deleted, 1);
}

// The other members of such a tensor can be at other positions, so they must not be read.
TEST_P(DlpackVersionedTest, ATensorOfAnotherMajorVersionIsDeletedAndRefused) {
    for (const std::uint32_t major : {0U, 2U, 0xFFFFFFFFU}) {
        Foreign foreign(device());
        foreign.tensor.version = {major, 3};
        foreign.tensor.dl_tensor = {};
        const auto expect = [&](const std::function<void()>& action) {
            expect_error(action, ErrorCode::unsupported, "texton::from_dlpack",
                         {"version " + std::to_string(major) + ".3"});
        };
        expect([&] { (void)from_dlpack_versioned(&foreign.tensor); });
        EXPECT_EQ(foreign.deleted, 1);
        expect([&] { (void)const_from_dlpack_versioned(&foreign.tensor); });
        EXPECT_EQ(foreign.deleted, 2);
        foreign.tensor.deleter = nullptr;
        expect([&] { (void)from_dlpack_versioned(&foreign.tensor); });
    }
    expect_error([&] { (void)from_dlpack_versioned(nullptr); }, ErrorCode::bad_argument, "texton::from_dlpack",
                 {"null"});
}

TEST_P(DlpackVersionedTest, TheDeleterRunsOnceAfterTheLastView) {
    const Stream stream(device());
    Foreign foreign(device());
    std::optional<View> whole = from_dlpack_versioned(&foreign.tensor);
    std::optional<ConstView> part = whole->region({{5, 5}, {10, 3}});
    whole.reset();
    EXPECT_EQ(foreign.deleted, 0);
    const Graph graph = Graph::capture(stream, [&] {
        part.reset();
        EXPECT_EQ(foreign.deleted, 0) << "the deleter can free memory, which would invalidate the capture";
    });
    EXPECT_EQ(foreign.deleted, 1);
}

}  // namespace
}  // namespace texton
