import { expect, test } from 'vitest';
import type { TtsEngine } from '../../contract/engines/engine.ts';
import { OnDemandSpeech } from './fast-speech.ts';
import { SharedDownload, type Weights } from './shared-download.ts';

const ENGINE = {} as TtsEngine;

function opened(weights: Partial<Weights>, load: () => Promise<TtsEngine> = async () => ENGINE) {
  const download = new SharedDownload({
    weights: { isOnDisk: () => false, fetch: async () => undefined, ...weights },
    onNote: () => undefined,
    nowMs: () => 0,
  });
  return new OnDemandSpeech({ download, load });
}

test('the model is downloaded and loaded once', async () => {
  let [fetches, loads] = [0, 0];
  const speech = opened({ fetch: async () => void fetches++ }, async () => {
    loads++;
    return ENGINE;
  });
  expect(await Promise.all([speech.open(), speech.open()])).toEqual([ENGINE, ENGINE]);
  expect([fetches, loads]).toEqual([1, 1]);
});

test('files on disk are not downloaded', async () => {
  const speech = opened({ isOnDisk: () => true, fetch: () => Promise.reject(new Error('offline')) });
  expect(await speech.open()).toBe(ENGINE);
});

test('a failure is reported, and the next call tries again', async () => {
  let fetches = 0;
  const speech = opened({
    fetch: async () => {
      if (fetches++ === 0) throw new Error('offline');
    },
  });
  await expect(speech.open()).rejects.toThrow('offline');
  expect(await speech.open()).toBe(ENGINE);
});
