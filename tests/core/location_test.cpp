#include <texton/location.h>

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/on_every_device.h"

namespace texton {
namespace {

TEST(LocationTest, EachFactoryFunctionSetsItsKindAndId) {
    EXPECT_EQ(Location::none().kind, LocationKind::none);
    EXPECT_EQ(Location::host().kind, LocationKind::host);
    EXPECT_EQ(Location::host_numa(3).kind, LocationKind::host_numa);
    EXPECT_EQ(Location::host_numa(3).id, 3);
    EXPECT_EQ(Location::host_numa_current().kind, LocationKind::host_numa_current);
    EXPECT_EQ(Location{}, Location::none());
}

TEST(LocationTest, ALocationOfADeviceHasTheDeviceKindAndIndex) {
    for (const Device& device : Device::list()) {
        const Location is = Location::device(device);
        EXPECT_EQ(is.kind, LocationKind::device);
        EXPECT_EQ(is.id, device.index());
        EXPECT_EQ(is.device_kind, device.kind());
    }
    const std::vector<Device> all = Device::list();
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NE(Location::device(all[0]), Location::device(all[i]));
}

TEST(LocationTest, EveryLocationHasAUniqueText) {
    std::set<std::string> texts;
    const Location all[] = {Location::none(),
                            Location{LocationKind::device, 0, DeviceKind::cpu},
                            Location{LocationKind::device, 1, DeviceKind::cpu},
                            Location::host(),
                            Location::host_numa(0),
                            Location::host_numa(1),
                            Location::host_numa_current(),
                            Location{LocationKind::device, 0, DeviceKind::cuda}};
    for (const Location& location : all) texts.insert(to_string(location));
    EXPECT_EQ(texts.size(), std::size(all));
    EXPECT_EQ(to_string(Location::host_numa(1)), "host NUMA node 1");
    EXPECT_EQ(to_string(Location{LocationKind::device, 1, DeviceKind::cpu}), "CPU device 1");
}

}  // namespace
}  // namespace texton
