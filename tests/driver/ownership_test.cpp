// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds owners repeatedly, over the stand-in for NVIDIA's driver, and checks the bounds of each
// look.
#include "bench.hpp"

#include "nvdebug/gpu.hpp"

#include <algorithm>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace driver_test {
namespace {

using namespace std::chrono_literals;

class Looks : public Driver {
  protected:
    Looks() {
        kernel.add_process(557, {0x100000, 0x101000});
        kernel.processes[557].started = 5;
    }

    static std::size_t channels_of(const nvdebug::Owners &owners, std::uint32_t pid) {
        return static_cast<std::size_t>(
            std::ranges::count(owners.channels, pid, &nvdebug::OwnedChannel::pid));
    }
    static std::size_t channels(const nvdebug::Gpu &gpu, std::uint32_t pid) {
        const auto owners = gpu.owners();
        EXPECT_TRUE(owners) << owners.error().sentence;
        return owners ? channels_of(*owners, pid) : 0;
    }
};

/// Eight GPUs are scraped every 15 s for 30 days, and other programs use up a name for each GPU and
/// scrape. The process from the beginning is found at the end, no scrape costs more than at the
/// beginning, and memory does not grow.
TEST_F(Looks, LoseNothingInAMonth) {
    constexpr std::uint32_t gpu_count = 8, days = 30, names_a_day = 24 * 60 * 4 * gpu_count;
    kernel.cards.clear();
    for (std::uint32_t n = 0; n < gpu_count; n++)
        kernel.add_card(n, static_cast<std::uint8_t>(n + 1));
    const nvdebug::Tree tree = bench.tree();
    const nvdebug::Gpu gpu(tree, 0);
    const auto scrape = [&] {
        const std::uint64_t before = kernel.ioctls;
        EXPECT_EQ(channels(gpu, 557), 2U);
        for (std::uint32_t n = 1; n < gpu_count; n++)
            EXPECT_TRUE(nvdebug::Gpu(tree, n).owners());
        return kernel.ioctls - before;
    };
    EXPECT_EQ(channels(gpu, 557), 2U);
    std::uint64_t early = 0, most_late = 0;
    [[maybe_unused]] std::size_t bytes_early = 0; // sanitizers have their own allocator
    const std::size_t open = kernel.open_files();
    for (std::uint32_t day = 0; day < days; day++)
        for (std::uint32_t n = 0; n < 4; n++) {
            kernel.use_up_names(names_a_day / 4);
            const std::uint64_t cost = scrape();
            if (day < 2)
                early = std::max(early, cost);
            else if (day >= days - 2)
                most_late = std::max(most_late, cost);
            // The names wrap after six days.
            if (day < 10)
                bytes_early = mallinfo2().uordblks;
        }
    EXPECT_GT(early, 0U);
    EXPECT_LE(most_late, early);
    EXPECT_EQ(kernel.open_files(), open);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LE(mallinfo2().uordblks, bytes_early);
#endif
    // A process that begins now is found, and a process that has ended is not.
    kernel.add_process(600, {0x200000});
    EXPECT_EQ(channels(gpu, 600), 1U);
    kernel.end_process(557);
    EXPECT_EQ(channels(gpu, 557), 0U);
}

class OldNames : public Looks, public testing::WithParamInterface<std::uint32_t> {};

/// A tool begins after other programs have used up names since the process began.
TEST_P(OldNames, AreSearchedAsARing) {
    kernel.use_up_names(GetParam());
    EXPECT_EQ(channels(nvdebug::Gpu(bench.tree(), 0), 557), 2U);
}

INSTANTIATE_TEST_SUITE_P(Used, OldNames,
                         testing::Values(0U, 1'000U, 262'143U, 262'145U, 800'000U, 1'048'570U,
                                         1'048'576U - 4));

TEST_F(Looks, UseUpNoNames) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    const std::uint32_t before = kernel.add_process(600, {});
    for (int n = 0; n < 200; n++)
        ASSERT_EQ(channels(gpu, 557), 2U);
    EXPECT_LE(kernel.add_process(601, {}) - before, 20U);
}

/// A process opens the driver first, and makes its client later.
TEST_F(Looks, FindClientsThatAreMadeLater) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    kernel.processes[700].started = 9;
    EXPECT_EQ(channels(gpu, 700), 0U);
    kernel.add_process(700, {0x300000});
    EXPECT_EQ(channels(gpu, 700), 1U);
    kernel.add_process(700, {0x301000});
    EXPECT_EQ(channels(gpu, 700), 2U) << "on the descriptor that it had";
}

TEST_F(Looks, NoticeAReusedPid) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    EXPECT_EQ(channels(gpu, 557), 2U);
    kernel.end_process(557);
    kernel.add_process(557, {0x400000});
    kernel.processes[557].started = 77;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(channels_of(*owners, 557), 1U);
    EXPECT_EQ(owners->processes.at(0).started, 77U);
}

/// A child has inherited its parent's descriptors, and lives longer.
TEST_F(Looks, FindHeirs) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    kernel.processes[558] = kernel.processes[557];
    kernel.processes[558].started = 6;
    EXPECT_EQ(channels(gpu, 557), 2U);
    kernel.processes.erase(557);
    EXPECT_EQ(channels(gpu, 558), 2U);
}

/// Duplicated descriptors of one process do not hide others, since descriptors are taken one at a
/// time.
TEST_F(Looks, TakeFewDescriptors) {
    kernel.processes[557].copies = 1'100;
    kernel.add_process(900, {0x500000});
    kernel.processes[900].started = 90;
    kernel.descriptors_most = 8;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(channels_of(*owners, 557), 2U);
    EXPECT_EQ(channels_of(*owners, 900), 1U);
    EXPECT_EQ(owners->refused, 0U);
    EXPECT_LE(kernel.most_taken, 4U);
}

TEST_F(Looks, NameTheMissingResource) {
    kernel.descriptors_most = 0;
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    ASSERT_TRUE(owners);
    EXPECT_GE(owners->refused, 1U);
    EXPECT_EQ(owners->ended, 0U);
    EXPECT_EQ(owners->lacked, "Too many open files");
}

/// A process with too many clients is named, and other processes are found.
TEST_F(Looks, AreBoundedForEachProcess) {
    kernel.processes[556].started = 1;
    for (int n = 0; n < 300; n++)
        kernel.add_process(556, {});
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->cut, std::vector<std::uint32_t>{556});
    EXPECT_EQ(channels_of(*owners, 557), 2U);
    EXPECT_LE(kernel.questions, 0x30000U + 4096U);
}

/// If the driver is slow, the queries about one process end, and queries about other processes go
/// on.
TEST_F(Looks, AreBoundedInTime) {
    kernel.processes[556].started = 1;
    for (int n = 0; n < 200; n++)
        kernel.add_process(556, {});
    kernel.before_question = [this] { kernel.time += 1ms; };
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    kernel.before_question = nullptr;
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->cut, std::vector<std::uint32_t>{556});
    EXPECT_EQ(channels_of(*owners, 557), 2U);
    EXPECT_LE(kernel.time.time_since_epoch(), 4s);
}

/// A user with many processes does not make looks long for other users.
TEST_F(Looks, AreBoundedForEachUser) {
    kernel.add_process(50, {0x600000});
    for (std::uint32_t pid = 1000; pid < 1060; pid++) {
        for (int n = 0; n < 250; n++)
            kernel.add_process(pid, {});
        kernel.processes[pid].started = 2;
        kernel.processes[pid].status = "Name:\tmany\nUid:\t1000\t1000\t1000\t1000\n";
    }
    kernel.processes[557].started = 3;
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    ASSERT_TRUE(owners);
    EXPECT_FALSE(owners->cut.empty());
    EXPECT_TRUE(std::ranges::all_of(owners->cut, [](std::uint32_t pid) { return pid >= 1000; }));
    EXPECT_EQ(channels_of(*owners, 557), 2U);
    EXPECT_EQ(channels_of(*owners, 50), 1U);
    EXPECT_LE(kernel.questions, 0xc0000U + 0x20000U);
}

/// The process has fifty channels, each with the objects of a context. A search by name would query
/// each object.
TEST_F(Looks, AskForChannelsInGroups) {
    constexpr std::uint32_t channels = 50, between = 60, pid = 700;
    std::vector<std::uint64_t> instances;
    for (std::uint64_t n = 0; n < channels; n++)
        instances.push_back(0x1000000 + n * 0x1000);
    StandIn::Objects &objects = kernel.others[kernel.add_process(pid, instances)];
    StandIn::Objects spread;
    std::uint32_t name = rm::first_object_of_cuda + 0x40;
    for (const auto &[old, object] : objects)
        if (!rm::is_channel_class(object.object_class)) {
            if (object.object_class != 0xcbc0)
                spread[old] = object;
        } else {
            for (std::uint32_t n = 0; n < between; n++)
                spread[name + 1 + n] = {name, 0xcbc0};
            spread[name] = object;
            name += between;
        }
    objects = spread;
    const auto look = [&](bool lists_channels) {
        kernel.lists_channels = lists_channels;
        kernel.questions = 0;
        const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
        EXPECT_TRUE(owners) << owners.error().sentence;
        EXPECT_EQ(owners->refused, 0U);
        return *owners;
    };
    const nvdebug::Owners by_name = look(false);
    const std::uint64_t questions_by_name = kernel.questions;
    EXPECT_EQ(channels_of(by_name, pid), channels);
    EXPECT_GT(questions_by_name, channels * between);
    const nvdebug::Owners in_groups = look(true);
    RecordProperty("by_name", std::to_string(questions_by_name));
    RecordProperty("in_groups", std::to_string(kernel.questions));
    EXPECT_LT(kernel.questions, 400U) << "by name " << questions_by_name;
    ASSERT_EQ(in_groups.channels.size(), by_name.channels.size());
    for (std::size_t n = 0; n < by_name.channels.size(); n++) {
        EXPECT_EQ(in_groups.channels[n].channel, by_name.channels[n].channel);
        EXPECT_EQ(in_groups.channels[n].tsg, by_name.channels[n].tsg);
        EXPECT_EQ(in_groups.channels[n].timeslice_ns, by_name.channels[n].timeslice_ns);
        EXPECT_TRUE(in_groups.channels[n].instance_place == by_name.channels[n].instance_place);
    }
}

/// Searching in groups finds each channel that the search by name finds, also with other names than
/// CUDA's.
TEST_F(Looks, FindTheSameChannelsInGroupsAsByName) {
    std::size_t found = 0;
    for (const std::uint32_t base : {rm::first_object_of_cuda, rm::first_object_of_rm})
        for (const std::uint32_t moved : {0U, 0x3fU, 0x80U, 0x3f0U, 0x900U})
            for (const std::uint32_t gap : {0U, 1U, 900U, 3000U}) {
                kernel.end_process(557);
                kernel.add_process(557, {0x100000, 0x101000});
                kernel.processes[557].started = 5 + base + moved + gap;
                StandIn::Objects &objects = kernel.others[*kernel.processes[557].clients.begin()];
                StandIn::Objects others;
                const auto name = [&](std::uint32_t old) {
                    return old < rm::first_object_of_cuda || old >= rm::first_client
                               ? old
                               : old - rm::first_object_of_cuda + base + moved +
                                     (old > rm::first_object_of_cuda + 0x16 ? gap : 0);
                };
                for (auto [old, object] : objects) {
                    object.parent = name(object.parent);
                    others[name(old)] = object;
                }
                objects = others;
                const auto count = [&](bool lists_channels) {
                    kernel.lists_channels = lists_channels;
                    return channels(nvdebug::Gpu(bench.tree(), 0), 557);
                };
                const std::size_t by_name = count(false);
                EXPECT_GE(count(true), by_name) << base << " " << moved << " " << gap;
                found += by_name;
            }
    EXPECT_GT(found, 20U) << "else nothing is compared";
}

// --- objects that any user can make ---

/// A process without a GPU is asked once about its clients, and other processes cost no more.
TEST_F(Looks, AskOnceAboutClientsWithoutAGpu) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    constexpr std::uint32_t many = 65'000, others = 500;
    for (std::uint32_t n = 0; n < many; n++)
        kernel.add_process(others, {});
    kernel.processes[others].uses_gpu = false;
    for (int look = 0; look < 3; look++) {
        // Each look finds new clients and new processes, as the first look does.
        for (std::uint32_t pid = 600 + 10 * look; pid < 610 + 10 * static_cast<unsigned>(look);
             pid++) {
            kernel.add_process(pid, {0x1000000 + 0x1000ULL * pid});
            kernel.processes[pid].started = 10 + pid;
            kernel.processes[pid].copies = 2;
            kernel.add_process(others, {});
        }
        const std::uint64_t before = kernel.ioctls;
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners);
        EXPECT_EQ(owners->cut, std::vector<std::uint32_t>{});
        EXPECT_EQ(channels_of(*owners, 557), 2U);
        for (std::uint32_t pid = 600; pid < 610 + 10 * static_cast<unsigned>(look); pid++)
            EXPECT_EQ(channels_of(*owners, pid), 1U) << pid;
        // A client takes three queries: whether it lives, when it is found and when it is asked
        // about, and whether it belongs to the descriptor.
        EXPECT_LE(kernel.ioctls - before, (look ? 0U : 3 * many) + 20'000U);
        EXPECT_TRUE(std::ranges::none_of(owners->processes,
                                         [](const auto &one) { return one.pid == others; }));
    }
}

/// No process can be asked about these clients. The search has a bound, and the next look continues
/// it.
TEST_F(Looks, BoundTheCostOfOwnerlessClients) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    constexpr std::uint32_t many = 65'000;
    for (std::uint32_t n = 0; n < many; n++)
        kernel.add_process(500, {});
    kernel.processes.erase(500);
    for (std::uint32_t pid = 600; pid < 620; pid++) {
        kernel.add_process(pid, {0x1000000 + 0x1000ULL * pid});
        kernel.processes[pid].started = 10 + pid;
        kernel.processes[pid].copies = 2;
    }
    std::uint64_t most = 0, last = 0;
    for (int look = 0; look < 30; look++) {
        const std::uint64_t before = kernel.ioctls;
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners);
        EXPECT_EQ(owners->cut, std::vector<std::uint32_t>{}) << "no process' budget is spent";
        EXPECT_EQ(channels_of(*owners, 557), 2U);
        for (std::uint32_t pid = 600; pid < 620; pid++)
            EXPECT_EQ(channels_of(*owners, pid), 1U) << pid << ": its own client is a new one";
        last = kernel.ioctls - before;
        most = std::max(most, last);
    }
    EXPECT_LE(most, many + 2 * 0x40000U + 20'000U);
    EXPECT_LE(last, 20'000U) << "all was asked";
}

/// The counter of names has wrapped between two looks.
TEST_F(Looks, FindAProcessAfterAWholeTurnOfTheRing) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    // All names are searched once, in parts.
    for (int n = 0; n < 300; n++)
        ASSERT_EQ(channels(gpu, 557), 2U);
    // The counter is just before the client's name again.
    kernel.use_up_names(1'000);
    kernel.add_process(600, {0x200000});
    kernel.processes[600].started = 9;
    kernel.use_up_names(0x100000 - 900);
    int looks = 0;
    std::uint64_t most = 0;
    while (looks < 100) {
        const std::uint64_t before = kernel.ioctls;
        looks++;
        const bool found = channels(gpu, 600) == 1;
        most = std::max(most, kernel.ioctls - before);
        if (found)
            break;
    }
    EXPECT_LE(looks, 20);
    EXPECT_LE(most, 0x40000U) << "a look has a part of the ring";
}

/// Other programs decide how many names were used since the last look, so a look has a bound.
TEST_F(Looks, AskAboutManyNewNamesInParts) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    kernel.use_up_names(300'000);
    kernel.add_process(600, {0x200000});
    kernel.use_up_names(600'000);
    kernel.add_process(601, {0x300000});
    std::uint64_t most = 0;
    int looks = 0;
    while (looks++ < 30) {
        const std::uint64_t before = kernel.ioctls;
        const bool found = channels(gpu, 600) == 1 && channels(gpu, 601) == 1;
        most = std::max(most, kernel.ioctls - before);
        if (found)
            break;
    }
    EXPECT_LE(looks, 10);
    EXPECT_LE(most, 2 * 0x40000U + 10'000U);
}

/// The name of a client without the GPU is reused by a process that has it.
TEST_F(Looks, NoticeAReusedClientName) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const std::uint32_t client = kernel.add_process(500, {});
    kernel.processes[500].uses_gpu = false;
    kernel.processes[500].started = 3;
    ASSERT_EQ(channels(gpu, 557), 2U);
    kernel.others.erase(client);
    kernel.processes[500].clients.erase(client);
    const std::uint32_t youngest = kernel.add_process(501, {});
    kernel.use_up_names((client - youngest - 1) & 0xfffff);
    ASSERT_EQ(kernel.add_process(600, {0x200000}), client);
    kernel.processes[600].started = 9;
    int looks = 0;
    while (looks < 30 && channels(gpu, 600) != 1)
        looks++;
    EXPECT_LT(looks, 20);
}

/// A process may send its descriptor to a process without the GPU, which root's tools do not show.
TEST_F(Looks, AreNotMisledByADescriptorThatWasSent) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_EQ(channels(gpu, 557), 2U);
    const std::uint32_t decoy = kernel.add_process(500, {}), later = kernel.add_process(500, {});
    kernel.processes[500].uses_gpu = false;
    kernel.processes[500].started = 3;
    const std::uint32_t client = kernel.add_process(600, {0x200000});
    kernel.add_process(600, {0x201000});
    kernel.processes[600].started = 9;
    kernel.processes[500].clients = kernel.processes[600].clients;
    EXPECT_EQ(channels(gpu, 600), 2U);
    // The older process is asked first, while the other one does not have the GPU yet.
    for (const std::uint32_t pid : {700U, 701U}) {
        kernel.add_process(pid, {0x300000 + 0x1000ULL * pid});
        kernel.processes[pid].uses_gpu = false;
        kernel.processes[pid].started = pid == 700 ? 2 : 20;
    }
    kernel.processes[700].clients = kernel.processes[701].clients;
    EXPECT_EQ(channels(gpu, 701), 0U);
    kernel.processes[701].uses_gpu = true;
    EXPECT_EQ(channels(gpu, 701), 1U);
    // The number of its descriptor now belongs to another file.
    kernel.processes[500].clients = {decoy, later};
    kernel.add_process(557, {});
    EXPECT_EQ(channels(gpu, 600), 2U);
    kernel.processes[500].clients = kernel.processes[600].clients;
    kernel.processes[500].clients.insert(kernel.add_process(600, {0x202000}));
    EXPECT_EQ(channels(gpu, 600), 3U);
    EXPECT_TRUE(kernel.others.contains(client));
}

/// After pthread_exit() in main() the process goes on, but /proc/PID has no descriptors.
TEST_F(Looks, FindProcessesWhoseFirstThreadHasEnded) {
    kernel.processes[557].first_thread_ended = true;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    EXPECT_EQ(channels(gpu, 557), 2U);
    // Without PIDFD_THREAD the process is counted as hidden.
    kernel.has_thread_descriptors = false;
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(channels_of(*owners, 557), 0U);
    EXPECT_EQ(owners->hidden, 1U);
}

/// Only a file with the name of NVIDIA's devices is examined, because any other file may be on a
/// server that does not answer.
TEST(RunningKernel, LooksAtDevicesAlone) {
    const auto kernel = nvdebug::driver::running_kernel();
    EXPECT_TRUE(kernel->device("/dev/null"));
    const std::string path = testing::TempDir() + "nvidia0." + std::to_string(::getpid());
    if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
        ASSERT_EQ(errno, EPERM);
        return; // only root can make device files
    }
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::unlink(path.c_str());
    ASSERT_GE(file, 0);
    EXPECT_FALSE(kernel->device("/proc/self/fd/" + std::to_string(file)));
    ::close(file);
}

} // namespace
} // namespace driver_test
