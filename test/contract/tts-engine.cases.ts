import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SynthesisRequest, TtsEngine } from '../../src/contract/engines/engine.ts';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { repetitions } from '../harness/tier.ts';
import { spokenVoice } from '../media/spoken-voice.ts';

/** An engine under test. */
export interface TtsEngineUnderTest {
  readonly engine: TtsEngine;
  close(): Promise<void>;
}

const REQUEST: SynthesisRequest = {
  text: 'The quick brown fox jumps over the lazy dog.',
  speed: 1,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};

/** Text of requests whose audio does not matter. */
const WORD = 'Yes.';

async function collect(
  engine: TtsEngine,
  fields: Partial<SynthesisRequest> = {},
  signal = new AbortController().signal,
): Promise<Float32Array[]> {
  const runs: Float32Array[] = [];
  for await (const run of engine.synthesize({ ...REQUEST, ...fields }, signal)) runs.push(run);
  return runs;
}

const lengthOf = (runs: readonly Float32Array[]) => runs.reduce((sum, run) => sum + run.length, 0);

export interface TtsEngineTraits {
  /** False for an engine whose audio does not depend on the text. */
  readonly isSpeech: boolean;
  /** A stored voice that the engine supports; absent if it has preset voices only. */
  readonly storedVoice?: SpokenVoice;
}

/** The contract of `TtsEngine`. */
export function ttsEngineCases(
  name: string,
  open: () => Promise<TtsEngineUnderTest>,
  { isSpeech, storedVoice }: TtsEngineTraits,
): void {
  describe(`${name} as a TtsEngine`, () => {
    let subject: TtsEngineUnderTest;
    let engine: TtsEngine;
    beforeAll(async () => {
      subject = await open();
      engine = subject.engine;
    });
    afterAll(() => subject?.close());

    it('is ready and has a supported sample rate', () => {
      expect(engine.ready().ready).toBe(true);
      expect(engine.rateHz).toBeGreaterThanOrEqual(8000);
      expect(engine.rateHz).toBeLessThanOrEqual(48_000);
    });

    it('yields non-empty arrays of samples within full scale', async () => {
      const runs = await collect(engine);
      expect(runs.length).toBeGreaterThan(0);
      for (const run of runs) {
        expect(run).toBeInstanceOf(Float32Array);
        expect(run.length).toBeGreaterThan(0);
        expect(run.every((sample) => Math.abs(sample) <= 1)).toBe(true);
      }
    });

    it('synthesizes the same audio alone and concurrently with other requests', async () => {
      const [first, ...others] = await Promise.all([collect(engine), collect(engine), collect(engine)]);
      for (const other of others) {
        expect(Buffer.concat(other.map(bytesOf)).equals(Buffer.concat((first ?? []).map(bytesOf)))).toBe(
          true,
        );
      }
    });

    it('yields arrays that the caller may change', async () => {
      const runs: Float32Array[] = [];
      const text = 'The quick brown fox.';
      for await (const run of engine.synthesize({ ...REQUEST, text }, new AbortController().signal)) {
        runs.push(run.slice());
        run.fill(0);
      }
      expect(lengthOf(runs)).toBe(lengthOf(await collect(engine, { text })));
      expect(runs.some((run) => run.some((sample) => sample !== 0))).toBe(true);
    });

    it('does nothing if the signal has already fired', async () => {
      const reason = new Error('gone');
      await expect(collect(engine, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it('throws the reason of an abort during synthesis', async () => {
      const controller = new AbortController();
      const reason = new Error('hung up');
      const consume = async () => {
        for await (const _ of engine.synthesize(
          { ...REQUEST, text: REQUEST.text.repeat(5) },
          controller.signal,
        )) {
          controller.abort(reason);
        }
      };
      await expect(consume()).rejects.toBe(reason);
    });

    it('keeps working when a consumer stops early', async () => {
      for await (const _ of engine.synthesize(REQUEST, new AbortController().signal)) break;
      expect(lengthOf(await collect(engine, { text: WORD }))).toBeGreaterThan(0);
    });

    if (storedVoice === undefined) {
      it('rejects a stored voice before synthesis, and keeps working', async () => {
        await expect(collect(engine, { voice: spokenVoice() })).rejects.toMatchObject({
          kind: 'invalid_request',
          param: 'voice',
        });
        expect(lengthOf(await collect(engine, { text: WORD }))).toBeGreaterThan(0);
      });
    } else {
      it('synthesizes concurrently with a stored voice and its own voice without mixing them', async () => {
        const [own, stored] = [{}, { voice: storedVoice }];
        const [first, ...others] = await Promise.all(
          [own, stored, own, stored].map((fields) => collect(engine, fields)),
        );
        const bytes = [first ?? [], ...others].map((runs) => Buffer.concat(runs.map(bytesOf)));
        expect(bytes[1]?.length).toBeGreaterThan(0);
        expect(bytes[2]?.equals(bytes[0] ?? Buffer.alloc(0))).toBe(true);
        expect(bytes[3]?.equals(bytes[1] ?? Buffer.alloc(0))).toBe(true);
        expect(bytes[1]?.equals(bytes[0] ?? Buffer.alloc(0))).toBe(false);
      });
    }

    if (!isSpeech) return;

    it.each(['', '...', '🙂', '\u0000'])('yields no audio for %j', async (text) => {
      expect(await collect(engine, { text })).toEqual([]);
    });

    it.each([
      ['hundreds of characters without a space', 'x'.repeat(repetitions(200, 600))],
      ['another script', '語'.repeat(20)],
      ['half a surrogate pair', 'Hello \ud83d there'],
      ['control characters', 'Hel\u0007lo\u0000 there\u202e.'],
      ['stacked combining marks', `H${'\u0301'.repeat(300)}ello`],
      ['only digits', '9'.repeat(repetitions(20, 60))],
    ])('stays ready after %s', async (_, text) => {
      await collect(engine, { text });
      expect(engine.ready().ready).toBe(true);
    });

    it('generates 1.5 to 5 s of audio for a sentence, and less at a higher speed', async () => {
      const [stream, whole, fast] = [
        lengthOf(await collect(engine)),
        lengthOf(await collect(engine, { delivery: 'whole' })),
        lengthOf(await collect(engine, { speed: 2 })),
      ];
      expect(whole).toBe(stream);
      expect(fast).toBeLessThan(stream * 0.75);
      expect(stream / engine.rateHz).toBeGreaterThan(1.5);
      expect(stream / engine.rateHz).toBeLessThan(5);
    });

    it('yields the start of a stream before the rest is generated', async () => {
      const runs = await collect(engine, { text: `${REQUEST.text} `.repeat(3) });
      expect(runs.length).toBeGreaterThan(2);
      const all = runs.reduce((sum, run) => sum + run.length, 0);
      expect((runs[0]?.length ?? 0) / all).toBeLessThan(0.35);
    });
  });
}

function bytesOf(run: Float32Array): Uint8Array {
  return new Uint8Array(run.buffer, run.byteOffset, run.byteLength);
}
