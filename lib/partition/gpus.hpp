// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file GPUs of NVIDIA's driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu_map.hpp"
#include "lib/base/gpu_name.hpp"

namespace nvtaskset {

struct Gpu {
    std::size_t number = 0;  ///< by PCI address, as nvidia-smi counts
    std::string pci_address; ///< 0000:01:00.0
    Uuid uuid{};
    std::string name;                   ///< NVIDIA H100 80GB HBM3
    std::optional<unsigned> minor = {}; ///< N of /dev/nvidiaN; empty: the driver does not show it
};

/// Some GPUs, and a sentence for each that was left out of them.
struct Selection {
    std::vector<Gpu> gpus;
    std::vector<std::string> left_out;
};

/// The GPUs that the driver lists. What it has of one is read when it is asked for, once: reading
/// wakes a GPU that is asleep.
class Gpus {
  public:
    /// Fails if there is none. Reads nothing of any GPU's.
    [[nodiscard]] static Outcome<Gpus> find();

    std::size_t count() const { return addresses_.size(); }
    const std::string &address(std::size_t number) const { return addresses_[number]; }
    /// Would at() wake it?
    [[nodiscard]] bool is_asleep(std::size_t number) const;
    /// Fails if the driver shows no UUID: the GPU has not been used yet, or does not work.
    const Outcome<Gpu> &at(std::size_t number);

    /// Those that are awake and have a UUID.
    Selection awake();
    /// Of these those that have a UUID.
    Selection some(const std::vector<std::size_t> &numbers);
    /// All that have a UUID.
    Selection all();
    /// Those that a UUID begins; sleeping ones are read if no other has it.
    [[nodiscard]] std::vector<Gpu> with_uuid(const std::string &begin);
    /// The numbers of those that the names mean, as base::find_gpus() finds them.
    [[nodiscard]] tl::expected<std::vector<std::size_t>, std::string>
    find(const std::vector<nvdebug::base::GpuName> &names);

  private:
    class Facts;

    explicit Gpus(std::vector<std::string> addresses)
        : addresses_(std::move(addresses)), read_(addresses_.size()) {}

    std::vector<std::string> addresses_;
    std::vector<std::optional<Outcome<Gpu>>> read_;
};

/// The UUID of the GPU at a PCI address. nullopt: it is asleep, and left so, or the driver does not
/// show it. No other GPU's file is read.
[[nodiscard]] std::optional<Uuid> uuid_of(const std::string &pci_address);

/// `580.159.04@BOOT`: what a GPU's TPCs are may differ with each.
[[nodiscard]] Outcome<std::string> driver_version();

/// The GPUs that a list names, as base::parse_gpu_names() reads it. Fails if one of its names means
/// no GPU, several, or one without a UUID.
[[nodiscard]] Outcome<Selection> select(Gpus &gpus, const std::string &words);

} // namespace nvtaskset
