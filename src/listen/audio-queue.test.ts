import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioQueue } from './audio-queue.ts';

const PCM = { encoding: 'pcm16', rateHz: 16_000 } as const;
const MULAW = { encoding: 'mulaw', rateHz: 8000 } as const;

/** Bytes that tell their position. */
const bytesAt = (from: number, length: number) => Uint8Array.from({ length }, (_, i) => (from + i) * 7);

describe('a run is a queue of bytes', () => {
  it.each([
    ['of two bytes a sample', PCM, 2],
    ['of one byte a sample', MULAW, 1],
  ] as const)('%s, at any cuts, forgotten and read at any places', (_, format, width) => {
    const action = fc.oneof(
      // Small pieces, which are collected, and large ones.
      fc.record({ kind: fc.constant('push' as const), length: fc.integer({ min: 0, max: 700 }) }),
      fc.record({ kind: fc.constant('push' as const), length: fc.integer({ min: 0, max: 30 }) }),
      fc.record({ kind: fc.constant('forget' as const), part: fc.double({ min: 0, max: 1.1, noNaN: true }) }),
      fc.record({ kind: fc.constant('read' as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 400 }), fc.nat(100), (actions, startSample) => {
        const run = new AudioQueue(format, startSample);
        const first = startSample * width;
        let end = first;
        let start = first;
        for (const each of actions) {
          if (each.kind === 'push') {
            run.push(bytesAt(end, each.length));
            end += each.length;
          } else if (each.kind === 'forget') {
            const sample = run.startSample + Math.round(run.bufferedSamples * each.part);
            run.discardBefore(sample);
            start = Math.max(start, Math.min(sample, Math.floor(end / width)) * width);
          } else {
            const to = run.startSample + Math.floor(run.bufferedSamples * each.part);
            const from = run.startSample + Math.floor((to - run.startSample) / 2);
            const bytes = bytesAt(from * width, (to - from) * width);
            expect(run.bytes(from, to)).toEqual(bytes);
            const other = new AudioQueue(format, from);
            run.copyTo(other, from, to);
            expect([other.startSample, other.endSample]).toEqual([from, to]);
            expect(other.bytes(from, to)).toEqual(bytes);
          }
          expect(run.startSample).toBe(start / width);
          expect(run.endSample).toBe(Math.floor(end / width));
          expect(run.bufferedBytes).toBe(end - start);
          expect(run.bytesFrom(startSample)).toBe(end - first);
        }
        expect(run.bytes(run.startSample, run.endSample)).toEqual(
          bytesAt(start, Math.floor(end / width) * width - start),
        );
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});

describe('memory', () => {
  it('keeps large pieces as they are', () => {
    const run = new AudioQueue(PCM);
    const piece = new Uint8Array(960);
    run.push(piece);
    expect(run.bytes(0, 480).buffer).toBe(piece.buffer);
    expect(run.bytes(100, 480).buffer).toBe(piece.buffer);
  });

  it('of single bytes is hardly more than their number', () => {
    const run = new AudioQueue(MULAW);
    const buffers = new Set<ArrayBufferLike>();
    for (let i = 0; i < 40_960; i++) run.push(new Uint8Array([i]));
    for (let i = 0; i < 40_960; i++) buffers.add(run.bytes(i, i + 1).buffer);
    expect(buffers.size).toBe(10);
  });

  it('of what was forgotten is let go', async () => {
    const run = new AudioQueue(PCM);
    const freed = new Set<number>();
    const registry = new FinalizationRegistry<number>((index) => freed.add(index));
    for (let i = 0; i < 200; i++) {
      const piece = new Uint8Array(1000);
      registry.register(piece, i);
      run.push(piece);
    }
    run.discardBefore(50 * 500);
    for (let i = 0; i < 100 && freed.size < 45; i++) {
      Bun.gc(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The collector may overlook a few.
    expect(freed.size).toBeGreaterThanOrEqual(45);
    expect(freed.size).toBeLessThanOrEqual(50);
    expect(run.bufferedSamples).toBe(150 * 500);
  });
});
