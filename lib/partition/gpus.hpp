// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs that NVIDIA's driver lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu_map.hpp"
#include "lib/base/gpu_name.hpp"

namespace nvtaskset {

struct Gpu {
    std::size_t number = 0;  ///< by PCI address, as nvidia-smi counts
    std::string pci_address; ///< such as 0000:01:00.0
    Uuid uuid{};
    std::string name;                   ///< such as NVIDIA H100 80GB HBM3
    std::optional<unsigned> minor = {}; ///< N of /dev/nvidiaN; empty: the driver does not show it
};

/// A selection of GPUs, with a sentence for each GPU that was left out.
struct Selection {
    std::vector<Gpu> gpus;
    std::vector<std::string> left_out;
};

/// The GPUs that the driver lists. The facts of a GPU are read once, when they are first needed,
/// because reading wakes a sleeping GPU.
class Gpus {
  public:
    /// Lists the GPUs without reading their facts. Fails if there is none.
    [[nodiscard]] static Outcome<Gpus> find();

    std::size_t count() const { return addresses_.size(); }
    const std::string &address(std::size_t number) const { return addresses_[number]; }
    /// Returns true if the GPU is asleep, so that at() would wake it.
    [[nodiscard]] bool is_asleep(std::size_t number) const;
    /// Returns the facts of a GPU. Fails if the driver shows no UUID, because no program has used
    /// the GPU yet, or because it does not work.
    const Outcome<Gpu> &at(std::size_t number);

    /// Returns the GPUs that are awake and have a UUID.
    Selection awake();
    /// Returns the GPUs with these numbers, without GPUs that have no UUID.
    Selection some(const std::vector<std::size_t> &numbers);
    /// Returns all GPUs that have a UUID.
    Selection all();
    /// Returns the GPUs with a UUID that begins with @p begin. Sleeping GPUs are read only if no
    /// other GPU fits.
    [[nodiscard]] std::vector<Gpu> with_uuid(const std::string &begin);
    /// Returns the numbers of the GPUs that have these names, by base::find_gpus().
    [[nodiscard]] tl::expected<std::vector<std::size_t>, std::string>
    find(const std::vector<nvdebug::base::GpuName> &names);

  private:
    class Facts;

    explicit Gpus(std::vector<std::string> addresses)
        : addresses_(std::move(addresses)), read_(addresses_.size()) {}

    std::vector<std::string> addresses_;
    std::vector<std::optional<Outcome<Gpu>>> read_;
};

/// Returns the UUID of the GPU at a PCI address, or nullopt if the GPU is asleep, in which case it
/// is not woken, or if the driver shows no UUID. Reads no file of other GPUs.
[[nodiscard]] std::optional<Uuid> uuid_of(const std::string &pci_address);

/// Returns the driver's version and the id of the boot, `580.159.04@BOOT`. The TPCs of a GPU may
/// differ after each change of either.
[[nodiscard]] Outcome<std::string> driver_version();

/// Returns the GPUs of a list of names, which base::parse_gpu_names() parses. Fails if a name fits
/// no GPU or several, or a GPU without a UUID. With `all`, GPUs without a UUID are left out
/// instead.
[[nodiscard]] Outcome<Selection> select(Gpus &gpus, const std::string &words);

} // namespace nvtaskset
