// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "json.hpp"
#include "state.hpp"
#include "watch.hpp"

using namespace nvdebugctl;
using namespace nvdebugctl::testing;

namespace {

Sample sample(std::uint64_t number, std::vector<nvdebug::EngineState> engines) {
    return {number, "2026-01-31T12:00:00.000Z", std::move(engines), {}, 1};
}

const std::chrono::milliseconds period{500};

std::string text_of(const Shown &shown, const ViewSettings &settings) {
    std::string text;
    for (const ViewLine &line : view_lines(shown, settings))
        text += line.text + '\n';
    return text;
}

} // namespace

TEST(Residency, IsNotToldFromOneSample) {
    Residency residency(10);
    const Sample first = sample(1, {on("GR0", 0, 5)});
    residency.add(first);
    EXPECT_FALSE(residency.of("GR0"));
    const Json data = watch_json(first, residency, period);
    EXPECT_TRUE(data["engines"][0]["residency"].is_null());
    EXPECT_TRUE(data["engines"][0]["busy_percent"].is_null());
    EXPECT_EQ(data["window_samples"], 1);
}

TEST(Residency, IsThePartOfTheLastSamples) {
    Residency residency(4);
    residency.add(sample(1, {on("GR0", 0, 9)})); // leaves the window
    for (std::optional<std::uint32_t> who :
         {std::optional(5u), std::optional(6u), std::optional(6u), std::optional<std::uint32_t>()})
        residency.add(sample(2, {on("GR0", 0, who)}));
    EXPECT_EQ(residency.samples(), 4u);
    const auto told = residency.of("GR0");
    ASSERT_TRUE(told);
    ASSERT_EQ(told->parts.size(), 2u);
    EXPECT_EQ(told->parts[0].who.id, 6u);
    EXPECT_DOUBLE_EQ(told->parts[0].part, 0.5);
    EXPECT_DOUBLE_EQ(told->parts[1].part, 0.25);
    EXPECT_EQ(told->busy, 0.75);
}

TEST(Residency, DoesNotCountWhatCouldNotBeRead) {
    Residency residency(4);
    Sample bad = sample(1, {});
    bad.engines = error(nvdebug::ErrorCode::gone, "engines: gone");
    residency.add(bad);
    EXPECT_EQ(residency.samples(), 0u);
    EXPECT_TRUE(watch_json(bad, residency, period)["engines"].is_null());
    EXPECT_EQ(errors_of(bad).size(), 1u);
    auto silent = on("LCE0", 0, {});
    silent.status.reset();
    for (int n = 0; n < 3; ++n)
        residency.add(sample(2, {silent}));
    EXPECT_FALSE(residency.of("LCE0")) << "its register is not public";
}

TEST(View, FoldsSortsAndPauses) {
    Residency residency(4);
    const Sample shown_sample = sample(2, {on("GR0", 0, {}), on("LCE0", 0, {}), on("LCE2", 1, 5)});
    residency.add(shown_sample);
    residency.add(shown_sample);
    const Shown shown{"gpu0", "live", shown_sample, residency, period};
    ViewSettings settings;
    std::string text = text_of(shown, settings);
    EXPECT_LT(text.find("GR0 "), text.find("LCE2 "));
    EXPECT_NE(text.find("estimated from 2 samples, one every 500 ms"), std::string::npos);
    EXPECT_NE(text.find("TSG 5 100%"), std::string::npos);
    settings.cycle_order();
    text = text_of(shown, settings);
    EXPECT_GT(text.find("GR0 "), text.find("LCE2 "));
    settings.folded = settings.paused = true;
    text = text_of(shown, settings);
    EXPECT_NE(text.find("GR0,LCE0"), std::string::npos);
    EXPECT_NE(text.find("PAUSED"), std::string::npos);
    settings.help = true;
    text = text_of(shown, settings);
    EXPECT_NE(text.find("q  quit"), std::string::npos);
    EXPECT_EQ(text.find("LCE2 "), std::string::npos);
}
