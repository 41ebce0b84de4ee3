#pragma once

#include <cstdint>
#include <span>

/**
 * ITU-T G.711 (11/88) companding between 16-bit linear PCM and 8-bit codes.
 * The 16-bit scale is that of ITU-T G.191: mu-law's 14-bit and A-law's 13-bit values are in the upper bits. Encoding
 * rounds towards minus infinity (arithmetic shift), so a decision value belongs to the interval above it; mu-law
 * clips beyond 8159 x 4. Decoding returns the output value of the interval in tables 1 and 2. Codes are as
 * transmitted (mu-law inverted, A-law with inverted even bits).
 * Every function converts `in.size()` values; `out` must have the same length.
 */
namespace voice::g711 {

void encode_mulaw(std::span<const int16_t> in, std::span<uint8_t> out);
void encode_alaw(std::span<const int16_t> in, std::span<uint8_t> out);
void decode_mulaw(std::span<const uint8_t> in, std::span<int16_t> out);
void decode_alaw(std::span<const uint8_t> in, std::span<int16_t> out);

/** As above, from float in -1…1: rounded to nearest and saturated by {@link voice::to_int16} first. */
void encode_mulaw(std::span<const float> in, std::span<uint8_t> out);
void encode_alaw(std::span<const float> in, std::span<uint8_t> out);
/** As above, scaled to -1…1 (divided by 32,768). */
void decode_mulaw(std::span<const uint8_t> in, std::span<float> out);
void decode_alaw(std::span<const uint8_t> in, std::span<float> out);

}  // namespace voice::g711
