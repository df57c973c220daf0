// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/exporter/families.hpp"

#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace nvdebug::exporter {
namespace {

std::string text(const std::vector<Facts> &gpus) {
    return metrics_text(gpus);
}

bool has(const std::string &all, const std::string &line) {
    return ("\n" + all).find("\n" + line + "\n") != std::string::npos;
}

Facts facts() {
    Facts facts;
    facts.gpu = 3;
    facts.chip = "GH100";
    facts.pci_address = "0000:01:00.0";
    facts.source = "driver";
    facts.uuid = "GPU-57a2";
    facts.product = "NVIDIA H100";
    facts.has_switches = true;
    Times times{2'500'000'000, 5'000'000, 1'000'000, {}};
    times.slices.add(2'000'000);
    facts.tasks.push_back({4711,
                           "my \"task\"\n\xff",
                           {"c1", "p1", "17", "0"},
                           times,
                           16,
                           2'048'000,
                           8,
                           false,
                           0.75,
                           base::PodName{"team-a", "vllm-0", "server"}});
    facts.engines.push_back({"LCE2", 500'000'000, 1'000'000'000});
    facts.lists.push_back({0, 2, 33});
    facts.faulted_channels = 1;
    facts.switches_lost = 7;
    return facts;
}

TEST(Families, HaveLabelsAndUnits) {
    const std::string all = text({facts()});
    const std::string task =
        R"({gpu="3",pid="4711",command="my \"task\"��",task_container="c1",task_pod="p1",slurm_job="17",slurm_step="0",task_namespace="team-a",task_pod_name="vllm-0",task_container_name="server"})";
    for (
        const std::string &line :
        {std::string(R"(nvdebug_up{gpu="3"} 1)"),
         std::string(
             R"(nvdebug_gpu_info{gpu="3",chip="GH100",pci_address="0000:01:00.0",uuid="GPU-57a2",product="NVIDIA H100",source="driver"} 1)"),
         "nvdebug_task_gpu_seconds_total" + task + " 2.5",
         "nvdebug_task_slice_seconds_count" + task + " 1", "nvdebug_task_channels" + task + " 16",
         "nvdebug_task_timeslice_seconds" + task + " 0.002048", "nvdebug_task_tpcs" + task + " 8",
         "nvdebug_task_kept" + task + " 0", "nvdebug_task_together_ratio" + task + " 0.75",
         "nvdebug_task_away_seconds_total" + task + " 0.001",
         "nvdebug_task_saving_seconds_total" + task + " 0.005",
         std::string(R"(nvdebug_engine_busy_seconds_total{gpu="3",engine="LCE2"} 0.5)"),
         std::string(R"(nvdebug_engine_sampled_seconds_total{gpu="3",engine="LCE2"} 1)"),
         std::string(R"(nvdebug_runlist_channels{gpu="3",runlist="0"} 33)"),
         std::string(R"(nvdebug_runlist_tsgs{gpu="3",runlist="0"} 2)"),
         std::string(R"(nvdebug_faulted_channels{gpu="3"} 1)"),
         std::string(R"(nvdebug_switches_lost_total{gpu="3"} 7)")})
        EXPECT_TRUE(has(all, line)) << line << "\n" << all;
    EXPECT_EQ(all.find("others"), std::string::npos);
}

TEST(Families, UnreadableGpuHasNoTasks) {
    Facts broken = facts();
    broken.trouble = "gone";
    const std::string all = text({broken});
    EXPECT_TRUE(has(all, R"(nvdebug_up{gpu="3"} 0)"));
    EXPECT_EQ(all.find("nvdebug_task"), std::string::npos) << "old numbers are no numbers";
}

TEST(Families, UnknownFactsHaveNoMetric) {
    Facts few = facts();
    few.has_switches = false;
    few.others.ns = 1;
    few.faulted_channels.reset();
    few.tasks[0].tpcs.reset();
    few.tasks[0].kept.reset();
    few.tasks[0].together.reset();
    few.tasks[0].timeslice_ns.reset();
    few.tasks[0].channels.reset();
    const std::string all = text({few});
    for (const char *const name :
         {"nvdebug_task_tpcs", "nvdebug_task_kept", "nvdebug_task_together_ratio",
          "nvdebug_task_timeslice", "nvdebug_task_channels", "nvdebug_faulted", "nvdebug_switch",
          "nvdebug_task_slice"})
        EXPECT_EQ(all.find(name), std::string::npos) << name;
}

/// Names keep their letters. Bytes that are no UTF-8, and characters that act on a terminal, are
/// replaced.
TEST(Families, KeepLettersOfNames) {
    Facts named = facts();
    for (const auto &[name, label] : {std::pair<std::string, std::string>{"日本語", "日本語"},
                                      {"é\xc3", "é\ufffd"},
                                      {"\xff\xfe", "\ufffd\ufffd"},
                                      {"a\x1b[m", "a\ufffd[m"}}) {
        named.tasks[0].command = name;
        EXPECT_NE(text({named}).find("command=\"" + label + "\""), std::string::npos) << label;
    }
}

TEST(Families, CountUnknownProcesses) {
    Facts some = facts();
    some.foreign_pids = true;
    some.missing = MissingProcesses{1, 2, 3, {7, 8, 9}, {}};
    const std::string all = metrics_text({some}, "1.2");
    for (const char *const line :
         {R"(nvdebug_foreign_pids{gpu="3"} 1)",
          R"(nvdebug_unknown_processes{gpu="3",why="hidden"} 1)",
          R"(nvdebug_unknown_processes{gpu="3",why="denied"} 2)",
          R"(nvdebug_unknown_processes{gpu="3",why="cut"} 3)",
          R"(nvdebug_exporter_build_info{version="1.2"} 1)", "nvdebug_gpus 1"})
        EXPECT_TRUE(has(all, line)) << line << "\n" << all;
    EXPECT_TRUE(has(text({}), "nvdebug_gpus 0")) << "none is a state";
}

/// Scrapers set these labels: Prometheus itself, the usual scrape of Kubernetes' pods, the
/// Prometheus operator, Google's and Azure's. A label of ours with such a name would be renamed, or
/// would hide the target's.
TEST(Families, HaveNoLabelThatScrapersSet) {
    const std::set<std::string> of_scrapers = {
        "job",  "instance",   "namespace",       "pod",       "container",
        "node", "endpoint",   "service",         "cluster",   "location",
        "app",  "project_id", "prometheus",      "host",      "hostname",
        "zone", "region",     "kubernetes_node", "component", "name"};
    Facts all = facts();
    all.missing = MissingProcesses{1, 2, 3, {}, {}};
    all.others.ns = 1;
    const std::string shown = metrics_text({all}, "1.2", {true, true});
    const std::regex label(R"re([{,](\w+)=")re");
    std::set<std::string> ours;
    for (std::sregex_iterator at(shown.begin(), shown.end(), label), end; at != end; ++at)
        ours.insert((*at)[1]);
    EXPECT_GT(ours.size(), 18U) << shown;
    for (const std::string &name : ours) {
        EXPECT_FALSE(of_scrapers.contains(name)) << name;
        EXPECT_FALSE(name.starts_with("exported_")) << name;
    }
}

TEST(Families, OthersAreOneTask) {
    Facts many = facts();
    many.others.ns = 1'000'000'000;
    EXPECT_TRUE(has(
        text({many}),
        R"(nvdebug_task_gpu_seconds_total{gpu="3",pid="",command="others",task_container="",task_pod="",slurm_job="",slurm_step="",task_namespace="",task_pod_name="",task_container_name=""} 1)"));
}

TEST(Families, SeveralGpusShareAFamily) {
    Facts other = facts();
    other.gpu = 4;
    const std::string all = text({facts(), other});
    EXPECT_EQ(all.find("# TYPE nvdebug_up"), all.rfind("# TYPE nvdebug_up"));
    EXPECT_TRUE(has(all, R"(nvdebug_up{gpu="4"} 1)"));
}

TEST(Families, AddGpuLabelsToAllSeriesOnRequest) {
    const auto lines = [](const GpuLabels &labels) {
        return metrics_text({facts()}, "1.2", labels);
    };
    const std::string both = lines({true, true});
    for (
        const char *const line :
        {R"(nvdebug_up{gpu="3",uuid="GPU-57a2",product="NVIDIA H100"} 1)",
         R"(nvdebug_faulted_channels{gpu="3",uuid="GPU-57a2",product="NVIDIA H100"} 1)",
         R"(nvdebug_gpu_info{gpu="3",chip="GH100",pci_address="0000:01:00.0",uuid="GPU-57a2",product="NVIDIA H100",source="driver"} 1)",
         R"(nvdebug_exporter_build_info{version="1.2"} 1)"})
        EXPECT_TRUE(has(both, line)) << line << "\n" << both;
    EXPECT_NE(
        both.find(R"(nvdebug_task_channels{gpu="3",uuid="GPU-57a2",product="NVIDIA H100",pid=)"),
        std::string::npos);
    EXPECT_TRUE(has(lines({true, false}), R"(nvdebug_up{gpu="3",uuid="GPU-57a2"} 1)"));
    EXPECT_TRUE(has(lines({false, true}), R"(nvdebug_up{gpu="3",product="NVIDIA H100"} 1)"));
}

} // namespace
} // namespace nvdebug::exporter
