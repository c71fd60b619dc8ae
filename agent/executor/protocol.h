// What the agent and houtu-executor say to each other over <lease>/io/ctl/executor.sock.
//
// A stream socket; a connection carries one command and is closed after its answer, because a
// container with an open connection to the outside can't be checkpointed. Each message is
//   [ bytes that follow, u32 ][ MessageType, u8 ][ fields ]
// in little endian; a text is its u32 length and its bytes, a list its u32 count and its texts.
//
//   agent                          executor                child
//     kStart --------------------->  fork ----------------->
//     <------------------------------------------- kGate (with its credentials: the kernel tells
//     (writes the pid into the task's cgroups)             the agent the child's pid outside)
//     kAck ----------------------------------------------->  exec
//     <--------------------------- kResult (exec succeeded, or which step failed by which errno)
//
// kStop, kPing and kList are answered at once, by kResult or kNames.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace houtu::agent {

inline constexpr char kExecutorSocketName[] = "executor.sock";
/// Exists in the socket's folder from when the executor listens.
inline constexpr char kExecutorReadyName[] = "ready";
/// Environment and arguments of one program may be this long in all.
inline constexpr uint32_t kMessageBytesMax = 4u << 20;
inline constexpr size_t kMessageHeaderBytes = sizeof(uint32_t);

enum class MessageType : uint8_t {
  kStart = 1,
  kStop = 2,
  kPing = 3,
  kList = 4,
  kGate = 16,
  kAck = 17,
  kResult = 18,
  kNames = 19,
};

/// The step at which a command failed.
enum class FailedStep : uint8_t {
  kNone = 0,
  /// The message could not be understood.
  kMessage = 1,
  /// The task's folder, its log or its pipes.
  kLog = 2,
  kFork = 3,
  /// The agent went away before it had moved the child into its cgroups.
  kGate = 4,
  kWorkingDir = 5,
  kExec = 6,
  /// No such task runs, or (kStart) it runs already.
  kTask = 7,
};

/// kStart: a program to run for one attempt.
struct StartCommand {
  /// Name of the attempt's folder below t/.
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string working_dir;
  int64_t log_bytes_max = 0;
  /// 0: none.
  int64_t timeout_ms = 0;
  /// Between SIGTERM and SIGKILL at the timeout.
  int64_t grace_ms = 0;
};

/// kStop.
struct StopCommand {
  std::string name;
  int64_t grace_ms = 0;
};

/// kResult.
struct CommandResult {
  FailedStep step = FailedStep::kNone;
  int error_number = 0;
};

/// Builds one message.
class MessageWriter {
 public:
  explicit MessageWriter(MessageType type) : bytes_(kMessageHeaderBytes, '\0') {
    bytes_.push_back(static_cast<char>(type));
  }
  MessageWriter& Int(int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  MessageWriter& Text(std::string_view text) {
    Length(text.size());
    bytes_.append(text);
    return *this;
  }
  MessageWriter& List(const std::vector<std::string>& texts) {
    Length(texts.size());
    for (const std::string& text : texts) Text(text);
    return *this;
  }
  /// The message, its length filled in.
  std::string Take() {
    const uint32_t length = static_cast<uint32_t>(bytes_.size() - kMessageHeaderBytes);
    std::memcpy(bytes_.data(), &length, sizeof(length));
    return std::move(bytes_);
  }

 private:
  void Length(size_t size) {
    const uint32_t length = static_cast<uint32_t>(size);
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof(length));
  }
  std::string bytes_;
};

/// Takes one message (without its length) apart; after a short or wrong message ok() is false.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  MessageType Type() { return static_cast<MessageType>(Raw<uint8_t>()); }
  int64_t Int() { return Raw<int64_t>(); }
  std::string Text() {
    const uint32_t length = Raw<uint32_t>();
    if (length > bytes_.size()) return Fail(), std::string();
    std::string text(bytes_.substr(0, length));
    bytes_.remove_prefix(length);
    return text;
  }
  std::vector<std::string> List() {
    std::vector<std::string> texts;
    for (uint32_t left = Raw<uint32_t>(); left > 0 && ok_; --left) texts.push_back(Text());
    return texts;
  }
  /// Whether all was there and nothing is left over.
  bool Complete() const { return ok_ && bytes_.empty(); }

 private:
  template <typename T>
  T Raw() {
    T value{};
    if (sizeof(T) > bytes_.size()) return Fail(), value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }
  std::string_view bytes_;
  bool ok_ = true;
};

inline std::string Encode(const StartCommand& c) {
  return MessageWriter(MessageType::kStart)
      .Text(c.name)
      .List(c.argv)
      .List(c.env)
      .Text(c.working_dir)
      .Int(c.log_bytes_max)
      .Int(c.timeout_ms)
      .Int(c.grace_ms)
      .Take();
}

inline std::string Encode(const StopCommand& c) {
  return MessageWriter(MessageType::kStop).Text(c.name).Int(c.grace_ms).Take();
}

inline std::string Encode(const CommandResult& r) {
  return MessageWriter(MessageType::kResult)
      .Int(static_cast<int64_t>(r.step))
      .Int(r.error_number)
      .Take();
}

/// The fields after the type; false if the message is not whole.
inline bool Decode(MessageReader& in, StartCommand& c) {
  c.name = in.Text();
  c.argv = in.List();
  c.env = in.List();
  c.working_dir = in.Text();
  c.log_bytes_max = in.Int();
  c.timeout_ms = in.Int();
  c.grace_ms = in.Int();
  return in.Complete() && !c.argv.empty();
}

inline bool Decode(MessageReader& in, StopCommand& c) {
  c.name = in.Text();
  c.grace_ms = in.Int();
  return in.Complete();
}

inline bool Decode(MessageReader& in, CommandResult& r) {
  r.step = static_cast<FailedStep>(in.Int());
  r.error_number = static_cast<int>(in.Int());
  return in.Complete();
}

}  // namespace houtu::agent
