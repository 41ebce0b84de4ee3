import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { describe, expect, test } from 'vitest';
import { BatchBody } from '../../../plugins/batch/batches/schema.ts';
import { uploadFormSchema } from '../../../plugins/batch/files/schema.ts';
import { ChatBody } from '../../../plugins/responses/chat/schema.ts';
import { EmbedBody } from '../../../plugins/responses/embeddings/schema.ts';
import { ResponseBody } from '../../../plugins/responses/responses/schema.ts';
import { speechFormSchema } from '../../../plugins/speech/synthesis/schema.ts';
import { transcriptionFormSchema } from '../../../plugins/speech/transcription/schema.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { presentFields, validFields } from './fields.ts';
import { FormBuilder } from './form-fields.ts';

const Schema = Type.Object({
  model: Type.String(),
  voice: Type.Optional(Type.String()),
  speed: Type.Optional(Type.Number({ minimum: 0.25 })),
  count: Type.Optional(Type.Integer()),
  stream: Type.Optional(Type.Boolean()),
  response_format: Type.Optional(oneOf(['wav', 'pcm'])),
  granularities: Type.Optional(Type.Array(Type.String())),
  expires_after: Type.Optional(Type.Object({ seconds: Type.Integer() })),
});
const checker = TypeCompiler.Compile(Schema);

const read = (body: object | null) =>
  validFields(presentFields(body, Schema), checker, { choices: new Set(['response_format']) });

function errorOf(body: object | null): unknown {
  try {
    return read(body);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.param, error.code, error.message];
  }
}

function form(...entries: [string, string | File][]): object {
  const builder = new FormBuilder<File>();
  for (const [name, value] of [['model', 'm'], ...entries] as [string, string | File][])
    builder.add(name, value);
  return builder.fields;
}

describe('unknown fields', () => {
  test.each([
    { user: 'u', metadata: { a: 1 }, lang_code: 'a', vad_filter: true, client_metadata: {}, volume: 1 },
    { seed: 5, top_k: 1, min_tokens: 2, models: ['a'], voice_id: 'x', download_format: 'mp3' },
    JSON.parse('{"__proto__":{"voice":"x"},"constructor":1,"toString":2}'),
  ])('are ignored: %j', (more) => {
    expect(read({ model: 'm', ...more })).toEqual({ model: 'm' });
    expect(Object.getPrototypeOf(read({ model: 'm', ...more }))).toBe(Object.prototype);
  });

  test.each([
    ['respnse_format', 'response_format'],
    ['responseFormat', 'response_format'],
    ['voise', 'voice'],
    ['steam', 'stream'],
  ])('%s is rejected as a misspelling of %s', (written, meant) => {
    const allowed = Object.keys(Schema.properties).join(', ');
    const message = `'${written}' is unknown; allowed: ${allowed} (did you mean '${meant}'?).`;
    expect(errorOf({ model: 'm', [written]: 'wav' })).toEqual([written, 'unknown_parameter', message]);
    expect(errorOf(form([written, 'wav']))).toEqual([written, 'unknown_parameter', message]);
  });

  test('that resemble a field of the request are ignored', () => {
    expect(read({ model: 'm', voice: 'a', voices: ['a', 'b'] })).toEqual({ model: 'm', voice: 'a' });
  });

  test('without a value are ignored, even misspelt ones', () => {
    expect(read({ model: 'm', voise: null, steam: '' })).toEqual({ model: 'm' });
  });

  test('that are files are rejected, because their content would be lost', () => {
    const clip = new File(['x'], 'clip.wav');
    expect(errorOf(form(['ref_audio', clip]))).toEqual([
      'ref_audio',
      'unknown_parameter',
      expect.any(String),
    ]);
    expect(errorOf(form(['clips[]', clip]))).toEqual(['clips', 'unknown_parameter', expect.any(String)]);
    expect(errorOf(form(['options[a]', 'x']))).toEqual({ model: 'm' });
  });

  test('are compared in bounded time', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`respons_fxrmat${at}`, 1]));
    expect(read({ model: 'm', ...many })).toEqual({ model: 'm' });
  });
});

describe('blank and null values', () => {
  test.each(['', ' ', '\t\n', null])('%j means that an optional field is absent', (blank) => {
    const body = { voice: blank, speed: blank, stream: blank, response_format: blank, expires_after: blank };
    expect(read({ model: 'm', ...body })).toEqual({ model: 'm' });
  });

  test('are left to the validation for required fields', () => {
    expect(read({ model: ' ' })).toEqual({ model: ' ' });
    expect(errorOf({ model: null })).toEqual(['model', 'missing_required_parameter', expect.any(String)]);
    expect(errorOf(null)).toEqual(['model', 'missing_required_parameter', expect.any(String)]);
  });

  test('in lists and groups of forms are absent', () => {
    expect(read(form(['granularities[]', ''], ['expires_after[seconds]', '']))).toEqual({ model: 'm' });
    expect(read({ model: 'm', granularities: [''] })).toEqual({ model: 'm', granularities: [''] });
  });
});

describe('values of forms', () => {
  test.each([
    ...['true', 'True', 'TRUE', '1', ' true '].map((text) => [text, true] as const),
    ...['false', 'False', 'FALSE', '0'].map((text) => [text, false] as const),
  ])('%j is the boolean %s', (text, value) => {
    expect(read(form(['stream', text]))).toMatchObject({ stream: value });
  });

  test.each(['yes', 'on', '2', 'tru', '-1'])('%j is not a boolean', (text) => {
    expect(errorOf(form(['stream', text]))).toEqual(['stream', 'invalid_type', expect.any(String)]);
  });

  test('numbers are parsed at any depth', () => {
    expect(read(form(['speed', '.5'], ['count', '12'], ['expires_after[seconds]', '60']))).toMatchObject({
      speed: 0.5,
      count: 12,
      expires_after: { seconds: 60 },
    });
    expect(errorOf(form(['count', '1,5']))).toEqual(['count', 'invalid_type', expect.any(String)]);
  });

  test('JSON is not converted', () => {
    expect(errorOf({ model: 'm', speed: '1' })).toEqual(['speed', 'invalid_type', expect.any(String)]);
    expect(errorOf({ model: 'm', stream: 'true' })).toEqual(['stream', 'invalid_type', expect.any(String)]);
  });
});

test('another value of an enum field is unsupported_value', () => {
  expect(errorOf({ model: 'm', response_format: 'mp3' })).toEqual([
    'response_format',
    'unsupported_value',
    expect.any(String),
  ]);
});

/** Fields of the OpenAI SDKs, LiteLLM, Open WebUI, vLLM, llama.cpp, speaches, Kokoro-FastAPI and coding agents. */
const FIELDS_OF_CLIENTS = [
  'user metadata client_metadata extra_body extra_headers timeout api_key api_base tags ttl cache caching num_retries',
  'litellm_call_id litellm_metadata litellm_params proxy_server_request custom_llm_provider drop_params mock_response',
  'stream stream_format streaming stream_include_usage stream_continuous_usage_stats lang lang_code language to_language',
  'vad_filter vad_parameters hotwords without_timestamps word_timestamps batch_size beam_size best_of patience suppress_tokens',
  'condition_on_previous_text initial_prompt temperature_inc no_timestamps translate diarize detect_language task threads',
  'top_k top_p top_a min_p typical_p tfs_z min_tokens max_tokens min_new_tokens max_length min_length length_penalty seed',
  'repetition_penalty repeat_penalty stop_token_ids ignore_eos skip_special_tokens logit_bias logprobs prompt_logprobs n_probs',
  'store prediction audio_format modality service_tier verbosity thinking reasoning_format include_reasoning enable_thinking',
  'chat_template chat_template_kwargs add_generation_prompt continue_final_message documents guided_json guided_choice',
  'structured_outputs grammar json_schema format options keep_alive template raw think num_ctx n_predict mirostat cache_prompt',
  'id_slot samplers provider providers route transforms plugins preset session_id chat_id conversation_id message_id',
  'background_tasks features variables tool_ids tool_servers filter_ids parent_id input_type task_type embedding_type truncate',
  'truncate_prompt_tokens normalize normalized pooling output_dimension instruction instruct priority request_id trace_id',
  'download_format return_download_link volume_multiplier normalization_options return_timestamps sample_rate bit_rate pitch',
  'volume gain emotion style speed speed_factor speech_rate voice_id voice_settings voice_mode speaker speaker_id ref_audio',
  'reference_audio references exaggeration cfg_weight split_text chunk_size chunk_length text_normalization output_format',
  'audio_config url file_url file_name filename description expires_in expires_at target_model_names callback_url webhook',
].flatMap((line) => line.split(' '));

test.each([
  ['chat', ChatBody],
  ['responses', ResponseBody],
  ['embeddings', EmbedBody],
  ['batches', BatchBody],
  ['speech', speechFormSchema(1)],
  ['transcriptions', transcriptionFormSchema('transcribe', 1)],
  ['translations', transcriptionFormSchema('translate', 1)],
  ['files', uploadFormSchema(1)],
])('no field of a known client is taken for a misspelt field of %s', (_, { properties, required = [] }) => {
  const names = Object.keys(properties);
  const endpoint = TypeCompiler.Compile(
    Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown())]))),
  );
  const needed = Object.fromEntries(required.map((name) => [name, 'x']));
  for (const field of FIELDS_OF_CLIENTS) {
    const known = names.includes(field) ? { [field]: 1 } : {};
    expect(validFields({ ...needed, [field]: 1 }, endpoint), field).toEqual({ ...needed, ...known });
  }
});
