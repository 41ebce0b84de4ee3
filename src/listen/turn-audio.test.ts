import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/doubles/fake-vad-engine.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { bits, joined } from '../../tools/harness/media/sample-runs.ts';
import { decodeToFloat32, encodeAudio } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { AudioChunk } from '../contract/engines/engine.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import { type AudioFormat, bytesOf as floatBytes, LISTEN_FORMAT } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import { SampleReader } from './sample-reader.ts';
import { TurnAudio, TurnDroppedError } from './turn-audio.ts';

const PCM_16K: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
const PCM_24K: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };

const random = seededRandom(4);
const noise = (samples: number) => Float32Array.from({ length: samples }, () => random() - 0.5);
const bytesOf = (samples: number, { encoding }: AudioFormat) => encodeAudio(noise(samples), encoding);

/** Returns the samples that a reader must receive for audio surrounded by silence. */
function expectedSamples(bytes: Uint8Array, { encoding, rateHz }: AudioFormat): Float32Samples {
  const resampler = new Resampler({ fromHz: rateHz, toHz: 16_000, format: 'float32' });
  return joined([resampler.push(decodeToFloat32(bytes, encoding)), resampler.flush()]);
}

async function read(audio: AsyncIterable<AudioChunk>): Promise<Float32Samples[]> {
  const pieces: Float32Samples[] = [];
  for await (const piece of audio) if (piece !== 'pause') pieces.push(piece);
  return pieces;
}

/** A turn whose audio arrives in chunks of converted samples. */
function arriving() {
  const audio = new TurnAudio();
  const run = new AudioQueue(LISTEN_FORMAT);
  return {
    audio,
    add(samples: Float32Samples) {
      const from = run.endSample;
      run.push(floatBytes(samples));
      audio.add(run, from, run.endSample);
    },
  };
}

describe('complete audio', () => {
  it.each([
    PCM_16K,
    PCM_24K,
    { encoding: 'pcm16', rateHz: 44_100 },
    { encoding: 'pcm16', rateHz: 8000 },
    { encoding: 'mulaw', rateHz: 8000 },
    { encoding: 'alaw', rateHz: 8000 },
  ] as const)('in %o is read in chunks of at most one second and freed', async (format) => {
    const bytes = bytesOf(Math.round(3.3 * format.rateHz), format);
    const audio = TurnAudio.of(bytes, format);
    expect(audio.unreadBytes).toBe(bytes.length);
    const pieces: Float32Samples[] = [];
    let unread = audio.unreadBytes;
    for await (const piece of audio) {
      if (piece === 'pause') throw new Error('unexpected pause');
      expect(piece.length).toBeGreaterThan(0);
      expect(piece.length).toBeLessThanOrEqual(16_000);
      pieces.push(piece);
      expect(audio.unreadBytes).toBeLessThan(unread + 1);
      unread = audio.unreadBytes;
    }
    expect(unread).toBe(0);
    expect(joined(pieces)).toEqual(expectedSamples(bytes, format));
    expect(audio.readSamples).toBe(joined(pieces).length);
  });

  it('in several formats is read in sequence', async () => {
    const formats: AudioFormat[] = [PCM_24K, { encoding: 'mulaw', rateHz: 8000 }, PCM_16K, PCM_24K];
    const parts = formats.map((format) => ({ format, bytes: bytesOf(5000, format) }));
    const queues = parts.map(({ format, bytes }) => {
      const run = new AudioQueue(format, 77);
      run.push(bytes);
      return new SampleReader(run);
    });
    const received = joined(await read(TurnAudio.fromParts(queues)));
    expect(received).toEqual(joined(parts.map(({ bytes, format }) => expectedSamples(bytes, format))));
  });

  it('that is empty or has less than one sample ends immediately', async () => {
    expect(await read(TurnAudio.of(new Uint8Array(0), PCM_24K))).toEqual([]);
    expect(await read(TurnAudio.of(new Uint8Array(1), PCM_24K))).toEqual([]);
    expect(await read(TurnAudio.fromParts([]))).toEqual([]);
  });

  it('rejects a second reader', async () => {
    const audio = TurnAudio.of(bytesOf(100, PCM_16K), PCM_16K);
    await read(audio);
    expect(() => audio[Symbol.asyncIterator]()).toThrow('only once');
  });
});

describe('arriving audio', () => {
  it('yields the same samples for any arrival and read times', async () => {
    const expected = noise(40_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(expected.length), { maxLength: 30 }),
        fc.nat(31),
        fc.array(fc.boolean(), { minLength: 31, maxLength: 31 }),
        async (cuts, readFrom, pauses) => {
          const { audio, add } = arriving();
          const places = [0, ...cuts.sort((a, b) => a - b), expected.length];
          let reading: Promise<Float32Samples[]> | undefined;
          for (const [i, place] of places.slice(1).entries()) {
            if (i === readFrom) reading = read(audio);
            add(expected.subarray(places[i], place));
            if (pauses[i]) audio.pause();
            if (pauses[i + 1]) await settled();
          }
          audio.end();
          expect(bits(...(await (reading ?? read(audio))))).toBe(bits(expected));
          expect(audio.unreadBytes).toBe(0);
        },
      ),
      { seed: 2, numRuns: repetitions(20, 60) },
    );
  });

  it('continues with the rest that is not converted yet, without a break', async () => {
    const bytes = bytesOf(24_000, PCM_24K);
    const queue = new AudioQueue(PCM_24K);
    const source = new SampleReader(queue);
    const { audio, add } = arriving();
    queue.push(bytes.subarray(0, 10_001));
    add(source.read());
    queue.push(bytes.subarray(10_001));
    audio.end([source.takeAudio()]);
    expect(audio.lengthS).toBeCloseTo(1, 9);
    expect(joined(await read(audio))).toEqual(expectedSamples(bytes, PCM_24K));
    expect(audio.lengthS).toBe(1);
  });

  it('is delivered in chunks of 0.25 s, or earlier at a pause or the end', async () => {
    const { audio, add } = arriving();
    const given: (number | 'pause')[] = [];
    const reading = (async () => {
      for await (const piece of audio) given.push(piece === 'pause' ? piece : piece.length);
    })();
    add(noise(3999));
    await settled();
    expect(given).toEqual([]);
    add(noise(1));
    await settled();
    expect(given).toEqual([4000]);
    add(noise(10));
    audio.pause();
    await settled();
    audio.pause();
    await settled();
    expect(given).toEqual([4000, 10, 'pause', 'pause']);
    add(noise(20));
    await settled();
    audio.end();
    await reading;
    expect(given).toEqual([4000, 10, 'pause', 'pause', 20]);
  });

  it('does not report a pause after which more audio has arrived', async () => {
    const { audio, add } = arriving();
    add(noise(10));
    audio.pause();
    add(noise(10));
    const given: AudioChunk[] = [];
    const reading = (async () => {
      for await (const piece of audio) given.push(piece);
    })();
    await settled();
    expect(given).toEqual([]);
    audio.end();
    await reading;
    expect(given.map((piece) => piece.length)).toEqual([20]);
  });

  it('that has almost no samples ends its reader', async () => {
    const audio = new TurnAudio();
    const reading = read(audio);
    await settled();
    audio.end();
    expect(await reading).toEqual([]);
  });
});

describe('a reader', () => {
  it('that returns frees the audio, ignores further audio, and immediately ends its own wait', async () => {
    const { audio, add } = arriving();
    const iterator = audio[Symbol.asyncIterator]();
    add(noise(16_000));
    expect((await iterator.next()).done).toBe(false);
    const waiting = iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    add(noise(24_000));
    audio.pause();
    audio.end();
    expect(audio.unreadBytes).toBe(0);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('that is aborted returns as well', async () => {
    const { audio, add } = arriving();
    const stop = new AbortController();
    const reading = read(untilAborted(audio, stop.signal));
    add(noise(100));
    await settled();
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await settled();
    expect(audio.unreadBytes).toBe(0);
  });

  it('can have only one pending read', async () => {
    const { audio } = arriving();
    const iterator = audio[Symbol.asyncIterator]();
    const first = iterator.next();
    await expect(iterator.next()).rejects.toThrow('piece by piece');
    audio.end();
    expect((await first).done).toBe(true);
  });

  it('throws if the turn is dropped before it is complete', async () => {
    const now = arriving();
    const reading = expect(read(now.audio)).rejects.toThrow(TurnDroppedError);
    now.audio.drop();
    now.add(noise(100));
    await reading;
    const later = arriving();
    later.add(noise(100));
    later.audio.drop();
    later.audio.discard();
    expect(later.audio.unreadBytes).toBe(0);
    await expect(read(later.audio)).rejects.toThrow(TurnDroppedError);
    const bytes = bytesOf(100, PCM_16K);
    const complete = TurnAudio.of(bytes, PCM_16K);
    complete.drop();
    expect(joined(await read(complete))).toEqual(expectedSamples(bytes, PCM_16K));
  });

  it('is not required: discard frees the audio as well', async () => {
    const audio = TurnAudio.of(bytesOf(100, PCM_16K), PCM_16K);
    audio.discard();
    audio.discard();
    expect(audio.unreadBytes).toBe(0);
    expect(await read(audio)).toEqual([]);
  });
});
