// texton devices, texton completion and the help of all commands, run through a shell.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/array_info.h>
#include <texton/device.h>
#include <texton/format.h>

#include "tests/support/command_line.h"

namespace texton {
namespace {

using nlohmann::json;
using test::Ended;
using testing::ElementsAre;
using testing::HasSubstr;

class CliDevicesTest : public test::CommandLine {};
class CliCompletionTest : public test::CommandLine {
protected:
    /// Returns the completions that bash offers for the last of these words.
    std::string offered(const std::string& text) const {
        const Ended result = shell("bash -c 'source <(\"" + kProgram + "\" completion bash); COMP_WORDS=(" + text +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _texton; echo \"${COMPREPLY[*]}\"'");
        EXPECT_EQ(result.status, 0) << result.err;
        return result.out;
    }
};

TEST_F(CliDevicesTest, EveryDeviceIsListedWithItsLimits) {
    const Ended result = run("devices --json");
    ASSERT_EQ(result.status, 0) << result.err;
    const json out = json::parse(result.out);
    ASSERT_EQ(out["devices"].size(), Device::list().size());
    EXPECT_EQ(out["no_cuda"].is_null(), Device::why_no_cuda().empty());
    const json& cpu = out["devices"][Device::list().size() - 1];
    const Device device = Device::list().back();
    EXPECT_EQ(cpu["properties"]["name"], device.name());
    EXPECT_EQ(cpu["properties"]["total_memory"], device.memory().total);
    EXPECT_EQ(cpu["limits"]["texture_2d"], json(device.limits().texture_2d));
    EXPECT_EQ(cpu["limits"]["pitch_alignment"], 512);
    EXPECT_EQ(cpu["properties"]["driver_release"], "");
    EXPECT_THAT(device.name(), HasSubstr("(" + cpu["properties"]["cpu"].get<std::string>() + ")"));
    EXPECT_THAT(run("devices --device cpu").out, testing::ContainsRegex("driver_release +-\n"));
}

TEST_F(CliDevicesTest, MemoryOfTheCpuDeviceIsSetInBytesOrWithAUnit) {
    const auto devices = [&](const std::string& memory) {
        return shell("TEXTON_CPU_MEMORY=" + memory + " '" + kProgram + "' devices --device cpu --json");
    };
    constexpr std::pair<const char*, std::size_t> kSizes[] = {{"1000000000", 1000000000},
                                                              {"512M", std::size_t{512} << 20},
                                                              {"4GiB", std::size_t{4} << 30},
                                                              {"70000KB", 71680000}};
    for (const auto& [text, bytes] : kSizes)
        EXPECT_EQ(json::parse(devices(text).out)["devices"][0]["properties"]["total_memory"], bytes) << text;
    for (const char* text : {"much", "4X", "4Gi", "-1", "1.5G", "99999999999999999999", "20000000T"}) {
        const Ended result = devices(text);
        EXPECT_EQ(result.status, 2) << text;
        EXPECT_THAT(result.err, HasSubstr(std::string("TEXTON_CPU_MEMORY is '") + text + "'"));
    }
    const Ended count = shell("TEXTON_CPU_DEVICES=9 '" + kProgram + "' devices --json");
    EXPECT_EQ(count.status, 2);
    EXPECT_THAT(count.err, HasSubstr("1 to 8"));
}

TEST_F(CliDevicesTest, ThreadsOfTheCpuDeviceAreAPositiveNumber) {
    const auto devices = [&](const std::string& threads) {
        return shell("TEXTON_CPU_THREADS=" + threads + " '" + kProgram + "' devices --device cpu --json");
    };
    for (const int threads : {1, 3, 1024})
        EXPECT_EQ(json::parse(devices(std::to_string(threads)).out)["devices"][0]["properties"]["multiprocessors"],
                  threads);
    for (const char* text : {"0", "1025", "-1", "+1", "2x", "1.5", "all", "99999999999999999999"}) {
        const Ended result = devices(text);
        EXPECT_EQ(result.status, 2) << text;
        EXPECT_THAT(result.err, HasSubstr(std::string("TEXTON_CPU_THREADS is '") + text + "'"));
    }
}

TEST_F(CliDevicesTest, AListOfCudaDevicesContainsOrdinals) {
    const auto devices = [&](const std::string& list) {
        return shell("TEXTON_CUDA_DEVICES='" + list + "' '" + kProgram + "' devices --json");
    };
    std::string many = "0";
    for (int i = 0; i < 64; ++i) many += ",0";
    for (const std::string& list : {std::string("all"), std::string("0,"), std::string(",0"), std::string("0;1"),
                                    std::string("-1"), std::string("0x1"), std::string("99999999999"), many}) {
        const Ended result = devices(list);
        EXPECT_EQ(result.status, 2) << list;
        EXPECT_THAT(result.err, HasSubstr("TEXTON_CUDA_DEVICES is '" + list + "'"));
    }
    const Ended all = devices("");
    EXPECT_EQ(all.status, 0) << "an empty list means all devices";
    const json twice = json::parse(devices("0,0").out)["devices"];
    if (!Device::why_no_cuda().empty()) {
        EXPECT_EQ(twice.size(), json::parse(all.out)["devices"].size())
            << "the list chooses among the GPUs that there are";
        return;
    }
    EXPECT_EQ(twice[0]["properties"]["name"], twice[1]["properties"]["name"]);
    EXPECT_EQ(twice[1]["properties"]["ordinal"], 0);
    EXPECT_NE(twice[0]["properties"]["uuid"], twice[1]["properties"]["uuid"]);
    EXPECT_EQ(devices("0,63").status, 2) << "there is no such GPU";
}

TEST_F(CliDevicesTest, FormatsListTheirSupportedArrayKindsAndUses) {
    const json formats_of = json::parse(run("devices --device cpu --json").out)["devices"][0]["formats"];
    ASSERT_EQ(formats_of.size(), formats().size());
    const auto uses = [&](const char* format, ArrayKind kind) {
        return formats_of[format]["kinds"].value(std::string(name(kind)), std::vector<std::string>());
    };
    EXPECT_THAT(uses("rgba8_unorm", ArrayKind::array_2d),
                ElementsAre("texture", "surface", "gather", "sparse", "deferred"));
    EXPECT_THAT(uses("bc7_srgb", ArrayKind::cubemap), ElementsAre("texture", "deferred"));
    EXPECT_THAT(uses("bc1_unorm", ArrayKind::array_1d), ElementsAre());
    EXPECT_THAT(uses("nv12", ArrayKind::array_2d), ElementsAre("texture"));
    EXPECT_THAT(uses("nv12", ArrayKind::array_3d), ElementsAre());
}

TEST_F(CliDevicesTest, DevicesAreListedAsReadableTables) {
    const Ended kinds = run("devices --device cpu:0");
    ASSERT_EQ(kinds.status, 0) << kinds.err;
    EXPECT_THAT(kinds.out, HasSubstr("array kinds of cpu:0"));
    for (const char* row : {"\narray_2d", "\ncubemap_layered", "\ntexture_3d", "\ntotal_memory"})
        EXPECT_THAT(kinds.out, HasSubstr(row));
    EXPECT_THAT(kinds.out, testing::Not(HasSubstr("rgb10a2_unorm")));
    EXPECT_THAT(run("devices --device cpu --formats").out, HasSubstr("\nrgb10a2_unorm"));
    EXPECT_EQ(run("devices --device tpu").status, 2);
    EXPECT_EQ(run("devices --device cpu:99").status, 2);
}

TEST_F(CliCompletionTest, BashOffersCommandsOptionsAndTheirValues) {
    EXPECT_EQ(offered("texton co"), "compare completion convert\n");
    EXPECT_EQ(offered("texton --v"), "--version\n");
    EXPECT_EQ(offered("texton compare --max"), "--max-ulp --max-flip\n");
    EXPECT_EQ(offered("texton compare a.png --metric s"), "ssim\n");
    EXPECT_EQ(offered("texton compare --metric zz"), "\n");
    EXPECT_EQ(offered("texton completion z"), "zsh\n");
    EXPECT_EQ(offered("texton compare a"), "\n");  // bash completes file names itself
    EXPECT_EQ(offered("texton nothing --j"), "\n");
}

TEST_F(CliCompletionTest, EveryShellScriptContainsAllCommandsAndOptions) {
    for (const char* shell : {"bash", "fish", "zsh"}) {
        SCOPED_TRACE(shell);
        const Ended result = run(std::string("completion ") + shell);
        ASSERT_EQ(result.status, 0) << result.err;
        for (const char* word : {"record", "compare", "completion", "devices", "replay", "heat-map", "max-ulp"})
            EXPECT_THAT(result.out, HasSubstr(word));
    }
    EXPECT_EQ(run("completion csh").status, 2);
    EXPECT_EQ(run("completion").status, 2);
}

TEST_F(CliCompletionTest, ScriptsAreValidInTheirShells) {
    for (const char* name : {"bash", "fish", "zsh"}) {
        const std::string check = std::string("command -v ") + name + " >/dev/null || exit 0; '" + kProgram +
                                  "' completion " + name + " >script; " + name + " -n script";
        const Ended result = shell(check);
        EXPECT_EQ(result.status, 0) << name << ": " << result.err;
    }
}

TEST_F(CliCompletionTest, HelpOfEveryCommandContainsExamplesAndExitStatus) {
    for (const char* command : {"approve", "bench", "record", "compare", "completion", "convert", "devices", "info",
                                "mips", "replay", "run", "stats", "verify"}) {
        const Ended help = run(std::string(command) + " --help");
        EXPECT_EQ(help.status, 0);
        EXPECT_THAT(help.out, HasSubstr("Examples:\n  ")) << command;
        EXPECT_THAT(help.out, HasSubstr("Exit status:")) << command;
    }
}

}  // namespace
}  // namespace texton
