#include "warp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check.h"

namespace voice::test {
namespace {

constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;
constexpr uint32_t kColumns = 5;
constexpr uint32_t kRows = 4;

std::vector<uint8_t> noise(Random& random) {
  std::vector<uint8_t> pixels(kWidth * kHeight * 3 / 2);
  for (auto& pixel : pixels) pixel = static_cast<uint8_t>(random.below(256));
  return pixels;
}

struct Field {
  std::vector<float> x = std::vector<float>(kColumns * kRows);
  std::vector<float> y = std::vector<float>(kColumns * kRows);
};

std::vector<uint8_t> warped(const std::vector<uint8_t>& from, const Field& field, double origin = 3.5,
                            double step = 12) {
  std::vector<uint8_t> into(from.size());
  warp_i420(from, kWidth, kHeight, {kColumns, kRows, origin, step, field.x, field.y}, into);
  return into;
}

Field constant(float x, float y) {
  Field field;
  std::fill(field.x.begin(), field.x.end(), x);
  std::fill(field.y.begin(), field.y.end(), y);
  return field;
}

int mirrored(int place, int side) {
  while (place < 0 || place >= side) place = place < 0 ? -1 - place : 2 * side - 1 - place;
  return place;
}

}  // namespace

void test_warp() {
  Random random(11);
  const auto from = noise(random);
  check(warped(from, constant(0, 0)) == from, "no displacement leaves the picture unchanged");

  for (const auto& [dx, dy] : {std::pair{2, 0}, {-6, 4}, {30, -40}, {400, 1000}}) {
    const auto into = warped(from, constant(static_cast<float>(dx), static_cast<float>(dy)));
    bool same = true;
    for (int y = 0; y < static_cast<int>(kHeight); y++) {
      for (int x = 0; x < static_cast<int>(kWidth); x++) {
        const size_t taken = static_cast<size_t>(mirrored(y + dy, kHeight)) * kWidth +
                             static_cast<size_t>(mirrored(x + dx, kWidth));
        same &= into[static_cast<size_t>(y) * kWidth + static_cast<size_t>(x)] == from[taken];
      }
    }
    check(same, "a shift by " + std::to_string(dx) + ", " + std::to_string(dy) + " copies whole pixels and mirrors at the border");
  }

  // Cubic and linear interpolation reproduce a ramp: inside, a fractional shift is exact.
  std::vector<uint8_t> ramp(from.size());
  for (uint32_t y = 0; y < kHeight; y++) {
    for (uint32_t x = 0; x < kWidth; x++) ramp[y * kWidth + x] = static_cast<uint8_t>(2 * x + y);
  }
  const auto moved = warped(ramp, constant(0.5F, 0.25F));
  for (uint32_t y = 2; y < kHeight - 3; y++) {
    for (uint32_t x = 2; x < kWidth - 3; x++) {
      const double exact = 2 * (x + 0.5) + y + 0.25;
      check(std::abs(moved[y * kWidth + x] - exact) <= 0.5, "a ramp is reproduced");
    }
  }

  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {infinity, -infinity, std::nanf(""), 1e30F, -1e30F, 1e5F}) {
    check(warped(from, constant(odd, odd)).size() == from.size(), "extreme displacements are safe");
  }
  for (int round = 0; round < 200; round++) {
    Field field;
    for (auto& x : field.x) x = (static_cast<float>(random.below(4000)) - 2000) / 16;
    for (auto& y : field.y) y = (static_cast<float>(random.below(4000)) - 2000) / 16;
    const double origin = static_cast<double>(random.below(200)) - 100;
    const auto into = warped(from, field, origin, 1 + random.below(40));
    check(into.size() == from.size(), "any displacement field is accepted");
  }
}

}  // namespace voice::test
