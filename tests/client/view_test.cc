// What people see of a job: golden texts.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/view/cluster_view.h"
#include "client/view/job_view.h"
#include "client/view/progress.h"

namespace houtu::client {
namespace {

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

constexpr const char* kJob = R"(
  id: "j0a" name: "wordcount" account: "analytics" state: JOB_STATE_RUNNING
  submitted_at { seconds: 1000 } started_at { seconds: 1002 } datacenters: "dc1" datacenters: "dc2"
  primary_datacenter: "dc1"
  stages { name: "map" state: STAGE_STATE_RUNNING tasks_total: 12 tasks_waiting: 2 tasks_running: 4
           tasks_finished: 6 attempts_failed: 1 started_at { seconds: 1003 } }
  stages { name: "reduce" state: STAGE_STATE_BLOCKED tasks_total: 4 tasks_waiting: 4 }
  waits { code: "no_free_capacity" message: "2 tasks wait for room" stage: "map" datacenter: "dc1" }
  transfers { from_datacenter: "dc1" to_datacenter: "dc2" bytes: 1536 })";

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

TEST(JobViewTest, ListsJobs) {
  const std::vector<v1::JobStatus> jobs = {Parse<v1::JobStatus>(kJob)};
  EXPECT_EQ(JobTable(jobs, false, At(1012)),
            "ID   NAME       ACCOUNT    STATE    TASKS  SUBMITTED             TIME\n"
            "j0a  wordcount  analytics  RUNNING   6/16  1970-01-01 00:16:40Z   12s\n");
}

TEST(JobViewTest, ShowsAJobWithItsWaitsAndTransfers) {
  const std::vector<v1::TaskStatus> tasks = {Parse<v1::TaskStatus>(
      R"(stage: "map" task: 3 state: STATE_RUNNING datacenter: "dc1" node: "dc1-n1" attempt: 2
         started_at { seconds: 1003 } input: "/data/part-00 on dc1-n1")")};
  EXPECT_EQ(JobDetails(Parse<v1::JobStatus>(kJob), tasks, At(1012)),
            "job:         j0a\n"
            "name:        wordcount\n"
            "account:     analytics\n"
            "state:       RUNNING\n"
            "submitted:   1970-01-01 00:16:40Z\n"
            "started:     1970-01-01 00:16:42Z\n"
            "time:        12s\n"
            "datacenters: dc1,dc2\n"
            "primary:     dc1\n"
            "waits:       map in dc1: 2 tasks wait for room (no_free_capacity)\n"
            "\n"
            "STAGE   STATE    TASKS  WAITING  RUNNING  FINISHED  FAILED  LOST  NOT STARTED  TIME\n"
            "map     RUNNING     12        2        4         6       1     0            0    9s\n"
            "reduce  BLOCKED      4        4        0         0       0     0            0     -\n"
            "\n"
            "FROM  TO   BYTES   SIZE\n"
            "dc1   dc2   1536  1.5Ki\n"
            "\n"
            "STAGE  TASK  STATE    DATACENTER  NODE    ATTEMPT  TIME  CPU  MEMORY  OUTPUT  INPUT\n"
            "map       3  RUNNING  dc1         dc1-n1        2    9s    -       -       -  "
            "/data/part-00 on dc1-n1\n");
}

// C08: a stage without tasks.
TEST(JobViewTest, ShowsAnEmptyStageAsDone) {
  const auto job = Parse<v1::JobStatus>(
      R"(name: "b" id: "j1" state: JOB_STATE_RUNNING
         stages { name: "b" state: STAGE_STATE_SUCCEEDED tasks_total: 0 })");
  EXPECT_THAT(ProgressBars({}).Lines(job, At(0)),
              testing::Contains("  b [########################] 0/0 done"));
}

TEST(ClusterViewTest, SaysWhatCouldNotBeHad) {
  const std::vector<v1::Datacenter> all = {
      Parse<v1::Datacenter>(
          R"(name: "dc1" master_address: "10.0.0.1:7000" master_term: 3 standbys: 1
        nodes_ready: 2 capacity { cpu_millis: 8000 memory_bytes: 2147483648 }
        allocated { cpu_millis: 500 memory_bytes: 67108864 } policy: "fair" reachable: true)"),
      Parse<v1::Datacenter>(R"(name: "dc2")")};
  EXPECT_EQ(DatacenterTable(all),
            "NAME  MASTER         TERM  STANDBYS  READY  OUT  LOST     CPU    MEMORY  POLICY\n"
            "dc1   10.0.0.1:7000     3         1      2    0     0  500m/8  64Mi/2Gi  fair\n"
            "dc2   no leader         0         0      ?    ?     ?       ?         ?  -\n");
}

TEST(ProgressBarsTest, DrawsInPlace) {
  ProgressBars bars({.width = 60});
  const auto job = Parse<v1::JobStatus>(kJob);
  EXPECT_THAT(bars.Lines(job, At(1012)),
              testing::ElementsAre("wordcount (j0a)  RUNNING  12s",
                                   "  map    [############>>>>>>>>....] 6/12 done, 4 running, 2",
                                   "  reduce [........................] 0/4 done, 4 waiting",
                                   "  waits: map in dc1: 2 tasks wait for room (no_free_capacit"));
  EXPECT_THAT(bars.Draw(job, At(1012)), testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_THAT(bars.Draw(job, At(1013)), testing::StartsWith("\x1b[4A\r\x1b[J"));
}

TEST(ProgressLinesTest, TellsChangesOnceAndCountsSeldom) {
  ProgressLines lines;
  auto job = Parse<v1::JobStatus>(kJob);
  EXPECT_EQ(lines.Update(job, At(1000)),
            "map: RUNNING (6/12 done, 4 running, 2 waiting, 1 attempts failed)\n"
            "waits: map in dc1: 2 tasks wait for room (no_free_capacity)\n"
            "wordcount (j0a) RUNNING\n");
  EXPECT_EQ(lines.Update(job, At(1001)), "");
  job.clear_waits();
  job.mutable_stages(0)->set_tasks_finished(8);
  EXPECT_EQ(lines.Update(job, At(1001)), "");
  EXPECT_EQ(lines.Update(job, At(1006)),
            "map: RUNNING (8/12 done, 4 running, 2 waiting, 1 attempts failed)\n");
  job.set_state(v1::JOB_STATE_FAILED);
  job.set_message("map/3 failed 3 times: exit status 3");
  job.mutable_stages(0)->set_state(v1::STAGE_STATE_FAILED);
  EXPECT_EQ(lines.Update(job, At(1007)),
            "map: FAILED (8/12 done, 4 running, 2 waiting, 1 attempts failed)\n"
            "wordcount (j0a) FAILED: map/3 failed 3 times: exit status 3\n");
}

}  // namespace
}  // namespace houtu::client
