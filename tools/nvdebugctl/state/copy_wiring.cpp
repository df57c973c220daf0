// SPDX-License-Identifier: MIT OR GPL-2.0
#include "copy_wiring.hpp"

#include <algorithm>

#include "nvdebug/answers.hpp"

namespace nvdebugctl {

namespace {

bool has_graphics(std::span<const nvdebug::Engine> engines, std::uint32_t runlist) {
    return std::ranges::any_of(engines, [&](const nvdebug::Engine &engine) {
        return engine.type == "GR" && engine.runlist == runlist;
    });
}

WiredRunlist &runlist_of(CopyWiring &wiring, const nvdebug::LogicalCopyEngine &lce,
                         std::span<const nvdebug::Engine> engines) {
    for (WiredRunlist &runlist : wiring.runlists)
        if (runlist.id == lce.runlist)
            return runlist;
    WiredRunlist &added = wiring.runlists.emplace_back();
    added.id = lce.runlist;
    for (const nvdebug::Engine &engine : engines)
        if (lce.runlist && engine.runlist == lce.runlist && engine.type != "LCE")
            added.other_engines.push_back(engine.name);
    return added;
}

WiredLce wired(const nvdebug::CopyTopology &copy, const nvdebug::LogicalCopyEngine &lce,
               std::span<const nvdebug::Engine> engines) {
    WiredLce result{lce.name, "", bits_of(lce.pces), {}, lce.shares};
    if (lce.runlist && has_graphics(engines, *lce.runlist))
        result.graphics_name = "GR" + lce.name.substr(1);
    if (lce.shares)
        result.borrowed = bits_of(nvdebug::pces_of(copy, lce) & ~lce.pces);
    return result;
}

} // namespace

std::vector<std::uint32_t> bits_of(std::uint32_t mask) {
    std::vector<std::uint32_t> bits;
    for (std::uint32_t bit = 0; bit < 32; ++bit)
        if (mask >> bit & 1)
            bits.push_back(bit);
    return bits;
}

CopyWiring make_wiring(const nvdebug::CopyTopology &copy,
                       std::span<const nvdebug::Engine> engines) {
    CopyWiring wiring;
    std::uint32_t used = 0;
    for (const nvdebug::LogicalCopyEngine &lce : copy.lces) {
        runlist_of(wiring, lce, engines).lces.push_back(wired(copy, lce, engines));
        used |= nvdebug::pces_of(copy, lce);
    }
    for (std::uint32_t pce : bits_of(used)) {
        WiredPce &added = wiring.pces.emplace_back(WiredPce{pce, {}});
        for (const nvdebug::CopyContention &contention : nvdebug::copy_contention(copy))
            if (contention.pces >> pce & 1)
                added.contenders = contention.lces;
    }
    wiring.unused = bits_of(copy.pce_map & ~used);
    return wiring;
}

} // namespace nvdebugctl
