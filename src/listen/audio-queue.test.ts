import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioQueue } from './audio-queue.ts';

const PCM = { encoding: 'pcm16', rateHz: 16_000 } as const;
const MULAW = { encoding: 'mulaw', rateHz: 8000 } as const;

/** Bytes whose values encode their positions. */
const bytesAt = (from: number, length: number) => Uint8Array.from({ length }, (_, i) => (from + i) * 7);

describe('AudioQueue', () => {
  it.each([
    ['with two bytes per sample', PCM, 2],
    ['with one byte per sample', MULAW, 1],
  ] as const)('%s returns the pushed bytes for any split, discard and read positions', (_, format, width) => {
    const action = fc.oneof(
      // Small arrays, which are copied into blocks, and large ones.
      fc.record({ kind: fc.constant('push' as const), length: fc.integer({ min: 0, max: 700 }) }),
      fc.record({ kind: fc.constant('push' as const), length: fc.integer({ min: 0, max: 30 }) }),
      fc.record({ kind: fc.constant('forget' as const), part: fc.double({ min: 0, max: 1.1, noNaN: true }) }),
      fc.record({ kind: fc.constant('read' as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 400 }), fc.nat(100), (actions, startSample) => {
        const queue = new AudioQueue(format, startSample);
        const first = startSample * width;
        let end = first;
        let start = first;
        for (const each of actions) {
          if (each.kind === 'push') {
            queue.push(bytesAt(end, each.length));
            end += each.length;
          } else if (each.kind === 'forget') {
            const sample = queue.startSample + Math.round(queue.bufferedSamples * each.part);
            queue.discardBefore(sample);
            start = Math.max(start, Math.min(sample, Math.floor(end / width)) * width);
          } else {
            const to = queue.startSample + Math.floor(queue.bufferedSamples * each.part);
            const from = queue.startSample + Math.floor((to - queue.startSample) / 2);
            const bytes = bytesAt(from * width, (to - from) * width);
            expect(queue.bytes(from, to)).toEqual(bytes);
            const other = new AudioQueue(format, from);
            queue.copyTo(other, from, to);
            expect([other.startSample, other.endSample]).toEqual([from, to]);
            expect(other.bytes(from, to)).toEqual(bytes);
          }
          expect(queue.startSample).toBe(start / width);
          expect(queue.endSample).toBe(Math.floor(end / width));
          expect(queue.bufferedBytes).toBe(end - start);
          expect(queue.bytesFrom(startSample)).toBe(end - first);
        }
        expect(queue.bytes(queue.startSample, queue.endSample)).toEqual(
          bytesAt(start, Math.floor(end / width) * width - start),
        );
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});

describe('memory usage', () => {
  it('stores large arrays without a copy', () => {
    const queue = new AudioQueue(PCM);
    const piece = new Uint8Array(960);
    queue.push(piece);
    expect(queue.bytes(0, 480).buffer).toBe(piece.buffer);
    expect(queue.bytes(100, 480).buffer).toBe(piece.buffer);
  });

  it('has little overhead for single bytes', () => {
    const queue = new AudioQueue(MULAW);
    const buffers = new Set<ArrayBufferLike>();
    for (let i = 0; i < 40_960; i++) queue.push(new Uint8Array([i]));
    for (let i = 0; i < 40_960; i++) buffers.add(queue.bytes(i, i + 1).buffer);
    expect(buffers.size).toBe(10);
  });

  it('is freed for discarded audio', async () => {
    const queue = new AudioQueue(PCM);
    const freed = new Set<number>();
    const registry = new FinalizationRegistry<number>((index) => freed.add(index));
    for (let i = 0; i < 200; i++) {
      const piece = new Uint8Array(1000);
      registry.register(piece, i);
      queue.push(piece);
    }
    queue.discardBefore(50 * 500);
    for (let i = 0; i < 100 && freed.size < 45; i++) {
      Bun.gc(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The garbage collector may not have collected all of them.
    expect(freed.size).toBeGreaterThanOrEqual(45);
    expect(freed.size).toBeLessThanOrEqual(50);
    expect(queue.bufferedSamples).toBe(150 * 500);
  });
});
