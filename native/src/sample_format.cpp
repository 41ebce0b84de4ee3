#include "sample_format.h"

#include <cstddef>

namespace voice {
namespace {

int16_t read_le16(const uint8_t* bytes) {
  return static_cast<int16_t>(static_cast<uint16_t>(bytes[0] | (bytes[1] << 8)));
}

void write_le16(int16_t sample, uint8_t* bytes) {
  const auto bits = static_cast<uint16_t>(sample);
  bytes[0] = static_cast<uint8_t>(bits & 0xFFu);
  bytes[1] = static_cast<uint8_t>(bits >> 8u);
}

}  // namespace

void convert(std::span<const float> in, std::span<int16_t> out) {
  for (size_t i = 0; i < in.size(); i++) out[i] = to_int16(in[i]);
}

void convert(std::span<const int16_t> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); i++) out[i] = to_float(in[i]);
}

void read_pcm16(std::span<const uint8_t> bytes, std::span<int16_t> out) {
  for (size_t i = 0; i < out.size(); i++) out[i] = read_le16(&bytes[2 * i]);
}

void read_pcm16(std::span<const uint8_t> bytes, std::span<float> out) {
  for (size_t i = 0; i < out.size(); i++) out[i] = to_float(read_le16(&bytes[2 * i]));
}

void write_pcm16(std::span<const int16_t> in, std::span<uint8_t> bytes) {
  for (size_t i = 0; i < in.size(); i++) write_le16(in[i], &bytes[2 * i]);
}

void write_pcm16(std::span<const float> in, std::span<uint8_t> bytes) {
  for (size_t i = 0; i < in.size(); i++) write_le16(to_int16(in[i]), &bytes[2 * i]);
}

}  // namespace voice
