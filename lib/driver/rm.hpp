// SPDX-License-Identifier: MIT OR GPL-2.0
// A client of NVIDIA's resource manager (RM), the part of the driver that owns the GPU. It reads
// registers and video memory, and writes neither.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "nvdebug/error.hpp"
#include "rm_abi.hpp"

namespace nvdebug::driver {

/// A GPU that NVIDIA's driver has.
struct Card {
    std::string pci_address; ///< `0000:01:00.0`
    std::uint32_t gpu_id;
    std::uint32_t minor; ///< N of /dev/nvidiaN
};

/// Returns the device file of a GPU, `/dev/nvidia0`.
std::string device_of(const Card &card);

/// Opens the device file of a GPU.
Result<int> open_device(Kernel &kernel, const Card &card);

/// Returns why this process has no access to the GPU: its device file is not there, as in a container
/// that has other GPUs, or may not be opened. Empty: open() may still fail. Does not open the file.
std::optional<Error> withheld(Kernel &kernel, const Card &card);

/// How many calls were made to the driver. Tests check these counts, and docs/nvdebugctl.md quotes
/// them.
struct Cost {
    std::uint64_t register_calls = 0, registers = 0, mappings = 0;
};

/// Returns `0x1b`.
std::string hex(std::uint64_t value);

/// The RM's answer to a question about @p object of @p client, a client of the open file @p
/// descriptor: its status, or -errno.
struct Answer {
    std::uint32_t status;
    int error;
    bool ok() const { return !error && status == rm::ok; }
    /// Returns whether the object has been freed, or another object has its name (OGKM,
    /// kernel_channel.c: CliGetKernelChannel()).
    bool is_gone() const {
        return !error && (status == rm::invalid_client || status == rm::object_not_found ||
                          status == rm::invalid_channel);
    }
};
Answer ask_rm(Kernel &kernel, int descriptor, std::uint32_t client, std::uint32_t object,
              std::uint32_t command, void *params, std::size_t bytes);

/// A descriptor of /dev/nvidiactl and a client of the RM. When this object ends, the driver frees
/// the client's objects. Only one thread may use it at a time.
class Client {
  public:
    static Result<std::shared_ptr<Client>> open(std::shared_ptr<Kernel> kernel);
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    ~Client();

    /// Returns the driver's version, `580.159.04`.
    const std::string &version() const { return version_; }
    /// Returns the GPUs of the driver, ordered by PCI address.
    Result<std::vector<Card>> cards();

    int descriptor() const { return descriptor_; }
    /// Returns the RM's name for the client.
    std::uint32_t handle() const { return client_; }

  private:
    friend class Gpu;
    friend class Window;
    friend class Switches;
    Client(std::shared_ptr<Kernel> kernel, int descriptor);

    Result<void> read_version();
    Result<void> make_client();
    /// Makes an object. @returns the RM's status; an error if the driver did not take the request
    /// at all.
    Result<std::uint32_t> alloc(std::uint32_t parent, std::uint32_t object, std::uint32_t which,
                                void *params, std::size_t bytes);
    Result<std::uint32_t> control(std::uint32_t object, std::uint32_t command, void *params,
                                  std::size_t bytes);
    int ioctl(unsigned number, void *argument, std::size_t bytes);

    std::shared_ptr<Kernel> kernel_;
    int descriptor_;
    std::string version_;
    std::uint32_t client_ = 0;
    bool old_alloc_ = false;
};

/// A part of video memory, mapped for reading.
class Window {
  public:
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    ~Window();

    std::uint64_t begin() const { return begin_; }
    std::uint64_t end() const { return begin_ + bytes_; }
    /// Copies the words from @p address, a multiple of 4, on. All of them must be in the window.
    void copy(std::uint64_t address, std::span<std::uint32_t> words) const;

  private:
    friend class Gpu;
    Window(std::shared_ptr<Client> client, std::uint32_t device, std::uint64_t begin,
           std::size_t bytes)
        : client_(std::move(client)), device_(device), begin_(begin), bytes_(bytes) {}

    std::shared_ptr<Client> client_;
    std::uint32_t device_;
    std::uint64_t begin_;
    std::size_t bytes_;
    std::uint64_t linear_ = 0; // the driver's name for the mapping; 0: not mapped there
    const void *mapped_ = nullptr;
};

/// An open GPU. While it is open the GPU stays powered up, as with every program that uses it.
class Gpu {
  public:
    static Result<std::unique_ptr<Gpu>> open(std::shared_ptr<Client> client, const Card &card);
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;
    ~Gpu();

    /// Reads registers, in calls of up to 100. @p values get the answers of the register bus, or
    /// all ones where the driver has no such register.
    Result<void> read(std::span<const std::uint32_t> offsets, std::span<std::uint32_t> values);

    /// Maps video memory. @p begin and @p bytes are multiples of 4096.
    Result<std::unique_ptr<Window>> map(std::uint64_t begin, std::size_t bytes);

    /// Returns the bytes of video memory.
    std::uint64_t memory_bytes() const { return memory_bytes_; }
    const Cost &cost() const { return cost_; }

  private:
    Gpu(std::shared_ptr<Client> client, const Card &card, int descriptor)
        : client_(std::move(client)), card_(card), descriptor_(descriptor) {}

    Result<void> make_objects();
    Result<void> make_memory();
    /// Reads up to 100 registers. @returns how many were answered.
    Result<std::size_t> read_some(std::span<const std::uint32_t> offsets,
                                  std::span<std::uint32_t> values);
    /// Returns the error for a status with which the RM refused @p what.
    Error refused(const std::string &what, std::uint32_t status) const;

    std::shared_ptr<Client> client_;
    Card card_;
    int descriptor_;
    std::optional<Error> no_memory_;
    std::uint64_t memory_bytes_ = 0;
    Cost cost_;
};

} // namespace nvdebug::driver
