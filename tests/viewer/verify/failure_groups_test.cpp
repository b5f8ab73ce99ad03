#include <fstream>
#include <limits>
#include <map>
#include <span>

#include <gmock/gmock.h>

#include <texton/image.h>

#include "tests/support/image_folder.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/failure_groups.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

using Groups = std::vector<std::vector<std::string>>;  // names of cases

class FailureGroupsTest : public testing::Test {
protected:
    // Writes an image of gray texels, of which one has another value.
    void write(const std::string& name, int gray, std::size_t odd_texel = 0, int odd = -1, Extent extent = {4, 4}) {
        std::vector<std::byte> texels(extent.width * extent.height * 4, static_cast<std::byte>(gray));
        if (odd >= 0) texels[4 * odd_texel] = static_cast<std::byte>(odd);
        write_image(folder_.at(name + ".png"), Format::rgba8_unorm, extent, texels);
        cases_[name] = R"("images": ")" + name + ".png\"";
    }
    // Writes an image of floats that are 0, except one.
    void write_floats(const std::string& name, float value) {
        std::vector<float> texels(16);
        texels[5] = value;
        write_image(folder_.at(name + ".exr"), Format::r32_float, {4, 4}, std::as_bytes(std::span(texels)));
        cases_[name] = R"("images": ")" + name + ".exr\"";
    }
    Suite suite() const {
        std::ofstream file(folder_.at("s.json"));
        file << "{\"cases\": [";
        const char* comma = "";
        for (const auto& [name, keys] : cases_) {
            file << comma << "{\"name\": \"" << name << "\", " << keys << "}";
            comma = ",\n";
        }
        file << "]}";
        file.close();
        return read_suite(folder_.at("s.json"), Outside::refused, Commands::allowed);
    }
    void approve() const {
        const Suite approved = suite();
        const std::vector<const Case*> cases = all(approved);
        const std::vector<Result> results = run_cases(cases, approved, Device::cpu());
        write_update(approved, Device::cpu(), {}, cases, results, update_of(cases, results));
    }
    Groups groups() const {
        const Suite run = suite();
        const std::vector<const Case*> cases = all(run);
        Groups names;
        for (const auto& group : failure_groups(cases, run_cases(cases, run, Device::cpu()))) {
            names.emplace_back();
            for (const std::size_t i : group) names.back().push_back(cases[i]->name);
        }
        return names;
    }
    static std::vector<const Case*> all(const Suite& suite) {
        std::vector<const Case*> cases;
        for (const Case& each : suite.cases) cases.push_back(&each);
        return cases;
    }

    test::ImageFolder folder_;
    std::map<std::string, std::string> cases_;  // keys of each case
};

TEST_F(FailureGroupsTest, CasesWhoseSameTexelsDifferBySameDistancesAreOneGroup) {
    for (const char* name : {"a", "b", "c", "d", "e"}) write(name, name[0]);
    approve();
    write("a", 'a', 5, 'a' + 3);
    write("b", 'b', 5, 'b' - 3);
    write("c", 'c', 5, 'c' + 4);  // another distance
    write("d", 'd', 6, 'd' + 3);  // another texel
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("c"), ElementsAre("a", "b"), ElementsAre("d")));
}

TEST_F(FailureGroupsTest, ImagesOfOtherSizesAreOtherGroups) {
    write("a", 7);
    write("b", 7, 0, -1, {8, 2});
    approve();
    write("a", 7, 5, 9);
    write("b", 7, 5, 9, {8, 2});
    EXPECT_EQ(groups().size(), 2U);
}

TEST_F(FailureGroupsTest, TexelsUnderAMaskDoNotDistinguishGroups) {
    write("a", 7);
    write("b", 7);
    approve();
    write("a", 9);
    write("b", 9, 0, 200);
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("b"), ElementsAre("a")));
    cases_["a"] += R"(, "mask": [[0, 0, 4, 1]])";
    cases_["b"] += R"(, "mask": [[0, 0, 4, 1]])";
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("a", "b")));
}

TEST_F(FailureGroupsTest, GroupsAreInOrderOfSeverity) {
    for (const char* name : {"few", "large", "many", "size"}) write(name, 100);
    approve();
    write("few", 100, 3, 102);
    write("many", 102);
    write("large", 100, 3, 200);
    write("size", 100, 0, -1, {4, 5});
    write("unapproved", 1);
    cases_["absent"] = R"("images": "absent.png")";
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("absent"), ElementsAre("size"), ElementsAre("large"),
                                      ElementsAre("many"), ElementsAre("few"), ElementsAre("unapproved")));
}

TEST_F(FailureGroupsTest, NanIsMoreSevereThanNumbersAndTheSignOfZeroIsAGroupOfItsOwn) {
    for (const char* name : {"a", "b", "c", "d"}) write_floats(name, 0);
    approve();
    write_floats("a", 1e30F);
    write_floats("b", std::numeric_limits<float>::quiet_NaN());
    write_floats("c", -0.0F);
    write_floats("d", std::numeric_limits<float>::denorm_min());
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("b"), ElementsAre("a"), ElementsAre("d"), ElementsAre("c")));
}

TEST_F(FailureGroupsTest, FailuresAreGroupedByMessageWithoutTheNameOfTheCase) {
    cases_["a"] = R"("command": ["false"], "images": "x.png")";
    cases_["b"] = R"("command": ["false"], "images": "y.png")";
    cases_["c"] = R"("command": ["sh", "-c", "exit 3"], "images": "x.png")";
    EXPECT_THAT(groups(), ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
}

TEST_F(FailureGroupsTest, CasesWithoutReferenceAreOneGroupIfTheirImagesAreEqual) {
    write("a", 1);
    write("b", 2);
    write("c", 1);
    EXPECT_THAT(groups(), testing::UnorderedElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
}

TEST_F(FailureGroupsTest, PassedAndSkippedCasesAreInNoGroup) {
    write("a", 1);
    approve();
    cases_["b"] = R"("images": "absent.png", "optional": true)";
    EXPECT_EQ(groups(), Groups());
}

}  // namespace
}  // namespace texton::verify
