// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launches of a process, in a file for `nvdebugctl record --kernels`.
///
/// A launch puts its times, its kernel's number, its stream and its sizes into a ring, without a
/// lock or a system call but for the clock. A thread of the library writes them to the file 20
/// times a second, as lines of JSON (docs/nvdebugctl.md). If the ring is full, because the disk is
/// full or slow, launches are lost and counted. A process that is killed loses the launches that
/// its thread has not written yet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <pthread.h>
#include <string_view>
#include <unistd.h>

#include "hooks.hpp"
#include "kernel_names.hpp"
#include "ring.hpp"

namespace nvtaskset {

/// Notes launches. Several threads may use it at the same time.
class LaunchLog {
  public:
    /// Makes the file in @p folder and starts the thread. Returns nullptr, after a sentence on
    /// stderr, if that fails.
    static LaunchLog *start(const cuda::Library &cuda, const char *folder);

    /// Is called before a function of CUDA.
    void before(const hooks::Api &call);
    /// Is called after the function.
    void after(const hooks::Api &call);

  private:
    struct Launch {
        std::uint64_t begin_ns; ///< CLOCK_MONOTONIC
        std::uint32_t took_ns;
        std::uint32_t kernel; ///< 0: it has no name, or `graph` was launched
        cuda::Handle graph, context, stream;
        std::uint32_t thread;
        std::array<std::uint16_t, 2> grid_yz; ///< CUDA's limits of all but x fit in 16 bits
        std::uint32_t grid_x;
        std::array<std::uint16_t, 3> block;
    };
    struct File {
        std::uint64_t device_major, device_minor, inode;
        bool operator==(const File &) const = default;
    };
    /// At the 400,000 launches a second of a quick thread the ring is full after 80 ms.
    static constexpr std::size_t most_waiting = 32'768;

    explicit LaunchLog(const cuda::Library &cuda) : names_(cuda) {}
    bool open_file(const char *folder);
    static void *run(void *log);
    static void finish();

    void put(const hooks::Api &call, std::uint64_t begin_ns);
    void write_waiting();
    bool has_room();
    void add_name(std::uint32_t number);
    void add_launch(const Launch &launch);
    void add(std::string_view text);
    void add_number(const char *key, std::uint64_t number);
    void add_sizes(const char *key, const std::array<std::uint32_t, 3> &sizes);
    void add_text(const char *key, std::string_view text);
    bool flush();
    bool is_own_file() const;
    static std::optional<File> about(int descriptor);

    Ring<Launch, most_waiting> ring_;
    std::atomic<std::uint64_t> lost_{0};
    KernelNames names_;
    std::atomic<std::uint32_t> ends_{0}; ///< 1: the process ends; a futex

    // Only the thread uses the members below.
    const pid_t process_ = getpid();
    pthread_t thread_{};
    int (*join_)(pthread_t thread, void **result) = nullptr;
    int file_ = -1;
    File made_{};                 ///< the file's identity
    std::uint64_t origin_ns_ = 0; ///< times in the file are since then
    std::uint64_t lost_written_ = 0;
    std::uint32_t names_written_ = 0;
    bool complained_ = false;
    bool holds_ = false; ///< held_ was taken, and is to be written next
    Launch held_{};
    std::size_t used_ = 0; ///< bytes of text_ that are to be written
    std::array<char, 65'536> text_{};
};

} // namespace nvtaskset
