#pragma once

#include <cstdint>
#include <span>

/** Conversion between the two sample formats: float in -1…1 and signed 16-bit, full scale 32,768. */
namespace voice {

inline float to_float(int16_t sample) { return static_cast<float>(sample) * (1.0f / 32768.0f); }

/** Rounds a value on the 16-bit scale to nearest, ties to even, and saturates. NaN becomes 0. */
inline int16_t round_to_int16(float value) {
  // Only selects and one addition, so that the compiler can vectorize without SSE4 rounding.
  const float number = value == value ? value : 0.0f;
  const float floored = number > -32768.0f ? number : -32768.0f;
  const float bounded = floored < 32767.0f ? floored : 32767.0f;
  constexpr float kUnitsFromHere = 0x1.8p23f;  // from here on floats have no fractional part
  return static_cast<int16_t>(static_cast<int32_t>((bounded + kUnitsFromHere) - kUnitsFromHere));
}

inline int16_t to_int16(float sample) { return round_to_int16(sample * 32768.0f); }

/** Converts `in.size()` samples; `out` must have the same length. int16 to float and back is the identity. */
void convert(std::span<const float> in, std::span<int16_t> out);
void convert(std::span<const int16_t> in, std::span<float> out);

/** Reads 16-bit little-endian bytes, at any alignment; `bytes` must be twice as long as `out`. */
void read_pcm16(std::span<const uint8_t> bytes, std::span<int16_t> out);
void read_pcm16(std::span<const uint8_t> bytes, std::span<float> out);
/** Writes 16-bit little-endian bytes; `bytes` must be twice as long as `in`. */
void write_pcm16(std::span<const int16_t> in, std::span<uint8_t> bytes);
void write_pcm16(std::span<const float> in, std::span<uint8_t> bytes);

}  // namespace voice
