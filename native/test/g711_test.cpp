#include "g711.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "check.h"
#include "sample_format.h"

namespace voice::test {
namespace {

/** Columns 1 and 2 of the tables of G.711: number of intervals and interval size, smallest first. */
using Segments = std::vector<std::pair<int, int>>;
const Segments kAlaw{{32, 2}, {16, 4}, {16, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}};
const Segments kMulaw{{1, 1}, {15, 2}, {16, 4}, {16, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}, {16, 256}};

/** The 129 decision values on the 16-bit scale. */
std::vector<int> decisions(const Segments& segments, int scale) {
  std::vector<int> values{0};
  for (const auto& [count, size] : segments) {
    for (int i = 0; i < count; i++) values.push_back(values.back() + size * scale);
  }
  return values;
}

/** Interval of a value: negative intervals are closed above, because truncation rounds down. */
int interval_of(const std::vector<int>& bounds, int value) {
  int interval = 0;
  while (interval < 127 && (value >= 0 ? value >= bounds[static_cast<size_t>(interval) + 1]
                                       : -value > bounds[static_cast<size_t>(interval) + 1])) {
    interval++;
  }
  return interval;
}

std::vector<int16_t> every_sample() {
  std::vector<int16_t> samples;
  for (int value = -32768; value < 32768; value++) samples.push_back(static_cast<int16_t>(value));
  return samples;
}

void against_the_tables(bool mulaw) {
  const auto bounds = mulaw ? decisions(kMulaw, 4) : decisions(kAlaw, 8);
  check(bounds.size() == 129, "128 intervals");
  const auto positive = [mulaw](int interval) { return mulaw ? 255 - interval : (128 + interval) ^ 0x55; };
  const auto negative = [mulaw](int interval) { return mulaw ? 127 - interval : interval ^ 0x55; };

  const auto samples = every_sample();
  std::vector<uint8_t> codes(samples.size());
  mulaw ? g711::encode_mulaw(samples, codes) : g711::encode_alaw(samples, codes);
  bool same = true;
  for (size_t i = 0; i < samples.size(); i++) {
    const int interval = interval_of(bounds, samples[i]);
    same = same && codes[i] == (samples[i] >= 0 ? positive(interval) : negative(interval));
  }
  check(same, mulaw ? "mu-law codes of all values" : "A-law codes of all values");

  std::vector<float> floats(samples.size());
  convert(samples, floats);
  std::vector<uint8_t> float_codes(samples.size());
  mulaw ? g711::encode_mulaw(floats, float_codes) : g711::encode_alaw(floats, float_codes);
  check(float_codes == codes, "float is encoded like int16");

  for (int interval = 0; interval < 128; interval++) {
    const auto at = static_cast<size_t>(interval);
    const int value = mulaw && interval == 0 ? 0 : (bounds[at] + bounds[at + 1]) / 2;
    const std::vector<uint8_t> both{static_cast<uint8_t>(positive(interval)), static_cast<uint8_t>(negative(interval))};
    std::vector<int16_t> decoded(2);
    std::vector<float> decoded_floats(2);
    mulaw ? g711::decode_mulaw(both, decoded) : g711::decode_alaw(both, decoded);
    mulaw ? g711::decode_mulaw(both, decoded_floats) : g711::decode_alaw(both, decoded_floats);
    check(decoded[0] == value && decoded[1] == -value, "value of interval " + std::to_string(interval));
    check(decoded_floats[0] * 32768.0f == static_cast<float>(value), "float output matches int16");
  }
}

void sample_formats() {
  const auto samples = every_sample();
  std::vector<float> floats(samples.size());
  std::vector<int16_t> back(samples.size());
  convert(samples, floats);
  convert(floats, back);
  check(back == samples, "int16 to float and back");

  // One extra byte in front, so that every access is misaligned.
  std::vector<uint8_t> bytes(samples.size() * 2 + 1);
  const std::span<uint8_t> shifted = std::span(bytes).subspan(1);
  write_pcm16(samples, shifted);
  read_pcm16(shifted, back);
  check(back == samples, "int16 to bytes and back");
  write_pcm16(floats, shifted);
  read_pcm16(shifted, floats);
  convert(floats, back);
  check(back == samples, "float to bytes and back");

  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> odd{nan, -nan, infinity, -infinity, 1e38f, -1e38f, 1.0f, -1.0f, -0.0f, 1e-45f};
  const std::vector<int16_t> expected{0, 0, 32767, -32768, 32767, -32768, 32767, -32768, 0, 0};
  std::vector<int16_t> got(odd.size());
  convert(odd, got);
  check(got == expected, "out-of-range values saturate and NaN is silence");
}

/** One in 4,099 of all float bit patterns: none may overflow the integer conversion (UBSan). */
void every_float() {
  bool near = true;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099) {
    const auto low = static_cast<uint32_t>(bits);
    float sample = 0;
    std::memcpy(&sample, &low, sizeof(sample));
    const int16_t got = to_int16(sample);
    if (std::isnan(sample)) {
      near = near && got == 0;
    } else {
      const double exact = std::fmin(32767.0, std::fmax(-32768.0, static_cast<double>(sample) * 32768.0));
      near = near && std::fabs(exact - got) <= 0.5;
    }
  }
  check(near, "rounding of floats");
}

}  // namespace

void test_g711() {
  against_the_tables(true);
  against_the_tables(false);
  sample_formats();
  every_float();
}

}  // namespace voice::test
