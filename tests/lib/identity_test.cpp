// SPDX-License-Identifier: MIT OR GPL-2.0
// Identifies processes by the cgroup paths that runtimes make, and by paths that users choose.
#include "lib/base/cgroup.hpp"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace nvdebug {
namespace {

const std::string id(64, 'a'), inner(64, 'b');
const std::string uid = "0f5a1c2e-1111-4222-8333-abcdefabcdef",
                  slice = "0f5a1c2e_1111_4222_8333_abcdefabcdef",
                  static_pods = "8f6a44fc62e8cb075753c843896568ca"; // the uid of a static pod

using Cases = std::vector<std::pair<std::string, Identity>>;

void expect(const Cases &cases) {
    for (const auto &[path, wanted] : cases) {
        const Identity found = identity_of({7, "x", path});
        EXPECT_EQ(found.container, wanted.container) << path;
        EXPECT_EQ(found.pod, wanted.pod) << path;
        EXPECT_EQ(found.job, wanted.job) << path;
        EXPECT_EQ(found.step, wanted.step) << path;
    }
}

TEST(Identities, AreOfContainers) {
    expect({
        {"/docker/" + id, {.container = id}},
        {"/docker/buildkit/" + id, {.container = id}},
        {"/docker/" + id + "/init", {.container = id}},
        {"/system.slice/docker-" + id + ".scope", {.container = id}},
        {"/system.slice/docker-" + id + ".scope/init.scope", {.container = id}},
        {"/machine.slice/libpod-" + id + ".scope/container", {.container = id}},
        {"/libpod_parent/libpod-" + id, {.container = id}},
        {"/system.slice/nerdctl-" + id + ".scope", {.container = id}},
        {"/system.slice/crio-" + id + ".scope", {.container = id}},
        {"/batch.slice/docker-" + id + ".scope", {.container = id}},
        {"/docker/" + id + "/system.slice/docker-" + inner + ".scope", {.container = id}},
        {"/docker/" + id + "/kubelet/kubepods/pod" + uid + "/" + inner, {.container = id}},
        {"/system.slice/containerd.service/system.slice:docker:" + id, {.container = id}},
    });
}

TEST(Identities, AreOfPods) {
    expect({
        {"/kubepods/burstable/pod" + uid + "/" + id, {.container = id, .pod = uid}},
        {"/kubepods/pod" + uid, {.pod = uid}},
        {"/kubepods/besteffort/pod" + uid + "/crio-" + id, {.container = id, .pod = uid}},
        {"/kubepods.slice/kubepods-pod" + slice + ".slice/cri-containerd-" + id + ".scope",
         {.container = id, .pod = uid}},
        {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + slice +
             ".slice/crio-" + id + ".scope",
         {.container = id, .pod = uid}},
        {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice +
             ".slice/cri-containerd-" + id + ".scope",
         {.container = id, .pod = uid}},
        {"/kubepods/pod1/cri-containerd-" + id + ".scope/init", {.container = id}},
        {"/system.slice/containerd.service/kubepods-burstable-pod" + slice +
             ".slice:cri-containerd:" + id,
         {.container = id, .pod = uid}},
        {"/kubepods/pod" + uid + "/3f2a", {.pod = uid}},
        {"/kubepods/pod0f5a1c2e-1111", {}},
        {"/pod" + uid, {}},
        {"/pod" + uid + "/" + id, {.container = id}},
    });
}

TEST(Identities, AreOfJobs) {
    expect({
        {"/slurm/uid_1000/job_42/step_0/task_0", {.job = "42", .step = "0"}},
        {"/slurm/uid_1000/job_42/step_batch", {.job = "42", .step = "batch"}},
        {"/slurm/uid_1000/job_42/step_0+1", {.job = "42", .step = "0+1"}},
        {"/slurm_node1/uid_1000/job_42", {.job = "42"}},
        {"/system.slice/slurmstepd.scope/job_1392969/step_0/user/task_0",
         {.job = "1392969", .step = "0"}},
        {"/system.slice/node1_slurmstepd.scope/job_42/step_extern/user",
         {.job = "42", .step = "extern"}},
        {"/slurm/uid_1000/job_42/step_interactive", {.job = "42", .step = "interactive"}},
        {"/slurm/uid_1000/job_42/step_x", {.job = "42"}},
        {"/slurm/uid_1000/job_42/step_", {.job = "42"}},
        {"/slurm/uid_1000/job_42/step_0+", {.job = "42"}},
        {"/slurm/uid_1000/job_42/x/step_0", {.job = "42"}},
    });
    for (const std::string path :
         {"", "/", "/job_42", "/slurm/job_42", "/slurm/uid_/job_42", "/slurm/uid_x/job_42",
          "/slurm/uid_0/job_", "/slurm/uid_0/job_4x", "/slurm/uid_0/job_-4", "/slurm/uid_0/ob_4",
          "/slurms/uid_0/job_42", "/x/slurm/uid_0/job_42", "/system.slice/other.scope/job_42",
          "/system.slice/slurmstepd.scope/system", "/system.slice/slurmstepd.scope/user/job_42",
          "/slurmstepd.scope/job_42/step_0", "/user.slice/slurmstepd.scope/job_42"})
        expect({{path, {}}});
}

/// A user chooses the names below a cgroup that was given to the user.
TEST(Identities, AreNotTakenFromNamesThatUsersChoose) {
    for (const std::string above :
         {"/user.slice/user-1000.slice/user@1000.service/", "/user.slice/", "/user-1000.slice/",
          "/user.slice/user-1000.slice/session-3.scope/", "/system.slice/ci-runner.service/",
          "/system.slice/run-u12.scope/", "/lxc/box/", "/lxc.payload.box/",
          "/../user@1000.service/", "/../../user.slice/"})
        for (const std::string &below :
             {id, "docker/" + id, "docker-" + id + ".scope", "kubepods/pod" + uid + "/" + id,
              "app.slice/libpod-" + id + ".scope", std::string("slurm/uid_0/job_42/step_0"),
              std::string("system.slice/slurmstepd.scope/job_42/step_0"),
              std::string("slurmstepd.scope/job_42/step_0"),
              "kubepods.slice/kubepods-pod" + slice + ".slice/cri-containerd-" + id + ".scope",
              "x.service/libpod-payload-" + id, "ecs/task/" + id,
              "x.service/kubepods-pod" + slice + ".slice:cri-containerd:" + id,
              "kubepods/pod" + static_pods + "/" + id,
              "system.slice/docker-" + id + ".scope/system.slice/slurmstepd.scope/job_42"})
            expect({{above + below, {}}});
    // A user with a session has no unit directly below a slice of the system.
    for (const std::string &name :
         {"libpod-payload-" + id, "kubepods-pod" + slice + ".slice:cri-containerd:" + id})
        for (const std::string above :
             {"/user.slice/user-1000.slice/user@1000.service/", "/user.slice/x.service/",
              "/system.slice/run-u12.scope/", "/system.slice/a.service/b.service/",
              "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service/",
              "/lxc/x.service/", "/machine.slice/machine-box.scope/system.slice/x.service/",
              "/../x.service/"})
            expect({{above + name, {}}});
}

struct RealPath {
    const char *where; ///< the runtime or cluster, and its settings
    std::string path;
    Identity id;
};

/// The paths are from public reports and the runtimes' documentation, with other ids.
TEST(Identities, AreOfRealPaths) {
    const std::string pod_slice = "kubepods-burstable-pod" + slice + ".slice",
                      in_pods = "/kubepods.slice/kubepods-burstable.slice/" + pod_slice,
                      node = inner;
    const Identity in_pod{.container = id, .pod = uid}, container{.container = id};
    const RealPath paths[] = {
        {"EKS, AKS: containerd, systemd", in_pods + "/cri-containerd-" + id + ".scope", in_pod},
        {"GKE: containerd, cgroupfs", "/kubepods/burstable/pod" + uid + "/" + id, in_pod},
        {"guaranteed", "/kubepods/pod" + uid + "/" + id, in_pod},
        {"OpenShift: CRI-O, systemd", in_pods + "/crio-" + id + ".scope", in_pod},
        {"CRI-O with crun", in_pods + "/crio-" + id + ".scope/container", in_pod},
        {"CRI-O, cgroupfs", "/kubepods/besteffort/pod" + uid + "/crio-" + id, in_pod},
        {"dockershim, systemd", in_pods + "/docker-" + id + ".scope", in_pod},
        {"k3s server", "/system.slice/k3s.service/" + pod_slice + ":cri-containerd:" + id, in_pod},
        {"k3s agent", "/system.slice/k3s-agent.service/" + pod_slice + ":cri-containerd:" + id,
         in_pod},
        {"RKE2 server", "/system.slice/rke2-server.service/" + pod_slice + ":cri-containerd:" + id,
         in_pod},
        {"RKE2 agent", "/system.slice/rke2-agent.service/" + pod_slice + ":cri-containerd:" + id,
         in_pod},
        {"k0s", "/system.slice/k0sworker.service/" + pod_slice + ":cri-containerd:" + id, in_pod},
        {"MicroK8s",
         "/system.slice/snap.microk8s.daemon-containerd.service/" + pod_slice +
             ":cri-containerd:" + id,
         in_pod},
        {"Bottlerocket", "/runtime.slice/containerd.service/" + pod_slice + ":cri-containerd:" + id,
         in_pod},
        {"CRI-O without systemd", "/system.slice/crio.service/" + pod_slice + ":crio:" + id,
         in_pod},
        {"static pod, cgroupfs",
         "/kubepods/burstable/pod" + static_pods + "/" + id,
         {.container = id, .pod = static_pods}},
        {"static pod, systemd",
         "/kubepods.slice/kubepods-pod" + static_pods + ".slice/cri-containerd-" + id + ".scope",
         {.container = id, .pod = static_pods}},
        {"static pod, k3s agent",
         "/system.slice/k3s-agent.service/kubepods-pod" + static_pods +
             ".slice:cri-containerd:" + id,
         {.container = id, .pod = static_pods}},
        {"kubelet with --cgroup-root",
         "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice +
             ".slice/cri-containerd-" + id + ".scope",
         in_pod},

        {"docker, version 1", "/docker/" + id, container},
        {"docker, version 2", "/system.slice/docker-" + id + ".scope", container},
        {"docker from snap", "/system.slice/snap.docker.dockerd.service/system.slice:docker:" + id,
         container},
        {"docker --cgroup-parent", "/batch/" + id, container},
        {"docker --cgroup-parent, systemd", "/batch.slice/batch-gpu.slice/docker-" + id + ".scope",
         container},
        {"GitHub's runner", "/actions_job/" + id, container},
        {"ECS, version 1", "/ecs/48cb34f5-cd39-4d59-9bb9-89f3c1611afd/" + id, container},
        {"ECS with a cluster's name", "/ecs/gpus/48cb34f5cd394d599bb989f3c1611afd/" + id,
         container},
        {"ECS, version 2",
         "/ecstasks.slice/ecstasks-48cb34f5cd394d599bb989f3c1611afd.slice/docker-" + id + ".scope",
         container},
        {"containerd's namespace, nerdctl", "/default/" + id, container},
        {"nerdctl, systemd", "/system.slice/nerdctl-" + id + ".scope", container},
        {"podman", "/machine.slice/libpod-" + id + ".scope/container", container},
        {"podman, cgroupfs", "/libpod_parent/libpod-" + id, container},
        {"podman's pod",
         "/machine.slice/machine-libpod_pod_" + inner + ".slice/libpod-" + id + ".scope",
         container},
        {"Quadlet", "/system.slice/llm.service/libpod-payload-" + id, container},
        {"Quadlet of a template",
         "/system.slice/system-llm.slice/llm@0.service/libpod-payload-" + id + "/x", container},
        {"Quadlet in another slice", "/batch.slice/llm.service/libpod-payload-" + id, container},
        {"podman's monitor", "/system.slice/llm.service/runtime", {}},
        {"podman's monitor, its own scope", "/machine.slice/libpod-conmon-" + id + ".scope", {}},
        {"rootless podman",
         "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope",
         {}},
        {"rootless Quadlet",
         "/user.slice/user-1000.slice/user@1000.service/app.slice/llm.service/libpod-payload-" + id,
         {}},
        {"systemd-nspawn", "/machine.slice/systemd-nspawn@box.service/payload/docker/" + id, {}},
        {"machined", "/machine.slice/machine-box.scope/payload/docker/" + id, {}},
        {"LXC", "/lxc/box/docker/" + id, {}},
        {"LXD, Incus", "/lxc.payload.box/system.slice/docker-" + id + ".scope", {}},
        {"Proxmox", "/lxc/101/ns/docker/" + id, {}},

        {"Slurm, version 1", "/slurm/uid_1000/job_402/step_0/task_0", {.job = "402", .step = "0"}},
        {"Slurm, version 2",
         "/system.slice/slurmstepd.scope/job_402/step_batch/user/task_0",
         {.job = "402", .step = "batch"}},
        {"Slinky: in a pod",
         in_pods + "/system.slice/slurmstepd.scope/job_402/step_0/user/task_0",
         {.pod = uid, .job = "402", .step = "0"}},
        {"soperator: in a pod's container",
         in_pods + "/cri-containerd-" + id +
             ".scope/system.slice/slurmstepd.scope/job_402/step_0/user/task_0",
         {.container = id, .pod = uid, .job = "402", .step = "0"}},
        {"in CRI-O with crun",
         in_pods + "/crio-" + id + ".scope/container/system.slice/n1_slurmstepd.scope/job_402",
         {.container = id, .pod = uid, .job = "402"}},
        {"in a pod, version 1",
         "/kubepods/burstable/pod" + uid + "/" + id + "/slurm/uid_1000/job_402/step_extern",
         {.container = id, .pod = uid, .job = "402", .step = "extern"}},
        {"slurmd in docker",
         "/docker/" + id + "/system.slice/slurmstepd.scope/job_402/step_0",
         {.container = id, .job = "402", .step = "0"}},
        {"a job of a user in a container",
         "/docker/" + id + "/user.slice/system.slice/slurmstepd.scope/job_402/step_0", container},

        {"RKE1: kubelet in a container",
         "/docker/" + node + "/kubepods/besteffort/pod" + uid + "/" + id,
         {.container = node}},
        {"kind",
         "/system.slice/docker-" + node +
             ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice +
             ".slice/cri-containerd-" + id + ".scope",
         {.container = node}},
        {"minikube",
         "/docker/" + node + "/kubelet/kubepods/pod" + uid + "/" + id,
         {.container = node}},
        {"docker in docker", "/docker/" + node + "/docker/" + id, {.container = node}},
    };
    for (const auto &[where, path, wanted] : paths) {
        SCOPED_TRACE(where);
        expect({{path, wanted}});
    }
}

TEST(Identities, AreNotTakenFromOtherNames) {
    for (const std::string &path :
         {"/" + id + "a",
          "/docker/" + id + "a",
          "/docker/" + std::string(64, 'A'),
          "/docker/" + id.substr(1),
          "/docker-" + id + "x.scope",
          "/system.slice/evil-" + id + ".scope",
          "/system.slice/docker-evil-" + id + ".scope",
          "/system.slice/docker" + id + ".scope",
          "/libpod-conmon-" + id + ".scope",
          "/x:docker:" + id,
          "/docker:" + id,
          "/:" + id,
          std::string("/podman/x"),
          "/kubepod/pod" + uid,
          "/kubepods/pod" + static_pods + "0",
          "/kubepods/pod" + static_pods.substr(1),
          "/libpod-payload-" + id + "x",
          "/system.slice/x.service/" + id,
          "/system.slice/x.service/libpod-" + id,
          "/system.slice/x.service/docker-" + id + ".scope",
          "/system.slice/x.service/y/libpod-payload-" + id,
          "/x.service/libpod-payload-" + id,
          "/x/x.service/libpod-payload-" + id,
          "/system.slice/x.service/kubepods-pod" + slice + ":cri-containerd:" + id,
          "/system.slice/x.service/y.slice:" + id,
          "/system.slice/x.service/y.slice::" + id,
          "/system.slice/x.service/kubepods-pod" + slice + ".slice",
          "/pod" + uid,
          "/kubepods/pod" + slice + "x",
          "/kubepods/xpod" + uid,
          "/kubepods/pod" + std::string(36, '-'),
          std::string("////"),
          std::string("..\n"),
          std::string("/\xff/\x1b[m"),
          std::string(100'000, '/')})
        expect({{path, {}}});
    EXPECT_EQ(identity_of({7, "x", {}}), Identity());
}

/// A reader in a container with its own cgroup namespace sees paths that begin at its own cgroup.
TEST(Identities, AreOfSiblingsOfANamespacesRoot) {
    expect({
        {"/", {}},
        {"/..", {}},
        {"/../" + id, {.container = id}},
        {"/../docker-" + id + ".scope", {.container = id}},
        {"/../cri-containerd-" + id + ".scope", {.container = id}},
        {"/../../kubepods-besteffort-pod" + slice + ".slice/cri-containerd-" + id + ".scope",
         {.container = id, .pod = uid}},
        {"/../../../kubepods-burstable.slice/kubepods-burstable-pod" + slice + ".slice/crio-" + id +
             ".scope",
         {.container = id, .pod = uid}},
        {"/../../pod" + uid + "/" + id, {.container = id, .pod = uid}},
        {"/../../../burstable/pod" + uid + "/" + id, {.container = id, .pod = uid}},
        {"/../slurmstepd.scope/job_42/step_0", {.job = "42", .step = "0"}},
        {"/../../slurm/uid_0/job_42/step_0", {.job = "42", .step = "0"}},
        {"/../../system.slice/slurmstepd.scope/job_42", {.job = "42"}},
        {"/../x/" + id, {}},
        {"/../x/pod" + uid + "/" + id, {}},
        {"/x/../" + id, {}},
    });
}

TEST(CgroupPaths, PreferIdsAndThenLength) {
    using base::path_in;
    EXPECT_EQ(path_in(""), "");
    EXPECT_EQ(path_in("no line\n::\n\n:\n"), "");
    EXPECT_EQ(path_in("0::/user.slice/user-1000.slice\n"), "/user.slice/user-1000.slice");
    EXPECT_EQ(path_in("0::/a:b"), "/a:b") << "the last line has no end";
    EXPECT_EQ(path_in("3:cpu:/a\n2:pids:/longer\n1:name=systemd:/b\n"), "/longer");
    const std::string user = "1:name=systemd:/user.slice/user-1000.slice/session-11.scope\n",
                      job = "/slurm/uid_1000/job_4/step_0";
    EXPECT_EQ(path_in(user + "9:devices:" + job + "\n8:cpu:/slurm/uid_1000/job_4\n0::/\n"), job)
        << "pam_slurm_adopt leaves the longer name of systemd's hierarchy";
    EXPECT_EQ(path_in("9:devices:" + job + "\n" + user), job);
    EXPECT_EQ(path_in("12:pids:/docker/" + id + "\n0::/init\n"), "/docker/" + id);
    EXPECT_EQ(path_in("1:name=systemd:/user.slice/kubepods/pod" + uid + "/" + id + "\n0::/x\n"),
              "/user.slice/kubepods/pod" + uid + "/" + id)
        << "no ids: the longest";
}

TEST(CgroupPaths, AreBelowOthersByWholeNames) {
    using base::is_below;
    EXPECT_TRUE(is_below("/a/b", "/a") && is_below("/a/b", "/a/b") && is_below("/a/b", "/a/"));
    EXPECT_TRUE(is_below("/a/b", "/"));
    EXPECT_FALSE(is_below("/ab", "/a") || is_below("/a", "/a/b") || is_below("", "/"));
}

} // namespace
} // namespace nvdebug
