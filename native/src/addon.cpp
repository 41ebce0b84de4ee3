#include <napi.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "args.h"
#include "g711.h"
#include "resampler.h"
#include "sample_format.h"
#include "sentences.h"
#include "warp.h"

namespace {

using voice::bytes_arg;
using voice::Resampler;
using voice::SentenceChunker;

/** Incremented whenever an export changes; src/audio/native.ts checks for the same number. */
constexpr uint32_t kAbiVersion = 2;

/** The output may be six times as long as the input: 48,000 / 8,000. */
using AnyResampler = std::variant<Resampler<int16_t>, Resampler<float>>;

constexpr napi_type_tag kResamplerTag{0x6c1f0e5a9d2b4738, 0xb3a7c4d18e905f62};
constexpr napi_type_tag kChunkerTag{0x2f84d6b01ce97a53, 0x97e05b3c6af1d824};

/** All state of the addon, one instance per environment (main thread or worker): filter tables in use. */
struct AddonState {
  std::map<std::pair<uint32_t, uint32_t>, std::weak_ptr<const voice::FirTable>> tables;

  std::shared_ptr<const voice::FirTable> table(uint32_t in_hz, uint32_t out_hz) {
    if (in_hz == out_hz) return nullptr;
    std::erase_if(tables, [](const auto& entry) { return entry.second.expired(); });
    auto& known = tables[{in_hz, out_hz}];
    auto table = known.lock();
    if (!table) {
      table = std::make_shared<const voice::FirTable>(in_hz, out_hz);
      known = table;
    }
    return table;
  }
};

template <typename Array, typename Sample>
std::span<Sample> writable(Array& array) {
  return {array.Data(), array.ElementLength()};
}

constexpr const char* kEncodings[] = {"pcm16", "mulaw", "alaw"};
constexpr const char* kFormats[] = {"int16", "float32"};

template <typename Sample>
Napi::Value encode_samples(Napi::Env env, size_t encoding, std::span<const Sample> in) {
  auto out = Napi::Uint8Array::New(env, encoding == 0 ? in.size() * 2 : in.size());
  const auto bytes = writable<Napi::Uint8Array, uint8_t>(out);
  if (encoding == 0) voice::write_pcm16(in, bytes);
  if (encoding == 1) voice::g711::encode_mulaw(in, bytes);
  if (encoding == 2) voice::g711::encode_alaw(in, bytes);
  return out;
}

/** encode(encoding, Int16Array | Float32Array): Uint8Array */
Napi::Value encode(const Napi::CallbackInfo& info) {
  const size_t encoding = voice::choice_arg(info, 0, "encoding", kEncodings, std::size(kEncodings));
  if (voice::is_int16_array(info[1])) return encode_samples(info.Env(), encoding, voice::int16_arg(info, 1, "samples"));
  return encode_samples(info.Env(), encoding, voice::float32_arg(info, 1, "samples"));
}

template <typename Array, typename Sample>
Napi::Value decode_bytes(Napi::Env env, size_t encoding, std::span<const uint8_t> bytes) {
  if (encoding == 0 && bytes.size() % 2 != 0) {
    voice::throw_range_error(env, "pcm16 requires an even number of bytes, got " + std::to_string(bytes.size()));
  }
  auto out = Array::New(env, encoding == 0 ? bytes.size() / 2 : bytes.size());
  const auto samples = writable<Array, Sample>(out);
  if (encoding == 0) voice::read_pcm16(bytes, samples);
  if (encoding == 1) voice::g711::decode_mulaw(bytes, samples);
  if (encoding == 2) voice::g711::decode_alaw(bytes, samples);
  return out;
}

/** decode(encoding, Uint8Array, 'int16' | 'float32'): Int16Array | Float32Array */
Napi::Value decode(const Napi::CallbackInfo& info) {
  const size_t encoding = voice::choice_arg(info, 0, "encoding", kEncodings, std::size(kEncodings));
  const size_t format = voice::choice_arg(info, 2, "format", kFormats, std::size(kFormats));
  const auto bytes = bytes_arg(info, 1, "bytes");
  if (format == 0) return decode_bytes<Napi::Int16Array, int16_t>(info.Env(), encoding, bytes);
  return decode_bytes<Napi::Float32Array, float>(info.Env(), encoding, bytes);
}

/** float32ToInt16(Float32Array): Int16Array */
Napi::Value float32_to_int16(const Napi::CallbackInfo& info) {
  const auto in = voice::float32_arg(info, 0, "samples");
  auto out = Napi::Int16Array::New(info.Env(), in.size());
  voice::convert(in, writable<Napi::Int16Array, int16_t>(out));
  return out;
}

/** int16ToFloat32(Int16Array): Float32Array */
Napi::Value int16_to_float32(const Napi::CallbackInfo& info) {
  const auto in = voice::int16_arg(info, 0, "samples");
  auto out = Napi::Float32Array::New(info.Env(), in.size());
  voice::convert(in, writable<Napi::Float32Array, float>(out));
  return out;
}

AnyResampler& resampler_arg(const Napi::CallbackInfo& info) {
  return voice::object_arg<AnyResampler>(info, kResamplerTag, "resampler");
}

/** createResampler(fromHz, toHz, 'int16' | 'float32', portable): handle */
Napi::Value create_resampler(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const uint32_t from_hz = voice::integer_arg(info, 0, "fromHz", voice::kMinRateHz, voice::kMaxRateHz);
  const uint32_t to_hz = voice::integer_arg(info, 1, "toHz", voice::kMinRateHz, voice::kMaxRateHz);
  const size_t format = voice::choice_arg(info, 2, "format", kFormats, std::size(kFormats));
  const auto kernels =
      voice::boolean_arg(info, 3, "portable") ? voice::KernelChoice::portable : voice::KernelChoice::best;
  auto table = env.GetInstanceData<AddonState>()->table(from_hz, to_hz);
  auto resampler = format == 0 ? std::make_unique<AnyResampler>(std::in_place_type<Resampler<int16_t>>, table, kernels)
                               : std::make_unique<AnyResampler>(std::in_place_type<Resampler<float>>, table, kernels);
  return voice::wrap(env, std::move(resampler), kResamplerTag);
}

template <typename Array, typename Sample>
Napi::Value push_samples(Napi::Env env, Resampler<Sample>& resampler, std::span<const Sample> in) {
  auto out = Array::New(env, static_cast<size_t>(resampler.pushed_size(in.size())));
  resampler.push(in, writable<Array, Sample>(out));
  return out;
}

/** resamplerPush(handle, samples of its format): samples */
Napi::Value resampler_push(const Napi::CallbackInfo& info) {
  AnyResampler& resampler = resampler_arg(info);
  if (auto* int16 = std::get_if<Resampler<int16_t>>(&resampler)) {
    return push_samples<Napi::Int16Array>(info.Env(), *int16, voice::int16_arg(info, 1, "samples"));
  }
  return push_samples<Napi::Float32Array>(info.Env(), std::get<Resampler<float>>(resampler),
                                          voice::float32_arg(info, 1, "samples"));
}

template <typename Array, typename Sample>
Napi::Value flush_samples(Napi::Env env, Resampler<Sample>& resampler) {
  auto out = Array::New(env, static_cast<size_t>(resampler.flushed_size()));
  resampler.flush(writable<Array, Sample>(out));
  return out;
}

/** resamplerFlush(handle): samples */
Napi::Value resampler_flush(const Napi::CallbackInfo& info) {
  AnyResampler& resampler = resampler_arg(info);
  if (auto* int16 = std::get_if<Resampler<int16_t>>(&resampler)) {
    return flush_samples<Napi::Int16Array>(info.Env(), *int16);
  }
  return flush_samples<Napi::Float32Array>(info.Env(), std::get<Resampler<float>>(resampler));
}

void resampler_reset(const Napi::CallbackInfo& info) {
  std::visit([](auto& resampler) { resampler.reset(); }, resampler_arg(info));
}

/** resamplerLatency(handle): input samples */
Napi::Value resampler_latency(const Napi::CallbackInfo& info) {
  const size_t latency = std::visit([](const auto& resampler) { return resampler.latency(); }, resampler_arg(info));
  return Napi::Number::New(info.Env(), static_cast<double>(latency));
}

/** resamplerKernel(handle): 'avx2' | 'portable' */
Napi::Value resampler_kernel(const Napi::CallbackInfo& info) {
  return Napi::String::New(
      info.Env(), std::visit([](const auto& resampler) { return resampler.kernel_name(); }, resampler_arg(info)));
}

void resampler_close(const Napi::CallbackInfo& info) {
  voice::handle_arg<AnyResampler>(info, kResamplerTag, "resampler").object.reset();
}

SentenceChunker& chunker_arg(const Napi::CallbackInfo& info) {
  return voice::object_arg<SentenceChunker>(info, kChunkerTag, "sentence chunker");
}

Napi::Value strings_of(Napi::Env env, const std::vector<std::u16string>& strings) {
  auto array = Napi::Array::New(env, strings.size());
  for (size_t i = 0; i < strings.size(); i++) {
    // As a plain Value: Set would convert a Napi::String to UTF-8 and back, which loses lone surrogates.
    const Napi::Value string = Napi::String::New(env, strings[i]);
    array.Set(static_cast<uint32_t>(i), string);
  }
  return array;
}

/** createChunker(): handle */
Napi::Value create_chunker(const Napi::CallbackInfo& info) {
  return voice::wrap(info.Env(), std::make_unique<SentenceChunker>(), kChunkerTag);
}

/** chunkerPush(handle, text): string[] */
Napi::Value chunker_push(const Napi::CallbackInfo& info) {
  SentenceChunker& chunker = chunker_arg(info);
  const std::u16string text = voice::text_arg(info, 1, "text");
  if (text.size() + chunker.pending_units() > voice::kMaxElements) {
    voice::throw_range_error(info.Env(), "more than " + std::to_string(voice::kMaxElements) +
                                             " UTF-16 units without the end of a sentence");
  }
  std::vector<std::u16string> chunks;
  chunker.push(text, chunks);
  return strings_of(info.Env(), chunks);
}

/** chunkerFlush(handle): string[] */
Napi::Value chunker_flush(const Napi::CallbackInfo& info) {
  std::vector<std::u16string> chunks;
  chunker_arg(info).flush(chunks);
  return strings_of(info.Env(), chunks);
}

void chunker_reset(const Napi::CallbackInfo& info) { chunker_arg(info).reset(); }

void chunker_close(const Napi::CallbackInfo& info) {
  voice::handle_arg<SentenceChunker>(info, kChunkerTag, "sentence chunker").object.reset();
}

/** Maximum distance of the first node from the corner of the picture, and between nodes, in pixels. */
constexpr double kFarthestNode = voice::kMaxSide;
constexpr uint32_t kMostNodes = voice::kMaxSide;

/** warpPicture(from, width, height, columns, rows, origin, step, x, y, into): undefined */
void warp_picture(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto from = bytes_arg(info, 0, "from");
  const uint32_t width = voice::integer_arg(info, 1, "width", 2, voice::kMaxSide);
  const uint32_t height = voice::integer_arg(info, 2, "height", 2, voice::kMaxSide);
  const uint32_t columns = voice::integer_arg(info, 3, "columns", 2, kMostNodes);
  const uint32_t rows = voice::integer_arg(info, 4, "rows", 2, kMostNodes);
  const double origin = voice::number_arg(info, 5, "origin", -kFarthestNode, kFarthestNode);
  const double step = voice::number_arg(info, 6, "step", 1, kFarthestNode);
  const auto x = voice::float32_arg(info, 7, "x");
  const auto y = voice::float32_arg(info, 8, "y");
  const auto into = voice::writable_bytes_arg(info, 9, "into");
  const size_t bytes = size_t{width} * height * 3 / 2;
  if (width % 2 != 0 || height % 2 != 0) voice::throw_range_error(env, "width and height must be even");
  if (from.size() != bytes || into.size() != bytes) {
    voice::throw_range_error(env, "from and into must have " + std::to_string(bytes) + " bytes");
  }
  if (from.data() == into.data()) voice::throw_range_error(env, "into must not be the same buffer as from");
  const size_t nodes = size_t{columns} * rows;
  if (x.size() != nodes || y.size() != nodes) {
    voice::throw_range_error(env, "x and y must have " + std::to_string(nodes) + " nodes");
  }
  voice::warp_i420(from, width, height, {columns, rows, origin, step, x, y}, into);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonState());
  exports.Set("abiVersion", Napi::Number::New(env, kAbiVersion));
  exports.Set("maxElements", Napi::Number::New(env, static_cast<double>(voice::kMaxElements)));
  exports.Set("encode", Napi::Function::New(env, encode));
  exports.Set("decode", Napi::Function::New(env, decode));
  exports.Set("float32ToInt16", Napi::Function::New(env, float32_to_int16));
  exports.Set("int16ToFloat32", Napi::Function::New(env, int16_to_float32));
  exports.Set("createResampler", Napi::Function::New(env, create_resampler));
  exports.Set("resamplerPush", Napi::Function::New(env, resampler_push));
  exports.Set("resamplerFlush", Napi::Function::New(env, resampler_flush));
  exports.Set("resamplerReset", Napi::Function::New(env, resampler_reset));
  exports.Set("resamplerLatency", Napi::Function::New(env, resampler_latency));
  exports.Set("resamplerKernel", Napi::Function::New(env, resampler_kernel));
  exports.Set("resamplerClose", Napi::Function::New(env, resampler_close));
  exports.Set("createChunker", Napi::Function::New(env, create_chunker));
  exports.Set("chunkerPush", Napi::Function::New(env, chunker_push));
  exports.Set("chunkerFlush", Napi::Function::New(env, chunker_flush));
  exports.Set("chunkerReset", Napi::Function::New(env, chunker_reset));
  exports.Set("chunkerClose", Napi::Function::New(env, chunker_close));
  exports.Set("warpPicture", Napi::Function::New(env, warp_picture));
  return exports;
}

}  // namespace

NODE_API_MODULE(voice_native, init)
