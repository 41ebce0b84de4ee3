/**
 * In which ways a window is tried, and which attempt is taken: openai/whisper's `transcribe.py`
 * (decode_with_fallback), with a careful way before the hotter ones.
 */

/** Thresholds of openai/whisper: below it a text is unlikely, above it the audio is silence. */
export const MIN_LOG_PROBABILITY = -1;
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
  /** Why another attempt is worth its time; undefined when none is. */
  readonly fault: Fault | undefined;
}

/**
 * `repeats`: the text repeats itself, in as much time as that takes, so it may be what was said. `unlikely`: the
 * model does not trust it. `loops`: more than could have been said; it was cut.
 */
export type Fault = 'repeats' | 'unlikely' | 'loops';

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
  return !plan.hotter && noSpeech > NO_SPEECH && averageLogProbability < MIN_LOG_PROBABILITY;
}

/** Whether a plan can mend what was wrong with the attempt before it: heat makes no repetition truer. */
export function isWorthwhile(plan: Plan, before: Attempt | undefined): boolean {
  return before === undefined || (before.fault !== undefined && !(plan.hotter && before.fault === 'repeats'));
}

/**
 * The attempt with the mildest fault, of several the likeliest, where heat counts against it: a loop is likely by
 * nature. One that begins with what has left, as the last always does.
 */
export function best(attempts: readonly Attempt[], left: readonly number[]): Attempt {
  const possible = attempts.filter(({ tokens }) => left.every((token, i) => token === tokens[i]));
  return possible.reduce((a, b) => {
    const milder = severity(a) - severity(b);
    if (milder !== 0) return milder < 0 ? a : b;
    return trust(b) > trust(a) ? b : a;
  });
}

function severity({ fault }: Attempt): number {
  if (fault === undefined) return 0;
  return fault === 'repeats' ? 1 : 2;
}

function trust({ averageLogProbability, plan }: Attempt): number {
  return averageLogProbability - plan.temperature;
}
