#include "common/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "common/base/check.h"
#include "common/base/status.h"
#include "tests/common/coordination/loopback.h"

namespace houtu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() : port_(testing::FreeLoopbackPort().value()) {}

  void Start(HttpServer::Options options) {
    options.address = Address();
    options.metrics = &metrics_;
    auto started = HttpServer::Start(std::move(options));
    HOUTU_CHECK(started.ok(), started.status().ToString());
    server_ = *std::move(started);
  }
  std::string Address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// The whole answer, head and body.
  std::string Get(const std::string& path) const {
    const int fd = testing::ConnectLoopback(port_, absl::Seconds(5));
    HOUTU_CHECK(fd >= 0, "the server listens");
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    HOUTU_CHECK(::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()),
                "the request is sent");
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof(buffer))) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
    ::close(fd);
    return answer;
  }

  const int port_;
  Metrics metrics_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, MetricsAreServedAsPrometheusReadsThem) {
  Start({});
  metrics_.Counter("houtu_things_total", "Things.").Increment();
  const std::string answer = Get("/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("\nhoutu_things_total 1\n"));
}

TEST_F(HttpServerTest, HealthAndReadinessAreAskedForEachTime) {
  std::atomic<bool> ready = false;
  Start({.readyz = [&]() -> absl::Status {
    return ready ? absl::OkStatus() : absl::UnavailableError("no leader yet");
  }});
  EXPECT_THAT(Get("/healthz"), HasSubstr("200 OK"));
  const std::string not_yet = Get("/readyz");
  EXPECT_THAT(not_yet, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(not_yet, HasSubstr("\r\n\r\nno leader yet\n"));
  ready = true;
  EXPECT_THAT(Get("/readyz"), HasSubstr("\r\n\r\nok\n"));
}

TEST_F(HttpServerTest, NothingElseIsServed) {
  Start({});
  for (const char* path : {"/", "/etc/passwd", "/../../etc/passwd", "/metrics2"}) {
    EXPECT_THAT(Get(path), ::testing::Not(HasSubstr(" 200 "))) << path;
  }
}

TEST_F(HttpServerTest, AnAddressThatIsTakenIsAnErrorThatNamesIt) {
  Start({});
  const auto second = HttpServer::Start({.address = Address(), .metrics = &metrics_});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(second.status()), HasSubstr(Address()));
}

}  // namespace
}  // namespace houtu
