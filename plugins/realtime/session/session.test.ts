import { OpenAIRealtimeWebSocket } from '@openai/agents-realtime';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { DEFAULT_VAD_SETTINGS } from '../../../src/contract/engines/engine.ts';
import { MAX_ECHOED_BYTES } from '../limits.ts';
import { SessionSchema } from '../protocol/event-schemas.ts';
import {
  initialSession,
  mergeSession,
  namedVoice,
  type Session,
  type SessionRules,
  toWireSession,
} from './session.ts';

const rules: SessionRules = {
  sttModels: ['svc-stt', 'english', 'far'],
  ttsModels: ['svc-tts', 'other-tts'],
  defaultSttModel: 'svc-stt',
  defaultTtsModel: 'svc-tts',
  languagesOf: (model) => ({ 'svc-stt': ['en', 'de'], english: ['en'] })[model],
  hasVoice: (model, name) => model === 'other-tts' && name === 'nova',
  spokenLanguages: (model) => {
    const languages = model === 'svc-tts' ? ['en-US', 'es'] : ['en-US'];
    return { languages, languageOf: (tag) => languages.find((each) => each.startsWith(tag.slice(0, 2))) };
  },
};

function fresh(query = ''): Session {
  return initialSession('sess_1', rules, new URLSearchParams(query));
}

/** Treats every possible voice id as stored. */
function merge(session: Session, update: unknown) {
  return mergeSession(session, update, rules, namedVoice(update) && 'found');
}

/** Merges updates in sequence. Returns the last result with the session in wire format. */
function merged(...updates: unknown[]) {
  let session = fresh();
  for (const update of updates.slice(0, -1)) session = merge(session, update).session;
  const result = merge(session, updates.at(-1));
  const wire = toWireSession(result.session);
  expect([...Value.Errors(SessionSchema, wire)]).toEqual([]);
  return { ...result, wire, refused: result.errors.map(({ code, param }) => [code, param]) };
}

function input<Fields>(fields: Fields) {
  return { audio: { input: fields } };
}

const NO_HINTS = { language: undefined, languages: undefined, prompt: undefined, keywords: undefined };
const VAD = input({ turn_detection: { type: 'server_vad' } });
const MU_LAW = input({ format: { type: 'audio/pcmu' } });
const INVALID = 'invalid_request_error';
const UNSUPPORTED = 'unsupported_feature';

describe('a new session', () => {
  it('is as specified', () => {
    expect(toWireSession(fresh())).toEqual({
      id: 'sess_1',
      object: 'realtime.session',
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'svc-stt' },
          turn_detection: null,
          noise_reduction: null,
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 } },
      },
      output_modalities: [],
      tts_model: 'svc-tts',
    });
  });

  it.each([
    ['a transcription model', 'model=english', ['english', 'english', 'svc-tts']],
    ['a speech model', 'model=other-tts', ['other-tts', 'svc-stt', 'other-tts']],
    [
      'a model of another service',
      'model=gpt-realtime&intent=transcription',
      ['gpt-realtime', 'svc-stt', 'svc-tts'],
    ],
    ['nothing', 'model=', [undefined, 'svc-stt', 'svc-tts']],
    ['a name that is too long', `model=${'x'.repeat(257)}`, [undefined, 'svc-stt', 'svc-tts']],
  ])('uses the model of the query: %s', (_, query, expected) => {
    const { model, transcription, ttsModel } = fresh(query);
    expect([model, transcription.model, ttsModel]).toEqual(expected);
  });
});

describe('an update', () => {
  it('merges into every field and keeps the fields that it omits', () => {
    const update = {
      type: 'translation',
      model: 'gpt-realtime',
      audio: {
        input: {
          format: { rate: 16_000 },
          transcription: { language: 'de', prompt: 'Ahrensburg' },
          turn_detection: { type: 'server_vad', threshold: 0.7 },
          noise_reduction: null,
        },
        output: { format: { type: 'audio/pcma' }, voice: 'tts-vc-voice_9', speed: 1.5 },
      },
      output_modalities: ['audio'],
      tts_model: 'other-tts',
    };
    const { session, errors } = merged(update);
    expect(errors).toEqual([]);
    expect(session).toEqual({
      id: 'sess_1',
      type: 'translation',
      model: 'gpt-realtime',
      inputFormat: { encoding: 'pcm16', rateHz: 16_000 },
      transcription: { model: 'svc-stt', language: 'de', prompt: 'Ahrensburg' },
      turnDetection: { ...DEFAULT_VAD_SETTINGS, threshold: 0.7 },
      outputFormat: { encoding: 'alaw', rateHz: 8_000 },
      voice: 'tts-vc-voice_9',
      speed: 1.5,
      outputModalities: ['audio'],
      ttsModel: 'other-tts',
      echoed: {},
    });
    const later = merged(update, { audio: { input: { transcription: { model: 'far' } } } }).session;
    expect(later).toEqual({ ...session, transcription: { ...session.transcription, model: 'far' } });
  });

  it('may use the names of the beta protocol', () => {
    const { session, errors } = merged({
      input_audio_format: 'g711_ulaw',
      output_audio_format: 'g711_alaw',
      input_audio_transcription: { model: 'english', language: 'en' },
      turn_detection: null,
      input_audio_noise_reduction: null,
      modalities: ['text', 'audio'],
      voice: 'tts-vc-voice_2',
      speed: 2,
      max_response_output_tokens: 'inf',
    });
    expect(errors).toEqual([]);
    expect(session).toMatchObject({
      inputFormat: { encoding: 'mulaw', rateHz: 8_000 },
      outputFormat: { encoding: 'alaw', rateHz: 8_000 },
      transcription: { model: 'english', language: 'en' },
      voice: 'tts-vc-voice_2',
      speed: 2,
      outputModalities: ['text', 'audio'],
      echoed: { max_response_output_tokens: 'inf' },
    });
  });

  it('with a nested field and its beta name uses the nested one', () => {
    const { session, errors } = merged({
      input_audio_format: 'opus',
      turn_detection: { type: 'semantic_vad' },
      input_audio_noise_reduction: { type: 'near_field' },
      input_audio_transcription: { model: 'whisper-1' },
      output_audio_format: 'opus',
      voice: 'alloy',
      speed: 9,
      modalities: ['video'],
      output_modalities: ['text'],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 8_000 },
          turn_detection: null,
          noise_reduction: null,
          transcription: { model: 'english' },
        },
        output: { format: { type: 'audio/pcmu' }, voice: 'tts-vc-voice_1', speed: 0.5 },
      },
    });
    expect(errors).toEqual([]);
    expect(session).toMatchObject({
      inputFormat: { rateHz: 8_000 },
      transcription: { model: 'english' },
      outputFormat: { encoding: 'mulaw' },
      voice: 'tts-vc-voice_1',
      speed: 0.5,
      outputModalities: ['text'],
    });
  });

  it('selects the GA protocol only by its type', () => {
    expect(merged({ type: 'realtime' }).requestsGa).toBe(true);
    for (const update of [
      {},
      { type: 'transcription' },
      { type: 'translation' },
      { model: 'realtime' },
      null,
    ]) {
      expect(merged(update).requestsGa).toBe(false);
    }
  });

  it('ignores read-only fields and echoes fields without effect', () => {
    const echoed = {
      instructions: 'Be brief.',
      max_output_tokens: 'inf',
      metadata: { a: 1 },
      parallel_tool_calls: true,
      prompt: { id: 'pmpt_1' },
      reasoning: { effort: 'low' },
      temperature: 0.8,
      tool_choice: 'auto',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      tracing: null,
      truncation: 'auto',
    };
    const extras = { delay: 'low' };
    const mine = { id: 'sess_2', object: 'x', expires_at: 1, client_secret: { value: 'ek' } };
    const { wire, errors, session } = merged({ ...echoed, ...mine, input_audio_transcription: extras });
    expect(errors).toEqual([]);
    expect(wire).toMatchObject({ ...echoed, id: 'sess_1', object: 'realtime.session' });
    expect(wire.audio.input.transcription).toEqual({ model: 'svc-stt', ...extras });
    expect(wire).not.toHaveProperty('client_secret');
    const { tools: _, ...rest } = session.echoed;
    expect(merge(session, { tools: [] }).session.echoed).toEqual({ ...rest, tools: [] });
  });

  it('that is not an object is rejected with one error', () => {
    for (const update of [null, 5, 'x', true, [], [{}]]) {
      const { session, refused } = merged(update);
      expect(refused).toEqual([[INVALID, 'session']]);
      expect(session).toEqual(fresh());
    }
  });
});

describe('null', () => {
  const set = {
    audio: {
      input: {
        transcription: { model: 'english', language: 'en', prompt: 'HVV', keywords: ['x'] },
        turn_detection: { type: 'server_vad' },
      },
      output: { voice: 'tts-vc-voice_1', speed: 2 },
    },
    model: 'x',
  };

  it.each([
    ['turn detection', input({ turn_detection: null }), { turnDetection: undefined }],
    ['noise reduction', input({ noise_reduction: null }), {}],
    ['a voice', { audio: { output: { voice: null } } }, { voice: undefined }],
    ['a speed', { speed: null }, { speed: undefined }],
    ['a model', { model: null }, { model: undefined }],
  ])('resets %s to its default', (_, update, changed) => {
    const { session, errors } = merged(set, update);
    expect(errors).toEqual([]);
    expect(session).toEqual({ ...merged(set).session, ...changed });
  });

  it('enables language detection and removes the prompt', () => {
    const { session } = merged(set, input({ transcription: { language: null, prompt: null } }));
    expect(session.transcription).toEqual({ ...NO_HINTS, model: 'english', keywords: ['x'] });
    expect(session.echoed).toEqual(merged(set).session.echoed);
  });

  it('for the transcription keeps only its model', () => {
    const { session, wire, errors } = merged(set, input({ transcription: null }));
    expect(errors).toEqual([]);
    expect(wire.audio.input.transcription).toEqual({ model: 'english' });
    expect(session.echoed).toEqual({});
  });

  it.each([
    ['type', { type: null }],
    ['audio', { audio: null }],
    ['audio.input', input(null)],
    ['audio.input.format', input({ format: null })],
    ['audio.input.format.rate', input({ format: { rate: null } })],
    ['audio.input.transcription.model', input({ transcription: { model: null } })],
    ['audio.input.turn_detection.threshold', input({ turn_detection: { threshold: null } })],
    ['output_modalities', { output_modalities: null }],
    ['tts_model', { tts_model: null }],
  ])('is not a valid %s', (name, update) => {
    const { session, refused } = merged(set, update);
    expect(refused).toEqual([[INVALID, `session.${name}`]]);
    expect(session).toEqual(merged(set).session);
  });
});

describe('a rejected field', () => {
  it.each([
    ['type', { type: 'conversation' }, INVALID],
    ['model', { model: 5 }, INVALID],
    ['model', { model: 'x'.repeat(257) }, INVALID],
    ['audio', { audio: [] }, INVALID],
    ['audio.output', { audio: { output: 'loud' } }, INVALID],
    ['audio.input.format', input({ format: 'pcm16' }), INVALID],
    ['audio.input.format.type', input({ format: { type: 'audio/opus', rate: 48_000 } }), UNSUPPORTED],
    ['audio.input.format.type', input({ format: { type: 'toString' } }), UNSUPPORTED],
    ['audio.input.format.type', input({ format: { type: 16 } }), INVALID],
    ['audio.input.format.rate', input({ format: { type: 'audio/pcm', rate: 7_999 } }), INVALID],
    ['audio.input.format.rate', input({ format: { rate: 48_001 } }), INVALID],
    ['audio.input.format.rate', input({ format: { rate: 22_050.5 } }), INVALID],
    ['audio.input.format.rate', input({ format: { rate: '16000' } }), INVALID],
    ['audio.input.format.rate', input({ format: { type: 'audio/pcmu', rate: 16_000 } }), INVALID],
    ['audio.input.format.rate', input({ format: { type: 'audio/pcma', rate: null } }), INVALID],
    ['audio.input.format.channels', input({ format: { channels: 2 } }), INVALID],
    ['audio.output.format.type', { audio: { output: { format: { type: 'mp3' } } } }, UNSUPPORTED],
    ['input_audio_format', { input_audio_format: 'opus' }, UNSUPPORTED],
    ['input_audio_format', { input_audio_format: 'audio/pcm' }, UNSUPPORTED],
    ['output_audio_format', { output_audio_format: { type: 'audio/pcm' } }, INVALID],
    ['audio.input.noise_reduction', input({ noise_reduction: { type: 'near_field' } }), UNSUPPORTED],
    ['audio.input.noise_reduction', input({ noise_reduction: false }), UNSUPPORTED],
    ['input_audio_noise_reduction', { input_audio_noise_reduction: { type: 'far_field' } }, UNSUPPORTED],
    ['audio.input.transcription', input({ transcription: 'svc-stt' }), INVALID],
    ['audio.input.transcription.model', input({ transcription: { model: 'gpt-4o-transcribe' } }), INVALID],
    ['input_audio_transcription.model', { input_audio_transcription: { model: 'whisper-1' } }, INVALID],
    ['audio.input.transcription.language', input({ transcription: { language: 'fr' } }), INVALID],
    ['audio.input.transcription.language', input({ transcription: { language: ['en'] } }), INVALID],
    ['audio.input.transcription.prompt', input({ transcription: { prompt: 7 } }), INVALID],
    ['audio.input.transcription.prompt', input({ transcription: { prompt: 'x'.repeat(5_001) } }), INVALID],
    ['audio.input.transcription.speaker', input({ transcription: { speaker: 1 } }), INVALID],
    ['audio.input.turn_detection', input({ turn_detection: 'server_vad' }), INVALID],
    ['audio.input.turn_detection.type', input({ turn_detection: {} }), INVALID],
    ['audio.input.turn_detection.type', input({ turn_detection: { threshold: 0.5 } }), INVALID],
    ['audio.input.turn_detection.type', input({ turn_detection: { type: 'none' } }), INVALID],
    [
      'audio.input.turn_detection.type',
      input({ turn_detection: { type: 'semantic_vad', eagerness: 'low', threshold: 7 } }),
      UNSUPPORTED,
    ],
    ['turn_detection.type', { turn_detection: { type: 'semantic_vad' } }, UNSUPPORTED],
    ['audio.output.voice', { audio: { output: { voice: 'alloy' } } }, INVALID],
    ['audio.output.voice', { audio: { output: { voice: 5 } } }, INVALID],
    ['audio.output.voice', { audio: { output: { voice: {} } } }, INVALID],
    ['audio.output.voice.id', { audio: { output: { voice: { id: 'marin' } } } }, INVALID],
    ['voice', { voice: 'shimmer' }, INVALID],
    ['audio.output.speed', { audio: { output: { speed: 0.2 } } }, INVALID],
    ['speed', { speed: '1' }, INVALID],
    ['output_modalities', { output_modalities: 'audio' }, INVALID],
    ['output_modalities', { output_modalities: ['audio', 'audio'] }, INVALID],
    ['output_modalities', { output_modalities: ['video'] }, INVALID],
    ['output_modalities', { output_modalities: ['audio', 'text', 'audio'] }, INVALID],
    ['modalities', { modalities: [null] }, INVALID],
    ['tts_model', { tts_model: 'tts-1' }, INVALID],
    ['voice_ref_wav_b64', { voice_ref_wav_b64: 'UklGRg==' }, UNSUPPORTED],
    [
      'audio.output.voice_ref_wav_format',
      { audio: { output: { voice_ref_wav_format: 'wav' } } },
      UNSUPPORTED,
    ],
    ['audio.output.ref_text', { audio: { output: { ref_text: 'Hi.' } } }, UNSUPPORTED],
    ['x_vector_only_mode', { x_vector_only_mode: false }, UNSUPPORTED],
    ['colour', { colour: 'red' }, INVALID],
    ['__proto__', JSON.parse('{"__proto__": {"type": "realtime"}}'), INVALID],
    ['audio.input.gain', input({ gain: 2 }), INVALID],
    ['audio.left', { audio: { left: {} } }, INVALID],
  ] as [string, unknown, string][])('%s keeps its value: %j', (name, update, code) => {
    const { session, errors } = merged(update);
    expect(errors).toEqual([
      { code, param: `session.${name}`, message: expect.stringContaining(`'session.${name}'`) },
    ]);
    expect(session).toEqual(fresh());
  });

  it('does not prevent the others from being set', () => {
    const { session, refused } = merged({
      type: 'realtime',
      colour: 'red',
      audio: {
        input: { format: { type: 'opus' }, transcription: { model: 'whisper-1', language: 'de' } },
        output: { voice: 'alloy', speed: 2, ref_text: 'Hi.' },
      },
      output_modalities: ['audio'],
    });
    expect(refused.map(([, param]) => param).sort()).toEqual([
      'session.audio.input.format.type',
      'session.audio.input.transcription.model',
      'session.audio.output.ref_text',
      'session.audio.output.voice',
      'session.colour',
    ]);
    expect(session).toEqual({
      ...fresh(),
      type: 'realtime',
      transcription: { ...fresh().transcription, language: 'de' },
      speed: 2,
      outputModalities: ['audio'],
    });
  });

  it('is reported with the allowed values, and without client data except for the name of a voice', () => {
    const { errors } = merged({
      ttsmodel: 'secret',
      tts_model: 'secret',
      audio: {
        input: { transcription: { model: 'secret', language: 'secret' } },
        output: { voice: 'secret' },
      },
    });
    const messages = Object.fromEntries(errors.map(({ param, message }) => [param, message]));
    expect(messages).toEqual({
      'session.ttsmodel':
        "'session.ttsmodel' is an unknown field; allowed: type, model, audio, include, output_modalities, tts_model.",
      'session.tts_model': "'session.tts_model' must be one of: svc-tts, other-tts.",
      'session.audio.input.transcription.model':
        "'session.audio.input.transcription.model' must be one of: svc-stt, english, far.",
      'session.audio.input.transcription.language':
        "'session.audio.input.transcription.language' must be one of en, de, or null to detect it.",
      'session.audio.output.voice': expect.stringMatching(
        /voice_id.*POST \/v1\/audio\/voices.*GET \/v1\/audio\/voices.*'secret'.*null.*default/,
      ),
    });
  });

  it('among many unknown ones is named up to a limit; the rest are counted', () => {
    const flood = (count: number) =>
      merged(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`.repeat(99), i]))).errors;
    expect(flood(16).map(({ param }) => param)).not.toContain('session');
    expect(flood(1_000)).toHaveLength(17);
    expect(flood(1_000).at(-1)).toEqual({
      code: INVALID,
      param: 'session',
      message: "984 more unknown fields in 'session'.",
    });
    expect(Math.max(...flood(1_000).map(({ message }) => message.length))).toBeLessThan(300);
  });

  it('may be a text that is too long', () => {
    const prompt = 'x'.repeat(5_000);
    const { session, errors } = merged({ model: 'x'.repeat(256), ...input({ transcription: { prompt } }) });
    expect([errors, session.transcription.prompt, session.model]).toEqual([[], prompt, 'x'.repeat(256)]);
  });
});

describe('a format', () => {
  it.each([
    ['PCM keeps its rate', [{ rate: 16_000 }, { type: 'audio/pcm' }], { type: 'audio/pcm', rate: 16_000 }],
    ['G.711 has one', [{ type: 'audio/pcmu' }], { type: 'audio/pcmu', rate: 8_000 }],
    ['with explicit rate', [{ type: 'audio/pcma', rate: 8_000 }], { type: 'audio/pcma', rate: 8_000 }],
    ['with a later rate', [{ type: 'audio/pcma' }, { rate: 8_000 }], { type: 'audio/pcma', rate: 8_000 }],
    [
      'PCM after G.711 has the initial rate',
      [{ rate: 16_000 }, { type: 'audio/pcma' }, { type: 'audio/pcm' }],
      { type: 'audio/pcm', rate: 24_000 },
    ],
    ['the minimum', [{ rate: 8_000 }], { type: 'audio/pcm', rate: 8_000 }],
    ['the maximum', [{ rate: 48_000 }], { type: 'audio/pcm', rate: 48_000 }],
  ])('without a rate: %s', (_, formats, expected) => {
    const { wire, errors } = merged(
      ...formats.map((format) => ({ audio: { input: { format }, output: { format } } })),
    );
    expect(errors).toEqual([]);
    expect([wire.audio.input.format, wire.audio.output.format]).toEqual([expected, expected]);
  });

  it('with a beta name keeps the rate of PCM', () => {
    const { session } = merged(input({ format: { rate: 16_000 } }), { input_audio_format: 'pcm16' });
    expect(session.inputFormat).toEqual({ encoding: 'pcm16', rateHz: 16_000 });
    expect(merged(MU_LAW, { input_audio_format: 'pcm16' }).session.inputFormat.rateHz).toBe(24_000);
  });
});

describe('turn detection', () => {
  it('is turned on with defaults, and reports that responses are not automatic', () => {
    const requestedModel = {
      type: 'server_vad',
      create_response: true,
      interrupt_response: true,
      idle_timeout_ms: 6_000,
    };
    const { wire, errors } = merged(input({ turn_detection: requestedModel }));
    expect(errors).toEqual([]);
    expect(wire.audio.input.turn_detection).toEqual({
      type: 'server_vad',
      threshold: 0.5,
      prefix_padding_ms: 300,
      silence_duration_ms: 500,
      create_response: false,
      interrupt_response: false,
      idle_timeout_ms: null,
    });
  });

  it('keeps omitted fields until it is turned off', () => {
    const set = input({ turn_detection: { type: 'server_vad', threshold: 0, prefix_padding_ms: 5_000 } });
    const again = input({ turn_detection: { type: 'server_vad', silence_duration_ms: 0 } });
    const retainedEchoes = merged(set, again).session.turnDetection;
    expect(retainedEchoes).toEqual({
      ...DEFAULT_VAD_SETTINGS,
      threshold: 0,
      prefixPaddingMs: 5_000,
      silenceDurationMs: 0,
    });
    expect(merged(set, input({ turn_detection: { threshold: 1 } })).session.turnDetection?.threshold).toBe(1);
    expect(merged(set, input({ turn_detection: null }), again).session.turnDetection).toEqual({
      ...DEFAULT_VAD_SETTINGS,
      silenceDurationMs: 0,
    });
  });

  it.each([
    ['threshold', 1.01],
    ['threshold', -0.01],
    ['threshold', '0.5'],
    ['prefix_padding_ms', 5_001],
    ['prefix_padding_ms', 0.5],
    ['silence_duration_ms', -1],
    ['silence_duration_ms', []],
    ['create_response', 'yes'],
    ['interrupt_response', 1],
    ['idle_timeout_ms', true],
    ['eagerness', 'low'],
    ['ref_text', 'Hi.'],
  ])('is turned on even if %s is %j', (name, value) => {
    const { session, refused } = merged(input({ turn_detection: { type: 'server_vad', [name]: value } }));
    const code = name === 'ref_text' ? UNSUPPORTED : INVALID;
    expect(refused).toEqual([[code, `session.audio.input.turn_detection.${name}`]]);
    expect(session.turnDetection).toEqual(DEFAULT_VAD_SETTINGS);
  });

  it('with a rejected type is unchanged', () => {
    const { session, refused } = merged(
      VAD,
      input({ turn_detection: { type: 'semantic_vad', threshold: 0.9 } }),
    );
    expect(refused).toEqual([[UNSUPPORTED, 'session.audio.input.turn_detection.type']]);
    expect(session.turnDetection).toEqual(DEFAULT_VAD_SETTINGS);
  });
});

describe('server_vad and G.711', () => {
  const both = { ...MU_LAW.audio.input, ...VAD.audio.input };
  const TYPE = 'session.audio.input.turn_detection.type';

  it.each([
    ['G.711 after server_vad', [MU_LAW, VAD], TYPE, 'mulaw', false],
    ['server_vad after G.711', [VAD, MU_LAW], 'session.audio.input.format.type', 'pcm16', true],
    ['both in one update', [input(both)], TYPE, 'mulaw', false],
    ['both in one update, twice', [input(both), input(both)], TYPE, 'mulaw', false],
    [
      'both in one update, while detection is on',
      [VAD, input(both)],
      'session.audio.input.format.type',
      'pcm16',
      true,
    ],
    [
      'by beta names',
      [VAD, { input_audio_format: 'g711_alaw' }],
      'session.input_audio_format',
      'pcm16',
      true,
    ],
    [
      'by beta names in reverse order',
      [MU_LAW, { turn_detection: { type: 'server_vad' } }],
      'session.turn_detection.type',
      'mulaw',
      false,
    ],
  ] as const)('are mutually exclusive: %s', (_, updates, param, encoding, detects) => {
    const { session, refused } = merged(...updates);
    expect(refused).toEqual([[INVALID, param]]);
    expect([session.inputFormat.encoding, session.turnDetection !== undefined]).toEqual([encoding, detects]);
  });

  it('can be exchanged in one update', () => {
    const toManual = merged(VAD, input({ ...MU_LAW.audio.input, turn_detection: null }));
    expect(toManual.errors).toEqual([]);
    expect(toManual.session).toMatchObject({ inputFormat: { encoding: 'mulaw' }, turnDetection: undefined });
    const toDetection = merged(
      MU_LAW,
      input({ ...VAD.audio.input, format: { type: 'audio/pcm', rate: 8_000 } }),
    );
    expect(toDetection.errors).toEqual([]);
    expect(toDetection.session).toMatchObject({
      inputFormat: { encoding: 'pcm16', rateHz: 8_000 },
      turnDetection: DEFAULT_VAD_SETTINGS,
    });
  });

  it('do not affect the output', () => {
    const { errors } = merged(VAD, { output_audio_format: 'g711_ulaw' });
    expect(errors).toEqual([]);
  });
});

describe('model and language', () => {
  const german = input({ transcription: { language: 'de' } });
  const MODEL = 'session.audio.input.transcription.model';

  it('must match', () => {
    const { session, refused } = merged(german, input({ transcription: { model: 'english' } }));
    expect(refused).toEqual([[INVALID, MODEL]]);
    expect(session).toEqual(merged(german).session);
    const withLanguage = merged(german, input({ transcription: { model: 'english', language: 'en' } }));
    expect(withLanguage.errors).toEqual([]);
    const detected = merged(german, input({ transcription: { model: 'english', language: null } }));
    expect(detected.errors).toEqual([]);
    expect(detected.session.transcription).toEqual({
      model: 'english',
      language: undefined,
      prompt: undefined,
    });
  });

  it('are both rejected if neither matches the previous value of the other', () => {
    const { session, refused } = merged(
      german,
      input({ transcription: { model: 'english', language: 'fr' } }),
    );
    expect(refused).toEqual([
      [INVALID, 'session.audio.input.transcription.language'],
      [INVALID, MODEL],
    ]);
    expect(session).toEqual(merged(german).session);
  });

  it('any ISO 639-1 language is accepted if the languages of the model are unknown', () => {
    const far = { model: 'far', language: 'fr' };
    expect(merged(input({ transcription: far })).session.transcription).toMatchObject(far);
    for (const language of ['xx', 'klingon', 'en-']) {
      const { errors } = merged(input({ transcription: { ...far, language } }));
      expect(errors).toMatchObject([{ message: expect.stringContaining('an ISO 639-1 code') }]);
    }
  });

  it.each<[string, string | undefined]>([
    ['de-DE', 'de'],
    ['DE', 'de'],
    ['de_AT', 'de'],
    ['german', 'de'],
    ['', undefined],
    [' ', undefined],
  ])('the language %j is %s', (language, reduced) => {
    const english = input({ transcription: { language: 'en' } });
    const { session, errors } = merged(english, input({ transcription: { language } }));
    expect([session.transcription.language, errors]).toEqual([reduced, []]);
  });

  it('a blank prompt is ignored', () => {
    expect(merged(input({ transcription: { prompt: ' ' } })).session.transcription.prompt).toBeUndefined();
  });
});

describe('hints', () => {
  const transcription = (fields: object) => input({ transcription: fields });

  it('are reduced and echoed', () => {
    const hints = { languages: ['en-US', 'German', 'en'], keywords: [' Blankenese ', ''] };
    const { wire, errors } = merged(transcription(hints));
    expect(errors).toEqual([]);
    expect(wire.audio.input.transcription).toEqual({
      model: 'svc-stt',
      languages: ['en', 'de'],
      keywords: ['Blankenese'],
    });
  });

  it('are kept by other updates, and removed with null and an empty list', () => {
    const hints = transcription({ languages: ['en'], keywords: ['HVV'] });
    const kept = merged(hints, transcription({ prompt: 'x' })).session.transcription;
    expect(kept).toMatchObject({ languages: ['en'], keywords: ['HVV'], prompt: 'x' });
    for (const none of [null, []]) {
      const { session } = merged(hints, transcription({ languages: none, keywords: none }));
      expect(session.transcription).toEqual({ ...NO_HINTS, model: 'svc-stt' });
    }
  });

  it.each([
    [{ languages: ['en', 'fr'] }, 'languages'],
    [{ languages: Array(101).fill('en') }, 'languages'],
    [{ languages: 'en' }, 'languages'],
    [{ keywords: [1] }, 'keywords'],
    [{ keywords: ['x'.repeat(5001)] }, 'keywords'],
  ])('are rejected: %j', (fields, name) => {
    const { refused, session } = merged(
      transcription({ languages: ['en'], keywords: ['a'] }),
      transcription(fields),
    );
    expect(refused).toEqual([[INVALID, `session.audio.input.transcription.${name}`]]);
    expect(session.transcription).toMatchObject({ languages: ['en'], keywords: ['a'] });
  });

  it('reject a model that does not support a language of the list', () => {
    const german = transcription({ languages: ['en', 'de'] });
    const { refused, session } = merged(german, transcription({ model: 'english' }));
    expect(refused).toEqual([[INVALID, 'session.audio.input.transcription.model']]);
    expect(session.transcription.model).toBe('svc-stt');
  });
});

describe('include', () => {
  const include = ['item.input_audio_transcription.logprobs'];

  it('is echoed until it is null', () => {
    expect(merged({ include }).wire).toMatchObject({ include });
    expect(merged({ include }, {}).session.include).toEqual(include);
    expect(merged({ include }, { include: null }).wire).not.toHaveProperty('include');
  });

  it.each([['logprobs'], [['logprobs']], [[...include, ...include]]])('is rejected as %j', (value) => {
    const { errors, session } = merged({ include }, { include: value });
    expect(errors).toMatchObject([
      { param: 'session.include', message: expect.stringContaining(include[0] ?? '') },
    ]);
    expect(session.include).toEqual(include);
  });
});

describe('echoed fields', () => {
  const half = 'x'.repeat(MAX_ECHOED_BYTES / 2);

  it('have a total size limit', () => {
    const { session, refused } = merged({ instructions: half }, { metadata: { a: half }, tracing: 'auto' });
    expect(refused).toEqual([[INVALID, 'session.metadata']]);
    expect(session.echoed).toEqual({ instructions: half, tracing: 'auto' });
  });

  it('may be replaced within the limit', () => {
    const { session, errors } = merged({ instructions: half }, { instructions: 'x', metadata: { a: half } });
    expect(errors).toEqual([]);
    expect(session.echoed).toEqual({ instructions: 'x', metadata: { a: half } });
  });

  it('are counted in bytes', () => {
    const delay = 'ß'.repeat(MAX_ECHOED_BYTES / 2 - 1);
    const { session, errors } = merged(input({ transcription: { delay } }));
    expect([errors, session.echoed]).toEqual([[], { 'audio.input.transcription.delay': delay }]);
    const { refused } = merged(input({ transcription: { delay } }), { tracing: 'a' });
    expect(refused).toEqual([[INVALID, 'session.tracing']]);
  });

  it('have a nesting limit', () => {
    const deep = JSON.parse(`${'['.repeat(65)}${']'.repeat(65)}`);
    expect(merged({ tools: deep }).refused).toEqual([[INVALID, 'session.tools']]);
    expect(merged({ tools: deep[0] }).refused).toEqual([]);
    let endless: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) endless = { level: endless };
    expect(merged({ tools: endless, colour: endless }).refused).toEqual([
      [INVALID, 'session.colour'],
      [INVALID, 'session.tools'],
    ]);
  });
});

describe('the first frames of an official client', () => {
  const client = new OpenAIRealtimeWebSocket({ model: 'gpt-realtime' });
  const onWire = (config: Parameters<typeof client.buildSessionPayload>[0]) =>
    JSON.parse(JSON.stringify(client.buildSessionPayload(config)));

  it('cause only the two errors of its default values', () => {
    const tools = [{ type: 'function', name: 'f', description: 'd', parameters: {}, strict: true }] as never;
    const first = onWire({ instructions: 'Be brief.', toolChoice: 'auto', tools });
    const { refused, wire, requestsGa, session } = merged(first);
    expect(refused).toEqual([
      [UNSUPPORTED, 'session.audio.input.turn_detection.type'],
      [INVALID, 'session.audio.input.transcription.model'],
    ]);
    expect(requestsGa).toBe(true);
    expect(wire).toMatchObject({
      type: 'realtime',
      model: 'gpt-realtime',
      instructions: 'Be brief.',
      output_modalities: ['audio'],
      audio: {
        input: { turn_detection: null, transcription: { model: 'svc-stt' } },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, speed: 1 },
      },
      tool_choice: 'auto',
      tools: [{ type: 'function', name: 'f' }],
    });
    const second = merge(session, { type: 'realtime', tracing: 'auto' });
    expect([second.errors, second.session.echoed.tracing]).toEqual([[], 'auto']);
  });

  it('are accepted with the models of this service', () => {
    const { errors, wire } = merged(
      onWire({
        audio: {
          input: {
            turnDetection: { type: 'server_vad', silenceDurationMs: 400, interruptResponse: true },
            transcription: { model: 'svc-stt' },
          },
          output: { voice: 'tts-vc-voice_1' },
        },
      }),
    );
    expect(errors).toEqual([]);
    expect(wire.audio.input.turn_detection).toMatchObject({
      silence_duration_ms: 400,
      interrupt_response: false,
    });
    expect(wire.audio.output.voice).toBe('tts-vc-voice_1');
  });
});

describe('the voice of a model', () => {
  const NAMED = { tts_model: 'other-tts', audio: { output: { voice: 'nova' } } };

  it('can be named, as a string or as an object', () => {
    for (const voice of ['nova', { id: 'nova' }]) {
      const { session, errors } = merge(fresh(), { ...NAMED, audio: { output: { voice } } });
      expect([session.voice, session.ttsModel, errors]).toEqual(['nova', 'other-tts', []]);
    }
    expect(merge(fresh('model=other-tts'), { audio: { output: { voice: 'nova' } } }).errors).toEqual([]);
  });

  it('is rejected with a model that does not have it', () => {
    const { session, errors } = merge(fresh(), { audio: { output: { voice: 'nova' } } });
    expect(session.voice).toBeUndefined();
    expect(errors).toMatchObject([{ param: 'session.audio.output.voice' }]);
  });

  it('keeps the session from another model, unless the update sets the voice too', () => {
    const { session } = merge(fresh(), NAMED);
    const rejected = merge(session, { tts_model: 'svc-tts' });
    expect(rejected.session).toMatchObject({ ttsModel: 'other-tts', voice: 'nova' });
    expect(rejected.errors).toMatchObject([{ param: 'session.tts_model' }]);
    const changed = merge(session, { tts_model: 'svc-tts', audio: { output: { voice: null } } });
    expect([changed.session.ttsModel, changed.session.voice, changed.errors]).toEqual([
      'svc-tts',
      undefined,
      [],
    ]);
  });
});

describe('the language of speech', () => {
  const spoken = (language: unknown) => ({ audio: { output: { language } } });

  it('is echoed in the form of the model, and reset with null', () => {
    const { session, wire } = merged(spoken('es-MX'));
    expect([session.spokenLanguage, wire.audio.output]).toMatchObject(['es', { language: 'es' }]);
    expect(merged(spoken('es'), spoken(null)).wire.audio.output).not.toHaveProperty('language');
    expect(merged(spoken('es'), { audio: { output: { speed: 1.5 } } }).session.spokenLanguage).toBe('es');
  });

  it.each(['de', 7, 'e'.repeat(100), {}])('is not %j', (language) => {
    const { refused, errors, session } = merged(spoken('es'), spoken(language));
    expect(refused).toEqual([[INVALID, 'session.audio.output.language']]);
    expect(errors[0]?.message).toContain('must be one of en-US, es, or null');
    expect(session.spokenLanguage).toBe('es');
  });

  it('must be one of a new model', () => {
    const { refused, session } = merged(spoken('es'), { tts_model: 'other-tts' });
    expect(refused).toEqual([[INVALID, 'session.tts_model']]);
    expect(session).toMatchObject({ ttsModel: 'other-tts', spokenLanguage: undefined });
    const both = merged(spoken('es'), { tts_model: 'other-tts', ...spoken('en') });
    expect([both.refused, both.session.spokenLanguage]).toEqual([[], 'en-US']);
  });
});
