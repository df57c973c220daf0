// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/instance_block.hpp"

#include "base/bits.hpp"

namespace nvmodel {
namespace {

using namespace regs::ramin;

constexpr std::uint32_t ring_log2 = 10;         // entries of the pushbuffer ring
constexpr std::uint32_t acquire = 0xfffff902;   // what nouveau writes
constexpr std::uint32_t software_engine = 0x1f; // what drivers write up to Pascal
constexpr std::uint64_t address_limit = (1ULL << 40) - 1;

/// The two words of a page directory base: always v2 tables with 64 KiB big pages.
std::array<std::uint32_t, 2> directory_words(PhysicalAddress at) {
    const bool system = at.aperture != Aperture::video;
    return {pdb_target.put(target_of(at.aperture)) | pdb_vol.put(system ? 1 : 0) | pdb_ver2.mask() |
                pdb_big_page_64k.mask() | low32(at.address),
            high32(at.address)};
}

void put_ramfc(InstanceWords &w, const Generation &generation, const InstanceBlock &block) {
    w[fc_gp_put] = block.gp_put;
    w[fc_gp_get] = block.gp_get;
    w[fc_signature] = generation.host_class;
    w[fc_acquire] = acquire;
    w[fc_gp_base] = low32(block.pushbuffer_ring);
    w[fc_gp_base_hi] = high32(block.pushbuffer_ring) | gp_base_hi_limit2.put(ring_log2);
    w[fc_hce_ctrl] = hce_ctrl_priv_mode;
    if (!generation.entry_pointers_used) {
        w[fc_userd] = low32(block.userd.address) | target_of(block.userd.aperture);
        w[fc_userd_hi] = high32(block.userd.address);
    }
    if (generation.submit == SubmitScheme::shared_port) {
        w[fc_chid] = block.channel;
        w[fc_timeslice] = fc_timeslice_timeout.put(block.timeslice.timeout) |
                          fc_timeslice_scale.put(block.timeslice.scale) |
                          fc_timeslice_enable.mask();
    }
    if (generation.subcontexts) {
        w[fc_target] = target_engine.put(block.engine_id) | target_eng_ctx_valid.mask();
        w[fc_set_channel_info] =
            set_channel_info_veid.put(block.subcontext) | set_channel_info_chid.put(block.channel);
    } else {
        w[fc_target] = target_engine.put(software_engine);
        w[fc_pb_timeslice] = pb_timeslice_default;
    }
}

/// All channels of a context carry the same table.
void put_subcontexts(InstanceWords &w, const InstanceBlock &block) {
    w[engine_wfi_veid] = block.subcontext;
    for (unsigned i = 0; i < subcontexts; ++i) {
        w[sc_pdb + 4 * i] = pdb_invalid;
        w[sc_pdb + 4 * i + 1] = pdb_invalid;
    }
    for (unsigned i = 0; i < block.page_directories.size(); ++i) {
        const auto [lo, hi] = directory_words(block.page_directories[i]);
        w[sc_pdb + 4 * i] = lo;
        w[sc_pdb + 4 * i + 1] = hi;
        w[sc_valid_0 + i / 32] |= 1U << (i % 32);
    }
}

} // namespace

InstanceWords encode_instance(const Generation &generation, const InstanceBlock &block) {
    InstanceWords w{};
    put_ramfc(w, generation, block);
    const auto [lo, hi] = directory_words(block.page_directories.at(block.subcontext));
    w[pdb_lo] = lo;
    w[pdb_hi] = hi;
    if (block.engine_context) {
        w[engine_wfi_lo] = wfi_mode_virtual.mask() | low32(*block.engine_context);
        w[engine_wfi_hi] = high32(*block.engine_context);
    }
    if (generation.subcontexts) {
        put_subcontexts(w, block);
    } else {
        w[adr_limit_lo] = low32(address_limit);
        w[adr_limit_hi] = high32(address_limit);
    }
    return w;
}

} // namespace nvmodel
