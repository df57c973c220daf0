// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/process_workload.hpp"

#include <algorithm>
#include <initializer_list>

namespace nvmodel {
namespace {

constexpr EngineName gr0{EngineType::gr, 0};
constexpr EngineName lce(unsigned instance) {
    return {EngineType::lce, instance};
}

constexpr Ns compute_timeslice_ns = 2048 * 1024; // shown as 2,097.2 us
constexpr Ns other_timeslice_ns = 1024 * 1024;
constexpr unsigned cuda_connections = 8;
constexpr unsigned mps_connections = 2;
constexpr unsigned copy_channels = 4;

class Builder {
  public:
    Builder(std::span<const Process> processes, const Rules &rules)
        : processes_(processes), rules_(rules) {}

    ProcessWorkload run() {
        made_.workload.name = "programs";
        made_.workload.title = "programs";
        if (std::ranges::any_of(processes_, [](const Process &p) { return p.api == Api::cuda; }))
            add_driver();
        for (std::size_t i = 0; i < processes_.size(); ++i)
            switch (processes_[i].api) {
            case Api::cuda:
                add_cuda(i);
                break;
            case Api::opengl:
                add_opengl(i);
                break;
            case Api::vulkan:
                add_vulkan(i);
                break;
            }
        return std::move(made_);
    }

  private:
    EngineChoice on(EngineName engine) { return {engine, where_}; }

    GroupSpec &add_group(const std::string &task, EngineName engine, Ns timeslice) {
        GroupSpec group{.where = where_, .task = task, .engine = on(engine)};
        if (rules_.default_timeslices)
            group.timeslice = encode_timeslice(timeslice);
        group.address_spaces.push_back(task);
        made_.workload.entries.emplace_back(std::move(group));
        return std::get<GroupSpec>(made_.workload.entries.back());
    }

    void add_channels(GroupSpec &group, unsigned count, ProcessChannel what,
                      unsigned subcontext = 0, std::optional<EngineName> engine = {}) {
        for (unsigned i = 0; i < count; ++i) {
            ChannelSpec channel{.where = where_};
            channel.subcontext = subcontext;
            if (engine)
                channel.engine = on(*engine);
            group.channels.push_back(channel);
            made_.channels.push_back(what);
        }
    }

    /// Adds the driver's own TSGs: one on each copy engine that CUDA has a task on.
    void add_driver() {
        for (const unsigned engine : {2U, 3U, 4U})
            add_channels(add_group("driver", lce(engine), other_timeslice_ns), 1, {});
    }

    static ChannelUse use_of(unsigned engine) {
        return engine == 2   ? ChannelUse::to_gpu
               : engine == 3 ? ChannelUse::to_host
                             : ChannelUse::nothing;
    }

    void add_cuda(std::size_t number) {
        const Process &process = processes_[number];
        const bool client = !process.mps_server.empty();
        if (client && rules_.mps_one_task) {
            // The first client adds the server, with the channels of all its clients.
            if (clients_of(process.mps_server).front() == number)
                add_server(process.mps_server);
            return;
        }
        GroupSpec &compute =
            add_group(process.name, gr0, process.compute_timeslice.value_or(compute_timeslice_ns));
        compute.context.compute = process.preemption;
        add_channels(compute, connections(process), {number, ChannelUse::compute});
        for (const unsigned engine : {2U, 3U, 4U})
            add_channels(add_group(process.name, lce(engine),
                                   process.copy_timeslice.value_or(other_timeslice_ns)),
                         copy_channels, {number, use_of(engine)});
    }

    [[nodiscard]] unsigned connections(const Process &process) const {
        const bool few = !process.mps_server.empty() && rules_.mps_channels;
        return process.connections.value_or(few ? mps_connections : cuda_connections);
    }

    [[nodiscard]] std::vector<std::size_t> clients_of(const std::string &server) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < processes_.size(); ++i)
            if (processes_[i].mps_server == server)
                found.push_back(i);
        return found;
    }

    /// Adds a server. Each client has its own subcontext in the server's TSGs; 0 is the server's.
    void add_server(const std::string &server) {
        const std::vector<std::size_t> clients = clients_of(server);
        const Process &first = processes_[clients.front()];
        const auto add = [&](EngineName engine, Ns timeslice) -> GroupSpec & {
            GroupSpec &group = add_group(server, engine, timeslice);
            for (const std::size_t client : clients)
                group.address_spaces.push_back(processes_[client].name);
            return group;
        };
        GroupSpec &compute = add(gr0, first.compute_timeslice.value_or(compute_timeslice_ns));
        compute.context.compute = first.preemption;
        for (unsigned i = 0; i < clients.size(); ++i)
            add_channels(compute, connections(processes_[clients[i]]),
                         {clients[i], ChannelUse::compute}, i + 1);
        for (const unsigned engine : {2U, 3U, 4U}) {
            GroupSpec &copies = add(lce(engine), first.copy_timeslice.value_or(other_timeslice_ns));
            for (unsigned i = 0; i < clients.size(); ++i)
                add_channels(copies, copy_channels, {clients[i], use_of(engine)}, i + 1);
        }
    }

    GroupSpec &add_graphics(std::size_t number) {
        const Process &process = processes_[number];
        GroupSpec &group =
            add_group(process.name, gr0, process.compute_timeslice.value_or(other_timeslice_ns));
        group.context.compute = process.preemption;
        add_channels(group, 1, {number, ChannelUse::compute});
        if (process.copies == GraphicsCopies::by_grce) {
            add_channels(group, 1, {number, ChannelUse::to_gpu}, 0, lce(0));
            add_channels(group, 1, {number, ChannelUse::to_host}, 0, lce(1));
        }
        return group;
    }

    void add_idle(std::size_t number, std::initializer_list<EngineName> engines) {
        for (const EngineName engine : engines)
            add_channels(add_group(processes_[number].name, engine, other_timeslice_ns), 1,
                         {number, ChannelUse::nothing});
    }

    void add_opengl(std::size_t number) {
        add_graphics(number);
        add_idle(number, {lce(2), lce(3)});
    }

    void add_vulkan(std::size_t number) {
        add_graphics(number);
        add_idle(number, {gr0, gr0, lce(2), lce(2), lce(3), lce(3), lce(3)});
    }

    std::span<const Process> processes_;
    const Rules &rules_;
    const JsonValue where_ = JsonValue::parse("{}", "programs");
    ProcessWorkload made_;
};

} // namespace

ProcessWorkload workload_of(std::span<const Process> processes, const Rules &rules) {
    return Builder(processes, rules).run();
}

} // namespace nvmodel
