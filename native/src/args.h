#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/**
 * Validation at the boundary: all arguments from JavaScript are checked here before an algorithm uses them. Failures
 * are TypeError or RangeError, thrown as C++ exceptions that node-addon-api converts.
 */
namespace voice {

/** Maximum number of samples, bytes or UTF-16 units per call: 5.8 minutes at 48 kHz. */
inline constexpr size_t kMaxElements = size_t{1} << 24;

[[noreturn]] void throw_type_error(Napi::Env env, const std::string& message);
[[noreturn]] void throw_range_error(Napi::Env env, const std::string& message);

/**
 * Views of a typed array's elements, valid until control returns to JavaScript. They reject other element types,
 * detached buffers, shared memory (another thread could modify it during the call) and more than {@link
 * kMaxElements}. `name` is the name of the argument in messages.
 */
std::span<const int16_t> int16_arg(const Napi::CallbackInfo& info, size_t index, const char* name);
std::span<const float> float32_arg(const Napi::CallbackInfo& info, size_t index, const char* name);
std::span<const uint8_t> bytes_arg(const Napi::CallbackInfo& info, size_t index, const char* name);
/** As above, writable. */
std::span<uint8_t> writable_bytes_arg(const Napi::CallbackInfo& info, size_t index, const char* name);

/** The UTF-16 units of a string, including lone surrogates. */
std::u16string text_arg(const Napi::CallbackInfo& info, size_t index, const char* name);
/** One of `count` strings; returns its index. */
size_t choice_arg(const Napi::CallbackInfo& info, size_t index, const char* name, const char* const* choices,
                  size_t count);
/** An integer in `low`…`high`. */
uint32_t integer_arg(const Napi::CallbackInfo& info, size_t index, const char* name, uint32_t low, uint32_t high);
/** A number in `low`…`high`. */
double number_arg(const Napi::CallbackInfo& info, size_t index, const char* name, double low, double high);
bool boolean_arg(const Napi::CallbackInfo& info, size_t index, const char* name);
bool is_int16_array(const Napi::Value& value);

/**
 * Handles: native objects wrapped in JavaScript objects and identified by a type tag, so that a foreign or wrong
 * object is rejected. `close` frees the native object early, otherwise garbage collection does.
 */
template <typename Object>
struct Handle {
  std::unique_ptr<Object> object;
};

template <typename Object>
Napi::Object wrap(Napi::Env env, std::unique_ptr<Object> object, const napi_type_tag& tag) {
  Napi::Object value = Napi::Object::New(env);
  auto handle = std::make_unique<Handle<Object>>(Handle<Object>{std::move(object)});
  const napi_finalize finalize = [](napi_env, void* data, void*) { delete static_cast<Handle<Object>*>(data); };
  // Tagged first: if wrapping failed before tagging, the object would have no owner.
  if (napi_type_tag_object(env, value, &tag) != napi_ok) throw_type_error(env, "the handle could not be tagged");
  if (napi_wrap(env, value, handle.get(), finalize, nullptr, nullptr) != napi_ok) {
    throw_type_error(env, "the handle could not be wrapped");
  }
  handle.release();
  return value;
}

/** The handle in argument 0, open or closed. `name` is the name of its kind in messages. */
template <typename Object>
Handle<Object>& handle_arg(const Napi::CallbackInfo& info, const napi_type_tag& tag, const char* name) {
  const Napi::Value value = info[0];
  bool ours = false;
  void* data = nullptr;
  if (!value.IsObject() || napi_check_object_type_tag(info.Env(), value, &tag, &ours) != napi_ok || !ours ||
      napi_unwrap(info.Env(), value, &data) != napi_ok || data == nullptr) {
    throw_type_error(info.Env(), std::string("not a ") + name);
  }
  return *static_cast<Handle<Object>*>(data);
}

/** The open object behind argument 0. */
template <typename Object>
Object& object_arg(const Napi::CallbackInfo& info, const napi_type_tag& tag, const char* name) {
  Handle<Object>& handle = handle_arg<Object>(info, tag, name);
  if (!handle.object) throw_type_error(info.Env(), std::string("the ") + name + " is closed");
  return *handle.object;
}

}  // namespace voice
