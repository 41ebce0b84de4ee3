/**
 * When the tokens of an utterance sound. Their predicted durations are late, and the last token before a pause contains most
 * of the pause. The predicted energy has the exact edges of a pause (docs/decisions/word-times.md).
 */

import type { TimedTokens, TokenSources } from '../../../inference/runtime/word-times.ts';
import { AUDIBLE_ENERGY, PROSODY_STEPS, type Utterance } from './acoustic-model.ts';

/** Text frames by which tokens sound before their predicted frames, at speed 1. */
const LEAD_FRAMES = 1.5;
/** Shorter silences are parts of a consonant, in steps. */
const MIN_SILENCE = 2;

/** Text frames [start, end) of a token, or of consecutive tokens without a word. */
interface Span {
  readonly source: number | undefined;
  start: number;
  end: number;
}

/** @param sources of the tokens, without the pads at both ends. */
export function timedTokens(utterance: Utterance, sources: TokenSources, speed: number): TimedTokens {
  const { from, to, durations, energy } = utterance;
  const spans = spansOf(durations.data, sources, LEAD_FRAMES / speed);
  for (const [i, pause] of spans.entries()) {
    if (pause.source !== undefined) continue;
    const [before, after] = [spans[i - 1], spans[i + 1]];
    const silence = longestSilence(energy.data, before?.start ?? pause.start, after?.end ?? pause.end);
    if (silence === undefined) {
      // The sound between two words is that of the second one, such as the closure of its first consonant.
      if (before !== undefined && after !== undefined) after.start = pause.end = pause.start;
      continue;
    }
    if (before !== undefined) before.end = pause.start = silence.start;
    if (after !== undefined) after.start = pause.end = silence.end;
  }
  return {
    from,
    to,
    sources: spans.map(({ source }) => source),
    durations: spans.map(({ start, end }) => end - start),
  };
}

/** The spans follow each other without a gap, from frame 0. */
function spansOf(durations: Float32Array, sources: TokenSources, lead: number): Span[] {
  const spans: Span[] = [];
  let end = -lead;
  for (const [token, frames] of durations.entries()) {
    end += frames;
    const source = sources[token - 1];
    const last = spans.at(-1);
    const start = last?.end ?? 0;
    if (last !== undefined && last.source === undefined && source === undefined) last.end = end;
    else spans.push({ source, start, end: Math.max(start, end) });
  }
  return spans;
}

/** The longest silence between two frames; undefined if there is none. */
function longestSilence(
  energy: Float32Array,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } | undefined {
  let longest = { start: 0, end: 0 };
  let from = Math.ceil(start * PROSODY_STEPS);
  for (let step = from; step <= end * PROSODY_STEPS; step++) {
    const isSilent = step < Math.floor(end * PROSODY_STEPS) && (energy[step] ?? 0) < AUDIBLE_ENERGY;
    if (isSilent) continue;
    if (step - from > longest.end - longest.start) longest = { start: from, end: step };
    from = step + 1;
  }
  if (longest.end - longest.start < MIN_SILENCE) return undefined;
  return { start: longest.start / PROSODY_STEPS, end: longest.end / PROSODY_STEPS };
}
