// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/modes.hpp"

#include "regs/pbus.hpp"
#include "regs/pgc6.hpp"
#include "regs/pmc.hpp"
#include "regs/smcarb.hpp"

#include <algorithm>

namespace nvmodel {

using namespace regs;

ModeBlock::ModeBlock(const Generation &generation, const Modes &modes) {
    if (generation.confidential == ConfidentialRegister::pmc)
        registers_.push_back({pmc::scratch_cc, 0, pmc::cc_mode.mask(), &modes.confidential});
    if (generation.mig_scratch.exists)
        registers_.push_back({pbus::sw_scratch_1, generation.mig_scratch.word,
                              generation.mig_scratch.follows ? pbus::smc_mode.mask() : 0,
                              &modes.mig});
    if (generation.mig_arbiter)
        registers_.push_back({smcarb::sys_pipe_info, 0, smcarb::sys_pipe_mode.mask(), &modes.mig});
    if (generation.confidential == ConfidentialRegister::pgc6)
        registers_.push_back({pgc6::scratch_cc, 0, pgc6::cc_mode.mask(), &modes.confidential});
}

ReadAnswer ModeBlock::read(std::uint32_t offset) {
    const auto found = std::ranges::find(registers_, offset, &Register::offset);
    if (found == registers_.end())
        return ReadAnswer::unmodelled();
    return {found->word | (*found->mode ? found->bits : 0)};
}

Answer ModeBlock::write(std::uint32_t offset, std::uint32_t) {
    return std::ranges::find(registers_, offset, &Register::offset) == registers_.end()
               ? Answer::unmodelled
               : Answer::read_only;
}

std::vector<std::uint32_t> ModeBlock::offsets() const {
    std::vector<std::uint32_t> all;
    for (const Register &reg : registers_)
        all.push_back(reg.offset);
    return all;
}

} // namespace nvmodel
