// SPDX-License-Identifier: MIT OR GPL-2.0
// Board files: all of them load, and faults in them are named with file, place and reason.
#include "support.hpp"

#include "base/parse.hpp"
#include "device/chip.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace nvmodel::test {
namespace {

const std::filesystem::path boards_folder = std::filesystem::path(NVDEBUG_MODEL_DATA) / "boards";

class BoardFile : public testing::Test {
  protected:
    BoardFile()
        : path_(std::filesystem::temp_directory_path() /
                ("nvdebug-board-" + std::to_string(::getpid()) + ".json")) {
        std::ifstream(boards_folder / "rtx6000-ada.json") >> json_;
    }
    ~BoardFile() override { std::filesystem::remove(path_); }

    Board load() {
        std::ofstream(path_) << json_;
        return load_board(path_);
    }

    std::string error() {
        const std::string text = config_error([this] { load(); });
        EXPECT_TRUE(text.starts_with(path_.string() + ": ")) << text;
        return text.substr(std::min(text.size(), path_.string().size() + 2));
    }

    std::filesystem::path path_;
    nlohmann::json json_;
};

TEST(Boards, AllLoadAndTheirRegistersFit) {
    for (const char *name : boards) {
        const Board loaded = board(name);
        EXPECT_EQ(loaded.name, name);
        Memory memory(loaded.video_bytes);
        EXPECT_NO_THROW(Chip(loaded, memory, {})) << name;
    }
}

TEST(Boards, EngineCountsAreTheChips) {
    // nvgpu's hw_proj headers: GV100 15, TU104 13 slots, GA100 26; NUM_PBDMA 4, 14, 12, 32.
    EXPECT_EQ(board("titan-v").engine_slots(), 15U);
    EXPECT_EQ(board("rtx2080ti").engine_slots(), 13U);
    EXPECT_EQ(board("a100").engine_slots(), 26U);
    EXPECT_EQ(board("gtx1060-3gb").pbdma_count(), 4U);
    EXPECT_EQ(board("titan-v").pbdma_count(), 14U);
    EXPECT_EQ(board("rtx2080ti").pbdma_count(), 12U);
    EXPECT_EQ(board("a100").pbdma_count(), 32U);
}

TEST_F(BoardFile, UnchangedFileLoads) {
    EXPECT_EQ(load().title, "RTX 6000 Ada Generation");
}

TEST_F(BoardFile, MissingKey) {
    json_["pci"].erase("device");
    json_["pci"]["facts"] = {{{"of", {"*"}}, {"basis", "paper"}, {"source", "x"}}};
    EXPECT_EQ(error(), "/pci: \"device\" is missing");
}

TEST_F(BoardFile, UnknownKey) {
    json_["colour"] = "green";
    EXPECT_EQ(error(), "/: \"colour\" is not known here");
}

TEST_F(BoardFile, OutOfRange) {
    json_["engines"]["rows"][3]["runlist"] = 200;
    EXPECT_EQ(error(), "/engines/rows/3/runlist: 200 is not within 0..126");
}

TEST_F(BoardFile, NegativeNumber) {
    json_["host"]["channels"] = -1;
    EXPECT_EQ(error(), "/host/channels: expected a whole number, not negative, or a string like "
                       "\"0x1f\"");
}

TEST_F(BoardFile, WrongType) {
    json_["chip"]["boot_0"] = {1, 2};
    EXPECT_EQ(error(), "/chip/boot_0: expected a whole number, not negative, or a string like "
                       "\"0x1f\"");
    json_["chip"] = 3;
    EXPECT_EQ(error(), "/chip: expected an object");
}

TEST_F(BoardFile, UnknownGeneration) {
    json_["chip"]["generation"] = "rubin";
    EXPECT_EQ(error(), "/chip/generation: unknown generation; known: kepler, maxwell-gm20x, "
                       "pascal, volta, turing, ampere-ga100, ampere-ga10x, ada, hopper, "
                       "blackwell-gb10x, blackwell-gb20x, pascal-gp10b, volta-gv11b, ampere-ga10b");
}

TEST_F(BoardFile, IdentitiesThatContradict) {
    json_["chip"]["boot_42"] = "0x172a1000";
    EXPECT_EQ(error(), "/chip/boot_42: names another chip than boot_0");
}

TEST_F(BoardFile, RunlistThatIsNotThere) {
    json_["engines"]["rows"][3]["runlist"] = 99;
    EXPECT_EQ(error(), "/engines/rows/3/runlist: no such runlist in \"runlists\"");
}

TEST_F(BoardFile, EngineTwice) {
    json_["engines"]["rows"][3]["engine"] = "GRCE1";
    EXPECT_EQ(error(), "/engines/rows/3/engine: listed twice");
}

TEST_F(BoardFile, EngineIdTwice) {
    json_["engines"]["rows"][3]["engine_id"] = 0;
    EXPECT_EQ(error(), "/engines/rows/3: engine_id is that of GR0");
}

TEST_F(BoardFile, MoreEnginesThanSlots) {
    json_["engines"]["rows"][3]["runlist"] = 0;
    EXPECT_EQ(error(), "/engines/rows/3/runlist: has more engines than its registers have slots");
}

TEST_F(BoardFile, MisplacedBlock) {
    json_["runlists"]["rows"][2]["base"] = "0xd02100";
    EXPECT_EQ(error(), "/runlists/rows/2/base: must be a multiple of 0x400");
}

TEST_F(BoardFile, PtopVersion3HasTheRowsOf2) {
    std::ifstream(boards_folder / "rtx5090.json") >> json_;
    const Board second = load();
    json_["ptop"]["version"] = 3;
    const Board third = load();
    Memory memory(second.video_bytes);
    const Modes modes;
    Chip chip2(second, memory, modes);
    Chip chip3(third, memory, modes);
    EXPECT_EQ(chip2.read(0x224fc).value, 0x16130992U);
    EXPECT_EQ(chip3.read(0x224fc).value, 0x16130993U);
    for (std::uint32_t row = 0; row < 353; ++row)
        EXPECT_EQ(chip3.read(0x22800 + 4 * row).value, chip2.read(0x22800 + 4 * row).value) << row;
    EXPECT_EQ(chip3.read(0x22800).value, 0x80000180U) << "GR0";
    EXPECT_EQ(chip3.read(0x22800 + 4 * 353).answer, Answer::unmodelled);
    json_["ptop"]["version"] = 4;
    EXPECT_EQ(error(), "/ptop/version: 4 is not within 2..3");
}

TEST_F(BoardFile, OverlappingBlocks) {
    json_["runlists"]["rows"][2]["base"] = "0x700000";
    const Board loaded = load();
    Memory memory(loaded.video_bytes);
    EXPECT_EQ(config_error([&] { Chip(loaded, memory, {}); }),
              "BAR0 0x700000..0x700400 (RUNLIST) overlaps 0x700000..0x800000 (PRAMIN)");
}

TEST_F(BoardFile, SizeThatIsNoPowerOfTwo) {
    json_["memory"]["bar1_modelled_mib"] = 48;
    EXPECT_EQ(error(), "/memory/bar1_modelled_mib: not a power of two");
}

TEST_F(BoardFile, BarTooLarge) {
    json_["memory"]["bar1_modelled_mib"] = 128;
    EXPECT_EQ(error(), "/memory/bar1_modelled_mib: 128 is not within 1..64");
}

TEST_F(BoardFile, CopyEngineThatIsNotThere) {
    json_["copy"]["pce_lce"][0] = 9;
    EXPECT_EQ(error(), "/copy/pce_lce/0: there is no engine LCE9");
}

TEST_F(BoardFile, PhysicalCopyEngineAmongLogicalOnes) {
    json_["engines"]["rows"][3]["engine"] = "COPY0";
    EXPECT_EQ(error(), "/engines/rows/3/engine: copy engines are logical in this generation: LCE0 "
                       "and so on");
}

TEST_F(BoardFile, MemoryThatItsRegisterCannotSay) {
    json_["chip"]["generation"] = "ampere-ga100";
    json_["memory"]["video_mib"] = 49153;
    const Board loaded = load();
    Memory memory(loaded.video_bytes);
    EXPECT_EQ(config_error([&] { Chip(loaded, memory, {}); }),
              "video memory of 49153 MiB cannot be said by LOCAL_MEMORY_RANGE");
}

TEST_F(BoardFile, GeometryThatDoesNotAddUp) {
    json_["geometry"]["tpc_disabled"].erase(0);
    EXPECT_EQ(error(), "/geometry/tpc_disabled: needs one mask for each of the 12 GPCs");
}

TEST_F(BoardFile, FactWithoutSource) {
    json_["geometry"]["facts"].erase(1);
    EXPECT_EQ(error(), "/geometry/facts: does not say where \"num_ces\" comes from");
}

TEST_F(BoardFile, FactAboutNothing) {
    json_["geometry"]["facts"][1]["of"] = {"num_ces", "num_wheels"};
    EXPECT_EQ(error(), "/geometry/facts/1/of/1: \"num_wheels\" is not a key here, or was "
                       "explained before");
}

TEST_F(BoardFile, UnknownBasis) {
    json_["geometry"]["facts"][0]["basis"] = "guessed";
    EXPECT_EQ(error(), "/geometry/facts/0/basis: expected published, captured, measured, paper "
                       "or invented");
}

TEST_F(BoardFile, TooManyEnginesForPtop) {
    json_["ptop"]["rows"] = 20;
    EXPECT_EQ(error(), "/: the engines do not fit into PTOP's 20 words");
}

TEST(BadFiles, AreNamed) {
    EXPECT_EQ(config_error([] { load_board("/nonexistent/board.json"); }),
              "/nonexistent/board.json: No such file or directory");
    EXPECT_EQ(config_error([] { JsonValue::parse("{\"a\": ", "x.json"); }),
              "x.json: byte 7: not valid JSON");
    EXPECT_EQ(config_error([] { JsonObject(JsonValue::parse("[]", "x.json")); }),
              "x.json: /: expected an object");
}

TEST(BadFiles, DeepNestingIsHarmless) {
    const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
    EXPECT_EQ(config_error([&] { JsonObject(JsonValue::parse(deep, "x.json")); }),
              "x.json: /: expected an object");
    EXPECT_NE(config_error([&] { JsonValue::parse(deep.substr(0, 600'000), "x.json"); }), "");
}

TEST(BadFiles, LargeFilesFoldersAndDevicesAreRefused) {
    const auto path =
        std::filesystem::temp_directory_path() / ("nvdebug-large-" + std::to_string(::getpid()));
    std::ofstream(path) << std::string((1 << 20) + 1, ' ');
    EXPECT_EQ(config_error([&] { JsonValue::load(path); }), path.string() + ": larger than 1 MiB");
    std::filesystem::remove(path);
    EXPECT_NE(config_error([&] { JsonValue::load(path.parent_path()); }), "") << "a folder";
    EXPECT_NE(config_error([&] { JsonValue::load("/dev/zero"); }), "") << "a device";
}

TEST(BadFiles, ValuesAreChecked) {
    const auto value = [](const std::string &text) { return JsonValue::parse(text, "f"); };
    EXPECT_EQ(value("\"0x1F\"").number(0, 31), 31U);
    EXPECT_THROW(static_cast<void>(value("\"0x\"").number(0, 9)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("\"0x1g\"").number(0, 99)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("\"31\"").number(0, 99)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("1.5").number(0, 9)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("\"0x10000000000000000\"").number(0, ~0ULL)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("true").real(0, 9)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("9.5").real(0, 9)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("\"a\\nb\"").text()), ConfigError);
    EXPECT_THROW(static_cast<void>(value("\"\"").text()), ConfigError);
    EXPECT_THROW(static_cast<void>(value("[1,2,3]").items(2)), ConfigError);
    EXPECT_THROW(static_cast<void>(value("1").boolean()), ConfigError);
}

TEST(EngineNames, RoundTrip) {
    for (const char *text : {"COPY2", "MSPDEC0", "MSPPP0", "MSVLD0", "MSENC0"})
        EXPECT_EQ(to_string(parse_engine_name(text).value()), text);
    for (const char *text : {"GR0", "LCE9", "NVDEC4", "NVENC2", "SEC0", "OFA0", "NVJPG3", "GSP0"})
        EXPECT_EQ(to_string(parse_engine_name(text).value()), text);
    EXPECT_EQ(to_string(parse_engine_name("GRCE1").value()), "LCE1");
    for (const char *text : {"", "GR", "LCE2x", "LCE-1", "lce2", "2LCE", "LCE64", "LCE99999999999"})
        EXPECT_FALSE(parse_engine_name(text)) << text;
}

TEST(Numbers, AreWholeOrRefused) {
    EXPECT_EQ(parse_number("0x10"), 16U);
    EXPECT_EQ(parse_number("10"), 10U);
    EXPECT_EQ(parse_number("18446744073709551615"), ~0ULL);
    for (const char *text : {"", "0x", "-1", "1x", " 1", "18446744073709551616", "1.0"})
        EXPECT_FALSE(parse_number(text)) << text;
    EXPECT_EQ(parse_decimal("5996.544"), 5996.544);
    EXPECT_EQ(parse_decimal("1e3"), 1000.0);
    for (const char *text : {"", "-1", "nan", "inf", "1e999", "1us"})
        EXPECT_FALSE(parse_decimal(text)) << text;
    EXPECT_EQ(split_words("  a\tbc  d\r"), (std::vector<std::string>{"a", "bc", "d"}));
}

} // namespace
} // namespace nvmodel::test
