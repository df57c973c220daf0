// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads traces for Perfetto.
#pragma once

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfetto_test {

// The numbers of fields are repeated here, from google/perfetto's .proto files.
struct Event {
    std::uint64_t ns = 0, track = 0;
    unsigned type = 0, clock = 0;
    std::string name;
    std::map<std::string, std::int64_t> facts; ///< debug annotations
};
struct Track {
    std::uint64_t parent = 0;
    std::string name;
    std::int32_t pid = 0;
};
struct Trace {
    std::vector<Event> events;
    std::map<std::uint64_t, Track> tracks;
    std::vector<std::map<unsigned, std::uint64_t>> clocks;
};

inline std::pair<std::string, std::int64_t> read_fact(protozero::pbf_reader one) {
    std::pair<std::string, std::int64_t> fact;
    while (one.next())
        if (one.tag() == 10)
            fact.first = one.get_string();
        else if (one.tag() == 4)
            fact.second = one.get_int64();
        else
            one.skip();
    return fact;
}

/// Parses a trace. Throws if the text is no protobuf.
inline Trace read_trace(std::string_view text) {
    Trace trace;
    protozero::pbf_reader file(text.data(), text.size());
    while (file.next(1)) {
        protozero::pbf_reader packet = file.get_message();
        Event event;
        bool is_event = false;
        while (packet.next()) {
            switch (packet.tag()) {
            case 8:
                event.ns = packet.get_uint64();
                break;
            case 58:
                event.clock = packet.get_uint32();
                break;
            case 11: {
                is_event = true;
                protozero::pbf_reader one = packet.get_message();
                while (one.next()) {
                    if (one.tag() == 9)
                        event.type = static_cast<unsigned>(one.get_enum());
                    else if (one.tag() == 11)
                        event.track = one.get_uint64();
                    else if (one.tag() == 23)
                        event.name = one.get_string();
                    else if (one.tag() == 4)
                        event.facts.insert(read_fact(one.get_message()));
                    else
                        one.skip();
                }
                break;
            }
            case 60: {
                protozero::pbf_reader one = packet.get_message();
                std::uint64_t uuid = 0;
                Track track;
                while (one.next()) {
                    if (one.tag() == 1) {
                        uuid = one.get_uint64();
                    } else if (one.tag() == 5) {
                        track.parent = one.get_uint64();
                    } else if (one.tag() == 2) {
                        track.name = one.get_string();
                    } else if (one.tag() == 3) {
                        protozero::pbf_reader process = one.get_message();
                        while (process.next()) {
                            if (process.tag() == 1)
                                track.pid = process.get_int32();
                            else if (process.tag() == 6)
                                track.name = process.get_string();
                            else
                                process.skip();
                        }
                    } else {
                        one.skip();
                    }
                }
                trace.tracks[uuid] = track;
                break;
            }
            case 6: {
                protozero::pbf_reader snapshot = packet.get_message();
                trace.clocks.emplace_back();
                while (snapshot.next(1)) {
                    protozero::pbf_reader clock = snapshot.get_message();
                    unsigned id = 0;
                    while (clock.next())
                        if (clock.tag() == 1)
                            id = clock.get_uint32();
                        else
                            trace.clocks.back()[id] = clock.get_uint64();
                }
                break;
            }
            default:
                packet.skip();
            }
        }
        if (is_event)
            trace.events.push_back(event);
    }
    return trace;
}

} // namespace perfetto_test
