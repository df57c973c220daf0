// SPDX-License-Identifier: MIT OR GPL-2.0
#include "processes.hpp"

#include "lib/text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>

namespace nvdebug::driver {
namespace {

constexpr const char *control_path = "/dev/nvidiactl";

/** Of the RM's names of clients, the youngest so many are tried: 3.5 us each. */
constexpr std::uint32_t clients_tried = 0x40000;
/**
 * Of names of objects, until so many in a row are none's; and in all. Who chose names does not have
 * the RM choose others.
 */
constexpr std::uint32_t names_missed = 0x400, names_tried = 0x10000, others_missed = 0x10;

/** A channel comes with some objects, a context with dozens: the fewer are tried the longer none is
 * found. */
constexpr std::uint32_t step_after(std::uint32_t missed) {
    constexpr std::uint32_t halves = 0x10, fourths = 0x40, sixteenths = 0x100;
    return missed < halves ? 1 : missed < fourths ? 2 : missed < sixteenths ? 4 : 16;
}
/** A channel is in a TSG, in a device, in its client. */
constexpr int deepest = 4;
/** More than a TSG can have, by far. */
constexpr std::uint64_t longest_timeslice_us = 1'000'000'000;

std::string folder_of(std::uint32_t pid) {
    return "/proc/" + std::to_string(pid) + "/";
}

template <typename T>
std::optional<T> whole_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

/** proc_pid_status(5): real, effective, saved, of file systems. */
std::optional<std::uint32_t> uid_of(Kernel &kernel, std::uint32_t pid) {
    constexpr std::string_view key = "\nUid:";
    const std::string status = kernel.read(folder_of(pid) + "status");
    const std::size_t begin = status.find(key);
    if (begin == status.npos)
        return std::nullopt;
    std::string_view numbers = std::string_view(status).substr(begin + key.size());
    numbers = text::take_until(numbers, '\n');
    text::take_until(numbers, '\t');
    text::take_until(numbers, '\t');
    return whole_number<std::uint32_t>(text::take_until(numbers, '\t'));
}

// --- processes ---

/** Those that have the GPU open. */
class Processes {
  public:
    Processes(std::shared_ptr<Kernel> kernel, const Card &card, Owned &owned)
        : shared_(std::move(kernel)), kernel_(*shared_), control_(kernel_.device(control_path)),
          gpu_(kernel_.device("/dev/nvidia" + std::to_string(card.minor))), owned_(owned) {}

    /** The oldest first: what a child has inherited is its parent's. */
    void find() {
        std::vector<Process> &found = owned_.processes;
        std::vector<std::string> names;
        kernel_.list("/proc", names);
        for (const std::string &name : names)
            if (const auto pid = whole_number<std::uint32_t>(name); pid && *pid != kernel_.self())
                if (auto process = look(*pid))
                    found.push_back(std::move(*process));
        std::ranges::sort(found, {}, [](const Process &process) {
            return std::pair(process.started, process.pid);
        });
    }

  private:
    std::optional<Process> look(std::uint32_t pid) {
        const std::string folder = folder_of(pid);
        std::vector<std::string> descriptors;
        if (const int error = kernel_.list(folder + "fd", descriptors)) {
            if (error == -EACCES || error == -EPERM)
                owned_.hidden.push_back(pid);
            return std::nullopt;
        }
        bool uses_gpu = false;
        std::vector<int> controls;
        for (const std::string &name : descriptors) {
            const auto number = whole_number<int>(name);
            const auto device = kernel_.device(folder + "fd/" + name);
            if (!number || !device)
                continue;
            uses_gpu = uses_gpu || device == gpu_;
            if (device == control_)
                controls.push_back(*number);
        }
        if (!uses_gpu)
            return std::nullopt;
        const auto started = start_of(kernel_, pid);
        Process process{pid,
                        started.value_or(0),
                        uid_of(kernel_, pid),
                        command_of(kernel_, pid),
                        cgroup_of(kernel_, pid),
                        Taken(shared_, kernel_.process(pid)),
                        {}};
        for (const int descriptor : controls)
            process.denied = !take(process, descriptor) || process.denied;
        // It may have ended, and its number be another's.
        if (!started || start_of(kernel_, pid) != started) {
            owned_.count.ended++;
            return std::nullopt;
        }
        owned_.count.denied += process.denied;
        return process;
    }

    /** False: it may not be taken. */
    bool take(Process &process, int descriptor) {
        if (process.held.number() < 0)
            return true;
        Taken taken(shared_, kernel_.take(process.held.number(), descriptor));
        if (taken.number() < 0)
            return taken.number() != -EPERM && taken.number() != -EACCES;
        // The number may be another file's by now.
        if (kernel_.device("/proc/self/fd/" + std::to_string(taken.number())) == control_)
            process.controls.push_back({descriptor, std::move(taken)});
        return true;
    }

    const std::shared_ptr<Kernel> shared_;
    Kernel &kernel_;
    const std::optional<std::uint64_t> control_, gpu_;
    Owned &owned_;
};

// --- what a client made ---

/** A client of another process, asked through a descriptor that was taken. */
class Asked {
  public:
    Asked(Kernel &kernel, int descriptor, std::uint32_t client, Count &count)
        : kernel_(kernel), descriptor_(descriptor), client_(client), count_(count) {}

    bool is_of_descriptor() {
        rm::HandleInfo info{client_, rm::HandleInfo::object_class, 0};
        const Answer answer = put(client_, info);
        count_.refused += !answer.ok() && answer.status != rm::invalid_client;
        return answer.ok();
    }

    std::vector<OwnedChannel> channels(const Card &card) {
        find_objects();
        const auto subdevices = subdevices_of(card);
        std::vector<OwnedChannel> found;
        for (const auto &[object, object_class] : objects_)
            if (rm::is_channel_class(object_class))
                if (auto channel = channel_of(object, subdevices))
                    found.push_back(*channel);
        return found;
    }

  private:
    template <typename Params>
    Answer put(std::uint32_t object, Params &params) {
        return ask_rm(kernel_, descriptor_, client_, object, Params::command, &params,
                      sizeof(params));
    }

    /** Was it answered? Once the client has gone nothing more is asked: the driver would log it. */
    template <typename Params>
    bool ask(std::uint32_t object, Params &params) {
        if (over_)
            return false;
        const Answer answer = put(object, params);
        if (answer.ok())
            return true;
        over_ = answer.error || answer.status == rm::invalid_client;
        if (over_ && !answer.error)
            count_.ended++;
        // What has just been freed, and what is for root, is not known, and nothing is amiss.
        else if (answer.error || (answer.status != rm::object_not_found &&
                                  answer.status != rm::insufficient_permissions))
            count_.refused++;
        return false;
    }

    std::optional<std::uint64_t> info(std::uint32_t object, std::uint32_t what) {
        rm::HandleInfo info{object, what, 0};
        return ask(client_, info) ? std::optional(info.answer) : std::nullopt;
    }

    std::optional<std::uint32_t> class_of(std::uint32_t object) {
        const auto answer = info(object, rm::HandleInfo::object_class);
        return answer ? std::optional(static_cast<std::uint32_t>(*answer)) : std::nullopt;
    }

    std::uint32_t parent_of(std::uint32_t object) {
        const auto [known, fresh] = parents_.try_emplace(object);
        if (fresh)
            known->second =
                static_cast<std::uint32_t>(info(object, rm::HandleInfo::parent).value_or(0));
        return known->second;
    }

    bool find_object(std::uint32_t object) {
        const auto object_class = class_of(object);
        if (object_class)
            objects_[object] = *object_class;
        return object_class.has_value();
    }

    void find_objects_from(std::uint32_t first, std::uint32_t most_missed) {
        std::uint32_t missed = 0, step = 1;
        for (std::uint32_t n = 0; n < names_tried && missed < most_missed && !over_; n += step) {
            if (find_object(first + n)) {
                for (std::uint32_t passed = 1; passed < step; passed++)
                    find_object(first + n - passed);
                missed = 0;
            } else {
                missed += step;
            }
            step = step_after(missed);
        }
    }

    /** Nobody tells the names: they are tried. */
    void find_objects() {
        find_objects_from(rm::first_object_of_cuda, names_missed);
        find_objects_from(rm::first_object_of_rm, objects_.empty() ? names_missed : others_missed);
    }

    /** Those of the GPU, by the device that they are in. */
    std::map<std::uint32_t, std::uint32_t> subdevices_of(const Card &card) {
        std::map<std::uint32_t, std::uint32_t> subdevices;
        for (const auto &[object, object_class] : objects_) {
            rm::GpuId id{};
            if (object_class == rm::class_subdevice && ask(object, id) && id.gpu_id == card.gpu_id)
                subdevices[parent_of(object)] = object;
        }
        return subdevices;
    }

    std::optional<OwnedChannel>
    channel_of(std::uint32_t channel, const std::map<std::uint32_t, std::uint32_t> &subdevices) {
        OwnedChannel found{0, 0, client_, 0, 0, channel, {}, {}};
        std::uint32_t above = channel;
        for (int depth = 0; depth < deepest; depth++) {
            above = parent_of(above);
            if (!above || above == client_)
                break;
            // It may be one that was not tried.
            if (!objects_.contains(above) && !find_object(above))
                break;
            if (objects_[above] == rm::class_tsg)
                found.tsg = above;
            if (const auto subdevice = subdevices.find(above); subdevice != subdevices.end()) {
                found.subdevice = subdevice->second;
                found.instance = instance_of(channel, subdevice->second);
                found.timeslice_us = timeslice_of(found.tsg);
                return found;
            }
        }
        return std::nullopt; // of another GPU
    }

    std::optional<rm::MemoryInfo> instance_of(std::uint32_t channel, std::uint32_t subdevice) {
        rm::ChannelMemory memory{};
        memory.channel = channel;
        const bool answered = ask(subdevice, memory);
        const rm::MemoryInfo &instance = memory.instance;
        const bool sensible = instance.aperture >= rm::MemoryInfo::video &&
                              instance.aperture <= rm::MemoryInfo::noncoherent &&
                              instance.address % 4096 == 0;
        return answered && sensible ? std::optional(instance) : std::nullopt;
    }

    std::optional<std::uint64_t> timeslice_of(std::uint32_t tsg) {
        if (!tsg)
            return std::nullopt;
        const auto [known, fresh] = timeslices_.try_emplace(tsg);
        rm::Timeslice timeslice{};
        if (fresh && ask(tsg, timeslice) && timeslice.us <= longest_timeslice_us)
            known->second = timeslice.us;
        return known->second;
    }

    Kernel &kernel_;
    const int descriptor_;
    const std::uint32_t client_;
    Count &count_;
    bool over_ = false;
    std::map<std::uint32_t, std::uint32_t> objects_; // name to class
    std::map<std::uint32_t, std::uint32_t> parents_;
    std::map<std::uint32_t, std::optional<std::uint64_t>> timeslices_;
};

/**
 * The clients that there are, of any process. Our own client is asked about them, since the
 * driver logs each question to one that there is not. The RM counts its clients' names up, and
 * after a million begins again: those from before are not found.
 */
std::vector<std::uint32_t> living_clients(Kernel &kernel, const Client &ours) {
    std::vector<std::uint32_t> living;
    std::uint32_t client = ours.handle();
    for (std::uint32_t n = 0; n < clients_tried && client-- > rm::first_client; n++) {
        rm::AccessRights rights{client, client, 0};
        const Answer answer = ask_rm(kernel, ours.descriptor(), ours.handle(), ours.handle(),
                                     rm::AccessRights::command, &rights, sizeof(rights));
        if (answer.error)
            break;
        if (answer.ok())
            living.push_back(client);
    }
    return living;
}

} // namespace

// Field 22; the name before may hold anything.
std::optional<std::uint64_t> start_of(Kernel &kernel, std::uint32_t pid) {
    const std::string stat = kernel.read(folder_of(pid) + "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == stat.npos)
        return std::nullopt;
    constexpr int first = 3, wanted = 22;
    std::string_view rest = std::string_view(stat).substr(name_end + 1);
    for (int field = first; field < wanted; field++)
        text::take_word(rest);
    return whole_number<std::uint64_t>(text::take_word(rest));
}

std::string cgroup_of(Kernel &kernel, std::uint32_t pid) {
    const std::string lines = kernel.read(folder_of(pid) + "cgroup");
    std::string longest;
    for (std::string_view rest = lines; !rest.empty();) {
        std::string_view line = text::take_until(rest, '\n');
        text::take_until(line, ':'); // number
        text::take_until(line, ':'); // controllers
        if (line.size() > longest.size())
            longest = line;
    }
    return longest;
}

std::string command_of(Kernel &kernel, std::uint32_t pid) {
    const std::string text = kernel.read(folder_of(pid) + "comm");
    return text.substr(0, text.find('\n'));
}

Result<Owned> find_owned(const std::shared_ptr<Kernel> &kernel, const Card &card) {
    const auto ours = Client::open(kernel);
    if (!ours)
        return tl::unexpected(ours.error());
    Owned owned;
    Processes(kernel, card, owned).find();
    owned.count.hidden = static_cast<std::uint32_t>(owned.hidden.size());
    const bool any = std::ranges::any_of(
        owned.processes, [](const Process &process) { return !process.controls.empty(); });
    std::vector<std::uint32_t> clients;
    if (any)
        clients = living_clients(*kernel, **ours);
    std::set<std::uint32_t> known;
    for (std::size_t p = 0; p < owned.processes.size(); p++) {
        const auto &controls = owned.processes[p].controls;
        for (std::size_t c = 0; c < controls.size(); c++)
            for (const std::uint32_t client : clients) {
                Asked asked(*kernel, controls[c].here.number(), client, owned.count);
                if (known.contains(client) || !asked.is_of_descriptor())
                    continue;
                known.insert(client);
                for (OwnedChannel &channel : asked.channels(card)) {
                    channel.process = p;
                    channel.control = c;
                    owned.channels.push_back(std::move(channel));
                }
            }
    }
    return owned;
}

} // namespace nvdebug::driver
