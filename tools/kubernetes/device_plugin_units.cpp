// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device_plugin_units.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

constexpr std::size_t digits = 2;

/// The numbers of units by GPU.
using NumbersByGpu = std::map<std::string, std::set<unsigned>>;

tl::unexpected<std::string> no_unit(const std::string &name) {
    return tl::unexpected(
        fmt::format("'{}' is no unit of nvdebug.io/gpu-percent", base::printable(name)));
}

tl::unexpected<std::string> too_many(std::size_t count, unsigned units_of_gpu) {
    return tl::unexpected(fmt::format("a container asks for {} % of a GPU, and has at most {} %: "
                                      "nvdebug.io/gpu-percent is of one GPU",
                                      count, units_of_gpu));
}

/// Returns `40 % of GPU-57a2, 35 % of GPU-91c0`.
std::string text_of(const NumbersByGpu &gpus) {
    std::vector<std::string> parts;
    parts.reserve(gpus.size());
    for (const auto &[gpu, numbers] : gpus)
        parts.push_back(fmt::format("{} % of {}", numbers.size(), base::printable(gpu)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

std::string Unit::name() const {
    return fmt::format("{}-{:0{}}", gpu, number, digits);
}

std::optional<Unit> parse_unit(std::string_view name) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!name.starts_with("GPU-") || name.size() < digits + 1)
        return std::nullopt;
    const std::string_view end = name.substr(name.size() - digits);
    const std::string_view gpu = name.substr(0, name.size() - digits - 1);
    if (gpu.size() <= std::string_view("GPU-").size() || name[gpu.size()] != '-' ||
        !std::ranges::all_of(end, is_digit))
        return std::nullopt;
    return Unit{std::string(gpu), static_cast<unsigned>(std::stoul(std::string(end)))};
}

OrSentence<Portion> portion_of(const std::vector<std::string> &names, unsigned units_of_gpu) {
    NumbersByGpu gpus;
    for (const std::string &name : names) {
        const auto unit = parse_unit(name);
        if (!unit)
            return no_unit(name);
        gpus[unit->gpu].insert(unit->number);
    }
    if (gpus.empty())
        return tl::unexpected(std::string("a container without units of nvdebug.io/gpu-percent"));
    if (names.size() > units_of_gpu)
        return too_many(names.size(), units_of_gpu);
    if (gpus.size() > 1)
        return tl::unexpected(
            fmt::format("the units of a container are of one GPU, and not {}: no GPU has enough "
                        "of nvdebug.io/gpu-percent left; ask for less, or end other pods",
                        text_of(gpus)));
    const auto &[gpu, numbers] = *gpus.begin();
    return Portion{gpu, static_cast<unsigned>(numbers.size())};
}

OrSentence<std::vector<std::string>> preferred_units(const Wanted &wanted, unsigned units_of_gpu) {
    if (wanted.count > units_of_gpu)
        return too_many(wanted.count, units_of_gpu);
    if (wanted.count == 0 || wanted.count < wanted.included.size())
        return tl::unexpected(fmt::format("{} units with {} among them make no sense", wanted.count,
                                          wanted.included.size()));
    NumbersByGpu included, gpus;
    for (const std::string &name : wanted.included) {
        const auto unit = parse_unit(name);
        if (!unit)
            return no_unit(name);
        included[unit->gpu].insert(unit->number);
    }
    if (included.size() > 1)
        return tl::unexpected(fmt::format("a container has units of several GPUs: {}; its goal is "
                                          "a share of one GPU",
                                          text_of(included)));
    for (const std::string &name : wanted.available)
        if (const auto unit = parse_unit(name);
            unit && (included.empty() || included.contains(unit->gpu)))
            gpus[unit->gpu].insert(unit->number);
    for (const auto &[gpu, numbers] : included)
        gpus[gpu].insert(numbers.begin(), numbers.end());
    const NumbersByGpu all = gpus;
    std::erase_if(gpus, [&](const auto &one) { return one.second.size() < wanted.count; });
    if (gpus.empty())
        return tl::unexpected(
            fmt::format("a container asks for {} % of a GPU, and no GPU has them left ({}): ask "
                        "for less, or end other pods",
                        wanted.count, all.empty() ? "no GPU" : text_of(all)));
    const auto fullest = std::ranges::min_element(
        gpus, {}, [](const auto &one) { return std::pair(one.second.size(), one.first); });
    std::vector<std::string> names = wanted.included;
    for (const unsigned number : fullest->second) {
        if (names.size() >= wanted.count)
            break;
        const std::string name = Unit{fullest->first, number}.name();
        if (std::ranges::find(wanted.included, name) == wanted.included.end())
            names.push_back(name);
    }
    return names;
}

} // namespace nvdebug::kubernetes
