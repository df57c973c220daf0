// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/instance_block.hpp"

#include "base/bits.hpp"

namespace nvmodel {
namespace {

using namespace regs::ramin;

constexpr std::uint32_t ring_log2 = 10;         // log2 of the pushbuffer ring's entries
constexpr std::uint32_t acquire = 0xfffff902;   // the value that nouveau writes
constexpr std::uint32_t software_engine = 0x1f; // the value of drivers up to Pascal

/// Encodes the two words of a page directory base. In subcontexts' entries drivers set the bit for
/// version 2 in any version (open-gpu-kernel-modules arch/volta/kernel_channel_gv100.c).
std::array<std::uint32_t, 2> directory_words(const PageTableTraits &traits,
                                             const InstanceSpace &space, bool in_table) {
    const PhysicalAddress &at = space.page_directory;
    const bool version_2 = space.format.version == mmu::Version::v2 || in_table;
    const bool big_page_64k = traits.big_page_by_instance && space.format.big_page == 64 * mmu::kib;
    return {pdb_target.put(target_of(at.aperture)) | pdb_vol.put(space.is_volatile() ? 1 : 0) |
                pdb_ver2.put(version_2 ? 1 : 0) | pdb_big_page_64k.put(big_page_64k ? 1 : 0) |
                low32(at.address),
            high32(at.address)};
}

void put_directory(InstanceWords &w, const Generation &generation, const InstanceSpace &space,
                   std::uint64_t last_address) {
    const auto [lo, hi] = directory_words(generation.page_tables, space, false);
    w[pdb_lo] = lo;
    w[pdb_hi] = hi;
    if (generation.instance.address_limit) {
        w[adr_limit_lo] = low32(last_address) & adr_limit_lo_bits.mask();
        w[adr_limit_hi] = high32(last_address);
    }
    if (generation.instance.firmware_magic)
        w[engine_ctxsw_fw_magic] = engine_ctxsw_fw_magic_value;
}

void put_target(InstanceWords &w, const Generation &generation, const InstanceBlock &block) {
    w[fc_target] = target_engine.put(*ramfc_target(generation, block));
    if (!generation.subcontexts)
        return;
    w[fc_target] |= block.copy_engine      ? target_ce_ctx_valid.mask()
                    : block.engine_context ? target_eng_ctx_valid.mask()
                                           : 0;
    w[fc_config] = config_auth_level.put(block.privileged ? 1 : 0);
    w[fc_set_channel_info] =
        set_channel_info_veid.put(block.subcontext) | set_channel_info_chid.put(block.channel);
}

/// Fills in RAMFC of Blackwell, of which little is public.
void put_ramfc_gb100(InstanceWords &w, const InstanceBlock &block) {
    w[fc_gp_base_gb100] = low32(block.pushbuffer_ring);
    w[fc_gp_base_hi_gb100] = high32(block.pushbuffer_ring) | gp_base_hi_limit2.put(ring_log2);
    w[fc_gp_get_gb100] = block.gp_get;
    w[fc_debug_state_gp_put_gb100] = block.gp_put;
}

void put_ramfc(InstanceWords &w, const Generation &generation, const InstanceBlock &block) {
    w[fc_gp_put] = block.gp_put;
    w[fc_gp_get] = block.gp_get;
    w[fc_signature] = generation.host_class;
    w[fc_acquire] = acquire;
    w[fc_gp_base] = low32(block.pushbuffer_ring);
    w[fc_gp_base_hi] = high32(block.pushbuffer_ring) | gp_base_hi_limit2.put(ring_log2);
    w[fc_hce_ctrl] = block.privileged ? hce_ctrl_priv_mode : 0;
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
    if (!generation.subcontexts)
        w[fc_pb_timeslice] = pb_timeslice_default;
    put_target(w, generation, block);
}

/// Fills in the subcontext table, which is the same in all channels of a context.
void put_subcontexts(InstanceWords &w, const Generation &generation, const InstanceBlock &block) {
    w[engine_wfi_veid] = block.subcontext;
    w[pasid] = pasid_id.put(block.space().pasid) | pasid_enable_ats.put(block.space().ats ? 1 : 0);
    for (unsigned i = 0; i < subcontexts; ++i) {
        w[sc_pdb + 4 * i] = pdb_invalid;
        w[sc_pdb + 4 * i + 1] = pdb_invalid;
    }
    for (unsigned i = 0; i < block.spaces.size(); ++i) {
        const InstanceSpace &space = block.spaces[i];
        const auto [lo, hi] = directory_words(generation.page_tables, space, true);
        w[sc_pdb + 4 * i] = lo;
        w[sc_pdb + 4 * i + 1] = hi;
        w[sc_pdb + 4 * i + 2] = pasid_id.put(space.pasid) | pasid_enable_ats.put(space.ats ? 1 : 0);
        w[sc_valid_0 + i / 32] |= 1U << (i % 32);
    }
}

} // namespace

std::optional<unsigned> ramfc_target(const Generation &generation, const InstanceBlock &block) {
    if (generation.instance.ramfc == RamfcForm::gb100)
        return std::nullopt;
    return generation.subcontexts ? block.engine_id : software_engine;
}

InstanceWords encode_instance(const Generation &generation, const InstanceBlock &block) {
    InstanceWords w{};
    if (generation.instance.ramfc == RamfcForm::gb100)
        put_ramfc_gb100(w, block);
    else
        put_ramfc(w, generation, block);
    const InstanceSpace &space = block.space();
    put_directory(w, generation, space, (1ULL << space.format.va_bits()) - 1);
    if (block.engine_context) {
        w[engine_wfi_lo] = wfi_mode_virtual.mask() | low32(*block.engine_context);
        w[engine_wfi_hi] = (generation.instance.wide_pointer ? wfi_ptr_hi_gb10b : wfi_ptr_hi)
                               .put(high32(*block.engine_context));
    }
    if (generation.subcontexts)
        put_subcontexts(w, generation, block);
    return w;
}

InstanceWords encode_bar_instance(const Generation &generation, const InstanceSpace &space,
                                  std::uint64_t bar_size) {
    InstanceWords w{};
    put_directory(w, generation, space, bar_size - 1);
    return w;
}

} // namespace nvmodel
