import { TypeCompiler } from '@sinclair/typebox/compiler';
import { describe, expect, test } from 'vitest';
import { CONVERSATION } from '../../../test/harness/realtime-app.ts';
import { toBetaEvent } from './beta-events.ts';
import {
  type ConversationSession,
  initialConversationSession,
  type MergeContext,
  mergeConversationSession,
  toWireConversationSession,
} from './session.ts';
import { BetaConversationSessionSchema, ConversationSessionSchema } from './session-schema.ts';

const STORED = 'tts-vc-voice_1';
const MODEL = { ...CONVERSATION, language: 'de', maxOutputTokens: 400 };
const START = initialConversationSession('sess_1', MODEL, 1000);
const CONTEXT: MergeContext = { model: MODEL, lookup: undefined, hasSpoken: false };
const GA = TypeCompiler.Compile(ConversationSessionSchema);
const BETA = TypeCompiler.Compile(BetaConversationSessionSchema);

/** Applies updates one after the other. The result of each is valid in both protocols. */
function updated(...updates: readonly unknown[]) {
  return merged(updates);
}

function merged(updates: readonly unknown[], context: Partial<MergeContext> = {}) {
  let session = START;
  const errors: string[] = [];
  for (const update of updates) {
    const result = mergeConversationSession(session, update, { ...CONTEXT, ...context });
    session = result.session;
    errors.push(...result.errors.map(({ code, param }) => `${code} ${param}`));
  }
  return { session, wire: wireOf(session), errors };
}

function wireOf(session: ConversationSession) {
  const wire = toWireConversationSession(session);
  expect([...GA.Errors(wire)]).toEqual([]);
  const beta = toBetaEvent({ type: 'session.updated', session: wire } as { type: string });
  expect([...BETA.Errors((beta as { session?: unknown } | undefined)?.session)]).toEqual([]);
  return wire;
}

const input = (fields: object) => ({ audio: { input: fields } });
const output = (fields: object) => ({ audio: { output: fields } });
const tool = (name: string, more: object = {}) => ({ type: 'function', name, ...more });
const detection = (value: unknown) => input({ turn_detection: value });
const SERVER_VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  idle_timeout_ms: null,
  create_response: true,
  interrupt_response: true,
};
const SEMANTIC_VAD = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
};

test('a new session has all fields in the exact form', () => {
  expect(wireOf(START)).toEqual({
    type: 'realtime',
    object: 'realtime.session',
    id: 'sess_1',
    model: 'svc-voice',
    expires_at: 4600,
    output_modalities: ['audio'],
    instructions: 'Be brief.',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 400,
    truncation: 'auto',
    tracing: null,
    prompt: null,
    include: null,
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: { model: 'svc-stt', language: 'de', prompt: null },
        noise_reduction: null,
        turn_detection: SERVER_VAD,
      },
      output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy', speed: 1 },
    },
  });
});

describe('a merge', () => {
  test('keeps fields that were not sent', () => {
    const { wire, errors } = updated(
      { instructions: 'Be kind.', ...input({ transcription: { language: 'en' } }) },
      { audio: { input: { noise_reduction: { type: 'near_field' } }, output: { speed: 1.2 } } },
    );
    expect(errors).toEqual([]);
    expect(wire).toMatchObject({
      instructions: 'Be kind.',
      audio: {
        input: { transcription: { language: 'en' }, noise_reduction: { type: 'near_field' } },
        output: { voice: 'alloy', speed: 1.2 },
      },
    });
  });

  test('keeps the strength or the type of the noise reduction that was not sent', () => {
    const noise = (...updates: unknown[]) => {
      const { wire, errors } = updated(...updates.map((value) => input({ noise_reduction: value })));
      return [wire.audio.input.noise_reduction, errors];
    };
    const near = { type: 'near_field', strength: 0.5 };
    expect(noise(near)).toEqual([near, []]);
    expect(noise(near, { type: 'far_field' })).toEqual([{ ...near, type: 'far_field' }, []]);
    expect(noise(near, { strength: 1 })).toEqual([{ ...near, strength: 1 }, []]);
    expect(noise(near, null)).toEqual([null, []]);
    const error = 'invalid_value session.audio.input.noise_reduction';
    for (const wrong of [
      { strength: 1 },
      { type: 'near_field', strength: '1' },
      { type: 'near_field', strength: -1 },
    ])
      expect(noise(wrong)).toEqual([null, [error]]);
  });

  test('of the hints of a transcription is not echoed, because clients reject other keys', () => {
    const hints = { languages: ['en-US', 'de'], keywords: [' Blankenese '] };
    const { wire, session, errors } = updated(input({ transcription: { ...hints, language: null } }));
    expect(errors).toEqual([]);
    expect(session.settings.transcription).toMatchObject({
      languages: ['en', 'de'],
      keywords: ['Blankenese'],
    });
    expect(wire.audio.input.transcription).toEqual({ model: 'svc-stt', language: null, prompt: null });
    const wrong = updated(input({ transcription: { languages: ['xx'], keywords: 'x' } })).errors;
    const param = 'invalid_value session.audio.input.transcription';
    expect(wrong).toEqual([`${param}.languages`, `${param}.keywords`]);
  });

  test('of `include` selects log probabilities', () => {
    const include = ['item.input_audio_transcription.logprobs'];
    const { wire, session } = updated({ include });
    expect([wire.include, session.settings.includesLogprobs]).toEqual([include, true]);
    expect(updated({ include }, { include: null }).session.settings.includesLogprobs).toBe(false);
  });

  test('sets the defaults for null, and clears', () => {
    const { wire, errors } = updated(
      {
        instructions: 'Be kind.',
        tools: [tool('weather')],
        tool_choice: 'required',
        max_output_tokens: 'inf',
        output_modalities: ['text'],
        truncation: 'disabled',
        tracing: 'auto',
        audio: {
          input: {
            format: { type: 'audio/pcmu' },
            transcription: { model: 'whisper-1', language: 'en', prompt: 'Names.' },
            noise_reduction: { type: 'far_field' },
            turn_detection: { type: 'server_vad', threshold: 0.9 },
          },
          output: { format: { type: 'audio/pcma' }, voice: 'marin', speed: 1.5 },
        },
      },
      {
        instructions: null,
        tools: null,
        tool_choice: null,
        max_output_tokens: null,
        output_modalities: null,
        truncation: null,
        tracing: null,
        audio: {
          input: { format: null, transcription: null, noise_reduction: null },
          output: { format: null, voice: null, speed: null },
        },
      },
      detection({ threshold: null }),
    );
    expect(errors).toEqual([]);
    expect(wire).toEqual(wireOf(START));
  });

  test('treats a group that is null as omitted', () => {
    expect(updated({ audio: null }, { audio: { input: null, output: null } })).toMatchObject({
      errors: [],
      wire: wireOf(START),
    });
  });

  test('of empty values clears', () => {
    const { wire } = updated({ instructions: 'x', tools: [tool('a')] }, { instructions: '', tools: [] });
    expect(wire).toMatchObject({ instructions: '', tools: [] });
  });

  test('replaces tools as a whole', () => {
    const first = tool('a', { description: 'A.', parameters: { type: 'object' }, strict: false });
    const { wire, session } = updated({ tools: [tool('x')] }, { tools: [first, tool('b')] });
    expect(wire.tools).toEqual([first, tool('b')]);
    expect(session.settings.tools.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('applies valid fields in addition to rejected ones', () => {
    const { wire, errors } = updated({ instructions: 7, bogus_field: 1, ...output({ speed: 1.1 }) });
    expect(errors).toEqual(['unknown_parameter session.bogus_field', 'invalid_value session.instructions']);
    expect(wire).toMatchObject({ instructions: 'Be brief.', audio: { output: { speed: 1.1 } } });
  });
});

describe('turn detection', () => {
  test.each<[string, readonly unknown[], unknown]>([
    ['is off with null', [null], null],
    ['keeps its type with an empty object', [{}], SERVER_VAD],
    ['stays off with an empty object', [null, {}], null],
    ['is server_vad without a type', [null, { threshold: 0.4 }], { ...SERVER_VAD, threshold: 0.4 }],
    [
      'keeps the fields of its type',
      [{ silence_duration_ms: 200 }, { type: 'server_vad', idle_timeout_ms: 6000 }],
      { ...SERVER_VAD, silence_duration_ms: 200, idle_timeout_ms: 6000 },
    ],
    ['has defaults in another type', [{ create_response: false }, { type: 'semantic_vad' }], SEMANTIC_VAD],
    [
      'has an eagerness',
      [{ type: 'semantic_vad', eagerness: 'medium', interrupt_response: false }],
      { ...SEMANTIC_VAD, eagerness: 'medium', interrupt_response: false },
    ],
    ['ignores fields of the other type', [{ type: 'semantic_vad', threshold: 0.2 }], SEMANTIC_VAD],
    [
      'has defaults for null fields',
      [
        { type: 'semantic_vad', eagerness: 'low', create_response: false },
        { eagerness: null, create_response: null },
      ],
      SEMANTIC_VAD,
    ],
    ['clears the idle timeout', [{ idle_timeout_ms: 5000 }, { idle_timeout_ms: null }], SERVER_VAD],
  ])('%s', (_, values, expected) => {
    const { wire, errors } = updated(...values.map(detection));
    expect(errors).toEqual([]);
    expect(wire.audio.input.turn_detection).toEqual(expected);
  });

  test.each([
    [{ type: 'magic' }, 'type'],
    [{ threshold: 2 }, 'threshold'],
    [{ silence_duration_ms: 1.5 }, 'silence_duration_ms'],
    [{ idle_timeout_ms: 4999 }, 'idle_timeout_ms'],
    [{ idle_timeout_ms: 30_001 }, 'idle_timeout_ms'],
    [{ create_response: 'yes' }, 'create_response'],
    [{ type: 'semantic_vad', eagerness: 'huge' }, 'eagerness'],
  ])('%j is rejected', (value, field) => {
    const { errors } = updated(detection(value));
    expect(errors).toEqual([`invalid_value session.audio.input.turn_detection.${field}`]);
  });

  test('that does not change is the same object, so that the input is not reconfigured', () => {
    const { session } = updated(detection(SERVER_VAD), { turn_detection: { type: 'server_vad' } });
    expect(session.settings.turnDetection).toBe(START.settings.turnDetection);
  });

  test('with a rejected type keeps its value', () => {
    expect(updated(detection(null), detection({ type: 'magic' })).wire.audio.input.turn_detection).toBeNull();
  });
});

describe('transcription', () => {
  test.each(['gpt-4o-mini-transcribe', 'gpt-realtime-whisper', 'whisper-1'])('accepts %s', (model) => {
    const { wire, errors, session } = updated(input({ transcription: { model } }));
    expect(errors).toEqual([]);
    expect(wire.audio.input.transcription).toEqual({ model, language: 'de', prompt: null });
    expect(session.settings.transcription).toEqual({ language: 'de', prompt: undefined });
  });

  test('is echoed without other keys', () => {
    const { wire, errors } = updated(
      input({ transcription: { delay: 'low', keywords: ['a'], languages: ['en'], language: 'en-US' } }),
    );
    expect(errors).toEqual([]);
    expect(wire.audio.input.transcription).toEqual({ model: 'svc-stt', language: 'en', prompt: null });
  });

  test('of another model has the initial language and prompt', () => {
    const settings = { model: 'whisper-1', language: 'fr', prompt: 'Names.' };
    const { wire } = updated(
      input({ transcription: settings }),
      input({ transcription: { model: 'whisper-1' } }),
    );
    expect(wire.audio.input.transcription).toEqual(settings);
    const other = updated(input({ transcription: settings }), input({ transcription: { model: 'x' } }));
    expect(other.wire.audio.input.transcription).toEqual({ model: 'x', language: 'de', prompt: null });
  });

  test.each([null, '', ' '])('detects the language with %j', (language) => {
    const { session, errors } = updated(input({ transcription: { language } }));
    expect([session.settings.transcription.language, errors]).toEqual([undefined, []]);
  });

  test.each(['EN', 'en_GB', 'English', 'eng'])('reduces the language %s', (language) => {
    const { session } = updated(input({ transcription: { language } }));
    expect(session.settings.transcription.language).toBe('en');
  });
});

describe('the language of replies', () => {
  const tags = new Map([
    ['es', 'es'],
    ['es-MX', 'es'],
    ['en', 'en-US'],
  ]);
  const spokenLanguages = { languages: ['en-US', 'es'], languageOf: (tag: string) => tags.get(tag) };

  test('is that of the transcription, and is not echoed', () => {
    expect(START.settings.language).toEqual({ tag: 'de', source: 'transcription' });
    const { wire, session } = updated(input({ transcription: { language: 'es' } }));
    expect(session.settings.language).toEqual({ tag: 'es', source: 'transcription' });
    expect(wire.audio.output).not.toHaveProperty('language');
    expect(updated(input({ transcription: { language: null } })).session.settings.language).toBeUndefined();
  });

  test('can be set, and is echoed as the speech model names it', () => {
    const { wire, errors, session } = merged([output({ language: 'es-MX' }), output({ speed: 1.2 })], {
      spokenLanguages,
    });
    expect(errors).toEqual([]);
    expect(session.settings.language).toEqual({ tag: 'es', source: 'session' });
    expect(wire.audio.output).toMatchObject({ language: 'es', speed: 1.2 });
  });

  test.each([null, ' '])('%j means that of the transcription again', (language) => {
    const { errors, session } = merged([output({ language: 'es' }), output({ language })], {
      spokenLanguages,
    });
    expect(errors).toEqual([]);
    expect(session.settings.language).toEqual({ tag: 'de', source: 'transcription' });
  });

  test.each(['pl', 5, {}, 'x'.repeat(65)])(
    '%j is an error that lists the languages of the model',
    (language) => {
      const { errors, session } = merged([output({ language: 'es' }), output({ language })], {
        spokenLanguages,
      });
      expect(errors).toEqual(['invalid_value session.audio.output.language']);
      expect(session.settings.language).toEqual({ tag: 'es', source: 'session' });
    },
  );

  test('is any tag if only an upstream server knows the languages', () => {
    const { errors, wire } = updated(output({ language: 'gsw' }));
    expect(errors).toEqual([]);
    expect(wire.audio.output.language).toBe('gsw');
  });
});

describe('the voice', () => {
  test.each(['alloy', 'marin', 'cedar'])('%s of OpenAI is echoed, and selects that of the model', (voice) => {
    const { wire, errors, session } = updated(output({ voice }));
    expect(errors).toEqual([]);
    expect([wire.audio.output.voice, session.settings.voice]).toEqual([voice, undefined]);
  });

  test('is a named voice of the speech model, also if it has the initial name', () => {
    const hasVoice = (name: string) => ['alloy', 'af_sky+af_nova'].includes(name);
    for (const voice of ['alloy', 'af_sky+af_nova']) {
      const { wire, errors, session } = merged([output({ voice })], { hasVoice });
      expect(errors).toEqual([]);
      expect([wire.audio.output.voice, session.settings.voice]).toEqual([voice, voice]);
    }
    const { session, errors } = merged([output({ voice: 'alloy' })], { hasVoice, hasSpoken: true });
    expect([session.settings.voice, errors]).toEqual([undefined, []]);
  });

  test.each([STORED, { id: STORED }])('%j that is stored is echoed as a string', (voice) => {
    const { wire, errors, session } = merged([output({ voice })], { lookup: 'found' });
    expect(errors).toEqual([]);
    expect([wire.audio.output.voice, session.settings.voice]).toEqual([STORED, STORED]);
  });

  test.each([
    ['nobodys', undefined, 'invalid_value'],
    [STORED, 'missing', 'invalid_value'],
    [STORED, 'failed', 'server_error'],
    [7, undefined, 'invalid_value'],
  ] as const)('%j (%s) is rejected with %s', (voice, lookup, code) => {
    const { errors, wire } = merged([output({ voice })], { lookup });
    expect(errors).toEqual([`${code} session.audio.output.voice`]);
    expect(wire.audio.output.voice).toBe('alloy');
  });

  test('is fixed after speech; the same value is not an error', () => {
    const spoken = { hasSpoken: true };
    expect(merged([output({ voice: 'alloy' })], spoken).errors).toEqual([]);
    expect(merged([output({ voice: null })], spoken).errors).toEqual([]);
    expect(merged([output({ voice: 'marin' })], spoken)).toMatchObject({
      errors: ['cannot_update_voice session.audio.output.voice'],
      wire: { audio: { output: { voice: 'alloy' } } },
    });
  });
});

describe('the tool choice', () => {
  const tools = [tool('weather')];

  test.each([
    ['none', 'none'],
    ['required', 'required'],
    ['weather', 'weather'],
    [
      { type: 'function', name: 'weather', more: 1 },
      { type: 'function', name: 'weather' },
    ],
  ])('%j is echoed as a string, unless an object was sent', (tool_choice, echo) => {
    const { wire, errors } = updated({ tools, tool_choice });
    expect(errors).toEqual([]);
    expect(wire.tool_choice).toEqual(echo);
  });

  test.each(['gone', { type: 'mcp', server_label: 'x' }, 7])('%j is rejected', (tool_choice) => {
    expect(updated({ tools, tool_choice }).errors).toEqual(['invalid_value session.tool_choice']);
  });

  test('of a function that is removed becomes auto', () => {
    const { wire, session } = updated({ tools, tool_choice: 'weather' }, { tools: [tool('time')] });
    expect([wire.tool_choice, session.settings.toolChoice]).toEqual(['auto', 'auto']);
  });
});

describe('tools', () => {
  test.each([
    [{ type: 'mcp', server_label: 'x' }, 'unsupported_feature session.tools.1.type'],
    [{ type: 'function', name: 'not a name' }, 'invalid_value session.tools.1.name'],
    [{ type: 'function', name: 'b', parameters: 7 }, 'invalid_value session.tools.1.parameters'],
    ['text', 'invalid_value session.tools.1'],
  ])('%j is rejected, and not echoed; the others apply', (wrong, error) => {
    const { wire, errors } = updated({ tools: [tool('a'), wrong, tool('c')] });
    expect(errors).toEqual([error]);
    expect(wire.tools).toEqual([tool('a'), tool('c')]);
  });

  test('have a maximum number', () => {
    const many = Array.from({ length: 129 }, (_, at) => tool(`t${at}`));
    expect(updated({ tools: many })).toMatchObject({
      errors: ['invalid_value session.tools'],
      wire: { tools: [] },
    });
  });
});

describe('modalities', () => {
  test.each([
    [{ output_modalities: ['text'] }, 'text'],
    [{ output_modalities: ['audio'] }, 'audio'],
    [{ modalities: ['text'] }, 'text'],
    [{ modalities: ['text', 'audio'] }, 'audio'],
  ])('%j', (update, modality) => {
    expect(updated(update)).toMatchObject({ errors: [], wire: { output_modalities: [modality] } });
  });

  test.each([[['text', 'audio']], [[]], ['audio'], [['video']]])('%j is rejected', (output_modalities) => {
    expect(updated({ output_modalities }).errors).toEqual(['invalid_value session.output_modalities']);
  });
});

describe('formats', () => {
  test.each([
    [
      { type: 'audio/pcm', rate: 16_000 },
      { type: 'audio/pcm', rate: 16_000 },
    ],
    [{ type: 'audio/pcmu' }, { type: 'audio/pcmu', rate: 8000 }],
    [
      { type: 'audio/pcma', rate: 8000 },
      { type: 'audio/pcma', rate: 8000 },
    ],
  ])('%j is accepted with either turn detection', (format, echo) => {
    const { wire, errors } = updated({ audio: { input: { format }, output: { format } } });
    expect(errors).toEqual([]);
    expect([wire.audio.input.format, wire.audio.output.format]).toEqual([echo, echo]);
    expect(wire.audio.input.turn_detection).toEqual(SERVER_VAD);
  });

  test('of the beta protocol are converted in the echo', () => {
    const { session, errors } = updated({
      input_audio_format: 'g711_ulaw',
      output_audio_format: 'g711_alaw',
    });
    expect(errors).toEqual([]);
    const wire = toBetaEvent({ type: 'session.updated', session: wireOf(session) } as { type: string });
    expect(wire).toMatchObject({
      session: {
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'g711_alaw',
        modalities: ['text', 'audio'],
      },
    });
  });
});

describe('fields without effect', () => {
  test.each<[string, object]>([
    ['agents-realtime', { type: 'realtime', tracing: 'auto' }],
    [
      'agents-realtime, first update',
      {
        type: 'realtime',
        model: 'svc-voice',
        instructions: 'x',
        output_modalities: ['audio'],
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            noise_reduction: null,
            transcription: { model: 'gpt-4o-mini-transcribe' },
            turn_detection: { type: 'semantic_vad' },
          },
          output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin', speed: 1 },
        },
      },
    ],
    [
      'Pipecat',
      {
        type: 'realtime',
        model: 'gpt-realtime',
        include: null,
        prompt: null,
        audio: {
          input: {
            transcription: { model: 'gpt-realtime-whisper', language: null, prompt: null },
            turn_detection: { type: 'semantic_vad' },
            noise_reduction: { type: 'near_field' },
          },
        },
      },
    ],
    [
      'LiveKit Python',
      {
        type: 'realtime',
        tracing: null,
        tool_choice: 'auto',
        reasoning: { effort: 'low' },
        audio: {
          input: {
            noise_reduction: null,
            turn_detection: {
              type: 'semantic_vad',
              create_response: true,
              eagerness: 'medium',
              interrupt_response: true,
            },
          },
        },
      },
    ],
    [
      'LiveKit Node',
      {
        model: 'gpt-realtime',
        voice: 'marin',
        input_audio_format: 'pcm16',
        output_audio_format: 'pcm16',
        modalities: ['text', 'audio'],
        temperature: 0.8,
        max_response_output_tokens: 'inf',
        turn_detection: {
          type: 'server_vad',
          threshold: 0.5,
          prefix_padding_ms: 300,
          silence_duration_ms: 200,
          create_response: true,
        },
        input_audio_transcription: { model: 'gpt-4o-mini-transcribe' },
        tools: [tool('weather')],
        tool_choice: 'weather',
        speed: 1,
      },
    ],
    [
      'a session that is sent back',
      { ...toWireConversationSession(START), client_secret: null, object: 'realtime.session' },
    ],
  ])('of %s are accepted', (_, update) => {
    expect(updated(update).errors).toEqual([]);
  });

  test('are echoed as sent', () => {
    const echoes = {
      tracing: { workflow_name: 'w' },
      prompt: { id: 'p' },
      parallel_tool_calls: false,
      include: ['item.input_audio_transcription.logprobs'],
      reasoning: { effort: 'low' },
      temperature: 0.9,
      truncation: { type: 'retention_ratio', retention_ratio: 0.5, token_limits: { post_instructions: 900 } },
    };
    const { wire, errors, session } = updated(echoes);
    expect(errors).toEqual([]);
    expect(wire).toMatchObject(echoes);
    expect(session.settings).toMatchObject({
      parallelToolCalls: false,
      temperature: 0.9,
      reasoningEffort: 'low',
      truncation: { retentionRatio: 0.5, maxTokens: 900 },
    });
  });

  test.each<[object, string]>([
    [{ tracing: 'on' }, 'tracing'],
    [{ prompt: 'p' }, 'prompt'],
    [{ include: 'all' }, 'include'],
    [{ include: [1] }, 'include'],
    [{ parallel_tool_calls: 'yes' }, 'parallel_tool_calls'],
    [{ reasoning: 'low' }, 'reasoning'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ truncation: { type: 'first' } }, 'truncation'],
    [input({ noise_reduction: { type: 'studio' } }), 'audio.input.noise_reduction'],
    [{ type: 'transcription' }, 'type'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ max_output_tokens: 4097 }, 'max_output_tokens'],
    [output({ speed: 1.6 }), 'audio.output.speed'],
    [{ instructions: 'x'.repeat(65_537) }, 'instructions'],
  ])('%j is rejected, and not echoed', (update, field) => {
    const { errors, wire } = updated(update);
    expect(errors).toEqual([`invalid_value session.${field}`]);
    expect(wire).toEqual(wireOf(START));
  });

  test('do not select another model', () => {
    expect(updated({ model: 'gpt-realtime' })).toMatchObject({ errors: [], wire: { model: 'svc-voice' } });
  });

  test('that are unknown have the code of OpenAI, up to a maximum number of errors', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, at]));
    const { errors } = updated(unknown);
    expect(errors).toHaveLength(16);
    expect(errors[0]).toBe('unknown_parameter session.field_0');
    expect(updated(input({ gain: 1 })).errors).toEqual(['unknown_parameter session.audio.input.gain']);
  });
});
