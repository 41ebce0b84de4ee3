#include <cstdio>

#include "check.h"

namespace {

unsigned checks = 0;
unsigned failures = 0;

}  // namespace

void voice::test::check(bool passed, const std::string& what, std::source_location where) {
  checks++;
  if (passed) return;
  failures++;
  std::printf("FAILED %s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()), what.c_str());
}

int main() {
  voice::test::test_g711();
  voice::test::test_resampler();
  voice::test::test_sentences();
  voice::test::test_warp();
  std::printf("%u checks, %u failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
