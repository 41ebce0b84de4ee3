/** Comparison of the times of words with the audio. */

import type { SpokenWord } from '../../src/contract/engines/engine.ts';
import { resultsOf, type SpeechModel } from '../../src/inference/pool/model.ts';
import { pausesOf } from './audio-checks.ts';

export interface TimedSpeech {
  readonly samples: Float32Array;
  readonly words: readonly SpokenWord[];
  /** Whether each word was reported before the audio at its start. */
  readonly isAhead: boolean;
}

/** Synthesizes a text with the times of its words. */
export async function timedSpeech(
  model: SpeechModel,
  text: string,
  rateHz: number,
  speed = 1,
): Promise<TimedSpeech> {
  const samples: number[] = [];
  const words: SpokenWord[] = [];
  let isAhead = true;
  for await (const result of resultsOf(model.open({ text, speed, delivery: 'stream', words: true }))) {
    if (result instanceof Float32Array) {
      for (const sample of result) samples.push(sample);
      continue;
    }
    const audioMs = (samples.length * 1000) / rateHz;
    isAhead &&= result.every(({ startMs }) => startMs >= audioMs);
    words.push(...result);
  }
  return { samples: Float32Array.from(samples), words, isAhead };
}

/** The longest part of a pause of at least 100 ms that belongs to a word, in ms. */
export function maxPauseInWord({ samples, words }: TimedSpeech, rateHz: number): number {
  const overlaps = pausesOf(samples, rateHz, 100).flatMap((pause) =>
    words.map(({ startMs, endMs }) => Math.min(endMs, pause.endMs) - Math.max(startMs, pause.startMs)),
  );
  return Math.max(0, ...overlaps);
}
