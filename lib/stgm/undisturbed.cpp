// SPDX-License-Identifier: MIT OR GPL-2.0
#include "undisturbed.hpp"

#include <algorithm>

namespace stgm {
namespace {

struct RecordedJob {
    Time release, finish; ///< finish is endless if the job did not end
    std::size_t task;
};

std::vector<RecordedJob> jobs_of(const Trace &trace, std::size_t tasks) {
    std::vector<RecordedJob> jobs;
    std::vector<std::size_t> last(tasks);
    for (const Record &record : trace) {
        if (record.what == What::release) {
            last[record.task] = jobs.size();
            jobs.push_back({record.at, endless, record.task});
        } else if (record.what == What::finish) {
            jobs[last[record.task]].finish = record.at;
        }
    }
    return jobs;
}

} // namespace

std::vector<Undisturbed> undisturbed(const Trace &trace,
                                     std::span<const std::optional<Time>> bounds) {
    std::vector<Undisturbed> found(bounds.size());
    const std::vector<RecordedJob> jobs = jobs_of(trace, bounds.size());
    std::vector<Time> disturbed;
    for (const Record &record : trace)
        if (record.what == What::overrun || record.what == What::stall)
            disturbed.push_back(record.at);
    for (std::size_t first = 0, next = 0; first < jobs.size(); first = next) {
        Time end = jobs[first].finish;
        // A job that ends at the time of a release has ended before that release.
        for (next = first + 1; next < jobs.size() && jobs[next].release < end; next++)
            end = std::max(end, jobs[next].finish);
        const auto from = std::ranges::lower_bound(disturbed, jobs[first].release);
        if (end == endless || (from != disturbed.end() && *from <= end))
            continue;
        for (std::size_t n = first; n < next; n++) {
            Undisturbed &one = found[jobs[n].task];
            const Time response = jobs[n].finish - jobs[n].release;
            one.jobs++;
            one.response = std::max(one.response, response);
            one.above += bounds[jobs[n].task] && response > *bounds[jobs[n].task];
        }
    }
    return found;
}

} // namespace stgm
