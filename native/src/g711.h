#pragma once

#include <cstdint>
#include <span>

/**
 * ITU-T G.711 (11/88) companding between 16-bit linear PCM and 8-bit codes.
 *
 * The 16-bit scale is that of ITU-T G.191: mu-law's 14-bit and A-law's 13-bit values sit in the upper
 * bits. Encoding drops the low bits towards minus infinity (arithmetic shift), so a value that lies on a
 * decision value belongs to the interval above it; mu-law clips beyond 8159 x 4. Decoding returns the
 * interval's output value of tables 1 and 2. Codes are those on the line (mu-law inverted, A-law with its
 * even bits inverted).
 *
 * Every function converts `in.size()` values; `out` must be as long.
 */
namespace voice::g711 {

void encode_mulaw(std::span<const int16_t> in, std::span<uint8_t> out);
void encode_alaw(std::span<const int16_t> in, std::span<uint8_t> out);
void decode_mulaw(std::span<const uint8_t> in, std::span<int16_t> out);
void decode_alaw(std::span<const uint8_t> in, std::span<int16_t> out);

/** As above, through {@link voice::to_int16}: float in -1…1, rounded to nearest and saturated first. */
void encode_mulaw(std::span<const float> in, std::span<uint8_t> out);
void encode_alaw(std::span<const float> in, std::span<uint8_t> out);
/** As above, scaled to -1…1 (divided by 32,768). */
void decode_mulaw(std::span<const uint8_t> in, std::span<float> out);
void decode_alaw(std::span<const uint8_t> in, std::span<float> out);

}  // namespace voice::g711
