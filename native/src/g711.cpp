#include "g711.h"

#include <array>
#include <bit>
#include <cstddef>

#include "sample_format.h"

namespace voice::g711 {
namespace {

/** Code of a value on mu-law's 14-bit scale: sign, segment and step of |value| + 33 (G.711 table 2). */
constexpr uint8_t mulaw_code(int value14) {
  const bool negative = value14 < 0;
  const unsigned magnitude = static_cast<unsigned>(negative ? ~value14 : value14) + 33u;
  const unsigned clipped = magnitude > 0x1FFFu ? 0x1FFFu : magnitude;
  const unsigned segment = static_cast<unsigned>(std::bit_width(clipped)) - 6u;
  const unsigned step = (clipped >> (segment + 1u)) & 0x0Fu;
  const unsigned code = (segment << 4u) | step;
  return static_cast<uint8_t>((negative ? 0x7Fu : 0xFFu) - code);
}

/** Code of a value on a 12-bit scale, half of A-law's 13-bit scale (G.711 table 1). */
constexpr uint8_t alaw_code(int value12) {
  const bool negative = value12 < 0;
  const unsigned magnitude = static_cast<unsigned>(negative ? ~value12 : value12);
  const unsigned width = static_cast<unsigned>(std::bit_width(magnitude));
  const unsigned segment = width > 5u ? width - 4u : magnitude >> 4u;
  const unsigned step = (segment > 1u ? magnitude >> (segment - 1u) : magnitude) & 0x0Fu;
  return static_cast<uint8_t>(((negative ? 0u : 0x80u) | (segment << 4u) | step) ^ 0x55u);
}

constexpr int16_t mulaw_value(unsigned code) {
  const unsigned bits = ~code & 0xFFu;
  const unsigned segment = (bits >> 4u) & 7u;
  const int magnitude = static_cast<int>(((2u * (bits & 0x0Fu) + 33u) << segment) - 33u) * 4;
  return static_cast<int16_t>((bits & 0x80u) != 0 ? -magnitude : magnitude);
}

constexpr int16_t alaw_value(unsigned code) {
  const unsigned bits = code ^ 0x55u;
  const unsigned segment = (bits >> 4u) & 7u;
  const unsigned middle = 2u * (bits & 0x0Fu) + 1u;
  const int magnitude = static_cast<int>(segment == 0 ? middle : (middle + 32u) << (segment - 1u)) * 8;
  return static_cast<int16_t>((bits & 0x80u) != 0 ? magnitude : -magnitude);
}

constexpr auto kMulawCodes = [] {
  std::array<uint8_t, 1u << 14> codes{};
  for (int value = -(1 << 13); value < 1 << 13; value++) {
    codes[static_cast<size_t>(value + (1 << 13))] = mulaw_code(value);
  }
  return codes;
}();

constexpr auto kAlawCodes = [] {
  std::array<uint8_t, 1u << 12> codes{};
  for (int value = -(1 << 11); value < 1 << 11; value++) {
    codes[static_cast<size_t>(value + (1 << 11))] = alaw_code(value);
  }
  return codes;
}();

constexpr auto kMulawValues = [] {
  std::array<int16_t, 256> values{};
  for (unsigned code = 0; code < 256; code++) values[code] = mulaw_value(code);
  return values;
}();

constexpr auto kAlawValues = [] {
  std::array<int16_t, 256> values{};
  for (unsigned code = 0; code < 256; code++) values[code] = alaw_value(code);
  return values;
}();

int16_t as_int16(int16_t sample) { return sample; }
int16_t as_int16(float sample) { return to_int16(sample); }

template <typename Sample>
void encode_with_mulaw(std::span<const Sample> in, std::span<uint8_t> out) {
  for (size_t i = 0; i < in.size(); i++) {
    out[i] = kMulawCodes[static_cast<size_t>((as_int16(in[i]) >> 2) + (1 << 13))];
  }
}

template <typename Sample>
void encode_with_alaw(std::span<const Sample> in, std::span<uint8_t> out) {
  for (size_t i = 0; i < in.size(); i++) {
    out[i] = kAlawCodes[static_cast<size_t>((as_int16(in[i]) >> 4) + (1 << 11))];
  }
}

void decode_with(const std::array<int16_t, 256>& values, std::span<const uint8_t> in, std::span<int16_t> out) {
  for (size_t i = 0; i < in.size(); i++) out[i] = values[in[i]];
}

void decode_with(const std::array<int16_t, 256>& values, std::span<const uint8_t> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); i++) out[i] = to_float(values[in[i]]);
}

}  // namespace

void encode_mulaw(std::span<const int16_t> in, std::span<uint8_t> out) { encode_with_mulaw(in, out); }
void encode_alaw(std::span<const int16_t> in, std::span<uint8_t> out) { encode_with_alaw(in, out); }
void encode_mulaw(std::span<const float> in, std::span<uint8_t> out) { encode_with_mulaw(in, out); }
void encode_alaw(std::span<const float> in, std::span<uint8_t> out) { encode_with_alaw(in, out); }
void decode_mulaw(std::span<const uint8_t> in, std::span<int16_t> out) { decode_with(kMulawValues, in, out); }
void decode_alaw(std::span<const uint8_t> in, std::span<int16_t> out) { decode_with(kAlawValues, in, out); }
void decode_mulaw(std::span<const uint8_t> in, std::span<float> out) { decode_with(kMulawValues, in, out); }
void decode_alaw(std::span<const uint8_t> in, std::span<float> out) { decode_with(kAlawValues, in, out); }

}  // namespace voice::g711
