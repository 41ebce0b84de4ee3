import { describe, expect, it } from 'vitest';
import { fakeLexicons } from '../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { LexiconEntry } from '../contract/stores/lexicon-store.ts';
import { type Speech, type SpeechParams, SpeechRequests } from './speech-requests.ts';
import type { StoredVoices } from './stored-voices.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const REQUEST: SpeechParams = {
  model: 'svc-tts',
  text: 'One. Two.',
  characters: 9,
  rateHz: 24_000,
  voiceId: undefined,
  voiceParam: 'voiceId',
  speed: 1,
  priority: 'interactive',
  delivery: 'stream',
};
const never = new AbortController().signal;

const ANNA = spokenVoice({ id: 'tts-vc-voice_a' });

interface Options extends FakeTtsOptions, RecordedCallsOptions {
  readonly find?: StoredVoices['find'];
  readonly lexicon?: readonly LexiconEntry[];
}

function setup(options: Options = {}) {
  const engine = new FakeTtsEngine(options);
  const calls = new RecordedCalls(options);
  const requests = new SpeechRequests({
    tts: { ids: ['svc-tts'], get: (id): TtsEngine | undefined => (id === 'svc-tts' ? engine : undefined) },
    calls,
    clock: new ManualClock(),
    lexicons: fakeLexicons(options.lexicon),
    endpoint: 'POST /v1/voices/partner',
    voices: {
      find: options.find ?? (async (id, owner) => (id === ANNA.id && owner === 'a' ? ANNA : undefined)),
      findSimilar: async () => undefined,
    },
    requestsPerOrganization: 1,
  });
  const attempt = (fields: Partial<SpeechParams> = {}, signal = never) =>
    requests.startSpeech({ ...REQUEST, ...fields }, CALLER, signal);
  const start = async (...args: Parameters<typeof attempt>) => {
    const speech = await attempt(...args);
    if (speech === undefined) throw new Error('there was nothing to speak');
    return speech;
  };
  return { engine, calls, rows: calls.rows, requests, attempt, start };
}

/** Concatenates all chunks of the speech. */
async function bytesOf({ audio }: Speech): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(audio));
}

describe('SpeechRequests', () => {
  it('bills a completed synthesis at the requested sample rate', async () => {
    const { start, rows } = setup();
    expect((await bytesOf(await start({ rateHz: 16_000 }))).length).toBe(0.2 * 16_000 * 2);
    expect(rows).toMatchObject([
      {
        endpoint: 'POST /v1/voices/partner',
        status: 'completed',
        audioBytes: 6400,
        audioSeconds: 0.2,
        characters: 9,
      },
    ]);
  });

  it('bills an interrupted synthesis by the sentences and the audio that it produced', async () => {
    const { start, rows } = setup({ runs: () => [[0.1], [0.1]] });
    const speech = await start({ text: 'One. Two.', characters: 9 });
    await speech.audio.return();
    expect(rows).toMatchObject([{ status: 'cancelled', characters: 5, inputTokens: 2, audioBytes: 2 }]);
  });

  it('bills nothing before the first audio', async () => {
    const leaving = new AbortController();
    const { start, rows } = setup({ before: () => leaving.abort(new Error('gone')) });
    await expect(start({}, leaving.signal)).rejects.toThrow('gone');
    expect(rows).toMatchObject([
      { status: 'cancelled', characters: 0, inputTokens: 0, outputTokens: 0, audioSeconds: 0 },
    ]);
  });

  it('bills nothing for text without speakable content', async () => {
    const { attempt, rows, calls } = setup({ runs: () => [] });
    // The request slot of the organization is free again.
    for (let count = 0; count < 2; count++) expect(await attempt()).toBeUndefined();
    expect([rows, calls.unended]).toEqual([[], 0]);
  });

  it('marks the call as failed when an error is thrown into the stream', async () => {
    const { start, rows, engine } = setup({ runs: () => [[0.1], [0.1], [0.1]] });
    const speech = await start();
    await speech.audio.next();
    await speech.audio.next();
    await expect(speech.audio.throw(new Error('too long'))).rejects.toThrow('too long');
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 4 }]);
    expect(engine.leftEarly).toBe(1);
  });

  it('marks the call as cancelled when the consumer stops or the caller aborts', async () => {
    const left = setup({ runs: () => [[0.1], [0.1], [0.1]] });
    const speech = await left.start();
    await speech.audio.return();
    expect(left.rows).toMatchObject([{ status: 'cancelled' }]);
    const leaving = new AbortController();
    const gone = setup({ runs: () => [[0.1], [0.1], [0.1]] });
    const other = await gone.start({}, leaving.signal);
    await other.audio.next();
    leaving.abort(new Error('gone'));
    await expect(other.audio.next()).rejects.toThrow('gone');
    expect(gone.rows).toMatchObject([{ status: 'cancelled' }]);
  });

  it.each<[string, Parameters<typeof setup>[0], Partial<SpeechParams>, string, number]>([
    ['for an unknown model', {}, { model: 'other' }, 'Unknown model', 0],
    [
      'for an overloaded engine',
      { runs: () => [], failure: () => new ServiceError('overloaded', 'Full.') },
      {},
      'Full.',
      0,
    ],
    [
      'for a voice that the model does not support',
      { runs: () => [], failure: () => invalidRequest('Its own only.', 'voice') },
      { voiceId: ANNA.id },
      'Its own only.',
      0,
    ],
    [
      'for an unknown voice',
      {},
      { voiceId: 'tts-vc-voice_b' },
      "'voiceId' must be the id of a stored voice",
      0,
    ],
    [
      'without a lookup for an id that is not a stored voice id',
      { find: () => Promise.reject(new Error('unexpected lookup')) },
      { voiceId: 'alloy' },
      "'voiceId' must be the id of a stored voice",
      0,
    ],
    [
      'when the voice lookup fails',
      { find: () => Promise.reject(new Error('store unavailable')) },
      { voiceId: ANNA.id },
      'store unavailable',
      0,
    ],
    [
      'when the synthesis fails before its first audio',
      { runs: () => [], failure: () => new Error('why') },
      {},
      'why',
      1,
    ],
  ])('rejects immediately %s', async (_, options, fields, message, count) => {
    const { start, rows, calls } = setup(options);
    await expect(start(fields)).rejects.toThrow(message);
    expect([rows.length, calls.unended]).toEqual([count, 0]);
    // The slot is released.
    await expect(start(fields)).rejects.toThrow(message);
  });

  it('looks up the voice of the organization once per request that names one', async () => {
    const lookups: string[][] = [];
    const { start, engine } = setup({
      find: async (...of) => {
        lookups.push(of);
        return ANNA;
      },
    });
    await bytesOf(await start({ voiceId: ANNA.id }));
    expect(lookups).toEqual([[ANNA.id, 'a']]);
    await bytesOf(await start());
    expect(lookups).toHaveLength(1);
    expect(engine.requests.map(({ voice }) => voice)).toEqual([ANNA, ANNA, undefined, undefined]);
  });

  it('rejects a request above the concurrency limit', async () => {
    const { start } = setup({ runs: () => [[0.1], [0.1]] });
    await start();
    await expect(start()).rejects.toThrow('1 of 1 speech requests in flight');
  });
});

it('drain waits for speech that is being read and stops the rest at the deadline', async () => {
  const { start, requests, rows } = setup({ runs: () => new Array(100).fill([0.1]) });
  const speech = await start();
  const late = new AbortController();
  const draining = requests.open.drain(late.signal);
  await speech.audio.next();
  await speech.audio.next();
  late.abort();
  await expect(speech.audio.next()).rejects.toThrow();
  await draining;
  expect(rows).toMatchObject([{ status: 'cancelled' }]);
});
