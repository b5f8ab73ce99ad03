#include <texton/symbol.h>

#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

// Symbols of a real device program. symbol_test.cpp has the tests that hold on every device.

__device__ int texton_test_table[64];
__constant__ float texton_test_weights[16];
__device__ unsigned char texton_test_byte;
__managed__ int texton_test_managed[8];

namespace texton {
namespace {

using test::expect_error;

// Copies the two tables as a kernel sees them.
__global__ void read_tables(int* table, float* weights) {
    table[threadIdx.x] = texton_test_table[threadIdx.x];
    if (threadIdx.x < 16) weights[threadIdx.x] = texton_test_weights[threadIdx.x];
}

class CudaSymbolTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CudaSymbolTest, testing::Values(DeviceKind::cuda), test::device_label);

std::vector<int> counting(int first) {
    std::vector<int> values(64);
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST_P(CudaSymbolTest, ASymbolHasTheAddressAndSizeOfTheDeviceVariable) {
    const Symbol table(device(), texton_test_table);
    const Symbol weights(device(), texton_test_weights);
    const Symbol byte(device(), texton_test_byte);
    EXPECT_EQ(table.bytes(), sizeof(texton_test_table));
    EXPECT_EQ(weights.bytes(), sizeof(texton_test_weights));
    EXPECT_EQ(byte.bytes(), 1u);
    EXPECT_NE(static_cast<const void*>(table.address()), static_cast<const void*>(texton_test_table))
        << "the address is that of the host variable";
    EXPECT_NE(table.address(), weights.address());
    EXPECT_NO_THROW((void)borrowed_view(device(), table.address(), Format::r32_sint, {64}));
}

TEST_P(CudaSymbolTest, KernelsReadValuesCopiedWithAndWithoutAStream) {
    const Stream stream(device());
    const std::vector<int> first = counting(100);
    std::vector<float> weights(16, 0.25f);
    copy(Symbol(device(), texton_test_table).view(), host_view(std::span(first)));
    copy(Symbol(device(), texton_test_weights).view(), host_view(std::span(weights)), stream);
    const Linear seen_table(device(), sizeof(texton_test_table));
    const Linear seen_weights(device(), sizeof(texton_test_weights));
    stream.synchronize();
    read_tables<<<1, 64>>>(reinterpret_cast<int*>(seen_table.data()), reinterpret_cast<float*>(seen_weights.data()));
    std::vector<int> got(64);
    std::vector<float> got_weights(16);
    copy(host_view(std::span(got)), seen_table.view());
    copy(host_view(std::span(got_weights)), seen_weights.view());
    EXPECT_EQ(got, first);
    EXPECT_EQ(got_weights, weights);
}

TEST_P(CudaSymbolTest, PartsOfASymbolAreCopiedInBothDirections) {
    const Symbol table(device(), texton_test_table);
    const Stream stream(device());
    copy(table.view(), host_view(std::span<const int>(counting(0))));
    const std::vector<int> patch{-1, -2, -3};
    copy(table.view(10 * sizeof(int), 3 * sizeof(int)), host_view(std::span(patch)));
    copy(table.view(61 * sizeof(int), 3 * sizeof(int)), host_view(std::span(patch)), stream);
    stream.synchronize();
    std::vector<int> expected = counting(0);
    std::copy(patch.begin(), patch.end(), expected.begin() + 10);
    std::copy(patch.begin(), patch.end(), expected.begin() + 61);
    std::vector<int> all(64);
    copy(host_view(std::span(all)), table.view());
    EXPECT_EQ(all, expected);
    std::vector<int> part(3);
    copy(host_view(std::span(part)), table.view(61 * sizeof(int), 3 * sizeof(int)), stream);
    stream.synchronize();
    EXPECT_EQ(part, patch);
    std::vector<int> one(1);
    copy(host_view(std::span(one)), table.view(11 * sizeof(int), sizeof(int)));
    EXPECT_EQ(one.front(), -2);
}

TEST_P(CudaSymbolTest, ASymbolIsCopiedToDeviceMemoryAndToAnotherSymbol) {
    const Symbol table(device(), texton_test_table);
    const Symbol weights(device(), texton_test_weights);
    const Stream stream(device());
    const Linear linear(device(), sizeof(texton_test_weights));
    copy(table.view(), host_view(std::span<const int>(counting(7))));
    copy(linear.view(), table.view(0, linear.bytes()));
    copy(weights.view(), table.view(0, weights.bytes()), stream);
    stream.synchronize();
    std::vector<int> from_linear(16);
    std::vector<int> from_symbol(16);
    copy(host_view(std::span(from_linear)), linear.view());
    copy(host_view(std::span(from_symbol)), weights.view());
    const std::vector<int> all = counting(7);
    const std::vector<int> expected(all.begin(), all.begin() + 16);
    EXPECT_EQ(from_linear, expected);
    EXPECT_EQ(from_symbol, expected);
    copy(table.view(0, linear.bytes()), linear.view(), stream);
    copy(linear.view(), table.view(16 * sizeof(int), linear.bytes()), stream);
    stream.synchronize();
    copy(host_view(std::span(from_linear)), linear.view());
    EXPECT_EQ(from_linear, std::vector<int>(all.begin() + 16, all.begin() + 32));
}

TEST_P(CudaSymbolTest, SymbolsSupportFillsAndGraphCapture) {
    const Symbol byte(device(), texton_test_byte);
    const Symbol table(device(), texton_test_table);
    fill(byte.view(), std::uint8_t{200});
    unsigned char got = 0;
    copy(host_view(std::span(&got, 1)), byte.view());
    EXPECT_EQ(got, 200);

    const Stream stream(device());
    const Pinned values(device(), table.bytes());
    const Graph graph = Graph::capture(stream, [&] { copy(table.view(), values.view(), stream); });
    const std::vector<int> written = counting(1000);
    std::memcpy(values.data(), written.data(), table.bytes());
    graph.launch(stream);
    stream.synchronize();
    std::vector<int> seen(64);
    copy(host_view(std::span(seen)), table.view());
    EXPECT_EQ(seen, written);
}

TEST_P(CudaSymbolTest, TheHostReadsAManagedVariable) {
    const Symbol managed(device(), texton_test_managed);
    fill(managed.view(), std::uint32_t{42});
    device().synchronize();
    for (const int value : texton_test_managed) EXPECT_EQ(value, 42);
}

TEST_P(CudaSymbolTest, AHostVariableIsRefusedAsASymbol) {
    static int plain = 0;
    const Error error =
        expect_error([&] { (void)Symbol(device(), plain); }, ErrorCode::not_registered, "texton::Symbol");
    EXPECT_EQ(error.call(), "cudaGetSymbolAddress");
    EXPECT_EQ(error.cuda_name(), "cudaErrorInvalidSymbol");
}

TEST_P(CudaSymbolTest, AnOffsetPastTheEndIsRefusedWithTheNumbers) {
    const Symbol table(device(), texton_test_table);
    const Error error =
        expect_error([&] { (void)table.view(256, 1); }, ErrorCode::out_of_bounds, "texton::Symbol", {"256"});
    EXPECT_EQ(test::number_of(error, "offset"), 256u);
    EXPECT_EQ(test::number_of(error, "size"), 256u);
}

}  // namespace
}  // namespace texton
