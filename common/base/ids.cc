#include "common/base/ids.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>

#include "common/base/check.h"

namespace houtu {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr size_t kTimeDigits = 9;
constexpr size_t kRandomDigits = 10;

}  // namespace

AttemptKey KeyOf(const v1::AttemptId& id) {
  return {.job = id.job(), .stage = id.stage(), .task = id.task(), .attempt = id.attempt()};
}

v1::AttemptId ToProto(const AttemptKey& key) {
  v1::AttemptId id;
  id.set_job(key.job);
  id.set_stage(key.stage);
  id.set_task(key.task);
  id.set_attempt(key.attempt);
  return id;
}

std::string Describe(const AttemptKey& key) {
  return fmt::format("{}/{}#{}", key.stage, key.task, key.attempt);
}

std::string FolderName(const AttemptKey& key) {
  return fmt::format("{}.{}.{}", key.stage, key.task, key.attempt);
}

std::string NewJobId() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  std::string id(1 + kTimeDigits + kRandomDigits, 'j');
  for (size_t i = kTimeDigits; i >= 1; --i) {
    id[i] = kDigits[static_cast<size_t>(millis % 36)];
    millis /= 36;
  }
  const std::string random = RandomBytes(kRandomDigits);
  for (size_t i = 0; i < kRandomDigits; ++i) {
    id[1 + kTimeDigits + i] = kDigits[static_cast<unsigned char>(random[i]) % 36];
  }
  return id;
}

bool IsJobId(std::string_view id) {
  return id.size() == 1 + kTimeDigits + kRandomDigits && id.front() == 'j' &&
         std::all_of(id.begin() + 1, id.end(),
                     [](char c) { return kDigits.find(c) != std::string_view::npos; });
}

std::string RandomBytes(int bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  HOUTU_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), bytes) == 1,
              "the system's random generator answers");
  return out;
}

std::string Sha256(std::string_view data) {
  std::string out(32, '\0');
  unsigned int size = 0;
  HOUTU_CHECK(EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(out.data()),
                         &size, EVP_sha256(), nullptr) == 1 &&
                  size == 32,
              "SHA-256 is there");
  return out;
}

std::string Hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  }
  return out;
}

}  // namespace houtu
