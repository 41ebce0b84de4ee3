/**
 * In which ways a window is tried, and which attempt is taken: openai/whisper's `transcribe.py`
 * (decode_with_fallback), with a careful way before the hotter ones.
 */

/** Thresholds of openai/whisper: below it a text is unlikely, above it the audio is silence. */
export const LEAST_LOG_PROBABILITY = -1;
export const NO_SPEECH = 0.6;

/** How one attempt at a window differs from the one before. */
export interface Plan {
  readonly temperature: number;
  /** All 30 s are encoded, and what earlier windows said is forgotten. */
  readonly careful: boolean;
  /** Hotter than the caller wants it. */
  readonly hotter: boolean;
}

const FALLBACKS: readonly Plan[] = [
  { temperature: 0, careful: false, hotter: false },
  { temperature: 0, careful: true, hotter: false },
  { temperature: 0.4, careful: true, hotter: true },
  { temperature: 0.8, careful: true, hotter: true },
];

/** What an attempt came to. */
export interface Attempt {
  readonly plan: Plan;
  /** Text and timestamps, without the end. */
  readonly tokens: readonly number[];
  readonly averageLogProbability: number;
  readonly failed: boolean;
}

/** @param temperature the caller's; 0 for the likeliest words, with what to do when they are not likely. */
export function plansFor(temperature: number): readonly Plan[] {
  if (temperature === 0) return FALLBACKS;
  return [
    { temperature, careful: false, hotter: false },
    { temperature, careful: true, hotter: false },
  ];
}

/**
 * openai/whisper: silence is what the model takes for it, unless it is sure of a text all the same. A hotter
 * attempt tells nothing: its text is unlikely because it was sampled, and the ones before it had a likely one.
 */
export function isNoSpeech({ plan, averageLogProbability }: Attempt, noSpeech: number): boolean {
  return !plan.hotter && noSpeech > NO_SPEECH && averageLogProbability < LEAST_LOG_PROBABILITY;
}

/** The one that did not fail, else the likeliest; one that begins with what has left, as the last always does. */
export function best(attempts: readonly Attempt[], left: readonly number[]): Attempt {
  const possible = attempts.filter(({ tokens }) => left.every((token, i) => token === tokens[i]));
  return possible.reduce((a, b) => {
    if (a.failed !== b.failed) return a.failed ? b : a;
    return b.averageLogProbability > a.averageLogProbability ? b : a;
  });
}
