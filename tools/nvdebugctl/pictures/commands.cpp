// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pictures/commands.hpp"

#include "context.hpp"
#include "pictures/caption.hpp"
#include "pictures/pictures.hpp"

namespace nvdebugctl {

namespace {

Outcome<CopyWiring> read_wiring(Context &context) {
    const auto copy = context.gpu().copy_topology();
    if (!copy)
        return tl::unexpected(Failure(copy.error()));
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    return make_wiring(*copy, *engines);
}

Outcome<std::string> draw_svg(Context &context) {
    auto wiring = read_wiring(context);
    if (!wiring)
        return tl::unexpected(wiring.error());
    return copy_svg(*wiring, caption_of(context, "--svg"));
}

Outcome<std::string> draw_dot(Context &context) {
    auto wiring = read_wiring(context);
    if (!wiring)
        return tl::unexpected(wiring.error());
    return copy_dot(*wiring, caption_of(context, "--dot"));
}

} // namespace

std::vector<Picture> copy_pictures() {
    return {{{"--svg", "a picture: runlists, LCEs and GRCEs, PCEs, who borrows and who contends"},
             draw_svg},
            {{"--dot", "the same for Graphviz"}, draw_dot}};
}

} // namespace nvdebugctl
