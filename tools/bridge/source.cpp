// SPDX-License-Identifier: MIT OR GPL-2.0
#include "source.hpp"

#include "lib/base/exit_status.hpp"
#include "lib/driver/rm.hpp"
#include "lib/nvdebug/driver_tree.hpp"
#include "lib/nvdebug/tree_impl.hpp"
#include "nvdebug/gpu.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"

#include <cstdio>
#include <stdexcept>

namespace nvdebug::bridge {
namespace {

using nvmodel::ConfigError;

template <typename T>
T or_throw(Result<T> result) {
    if (result)
        return std::move(*result);
    const Error &why = result.error();
    // main() ends with 5 for this one, so that a service manager starts the bridge again.
    if (why.code == ErrorCode::io &&
        base::exit_status::of_file(why.number) == base::exit_status::failed)
        throw std::runtime_error(why.sentence);
    throw ConfigError(why.sentence);
}

/// Parses ids such as `10de:2330`.
void take_ids(const std::optional<std::string> &text, std::uint16_t &vendor,
              std::uint16_t &device) {
    unsigned first = 0;
    unsigned second = 0;
    if (text && std::sscanf(text->c_str(), "%4x:%4x", &first, &second) == 2) {
        vendor = static_cast<std::uint16_t>(first);
        device = static_cast<std::uint16_t>(second);
    }
}

nvmodel::PciIdentity identity_of(const Info &info, const std::string &name) {
    nvmodel::PciIdentity pci;
    take_ids(info.pci_id, pci.vendor, pci.device);
    take_ids(info.pci_subsystem, pci.subsystem_vendor, pci.subsystem);
    if (!pci.vendor || !info.pci_class)
        throw ConfigError(name + " is not on PCI, or `info` does not say what it is there; the VM "
                                 "can have GPUs on PCI only");
    pci.class_code = *info.pci_class;
    pci.revision = static_cast<std::uint8_t>(info.revision.value_or(0));
    return pci;
}

} // namespace

Source open_capture(const std::string &path) {
    const Tree tree = or_throw(Tree::capture(path));
    const auto words = tree.impl().words();
    for (const Gpu &gpu : or_throw(gpus(tree))) {
        if (!words.contains(gpu.folder()))
            continue;
        Source source;
        source.name = gpu.folder() + " of " + path;
        source.pci = identity_of(or_throw(gpu.info()), source.name);
        auto made = or_throw(CaptureWords::make(words, gpu.folder()));
        source.capture = made.get();
        source.words = std::move(made);
        return source;
    }
    throw ConfigError(path +
                      " has no words of a GPU, only texts; captures have words if they are made "
                      "with nvdebugctl --from driver capture FILE");
}

Source open_live(const std::shared_ptr<driver::Kernel> &kernel, const std::string &number) {
    Source source;
    source.name = "gpu" + number + " of NVIDIA's driver";
    const auto index = nvmodel::parse_number(number);
    driver::Card card{};
    {
        const Tree tree(or_throw(driver::open_tree(kernel, {})));
        const auto all = or_throw(gpus(tree));
        if (!index || *index >= all.size())
            throw ConfigError("live:" + number + ": NVIDIA's driver has " +
                              std::to_string(all.size()) + " GPUs here, and they count from 0");
        const Info info = or_throw(all[*index].info());
        // The revision was not read, because the GPU is asleep or this user may not read it.
        if (!info.revision)
            throw ConfigError(info.features.empty() ? source.name + " cannot be read"
                                                    : info.features.front().reason);
        source.pci = identity_of(info, source.name);
        for (const driver::Card &one : or_throw(or_throw(driver::Client::open(kernel))->cards()))
            if (one.pci_address == info.pci_address)
                card = one;
    }
    auto gpu =
        driver::Client::open(kernel).and_then([&](const std::shared_ptr<driver::Client> &client) {
            return driver::Gpu::open(client, card);
        });
    source.words = std::make_unique<driver::DriverWords>(or_throw(std::move(gpu)));
    return source;
}

} // namespace nvdebug::bridge
