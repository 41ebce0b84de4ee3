/**
 * The decoding attempts of a window and the selection among them, as in openai/whisper `transcribe.py`
 * (decode_with_fallback), with an additional careful attempt before those with a higher temperature.
 */

import type { ChosenTokens } from './text-stream.ts';

/** Thresholds of openai/whisper: a text below MIN_LOG_PROBABILITY is unlikely; audio above NO_SPEECH is silence. */
export const MIN_LOG_PROBABILITY = -1;
export const NO_SPEECH = 0.6;

/** Parameters of one decoding attempt. */
export interface Plan {
  readonly temperature: number;
  /** Whether the window is padded to 30 s and decoded without context. */
  readonly careful: boolean;
  /** Whether the temperature is above that of the request. */
  readonly hotter: boolean;
}

const FALLBACKS: readonly Plan[] = [
  { temperature: 0, careful: false, hotter: false },
  { temperature: 0, careful: true, hotter: false },
  { temperature: 0.4, careful: true, hotter: true },
  { temperature: 0.8, careful: true, hotter: true },
];

/** Result of an attempt. Its tokens do not include the end of text. */
export interface Attempt extends ChosenTokens {
  readonly plan: Plan;
  readonly averageLogProbability: number;
  /** 0–1: whether the words are a complete sentence. */
  readonly sentenceEnd: number;
  /** Reason for another attempt; undefined when the attempt is good. */
  readonly issue: AttemptIssue | undefined;
}

/**
 * `repeats`: the text is repetitive, but its length is plausible for the audio. `unlikely`: the probability of the text is
 * low. `loops`: the text is longer than the audio allows and was truncated.
 */
export type AttemptIssue = 'repeats' | 'unlikely' | 'loops';

/** Returns the attempts in order. @param temperature of the request; 0 selects the most likely tokens, with fallbacks. */
export function plansFor(temperature: number): readonly Plan[] {
  if (temperature === 0) return FALLBACKS;
  return [
    { temperature, careful: false, hotter: false },
    { temperature, careful: true, hotter: false },
  ];
}

/**
 * Whether a window is silent, as in openai/whisper: the model reports no speech, and its text is unlikely. Attempts with a
 * higher temperature are ignored, because sampled text is unlikely in any case.
 */
export function isNoSpeech({ plan, averageLogProbability }: Attempt, noSpeech: number): boolean {
  return !plan.hotter && noSpeech > NO_SPEECH && averageLogProbability < MIN_LOG_PROBABILITY;
}

/** Whether a plan can fix the issue of the previous attempt. A higher temperature does not fix a repetitive text. */
export function isWorthwhile(plan: Plan, before: Attempt | undefined): boolean {
  return before === undefined || (before.issue !== undefined && !(plan.hotter && before.issue === 'repeats'));
}

/**
 * Returns the attempt with the least severe issue; of equals, the most probable one, with a penalty for its temperature.
 * Only attempts that start with the emitted tokens qualify, as the last one always does.
 */
export function selectAttempt(attempts: readonly Attempt[], emitted: readonly number[]): Attempt {
  const possible = attempts.filter(({ tokens }) => emitted.every((token, i) => token === tokens[i]));
  return possible.reduce((a, b) => {
    const difference = severity(a) - severity(b);
    if (difference !== 0) return difference < 0 ? a : b;
    return confidence(b) > confidence(a) ? b : a;
  });
}

function severity({ issue }: Attempt): number {
  if (issue === undefined) return 0;
  return issue === 'repeats' ? 1 : 2;
}

function confidence({ averageLogProbability, plan }: Attempt): number {
  return averageLogProbability - plan.temperature;
}
