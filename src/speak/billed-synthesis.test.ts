import { describe, expect, it } from 'vitest';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../test/harness/recorded-calls.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import { BilledSynthesis, type BilledSynthesisRequest, type StartedSpeech } from './billed-synthesis.ts';
import type { StoredVoices } from './stored-voices.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const REQUEST: BilledSynthesisRequest = {
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

function answering(options: FakeTtsOptions & RecordedCallsOptions & { find?: StoredVoices['find'] } = {}) {
  const engine = new FakeTtsEngine(options);
  const calls = new RecordedCalls(options);
  const answers = new BilledSynthesis({
    tts: { ids: ['svc-tts'], get: (id): TtsEngine | undefined => (id === 'svc-tts' ? engine : undefined) },
    calls,
    clock: new ManualClock(),
    endpoint: 'POST /v1/voices/partner',
    voices: {
      find: options.find ?? (async (id, owner) => (id === ANNA.id && owner === 'a' ? ANNA : undefined)),
    },
    requestsPerOrganization: 1,
  });
  const begin = (fields: Partial<BilledSynthesisRequest> = {}, signal = never) =>
    answers.begin({ ...REQUEST, ...fields }, CALLER, signal);
  return { engine, calls, rows: calls.rows, answers, begin };
}

/** All chunks of an answer, put together. */
async function bytesOf(begun: StartedSpeech | undefined): Promise<Uint8Array> {
  const chunks = [begun?.first ?? new Uint8Array(0)];
  for await (const chunk of begun?.rest ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('an answer', () => {
  it('has its label, and the bytes of the rate that was asked for', async () => {
    const { begin, rows } = answering();
    expect((await bytesOf(await begin({ rateHz: 16_000 }))).length).toBe(0.2 * 16_000 * 2);
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

  it('that holds nothing to speak is none, and no call', async () => {
    const { begin, rows, calls } = answering({ runs: () => [] });
    expect(await begin()).toBeUndefined();
    expect([rows, calls.unended]).toEqual([[], 0]);
    // Its place is free again.
    await begin();
  });

  it('into which a failure is thrown has failed with it', async () => {
    const { begin, rows, engine } = answering({ runs: () => [[0.1], [0.1], [0.1]] });
    const begun = await begin();
    await begun?.rest.next();
    await expect(begun?.rest.throw(new Error('too long'))).rejects.toThrow('too long');
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 4 }]);
    expect(engine.leftEarly).toBe(1);
  });

  it('that is left is cancelled, and so is one whose caller is gone', async () => {
    const left = answering({ runs: () => [[0.1], [0.1], [0.1]] });
    const begun = await left.begin();
    await begun?.rest.return();
    expect(left.rows).toMatchObject([{ status: 'cancelled' }]);
    const leaving = new AbortController();
    const gone = answering({ runs: () => [[0.1], [0.1], [0.1]] });
    const other = await gone.begin({}, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(other?.rest.next()).rejects.toThrow('gone');
    expect(gone.rows).toMatchObject([{ status: 'cancelled' }]);
  });

  it.each<[string, Parameters<typeof answering>[0], Partial<BilledSynthesisRequest>, string, number]>([
    ['of no model', {}, { model: 'other' }, 'Unknown model', 0],
    [
      'for which there is no time',
      { runs: () => [], failure: () => new ServiceError('overloaded', 'Full.') },
      {},
      'Full.',
      0,
    ],
    [
      'of a voice that its model cannot speak with',
      { runs: () => [], failure: () => invalidRequest('Its own only.', 'voice') },
      { voiceId: ANNA.id },
      'Its own only.',
      0,
    ],
    ['of no voice', {}, { voiceId: 'tts-vc-voice_b' }, "'voiceId' must be the id of a stored voice", 0],
    [
      'of what can be no stored voice, which nobody looks up',
      { find: () => Promise.reject(new Error('asked')) },
      { voiceId: 'alloy' },
      "'voiceId' must be the id of a stored voice",
      0,
    ],
    [
      'of a voice that nobody can look up',
      { find: () => Promise.reject(new Error('away')) },
      { voiceId: ANNA.id },
      'away',
      0,
    ],
    ['that fails before its audio', { runs: () => [], failure: () => new Error('why') }, {}, 'why', 1],
  ])('%s is told at once', async (_, options, fields, message, count) => {
    const { begin, rows, calls } = answering(options);
    await expect(begin(fields)).rejects.toThrow(message);
    expect([rows.length, calls.unended]).toEqual([count, 0]);
    // Its place is free again.
    await expect(begin(fields)).rejects.toThrow(message);
  });

  it('is spoken with the voice of its organization, looked up when there is one', async () => {
    const asked: string[][] = [];
    const { begin, engine } = answering({
      find: async (...of) => {
        asked.push(of);
        return ANNA;
      },
    });
    await bytesOf(await begin({ voiceId: ANNA.id }));
    expect(asked).toEqual([[ANNA.id, 'a']]);
    await bytesOf(await begin());
    expect(asked).toHaveLength(1);
    expect(engine.requests.map(({ voice }) => voice)).toEqual([ANNA, ANNA, undefined, undefined]);
  });

  it('beyond those that may be open is refused', async () => {
    const { begin } = answering({ runs: () => [[0.1], [0.1]] });
    await begin();
    await expect(begin()).rejects.toThrow('1 speech requests open');
  });
});

it('the end waits for answers that are read, and stops those that have no more time', async () => {
  const { begin, answers, rows } = answering({ runs: () => new Array(100).fill([0.1]) });
  const begun = await begin();
  const late = new AbortController();
  const draining = answers.drain(late.signal);
  await begun?.rest.next();
  late.abort();
  await expect(begun?.rest.next()).rejects.toThrow();
  await draining;
  expect(rows).toMatchObject([{ status: 'cancelled' }]);
});
