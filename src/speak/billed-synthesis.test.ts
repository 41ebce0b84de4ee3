import { describe, expect, it } from 'vitest';
import { fakeLexicons } from '../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { ServiceError, shuttingDown } from '../contract/core/error.ts';
import { SpeechUsageMeter } from '../usage/usage-meters.ts';
import { type BilledSynthesisOptions, billedSynthesis } from './billed-synthesis.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const never = new AbortController().signal;

interface Fields extends Partial<Omit<BilledSynthesisOptions, 'request'>> {
  readonly rateHz?: number;
}

function setup(options: FakeTtsOptions & RecordedCallsOptions = {}) {
  const engine = new FakeTtsEngine(options);
  const calls = new RecordedCalls(options);
  let closed = 0;
  const speak = ({ rateHz = 24_000, ...fields }: Fields = {}, signal = never) =>
    billedSynthesis(
      {
        calls,
        clock: new ManualClock(),
        lexicons: fakeLexicons(),
        encoding: 'pcm16',
        rejections: 'recorded',
        model: 'svc-tts',
        caller: CALLER,
        meter: new SpeechUsageMeter({ characters: 4, speed: 1 }),
        request: {
          text: 'One.',
          speed: 1,
          rateHz,
          fairnessKey: 'key',
          priority: 'realtime',
          delivery: 'stream',
        },
        selectVoice: async () => ({ engine, voice: undefined }),
        onClosed: () => {
          closed += 1;
        },
        ...fields,
      },
      signal,
    );
  return { engine, calls, rows: calls.rows, speak, closed: () => closed };
}

describe('the audio', () => {
  it('is saturated 16-bit samples', async () => {
    const { speak } = setup({ runs: () => [[0, 0.5, -0.5, 2, -2]] });
    const bytes = Buffer.concat(await Array.fromAsync(speak()));
    const view = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    expect([...view]).toEqual([0, 16384, -16384, 32767, -32768]);
  });

  it.each([
    ['pcm16', 24_000, [9600, 9600, 2]],
    ['mulaw', 24_000, [4800, 4800, 1]],
    ['alaw', 24_000, [4800, 4800, 1]],
  ] as const)('in %s at %d Hz is split at the maximum length', async (encoding, rateHz, lengths) => {
    const { speak, rows } = setup({ runs: () => [new Array(9601).fill(0.1)] });
    const chunks = await Array.fromAsync(speak({ encoding, rateHz, maxChunkMs: 200 }));
    expect(chunks.map(({ length }) => length)).toEqual(lengths);
    expect(rows).toMatchObject([{ audioBytes: lengths[0] + lengths[1] + lengths[2] }]);
  });
});

describe('the bill', () => {
  it.each([
    [24_000, 24_000, 4801, 4801],
    [24_000, 8000, 4801, 4801],
    [22_050, 24_000, 4801, 5226],
    [22_050, 8000, 4801, 5226],
    [16_000, 44_100, 1, 2],
  ])(
    'of an engine at %d Hz for output at %d Hz counts %d samples as %d at 24 kHz',
    async (engineHz, rateHz, made, billed) => {
      const { speak, rows } = setup({ rateHz: engineHz, runs: () => [new Array(made).fill(0.1)] });
      await Array.fromAsync(speak({ rateHz }));
      expect(rows).toMatchObject([
        {
          status: 'completed',
          audioSeconds: billed / 24_000,
          outputTokens: Math.ceil((billed * 25) / 24_000),
        },
      ]);
    },
  );
});

describe('the call', () => {
  it('is open before the voice is selected, and closed before the iteration ends', async () => {
    const { speak, calls, rows, engine, closed } = setup();
    const opened: number[] = [];
    const speech = speak({
      async selectVoice() {
        opened.push(calls.unended, engine.requests.length);
        return { engine, voice: undefined };
      },
    });
    await speech.next();
    expect([opened, rows, closed()]).toEqual([[1, 0], [], 0]);
    expect((await speech.next()).done).toBe(true);
    expect(rows).toMatchObject([{ status: 'completed' }]);
    expect([calls.unended, closed()]).toEqual([0, 1]);
  });

  it.each<[string, FakeTtsOptions, Fields]>([
    ['that is overloaded', { runs: () => [], failure: () => new ServiceError('overloaded', 'Full.') }, {}],
    [
      'without the voice',
      {},
      { selectVoice: () => Promise.reject(new ServiceError('invalid_request', 'No.')) },
    ],
  ])('of a request %s is discarded or recorded as failed', async (_, options, fields) => {
    for (const rejections of ['discarded', 'recorded'] as const) {
      const { speak, rows, calls, closed } = setup(options);
      await Array.fromAsync(speak({ ...fields, rejections })).catch(() => []);
      expect(rows.map(({ status }) => status)).toEqual(rejections === 'discarded' ? [] : ['failed']);
      expect([calls.unended, closed()]).toEqual([0, 1]);
    }
  });

  it.each(['discarded', 'recorded'] as const)(
    'of a text without speakable text is discarded: %s',
    async (rejections) => {
      const { speak, rows, calls, closed } = setup({ runs: () => [] });
      expect(await Array.fromAsync(speak({ rejections }))).toEqual([]);
      expect([rows, calls.unended, closed()]).toEqual([[], 0, 1]);
    },
  );

  it('that cannot be opened starts nothing', async () => {
    const { speak, engine, rows, closed } = setup({ opening: () => Promise.reject(new Error('no credits')) });
    await expect(Array.fromAsync(speak())).rejects.toThrow('no credits');
    expect([engine.requests, rows, closed()]).toEqual([[], [], 1]);
  });

  it('is failed by an error after audio, even one that would reject the request', async () => {
    const { speak, rows } = setup({ failure: () => new ServiceError('overloaded', 'Full.') });
    await expect(Array.fromAsync(speak({ rejections: 'discarded' }))).rejects.toThrow('Full.');
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 0.1 }]);
  });

  it('is failed by an error that is thrown into the iteration', async () => {
    const { speak, rows, engine } = setup({ runs: () => [[0.1], [0.1]] });
    const speech = speak();
    await speech.next();
    await expect(speech.throw(new Error('too long'))).rejects.toThrow('too long');
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 2 }]);
    expect(engine.leftEarly).toBe(1);
  });

  it('is cancelled when the consumer stops, after the engine is released', async () => {
    const { speak, rows, engine, closed } = setup({ runs: () => [[0.1], [0.1]] });
    for await (const _ of speak()) break;
    expect(rows).toMatchObject([{ status: 'cancelled', audioBytes: 2 }]);
    expect([engine.leftEarly, closed()]).toEqual([1, 1]);
  });

  it('is cancelled by an abort, also between the parts of a chunk', async () => {
    const { speak, rows } = setup({ runs: () => [new Array(9600).fill(0.1)] });
    const stop = new AbortController();
    const reported: number[] = [];
    const onChunk = ({ length }: Uint8Array) => void reported.push(length);
    const speech = speak({ maxChunkMs: 200, onChunk }, stop.signal);
    await speech.next();
    stop.abort(new Error('gone'));
    await expect(speech.next()).rejects.toThrow('gone');
    expect(reported).toEqual([9600]);
    expect(rows).toMatchObject([{ status: 'cancelled', audioBytes: 9600, audioSeconds: 0.4 }]);
  });

  it.each([
    ['its client', new Error('gone')],
    ['a shutdown', shuttingDown()],
  ])('is cancelled by %s while it is being opened', async (_, reason) => {
    const stop = new AbortController();
    const { speak, rows, engine } = setup({ opening: () => stop.abort(reason) });
    await expect(Array.fromAsync(speak({ rejections: 'discarded' }, stop.signal))).rejects.toBe(reason);
    expect(rows).toMatchObject([{ status: 'cancelled', audioBytes: 0 }]);
    expect(engine.runsMade).toBe(0);
  });
});
