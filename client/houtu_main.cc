#include "client/command/program.h"

int main(int argc, char** argv) {
  return houtu::client::Main(houtu::client::Program::kHoutu, argc, argv);
}
