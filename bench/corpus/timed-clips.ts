/** Clips of exact lengths, composed of utterances. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';

export interface JoinedSpeech {
  readonly samples: Float32Samples;
  readonly text: string;
}

const PAUSE_SAMPLES = 0.3 * LISTEN_RATE_HZ;

/**
 * The `count` clips of `seconds` with the least silence at the end, each of consecutive utterances from a different
 * position.
 */
export function bestFits(
  texts: readonly string[],
  speech: readonly Float32Samples[],
  seconds: number,
  count: number,
): JoinedSpeech[] {
  const fits = texts.map((_, first) => fill(texts, speech, first, seconds));
  fits.sort((a, b) => b.usedSamples - a.usedSamples);
  return fits.slice(0, count);
}

/** A clip of `seconds` of consecutive utterances from the first one. */
export function filled(
  texts: readonly string[],
  speech: readonly Float32Samples[],
  seconds: number,
): JoinedSpeech {
  return fill(texts, speech, 0, seconds);
}

function fill(texts: readonly string[], speech: readonly Float32Samples[], first: number, seconds: number) {
  const samples = new Float32Array(seconds * LISTEN_RATE_HZ);
  const sentences: string[] = [];
  let usedSamples = 0;
  for (let i = first; i < texts.length; i++) {
    const at = sentences.length === 0 ? 0 : usedSamples + PAUSE_SAMPLES;
    const next = speech[i] ?? new Float32Array();
    if (at + next.length > samples.length) break;
    samples.set(next, at);
    usedSamples = at + next.length;
    sentences.push(texts[i] ?? '');
  }
  return { samples, text: sentences.join(' '), usedSamples };
}
