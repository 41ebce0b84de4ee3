#include "args.h"

#include <cmath>
#include <cstring>

namespace voice {
namespace {

template <typename Element>
std::span<const Element> elements_arg(const Napi::CallbackInfo& info, size_t index, const char* name,
                                      napi_typedarray_type wanted, const char* type_name) {
  const Napi::Env env = info.Env();
  const Napi::Value value = info[index];
  napi_typedarray_type type = napi_int8_array;
  size_t length = 0;
  void* data = nullptr;
  napi_value buffer = nullptr;
  if (!value.IsTypedArray() ||
      napi_get_typedarray_info(env, value, &type, &length, &data, &buffer, nullptr) != napi_ok || type != wanted) {
    throw_type_error(env, std::string(name) + " must be a " + type_name);
  }
  const Napi::Value shared = env.Global().Get("SharedArrayBuffer");
  bool is_shared = false;
  if (shared.IsFunction() && napi_instanceof(env, buffer, shared, &is_shared) == napi_ok && is_shared) {
    throw_type_error(env, std::string(name) + " must not be in shared memory");
  }
  bool detached = false;
  if (napi_is_detached_arraybuffer(env, buffer, &detached) != napi_ok || detached) {
    throw_type_error(env, std::string(name) + " is in a detached buffer");
  }
  if (length > kMaxElements) {
    throw_range_error(env, std::string(name) + " has " + std::to_string(length) + " elements; at most " +
                               std::to_string(kMaxElements) + " are allowed per call");
  }
  if (length > 0 && data == nullptr) throw_type_error(env, std::string(name) + " is in a detached buffer");
  return {static_cast<const Element*>(data), length};
}

}  // namespace

void throw_type_error(Napi::Env env, const std::string& message) { throw Napi::TypeError::New(env, message); }
void throw_range_error(Napi::Env env, const std::string& message) { throw Napi::RangeError::New(env, message); }

std::span<const int16_t> int16_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  return elements_arg<int16_t>(info, index, name, napi_int16_array, "Int16Array");
}

std::span<const float> float32_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  return elements_arg<float>(info, index, name, napi_float32_array, "Float32Array");
}

std::span<const uint8_t> bytes_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  return elements_arg<uint8_t>(info, index, name, napi_uint8_array, "Uint8Array");
}

std::span<uint8_t> writable_bytes_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const auto bytes = bytes_arg(info, index, name);
  // Memory of JavaScript, which is writable.
  return {const_cast<uint8_t*>(bytes.data()), bytes.size()};
}

std::u16string text_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const Napi::Env env = info.Env();
  const Napi::Value value = info[index];
  size_t length = 0;
  if (!value.IsString() || napi_get_value_string_utf16(env, value, nullptr, 0, &length) != napi_ok) {
    throw_type_error(env, std::string(name) + " must be a string");
  }
  if (length > kMaxElements) {
    throw_range_error(env, std::string(name) + " has " + std::to_string(length) + " UTF-16 units; at most " +
                               std::to_string(kMaxElements) + " are allowed per call");
  }
  std::u16string text(length + 1, u'\0');  // the call appends a terminator
  if (napi_get_value_string_utf16(env, value, text.data(), text.size(), &length) != napi_ok) {
    throw_type_error(env, std::string(name) + " could not be read");
  }
  text.resize(length);
  return text;
}

size_t choice_arg(const Napi::CallbackInfo& info, size_t index, const char* name, const char* const* choices,
                  size_t count) {
  const Napi::Value value = info[index];
  if (value.IsString()) {
    const std::string given = value.As<Napi::String>().Utf8Value();
    for (size_t i = 0; i < count; i++) {
      if (given == choices[i]) return i;
    }
  }
  std::string message = std::string(name) + " must be ";
  for (size_t i = 0; i < count; i++) {
    message += (i == 0 ? "" : i + 1 == count ? " or " : ", ");
    message += std::string("'") + choices[i] + "'";
  }
  throw_type_error(info.Env(), message);
}

uint32_t integer_arg(const Napi::CallbackInfo& info, size_t index, const char* name, uint32_t low, uint32_t high) {
  const Napi::Value value = info[index];
  if (!value.IsNumber()) throw_type_error(info.Env(), std::string(name) + " must be a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= low && number <= high) || number != std::floor(number)) {
    throw_range_error(info.Env(), std::string(name) + " must be an integer from " + std::to_string(low) + " to " +
                                      std::to_string(high));
  }
  return static_cast<uint32_t>(number);
}

double number_arg(const Napi::CallbackInfo& info, size_t index, const char* name, double low, double high) {
  const Napi::Value value = info[index];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (number >= low && number <= high) return number;
  throw_range_error(info.Env(), std::string(name) + " must be a number from " + std::to_string(low) + " to " +
                                    std::to_string(high));
}

bool boolean_arg(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const Napi::Value value = info[index];
  if (!value.IsBoolean()) throw_type_error(info.Env(), std::string(name) + " must be a boolean");
  return value.As<Napi::Boolean>().Value();
}

bool is_int16_array(const Napi::Value& value) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_int16_array;
}

}  // namespace voice
