// SPDX-License-Identifier: MIT OR GPL-2.0
// Measures how many accesses the model answers in a second, in-process and by each transport.
#include "client.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <functional>
#include <string>

namespace nvmodel::bench {
namespace {

const std::filesystem::path data = NVDEBUG_MODEL_DATA;
constexpr std::uint32_t boot_0 = 0;
constexpr std::uint32_t window = 0x700000;
constexpr std::uint32_t window_size = 1 << 20;

class Direct final : public Client {
  public:
    explicit Direct(Gpu &gpu) : gpu_(gpu) {}

    std::uint32_t read(std::uint32_t offset) override {
        return static_cast<std::uint32_t>(gpu_.bar_read(Bar::registers, offset, 4));
    }

  private:
    Gpu &gpu_;
};

std::unique_ptr<Client> direct_client(Gpu &gpu) {
    return std::make_unique<Direct>(gpu);
}

using MakeClient = std::unique_ptr<Client> (*)(Gpu &);

/** Reads a GPU that has work. The words from `begin` on are read one after the other, again and
 * again. */
void reads(benchmark::State &state, MakeClient connect, const std::string &workload,
           std::uint32_t begin, std::uint32_t length) {
    Gpu gpu(load_board(data / "boards" / "titan-v.json"),
            load_workload(data / "workloads" / (workload + ".json")));
    gpu.start();
    const auto client = connect(gpu);
    std::uint32_t offset = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(client->read(begin + offset));
        offset = (offset + 4) % length;
    }
    state.SetItemsProcessed(state.iterations());
}

void add(const std::string &through, MakeClient connect, const std::string &workload) {
    const auto name = [&](const char *what) { return through + "/" + workload + "/" + what; };
    benchmark::RegisterBenchmark(name("register").c_str(), reads, connect, workload, boot_0, 4U)
        ->UseRealTime();
    benchmark::RegisterBenchmark(name("window").c_str(), reads, connect, workload, window,
                                 window_size)
        ->UseRealTime();
}

const bool added = [] {
    add("in-process", direct_client, "idle");
    add("in-process", direct_client, "three-tasks");
    add("in-process", direct_client, "many");
    add("proxy", proxy_client, "three-tasks");
    add("vfio-user", vfio_user_client, "three-tasks");
    return true;
}();

} // namespace
} // namespace nvmodel::bench
