import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
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
};

function merge(session: Session, update: unknown) {
  return mergeSession(session, update, rules, namedVoice(update) === 'tts-vc-voice_1' ? 'found' : 'missing');
}

/** An object with any of these fields, in any order. */
function some(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .tuple(fc.record(fields, { requiredKeys: [] }), fc.infiniteStream(fc.nat()))
    .map(([object, ranks]) => shuffled(object, ranks));
}

function shuffled(object: object, ranks: Iterable<number>): Record<string, unknown> {
  const ranking = ranks[Symbol.iterator]();
  const entries = Object.entries(object).map((entry) => ({ entry, rank: Number(ranking.next().value) }));
  return Object.fromEntries(entries.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
}

/** Names without dots, so that error paths are unambiguous. */
const junk = fc.jsonValue({
  maxDepth: 2,
  stringUnit: fc.constantFrom('a', 'Z', '"', '\\', '\0', 'ß', '😀', ' '),
});

/** Usually a plausible value, sometimes an invalid one. */
function mostly(...values: unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: junk });
}

function orJunk(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: junk },
  );
}

const format = orJunk(
  some({
    type: mostly('audio/pcm', 'audio/pcm', 'audio/pcmu', 'audio/pcma', 'audio/opus'),
    rate: mostly(8_000, 16_000, 24_000, 48_000, 96_000, 11_025.5),
  }),
);
const betaFormat = mostly('pcm16', 'g711_ulaw', 'g711_alaw', 'opus');
const detection = orJunk(
  some({
    type: mostly('server_vad', 'server_vad', 'server_vad', 'semantic_vad'),
    threshold: mostly(0, 0.3, 1, 2),
    prefix_padding_ms: mostly(0, 5_000, 5_001),
    silence_duration_ms: mostly(0, 700, -1),
    create_response: mostly(true, false),
    interrupt_response: mostly(true, false),
    idle_timeout_ms: mostly(null, 5_000),
    eagerness: mostly('low'),
  }),
);
const transcription = orJunk(
  some({
    model: mostly('svc-stt', 'english', 'far', 'whisper-1'),
    language: mostly('en', 'de', 'fr', 'xx', null),
    prompt: mostly('HVV', ' ', null, 'x'.repeat(6_000)),
    languages: mostly(['en'], ['de', 'en'], ['xx'], [], null),
    keywords: mostly(['a'], [], null),
    delay: mostly('low'),
  }),
);
const noise = mostly(null, null, { type: 'near_field' });
const voice = mostly('tts-vc-voice_1', { id: 'tts-vc-voice_1' }, 'alloy', null);
const speed = mostly(0.25, 1, 4, 5);
const modalities = mostly([], ['audio'], ['text', 'audio'], ['audio', 'audio'], ['video']);
const update = some({
  type: mostly('transcription', 'translation', 'realtime', 'other'),
  model: mostly('gpt-realtime', null, 7),
  audio: orJunk(
    some({
      input: orJunk(some({ format, transcription, turn_detection: detection, noise_reduction: noise })),
      output: orJunk(some({ format, voice, speed, ref_text: mostly('Hi.') })),
    }),
  ),
  output_modalities: modalities,
  tts_model: mostly('svc-tts', 'other-tts', 'tts-1'),
  input_audio_format: betaFormat,
  output_audio_format: betaFormat,
  input_audio_transcription: transcription,
  input_audio_noise_reduction: noise,
  turn_detection: detection,
  voice,
  speed,
  modalities,
  include: mostly(['item.input_audio_transcription.logprobs'], ['x'], null),
  instructions: mostly('Be brief.', 'Be kind.'),
  metadata: mostly({ a: 1 }, {}),
  tools: mostly([], [{ type: 'function', name: 'f' }]),
  tracing: mostly('auto', null),
  id: mostly('sess_2'),
  colour: mostly('red'),
}).map((each): Record<string, unknown> => JSON.parse(JSON.stringify(each)));

const fresh = initialSession('sess_1', rules, new URLSearchParams());
/** A session after a few updates. */
const session = fc
  .array(update, { maxLength: 3 })
  .map((updates) => updates.reduce<Session>((before, each) => merge(before, each).session, fresh));

/** Echoed values that do not all fit together. */
const long = fc.constantFrom(0, 0.3, 0.5, 0.9).map((part) => 'x'.repeat(part * MAX_ECHOED_BYTES));
const manyEchoes = some({
  instructions: long,
  metadata: long,
  tools: long,
  input_audio_transcription: fc.oneof(some({ delay: long }), fc.constant(null)),
});

const RUNS = { numRuns: repetitions(50, 300) };

function params(errors: readonly { readonly param: string | null }[]): unknown[] {
  return errors.map(({ param }) => param).sort();
}

/** Checks the invariants of a session. */
function expectValid(merged: Session): void {
  expect([...Value.Errors(SessionSchema, JSON.parse(JSON.stringify(toWireSession(merged))))]).toEqual([]);
  const { inputFormat, outputFormat, turnDetection, transcription: transcriptionFields } = merged;
  if (turnDetection !== undefined) expect(inputFormat.encoding).toBe('pcm16');
  for (const { encoding, rateHz } of [inputFormat, outputFormat]) {
    if (encoding !== 'pcm16') expect(rateHz).toBe(8_000);
  }
  expect(rules.sttModels).toContain(transcriptionFields.model);
  expect(rules.ttsModels).toContain(merged.ttsModel);
  const languages = rules.languagesOf(transcriptionFields.model);
  if (transcriptionFields.language !== undefined && languages !== undefined)
    expect(languages).toContain(transcriptionFields.language);
  const echoedBytes = Object.values(merged.echoed).reduce<number>(
    (sum, each) => sum + JSON.stringify(each).length,
    0,
  );
  expect(echoedBytes).toBeLessThanOrEqual(MAX_ECHOED_BYTES);
}

/** Locations of rejected fields in the wire session; beta names map to nested ones. */
const NESTED = new Map([
  ['input_audio_format', 'audio.input.format'],
  ['output_audio_format', 'audio.output.format'],
  ['input_audio_transcription', 'audio.input.transcription'],
  ['input_audio_noise_reduction', 'audio.input.noise_reduction'],
  ['turn_detection', 'audio.input.turn_detection'],
  ['voice', 'audio.output.voice'],
  ['speed', 'audio.output.speed'],
  ['modalities', 'output_modalities'],
]);

function valueAt(wire: unknown, param: string): unknown {
  const [, first = '', ...rest] = param.split('.');
  const path = [...(NESTED.get(first) ?? first).split('.'), ...rest];
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    wire,
  );
}

/** The unit of acceptance that contains the field of an error. */
function unitOf(param: string): string {
  return param.replace(/(\.format)\.(type|rate)$|(turn_detection)\.type$|(voice)\.id$/, '$1$3$4');
}

/** Deletes the field of an error under both names; otherwise the beta name would apply. */
function remove(update: unknown, param: string): void {
  const path = unitOf(param).split('.').slice(1);
  const last = path.pop() ?? '';
  const parent = path.reduce<unknown>((value, name) => Reflect.get(Object(value), name), update);
  Reflect.deleteProperty(Object(parent), last);
  for (const [beta, nested] of NESTED) {
    if (nested === [...path, last].join('.')) Reflect.deleteProperty(Object(update), beta);
  }
}

describe('an update', () => {
  test('that exceeds the echo capacity behaves like any other', () => {
    fc.assert(
      fc.property(fc.array(manyEchoes, { minLength: 1, maxLength: 4 }), manyEchoes, (earlier, each) => {
        const before = earlier.reduce<Session>(
          (retainedEchoes, one) => merge(retainedEchoes, one).session,
          fresh,
        );
        const once = merge(before, each);
        expectValid(once.session);
        const sizes = (echoes: object) =>
          Object.entries(echoes).map(([name, value]) => [name, `${value}`.length]);
        const twice = merge(once.session, each);
        expect(sizes(twice.session.echoed)).toEqual(sizes(once.session.echoed));
        expect(twice.errors).toEqual(once.errors);
        const other = mergeSession(before, Object.fromEntries(Object.entries(each).reverse()), rules);
        expect(Object.fromEntries(sizes(other.session.echoed))).toEqual(
          Object.fromEntries(sizes(once.session.echoed)),
        );
      }),
      { numRuns: repetitions(34, 100) },
    );
  });

  test('is idempotent and causes the same errors again', () => {
    fc.assert(
      fc.property(session, update, (before, each) => {
        const once = merge(before, each);
        const twice = merge(once.session, each);
        expect(twice.session).toEqual(once.session);
        expect(twice.errors).toEqual(once.errors);
        // A different object would reconfigure the input.
        expect(twice.session.inputFormat).toBe(once.session.inputFormat);
        expect(twice.session.turnDetection).toBe(once.session.turnDetection);
      }),
      RUNS,
    );
  });

  test('does not depend on the order of its fields', () => {
    const deeplyShuffled = (value: unknown, ranks: Iterator<number>): unknown => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      const entries = Object.entries(value).map(([name, each]) => ({
        entry: [name, deeplyShuffled(each, ranks)] as const,
        rank: Number(ranks.next().value),
      }));
      return Object.fromEntries(entries.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
    };
    fc.assert(
      fc.property(session, update, fc.infiniteStream(fc.nat()), (before, each, ranks) => {
        const one = merge(before, each);
        const other = merge(before, deeplyShuffled(each, ranks[Symbol.iterator]()));
        expect(other.session).toEqual(one.session);
        // The order determines which of many unknown fields are named.
        const [some, others] = [params(one.errors), params(other.errors)];
        if (some.includes('session')) expect(others).toHaveLength(some.length);
        else expect(others).toEqual(some);
      }),
      RUNS,
    );
  });

  test('leaves a valid session, with one error per field', () => {
    fc.assert(
      fc.property(session, update, (before, each) => {
        const { session: after, errors, requestsGa } = merge(before, each);
        expectValid(after);
        expect(new Set(params(errors)).size).toBe(errors.length);
        expect(requestsGa).toBe(each.type === 'realtime');
      }),
      RUNS,
    );
  });

  test('keeps the value of a rejected field', () => {
    fc.assert(
      fc.property(session, update, (before, each) => {
        const { session: after, errors } = merge(before, each);
        const forgets = toWireSession(after).audio.input.turn_detection === null;
        for (const { param } of errors) {
          // The other fields of an object apply even if one of them is rejected.
          if (param === null || /^session(\.audio(\.(in|out)put)?)?$|turn_detection\./.test(param)) continue;
          expect(valueAt(toWireSession(after), param)).toEqual(valueAt(toWireSession(before), param));
        }
        if (errors.some(({ param }) => param?.endsWith('turn_detection.type'))) {
          expect(forgets).toBe(before.turnDetection === undefined);
        }
      }),
      RUNS,
    );
  });

  test('has the same effect as without the rejected fields', () => {
    fc.assert(
      fc.property(session, update, (before, each) => {
        const { session: after, errors } = merge(before, each);
        const rest = structuredClone(each);
        for (const { param } of errors) {
          fc.pre(param !== 'session');
          remove(rest, String(param));
        }
        expect(merge(before, rest)).toMatchObject({ session: after, errors: [] });
      }),
      RUNS,
    );
  });

  test('with the session itself changes nothing and causes no errors', () => {
    fc.assert(
      fc.property(session, (before) => {
        const wire = JSON.parse(JSON.stringify(toWireSession(before)));
        const { session: after, errors } = merge(before, wire);
        expect([after, errors]).toEqual([before, []]);
        expect(after.inputFormat).toBe(before.inputFormat);
        expect(after.turnDetection).toBe(before.turnDetection);
      }),
      RUNS,
    );
  });

  test('with any JSON value neither throws nor breaks the session', () => {
    const names = [
      'session',
      'audio',
      'input',
      'output',
      'format',
      'type',
      'rate',
      'turn_detection',
      'voice',
      'tools',
    ];
    const json = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.jsonValue(),
        fc.constantFrom(null, 'server_vad', 'audio/pcmu', 'realtime', -0, 1e308, '\ud800', 8_000),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(
          fc.oneof(fc.constantFrom(...names, '__proto__', 'constructor'), fc.string()),
          tie('any'),
        ),
      ),
    })).any;
    fc.assert(
      fc.property(session, json, (before, each) => {
        const parsed: unknown = JSON.parse(JSON.stringify(each));
        expectValid(merge(before, parsed).session);
      }),
      RUNS,
    );
  });

  test('does not modify its input', () => {
    const frozen = <Value>(value: Value): Value => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
      return value;
    };
    fc.assert(
      fc.property(session, update, (before, each) => {
        const retainedEchoes = frozen(structuredClone(before));
        expect(merge(retainedEchoes, frozen(each)).session.id).toBe(before.id);
      }),
      RUNS,
    );
  });
});
