// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/flush.hpp"

#include "regs/pbus.hpp"

namespace nvmodel {

using namespace regs;

FlushBlock::FlushBlock(const Generation &generation)
    : tokens_{{xal::l2_clean_comptags, 0},
              {xal::l2_flush_dirty, 0},
              {xal::vf_l2_sysmem_invalidate, 0},
              {xal::vf_l2_peermem_invalidate, 0}} {
    if (generation.fb_flush)
        tokens_.emplace(xal::fb_flush, 0);
}

ReadAnswer FlushBlock::read(std::uint32_t offset) {
    if (const auto trigger = tokens_.find(offset); trigger != tokens_.end()) {
        trigger->second = (trigger->second + 1) & xal::token.mask();
        return {trigger->second, Answer::side_effect};
    }
    const auto completed = tokens_.find(offset - 4); // done at once, so never busy
    return completed != tokens_.end() ? ReadAnswer{completed->second} : ReadAnswer::unmodelled();
}

Answer FlushBlock::write(std::uint32_t offset, std::uint32_t) {
    return tokens_.contains(offset) || tokens_.contains(offset - 4) ? Answer::read_only
                                                                    : Answer::unmodelled;
}

} // namespace nvmodel
