// SPDX-License-Identifier: MIT OR GPL-2.0
#include "perfetto.hpp"

#include <fmt/format.h>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "lib/base/printable.hpp"

namespace drawing {
namespace {

using nvdebug::Holder;
using nvdebug::Turn;
using nvdebug::base::printable;
using protozero::pbf_writer;

// The numbers of fields are from google/perfetto, protos/perfetto/trace/.
namespace trace { // trace.proto
constexpr unsigned packet = 1;
}
namespace packet { // trace_packet.proto
constexpr unsigned clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11,
                   interned_data = 12, sequence_flags = 13, timestamp_clock = 58,
                   track_descriptor = 60;
enum SequenceFlags : unsigned { state_cleared = 1, needs_state = 2 };
} // namespace packet
namespace interned { // interned_data/interned_data.proto, track_event/track_event.proto
constexpr unsigned event_names = 2, id = 1, name = 2;
}
namespace snapshot { // clock_snapshot.proto
constexpr unsigned clocks = 1, clock_id = 1, timestamp = 2;
/// The numbers are from common/builtin_clock.proto. Clocks from 64 on belong to a packet sequence.
enum Clock : unsigned { realtime = 1, monotonic = 3, boottime = 6, gpu = 64 };
} // namespace snapshot
namespace track { // track_event/track_descriptor.proto
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5;
}
namespace process_of { // track_event/process_descriptor.proto
constexpr unsigned pid = 1, name = 6;
}
namespace event { // track_event/track_event.proto
constexpr unsigned annotation = 4, type = 9, name_id = 10, track = 11, name = 23, category = 22;
enum Type : unsigned { begin = 1, end = 2, instant = 3 };
} // namespace event
namespace annotation { // track_event/debug_annotation.proto
constexpr unsigned int_value = 4, string_value = 6, name = 10;
}

class Perfetto final : public TraceSink {
  public:
    Perfetto(TraceClock clock, HomeOf home) : clock_(clock), home_(std::move(home)) {}

    void head(const RecordingHead &head) override {
        for (const RecordedGpu &gpu : head.gpus) {
            GpuTracks &mine = gpus_[gpu.index];
            mine.track =
                new_track(gpu.index, 0,
                          fmt::format("gpu{} {} {}", gpu.index, printable(gpu.chip.value_or("")),
                                      printable(gpu.pci_address.value_or(""))));
        }
    }

    void clock(std::uint32_t gpu, const ClockReading &at) override {
        gpus_[gpu].has_clock = clock_ == TraceClock::gpu;
        add(gpu, [&](pbf_writer &packet) {
            pbf_writer snapshot(packet, packet::clock_snapshot);
            const auto one = [&](snapshot::Clock id, std::uint64_t ns) {
                pbf_writer clock(snapshot, snapshot::clocks);
                clock.add_uint32(snapshot::clock_id, id);
                clock.add_uint64(snapshot::timestamp, ns);
            };
            one(snapshot::gpu, at.gpu_ns);
            one(snapshot::boottime, at.boottime_ns);
            one(snapshot::monotonic, at.monotonic_ns);
            one(snapshot::realtime, at.realtime_ns);
        });
    }

    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        const Names &names = names_of(lane, turn.who, process);
        slice(lane.gpu, turn, engine_track(lane), names.holder);
        slice(lane.gpu, turn, names.track, names.holder);
    }

    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        instant(lane.gpu, ns, engine_track(lane), fmt::format("{} switches lost", count));
    }

    void mark(const Mark &mark) override {
        GpuTracks &gpu = gpus_[mark.gpu];
        if (!gpu.marks)
            gpu.marks = new_track(mark.gpu, gpu.track, "controls");
        instant(mark.gpu, mark.ns, gpu.marks, mark.text);
    }

    void note(const ClockNote &note) override {
        GpuTracks &gpu = gpus_[note.gpu];
        if (!gpu.clock)
            gpu.clock = new_track(note.gpu, gpu.track, "clock");
        const bool is_moment = note.begin_ns == note.end_ns;
        add_event(note.gpu, note.begin_ns, [&](pbf_writer &one) {
            one.add_enum(event::type, is_moment ? event::instant : event::begin);
            one.add_uint64(event::track, gpu.clock);
            one.add_string(event::category, "clock");
            one.add_string(event::name, note.text);
            for (const auto &[name, value] : note.facts) {
                pbf_writer fact(one, event::annotation);
                fact.add_string(annotation::name, name);
                fact.add_int64(annotation::int_value, value);
            }
        });
        if (!is_moment)
            add_event(note.gpu, note.end_ns, [&](pbf_writer &one) {
                one.add_enum(event::type, event::end);
                one.add_uint64(event::track, gpu.clock);
            });
    }

    void launch(const Launch &launch) override {
        const std::uint64_t track = launches_track(launch);
        const auto [name, is_new] =
            launch_names_.try_emplace(std::string(launch.name), launch_names_.size() + 1);
        add_of(launches_sequence, [&](pbf_writer &packet) {
            packet.add_uint64(packet::timestamp, launch.begin_ns);
            // Names are long and come again and again, so each is written once.
            packet.add_uint32(packet::sequence_flags,
                              name->second == 1 && is_new
                                  ? packet::state_cleared | packet::needs_state
                                  : packet::needs_state);
            if (is_new) {
                pbf_writer data(packet, packet::interned_data);
                pbf_writer entry(data, interned::event_names);
                entry.add_uint64(interned::id, name->second);
                entry.add_string(interned::name, printable(launch.name));
            }
            pbf_writer one(packet, packet::track_event);
            one.add_enum(event::type, event::begin);
            one.add_uint64(event::track, track);
            one.add_string(event::category, "launch");
            one.add_uint64(event::name_id, name->second);
            const auto fact = [&](const char *key, const std::string &text) {
                pbf_writer added(one, event::annotation);
                added.add_string(annotation::name, key);
                added.add_string(annotation::string_value, text);
            };
            const auto sizes = [](const std::array<std::uint32_t, 3> &of) {
                return fmt::format("{} x {} x {}", of[0], of[1], of[2]);
            };
            if (launch.grid)
                fact("grid", sizes(*launch.grid));
            if (launch.block)
                fact("block", sizes(*launch.block));
            fact("stream", fmt::format("{:#x}", launch.stream));
            fact("context", fmt::format("{:#x}", launch.context));
        });
        add_of(launches_sequence, [&](pbf_writer &packet) {
            packet.add_uint64(packet::timestamp, launch.end_ns);
            pbf_writer one(packet, packet::track_event);
            one.add_enum(event::type, event::end);
            one.add_uint64(event::track, track);
        });
    }

  private:
    /// The sequence of the packets of launches, which have names of their own. GPUs have sequences
    /// from 1 on.
    static constexpr std::uint32_t launches_sequence = 0x10000;

    struct GpuTracks {
        std::uint64_t track = 0, marks = 0, clock = 0;
        bool has_clock = false;
    };
    struct Names {
        std::uint64_t track; ///< the track of the TSG, below that of its process
        std::string holder;
    };

    template <typename Fill>
    void add_of(std::uint32_t sequence, Fill fill) {
        pbf_writer trace(text_);
        pbf_writer packet(trace, trace::packet);
        packet.add_uint32(packet::sequence, sequence);
        fill(packet);
    }

    template <typename Fill>
    void add(std::uint32_t gpu, Fill fill) {
        add_of(gpu + 1, fill);
    }

    template <typename Fill>
    void add_event(std::uint32_t gpu, std::uint64_t ns, Fill fill) {
        add(gpu, [&](pbf_writer &packet) {
            packet.add_uint64(packet::timestamp, ns);
            // Times without a clock of their own are CLOCK_BOOTTIME's. Without a reading there is
            // nothing better for those of a GPU.
            if (gpus_[gpu].has_clock)
                packet.add_uint32(packet::timestamp_clock, snapshot::gpu);
            pbf_writer one(packet, packet::track_event);
            fill(one);
        });
    }

    void slice(std::uint32_t gpu, const Turn &turn, std::uint64_t on, const std::string &name) {
        add_event(gpu, turn.begin_ns, [&](pbf_writer &one) {
            one.add_enum(event::type, event::begin);
            one.add_uint64(event::track, on);
            one.add_string(event::category, turn.whole ? "turn" : "turn,cut");
            one.add_string(event::name, name);
        });
        add_event(gpu, turn.end_ns, [&](pbf_writer &one) {
            one.add_enum(event::type, event::end);
            one.add_uint64(event::track, on);
        });
    }

    void instant(std::uint32_t gpu, std::uint64_t ns, std::uint64_t on, const std::string &name) {
        add_event(gpu, ns, [&](pbf_writer &one) {
            one.add_enum(event::type, event::instant);
            one.add_uint64(event::track, on);
            one.add_string(event::name, printable(name));
        });
    }

    /// Adds a track. @param parent 0: none
    std::uint64_t new_track(std::uint32_t gpu, std::uint64_t parent, const std::string &name,
                            std::optional<std::uint32_t> pid = std::nullopt) {
        // Track numbers must differ from those of other writers, so they begin with 'nvdeb' in
        // ASCII and count from there.
        const std::uint64_t uuid = 0x6e76646562000000 + ++tracks_;
        add(gpu, [&](pbf_writer &packet) {
            pbf_writer track(packet, packet::track_descriptor);
            track.add_uint64(track::uuid, uuid);
            if (parent)
                track.add_uint64(track::parent, parent);
            if (pid) {
                pbf_writer process(track, track::process);
                process.add_int32(process_of::pid, static_cast<std::int32_t>(*pid));
                process.add_string(process_of::name, name);
            } else {
                track.add_string(track::name, name);
            }
        });
        return uuid;
    }

    std::uint64_t engine_track(const Lane &lane) {
        std::uint64_t &track = engines_[&lane];
        if (!track)
            track = new_track(lane.gpu, gpus_[lane.gpu].track,
                              printable(lane.engine) +
                                  (lane.means == Lane::Means::samples ? " (sampled)" : ""));
        return track;
    }

    const Names &names_of(const Lane &lane, const Holder &who, const RecordedProcess *process) {
        const auto [at, fresh] = names_.try_emplace({&lane, who});
        if (!fresh)
            return at->second;
        const std::string home = process && home_ ? printable(home_(*process)) : std::string();
        const std::string holder = name_of(who, process) + home;
        // A TSG may be on two engines at once, but a track has one turn at a time, so each engine
        // has a track.
        std::string tsg = fmt::format("gpu{} {}", lane.gpu, printable(lane.engine));
        if (who.tsg)
            tsg += fmt::format(" TSG {}:{}", who.runlist.value_or(0), *who.tsg);
        else if (who.channel)
            tsg += fmt::format(" channel {}:{}", who.runlist.value_or(0), *who.channel);
        else if (who.context)
            tsg += fmt::format(" context {}", *who.context);
        std::uint64_t parent = gpus_[lane.gpu].track;
        // Pids that stand for hidden processes, or for the driver's own, have no track of a
        // process.
        if (who.pid && *who.pid && *who.pid <= 0x7fffffff) {
            std::uint64_t &mine = processes_[*who.pid];
            if (!mine)
                mine = new_track(lane.gpu, 0,
                                 process && process->command ? printable(*process->command) + home
                                                             : holder,
                                 who.pid);
            parent = mine;
        }
        at->second = {new_track(lane.gpu, parent, tsg), holder};
        return at->second;
    }

    std::uint64_t launches_track(const Launch &launch) {
        std::uint64_t &track = threads_[{launch.pid, launch.thread}];
        if (!track) {
            std::uint64_t &process = processes_[launch.pid];
            if (!process)
                process = new_track(0, 0, printable(launch.process), launch.pid);
            track = new_track(0, process, fmt::format("launches of thread {}", launch.thread));
        }
        return track;
    }

    const TraceClock clock_;
    const HomeOf home_;
    std::uint64_t tracks_ = 0;
    std::map<std::uint32_t, GpuTracks> gpus_;
    std::map<const Lane *, std::uint64_t> engines_;
    std::map<std::uint32_t, std::uint64_t> processes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> threads_; ///< by pid, thread
    std::map<std::string, std::uint64_t> launch_names_;
    std::map<std::pair<const Lane *, Holder>, Names> names_;
};

} // namespace

std::unique_ptr<TraceSink> make_perfetto(TraceClock clock, HomeOf home) {
    return std::make_unique<Perfetto>(clock, std::move(home));
}

} // namespace drawing
