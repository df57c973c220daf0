// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <cstdlib>

#include "lib/base/gpu_name.hpp"
#include "nvdebug/product.hpp"

namespace nvqos {
namespace {

namespace base = nvdebug::base;

class ReadGpus : public base::GpuSet {
  public:
    ReadGpus(const std::vector<nvdebug::Gpu> &gpus, const std::string &folder)
        : gpus_(gpus), folder_(folder) {}
    std::size_t count() const override { return gpus_.size(); }
    std::size_t number(std::size_t place) const override { return gpus_[place].index(); }
    std::string address(std::size_t place) const override {
        const auto info = gpus_[place].info();
        return info ? info->pci_address.value_or("") : "";
    }
    std::optional<std::string> uuid(std::size_t place) const override {
        return product(place).uuid;
    }
    std::optional<unsigned> device_minor(std::size_t place) const override {
        return product(place).minor;
    }

  private:
    nvdebug::Product product(std::size_t place) const {
        const auto info = gpus_[place].info();
        return info ? nvdebug::product_of(gpus_[place].tree(), *info, folder_) : nvdebug::Product();
    }

    const std::vector<nvdebug::Gpu> &gpus_;
    const std::string &folder_;
};

} // namespace

std::string driver_folder() {
    const char *const folder = std::getenv("NVQOS_DRIVER_FOLDER");
    return folder ? folder : "/proc/driver/nvidia";
}

Outcome<void> add_gpus(std::string_view words, std::vector<std::string> &to) {
    const auto names = base::parse_gpu_names(words);
    if (!names)
        return fail(bad_usage, names.error());
    for (const base::GpuName &name : *names)
        if (std::ranges::find(to, name.word) == to.end())
            to.push_back(name.word);
    return {};
}

Outcome<std::vector<std::uint32_t>> numbers_of(const std::vector<std::string> &names,
                                               const std::vector<nvdebug::Gpu> &gpus,
                                               const std::string &driver_folder) {
    std::vector<base::GpuName> parsed;
    for (const std::string &name : names)
        parsed.push_back(base::parse_gpu_name(name));
    if (std::ranges::any_of(parsed, &base::GpuName::all))
        return {};
    const auto places = base::find_gpus(parsed, ReadGpus(gpus, driver_folder));
    if (!places)
        return fail(failed, places.error());
    std::vector<std::uint32_t> numbers;
    for (const std::size_t place : *places)
        numbers.push_back(gpus[place].index());
    return numbers;
}

} // namespace nvqos
