import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  AudioChunk,
  SttEngine,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../src/contract/engines/engine.ts';

/** An engine and its test data. */
export interface SttEngineUnderTest {
  readonly engine: SttEngine;
  /** Some seconds of speech at 16 kHz that the engine transcribes to words. */
  readonly speech: Float32Array<ArrayBuffer>;
  close(): Promise<void>;
}

const REQUEST: TranscriptionRequest = {
  task: 'transcribe',
  timestamps: 'none',
  priority: 'interactive',
  fairnessKey: 'a',
};
const RATE_HZ = 16_000;
const never = new AbortController().signal;

async function* pieces(samples: Float32Array<ArrayBuffer>, length: number, pauses = false) {
  for (let at = 0; at < samples.length; at += length) {
    yield samples.slice(at, at + length) as AudioChunk;
    if (pauses) yield 'pause' as const;
  }
}

/** The contract of `SttEngine`. */
export function sttEngineCases(name: string, open: () => Promise<SttEngineUnderTest>): void {
  describe(`${name} as an SttEngine`, () => {
    let subject: SttEngineUnderTest;
    let engine: SttEngine;
    let speech: Float32Array<ArrayBuffer>;
    beforeAll(async () => {
      subject = await open();
      ({ engine, speech } = subject);
    });
    afterAll(() => subject?.close());

    /** All events of one transcription. */
    async function events(
      audio: AsyncIterable<AudioChunk> = pieces(speech, RATE_HZ),
      fields: Partial<TranscriptionRequest> = {},
      signal = never,
    ): Promise<TranscriptionEvent[]> {
      const all: TranscriptionEvent[] = [];
      for await (const event of engine.transcribe(audio, { ...REQUEST, ...fields }, signal)) all.push(event);
      return all;
    }

    /** The transcript, after checks of its deltas. */
    async function transcript(...args: Parameters<typeof events>): Promise<Transcript> {
      const all = await events(...args);
      const last = all.at(-1);
      if (last?.kind !== 'final') throw new Error('the final is not the last event');
      const deltas = all.slice(0, -1).map((event) => (event.kind === 'delta' ? event.text : undefined));
      expect(deltas).not.toContain(undefined);
      expect(deltas).not.toContain('');
      expect(deltas.join('')).toBe(last.transcript.text);
      // Deltas have whole words: no delta continues a word.
      for (const text of deltas.slice(1))
        expect(text).toMatch(/^[^\p{L}\p{N}]|^[\p{sc=Han}\p{sc=Hiragana}]/u);
      return last.transcript;
    }

    it('is ready', () => {
      expect(engine.ready().ready).toBe(true);
    });

    it('yields deltas of whole words, then the final transcript', async () => {
      const { text, durationS, inputTokens, outputTokens, segments, words } = await transcript();
      expect(text).toBe(text.trim());
      expect(text.split(/\s+/).length).toBeGreaterThan(2);
      expect(durationS).toBeCloseTo(speech.length / RATE_HZ, 6);
      expect(inputTokens.audio).toBeGreaterThan(0);
      expect(outputTokens).toBeGreaterThan(0);
      expect([segments, words]).toEqual([[], []]);
    });

    it('returns the same transcript for any chunks and pauses', async () => {
      const whole = await transcript(pieces(speech, speech.length));
      for (const audio of [pieces(speech, 1600), pieces(speech, 48_001, true)]) {
        expect(await transcript(audio)).toEqual(whole);
      }
    });

    it('reports the tokens of each delta on request, if it knows them', async () => {
      const all = await events(undefined, { textTokens: true });
      const last = all.at(-1);
      const tokens = last?.kind === 'final' ? last.transcript.tokens : undefined;
      const ofDeltas = all.flatMap((event) => (event.kind === 'delta' ? (event.tokens ?? []) : []));
      expect(ofDeltas).toEqual(tokens ?? []);
      if (tokens === undefined || last?.kind !== 'final') return;
      expect(Buffer.from(tokens.flatMap(({ bytes }) => [...bytes])).toString()).toBe(last.transcript.text);
      for (const { logProbability } of tokens) expect(logProbability).toBeLessThanOrEqual(0);
      expect((await transcript()).tokens).toBeUndefined();
    });

    it('does not change its input samples', async () => {
      const given = speech.slice();
      await transcript(pieces(given, given.length));
      expect(Buffer.compare(Buffer.from(given.buffer), Buffer.from(speech.slice().buffer))).toBe(0);
    });

    it('returns segments on request, in order and within the audio', async () => {
      const { segments, words, durationS, text } = await transcript(undefined, { timestamps: 'segment' });
      expect(words).toEqual([]);
      expect(segments.length).toBeGreaterThan(0);
      let lastS = 0;
      for (const { startS, endS } of segments) {
        expect(startS).toBeGreaterThanOrEqual(lastS);
        expect(endS).toBeGreaterThanOrEqual(startS);
        lastS = endS;
      }
      expect(lastS).toBeLessThanOrEqual(durationS);
      const squeeze = (value: string) => value.replaceAll(/\s+/g, '');
      expect(squeeze(segments.map((segment) => segment.text).join(''))).toBe(squeeze(text));
    });

    it('returns words on request, in order, without overlap and within the audio', async () => {
      const { segments, words, durationS } = await transcript(undefined, { timestamps: 'word' });
      expect(segments.length).toBeGreaterThan(0);
      expect(words.length).toBeGreaterThan(2);
      let lastS = 0;
      for (const { word, startS, endS } of words) {
        expect(word).not.toBe('');
        expect(startS).toBeGreaterThanOrEqual(lastS);
        expect(endS).toBeGreaterThanOrEqual(startS);
        lastS = endS;
      }
      expect(lastS).toBeLessThanOrEqual(durationS);
    });

    it('returns an empty transcript for empty audio', async () => {
      const emptyPieces = (async function* (): AsyncGenerator<AudioChunk> {
        yield new Float32Array(0);
        yield 'pause';
      })();
      for (const audio of [pieces(new Float32Array(0), 1), emptyPieces]) {
        const all = await events(audio, { timestamps: 'word' });
        expect(all).toMatchObject([
          { kind: 'final', transcript: { text: '', durationS: 0, segments: [], words: [], outputTokens: 0 } },
        ]);
      }
    });

    it('does nothing if the signal has already fired', async () => {
      const reason = new Error('gone');
      let pulled = false;
      const audio = (async function* () {
        pulled = true;
        yield speech as AudioChunk;
      })();
      await expect(events(audio, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(pulled).toBe(false);
    });

    it('throws the reason of an abort while it waits for audio', async () => {
      const controller = new AbortController();
      const reason = new Error('hung up');
      const audio = (async function* () {
        yield speech.slice(0, RATE_HZ) as AudioChunk;
        controller.abort(reason);
        await new Promise(() => undefined);
      })();
      await expect(events(audio, {}, controller.signal)).rejects.toBe(reason);
    });

    it('throws the reason of an abort in the middle of the text', async () => {
      const controller = new AbortController();
      const reason = new Error('hung up');
      const consume = async () => {
        for await (const _ of engine.transcribe(pieces(speech, RATE_HZ), REQUEST, controller.signal)) {
          controller.abort(reason);
        }
      };
      await expect(consume()).rejects.toBe(reason);
    });

    it('throws the error of the audio stream', async () => {
      const error = new Error('the file breaks off');
      const audio = (async function* () {
        yield speech.slice(0, RATE_HZ) as AudioChunk;
        throw error;
      })();
      await expect(events(audio)).rejects.toBe(error);
    });

    it('closes the audio stream when its consumer stops early, and keeps working', async () => {
      let ended = false;
      const audio = (async function* () {
        try {
          yield* pieces(speech, RATE_HZ);
        } finally {
          ended = true;
        }
      })();
      for await (const _ of engine.transcribe(audio, REQUEST, never)) break;
      expect(ended).toBe(true);
      expect((await transcript()).text).not.toBe('');
    });

    it('rejects a language that is not in its list', async (context) => {
      if (engine.languages === undefined) context.skip('the engine has no list of languages');
      expect(engine.languages).toContain('en');
      await expect(events(undefined, { language: 'xx' })).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'language',
      });
    });
  });
}
