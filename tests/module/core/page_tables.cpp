// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page_tables.hpp"

#include "text.hpp"

#include <algorithm>

namespace core {

namespace {

constexpr std::size_t table_bytes = 4096;

} // namespace

/// The channels that use the space show the version of its tables.
Space::Space(Bench &bench, const Json &layout, const Json &space)
    : bench_(bench), directory_(space.at("page_directory")) {
    for (const Json &channel : layout.at("channels")) {
        const Json &used = channel.at("page_directory");
        if (used.at("address") != directory_.at("address") ||
            used.at("aperture") != directory_.at("aperture"))
            continue;
        version_ = channel.at("page_tables");
        big_page_kib_ = channel.at("big_page_kib");
    }
    EXPECT_NE(version_, 0U) << "no channel uses " << space.at("name");
}

std::string Space::request(std::uint64_t va) const {
    std::string text = directory_.at("address").get<std::string>() + ":" +
                       directory_.at("aperture").get<std::string>() + " " + hex(va);
    if (bench_.tables_of_two_versions())
        text += " v" + std::to_string(version_);
    if (version_ == 1 || big_page_kib_ == 128)
        text += " " + std::to_string(big_page_kib_) + "k";
    return text;
}

void Space::expect_agreement(std::uint64_t va) {
    const Json wanted =
        bench_.ask("translate " + directory_.at("address").get<std::string>() + " " +
                   directory_.at("aperture").get<std::string>() + " v" + std::to_string(version_) +
                   " " + hex(va) + (big_page_kib_ == 128 ? " 128k" : ""));
    const Text got = bench_.write("translate", request(va));
    ASSERT_EQ(got.error, 0) << request(va);
    Fields said = pairs(got.text);
    if (!wanted.at("mapped")) {
        EXPECT_EQ(said["result"], "-") << request(va);
        EXPECT_NE(said["error"], "-") << request(va);
        return;
    }
    EXPECT_EQ(said["result"],
              hex(number(wanted.at("address"))) + " " + wanted.at("aperture").get<std::string>())
        << request(va);
    EXPECT_EQ(said["page_size"], std::to_string(wanted.at("page_size").get<std::uint64_t>()));
    EXPECT_EQ(said["error"], "-");
}

void Space::fill_with(std::span<const std::uint32_t> words) {
    std::vector<std::uint32_t> table;
    while (table.size() < table_bytes / 4)
        table.insert(table.end(), words.begin(), words.end());
    bench_.poke(directory_, 0, table);
}

std::vector<Space> spaces(Bench &bench, const Json &layout) {
    std::vector<Space> all;
    for (const Json &space : layout.at("address_spaces"))
        all.emplace_back(bench, layout, space);
    return all;
}

} // namespace core
