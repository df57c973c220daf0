// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "lib/base/gpu_name.hpp"

namespace nvqos {
namespace {

namespace base = nvdebug::base;

class KnownGpus : public base::GpuSet {
  public:
    explicit KnownGpus(const std::vector<GpuFacts> &gpus) : gpus_(gpus) {}
    std::size_t count() const override { return gpus_.size(); }
    std::size_t number(std::size_t place) const override { return gpus_[place].number; }
    std::string address(std::size_t place) const override { return gpus_[place].address; }
    std::optional<std::string> uuid(std::size_t place) const override {
        return gpus_[place].product.uuid;
    }
    std::optional<unsigned> device_minor(std::size_t place) const override {
        return gpus_[place].product.minor;
    }

  private:
    const std::vector<GpuFacts> &gpus_;
};

bool is_number(const base::GpuName &name) {
    return name.all || name.index;
}

/// Returns the end of a sentence that names GPUs without known names; empty: there are none.
std::string sentence_on_unknown(const std::vector<GpuFacts> &gpus) {
    std::string sentence;
    for (const GpuFacts &gpu : gpus)
        if (gpu.address.empty())
            sentence +=
                (sentence.empty() ? "; the driver has not told so far what is GPU " : ", ") +
                std::to_string(gpu.number);
    return sentence;
}

/// Begins to read in a detached thread, because the driver may never answer.
std::future<GpuFacts> begin_to_read(std::uint32_t number, std::size_t count, const Open &open) {
    std::promise<GpuFacts> promise;
    auto answer = promise.get_future();
    std::thread([number, count, open, promise = std::move(promise)]() mutable {
        GpuFacts facts{number};
        if (const auto tree = open())
            if (const auto all = nvdebug::gpus(*tree); all && all->size() == count)
                facts = facts_of((*all)[number]);
        promise.set_value(std::move(facts));
    }).detach();
    return answer;
}

} // namespace

GpuFacts facts_of(const nvdebug::Gpu &gpu) {
    GpuFacts facts{gpu.index()};
    if (const auto info = gpu.info()) {
        facts.address = info->pci_address.value_or("");
        const char *const folder = std::getenv("NVQOS_DRIVER_FOLDER"); // of tests
        facts.product =
            nvdebug::product_of(gpu.tree(), *info, folder ? folder : "/proc/driver/nvidia");
    }
    return facts;
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
                                               const std::vector<GpuFacts> &gpus) {
    std::vector<base::GpuName> parsed;
    for (const std::string &name : names)
        parsed.push_back(base::parse_gpu_name(name));
    const KnownGpus known(gpus);
    const auto places = base::find_gpus(parsed, known);
    if (!places) {
        const bool by_number = std::ranges::any_of(parsed, [&](const base::GpuName &name) {
            return is_number(name) && base::places_of(name, known).empty();
        });
        const std::string unknown = by_number ? "" : sentence_on_unknown(gpus);
        return fail(unknown.empty() ? bad_usage : failed, places.error() + unknown);
    }
    std::vector<std::uint32_t> numbers;
    if (std::ranges::none_of(parsed, &base::GpuName::all))
        for (const std::size_t place : *places)
            numbers.push_back(gpus[place].number);
    return numbers;
}

Outcome<std::vector<std::uint32_t>> find_numbers(const std::vector<std::string> &names,
                                                 const nvdebug::Tree &tree, const Open &open,
                                                 std::chrono::milliseconds longest,
                                                 const Warn &warn) {
    const auto all = nvdebug::gpus(tree);
    if (!all)
        return fail(all.error());
    if (all->empty())
        return fail(not_supported, "NVIDIA's driver has no GPU here");
    std::vector<GpuFacts> gpus;
    for (const nvdebug::Gpu &gpu : *all)
        gpus.push_back({gpu.index()});
    if (!std::ranges::all_of(
            names, [](const std::string &name) { return is_number(base::parse_gpu_name(name)); })) {
        const auto until = std::chrono::steady_clock::now() + longest;
        std::vector<std::future<GpuFacts>> answers;
        for (const GpuFacts &gpu : gpus)
            answers.push_back(begin_to_read(gpu.number, all->size(), open));
        for (std::size_t n = 0; n < gpus.size(); n++)
            if (answers[n].wait_until(until) == std::future_status::ready)
                gpus[n] = answers[n].get();
    }
    auto numbers = numbers_of(names, gpus);
    if (!numbers)
        return numbers;
    if (numbers->empty()) {
        const auto usable = nvdebug::usable_gpus(tree);
        if (!usable)
            return fail(usable.error());
        for (const std::string &sentence : usable->left_out)
            warn(sentence);
        for (const nvdebug::Gpu &gpu : usable->gpus)
            numbers->push_back(gpu.index());
    }
    std::ranges::sort(*numbers);
    return numbers;
}

} // namespace nvqos
