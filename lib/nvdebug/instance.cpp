// SPDX-License-Identifier: MIT OR GPL-2.0
#include "instance.hpp"

namespace nvdebug {
namespace {

using text::key;
using text::Value;

/// Reads `as Channel N`.
bool set_as_channel(const Value &value, std::optional<std::uint32_t> &to) {
    std::string_view id = value.text;
    if (!text::take_prefix(id, "as Channel "))
        return false;
    text::read({value.scanner, value.key, id}, to.emplace());
    return true;
}

void set_subcontexts(const Value &value, InstanceBlock &to) {
    if (!set_as_channel(value, to.subcontexts_as_channel))
        read(value, to.subcontext_count);
}

void set_context(const Value &value, InstanceBlock &to) {
    if (!set_as_channel(value, to.context_as_channel))
        read(value, to.context_note);
}

// All keys are optional, because a block that could not be read, or that is printed elsewhere, has
// only one line.
constexpr text::Key<InstanceBlock> block_keys[] = {
    key<&InstanceBlock::same_as_channel>("Same as Channel").optional(),
    key<&InstanceBlock::error>("Error").optional(),
    key<&InstanceBlock::page_tables>("Page Tables").optional(),
    key<&InstanceBlock::big_page_size_kib>("Big Page Size (KiB)").optional(),
    key<&InstanceBlock::page_directory, &Place::address>("Page Directory").optional(),
    key<&InstanceBlock::page_directory, &Place::aperture>("Page Directory Aperture").optional(),
    key<&InstanceBlock::page_directory_volatile>("Page Directory Volatile").optional(),
    key<&InstanceBlock::va_limit>("VA Limit").optional(),
    key<&InstanceBlock::target_engine>("Target Engine").optional(),
    key<&InstanceBlock::privileged>("Privileged").optional(),
    key<&InstanceBlock::veid>("VEID").optional(),
    key<&InstanceBlock::pasid>("PASID").optional(),
    key<&InstanceBlock::ats>("ATS").optional(),
    key<&InstanceBlock::engine_wfi, &Place::address>("Engine WFI Pointer").optional(),
    key<&InstanceBlock::engine_wfi, &Place::aperture>("Engine WFI Aperture").optional(),
    key<&InstanceBlock::engine_wfi_mode>("Engine WFI Mode").optional(),
    text::Key<InstanceBlock>{"Subcontexts", set_subcontexts}.optional(),
    text::Key<InstanceBlock>{"Context", set_context}.optional(),
};

constexpr text::Key<Subcontext> subcontext_keys[] = {
    key<&Subcontext::page_directory, &Place::address>("Page Directory"),
    key<&Subcontext::page_directory, &Place::aperture>("Page Directory Aperture"),
    key<&Subcontext::page_directory_volatile>("Page Directory Volatile"),
    key<&Subcontext::pasid>("PASID"),
    key<&Subcontext::ats>("ATS"),
};

constexpr text::Key<Context> context_keys[] = {
    key<&Context::id>("Context ID"),
    key<&Context::type>("Type"),
    key<&Context::graphics_preemption>("Graphics Preemption"),
    key<&Context::compute_preemption>("Compute Preemption"),
    key<&Context::saves>("Saves"),
    key<&Context::restores>("Restores"),
    key<&Context::wfi_saves>("WFI Saves"),
    key<&Context::cta_saves>("CTA Saves"),
    key<&Context::gfxp_saves>("GFXP Saves"),
    key<&Context::cilp_saves>("CILP Saves"),
    key<&Context::image>("Image"),
    key<&Context::image_place, &Place::address>("Image Address"),
    key<&Context::image_place, &Place::aperture>("Image Aperture"),
};

} // namespace

InstanceBlock read_instance_block(text::Scanner &scanner, const text::BoxTitle &title) {
    InstanceBlock block{};
    read_box<InstanceBlock>(scanner, title, block_keys, block);
    if (!block.same_as_channel && !block.error && !block.page_tables)
        scanner.fail("'Page Tables' is missing");
    return block;
}

Subcontext read_subcontext(text::Scanner &scanner, const text::BoxTitle &title,
                           std::uint32_t veid) {
    Subcontext subcontext{};
    subcontext.veid = veid;
    read_box<Subcontext>(scanner, title, subcontext_keys, subcontext);
    return subcontext;
}

Context read_context(text::Scanner &scanner, const text::BoxTitle &title) {
    Context context{};
    read_box<Context>(scanner, title, context_keys, context);
    return context;
}

void check_instance_block(text::Scanner &scanner, InstanceBlock &block) {
    if (block.subcontexts.size() != block.subcontext_count.value_or(0))
        scanner.fail("an instance block has " + std::to_string(block.subcontexts.size()) +
                     " subcontexts, not as many as it says");
    const bool below = block.context_note == "below";
    if (below != block.context.has_value())
        scanner.fail(below ? "a context that an instance block announces is missing"
                           : "there is a context that no instance block announces");
    if (below)
        block.context_note.reset();
}

} // namespace nvdebug
