/**
 * Ends turns whose speaker has finished. At marks of a pause, one model estimates this from the prosody, and the speech recognition from
 * the words (docs/decisions/end-of-turn.md). Inside a dictated value, such as a telephone number, it waits longer.
 */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { TurnEndDetector } from '../../contract/engines/turn-end.ts';
import type { Eagerness } from '../settings.ts';

/**
 * Lengths of a pause at which the model is asked, and the share of {@link MIN_PROBABILITY} that then suffices: speakers hesitate
 * mostly for less than a second. The model was trained with about 200 ms of silence.
 */
const PAUSE_MARKS = [
  { ms: 200, share: 1 },
  { ms: 350, share: 0.76 },
  { ms: 550, share: 0.62 },
  { ms: 800, share: 0.52 },
  { ms: 1_100, share: 0.44 },
  { ms: 1_500, share: 0.38 },
  { ms: 2_500, share: 0.3 },
] as const;
export const PAUSE_MARKS_MS: readonly number[] = PAUSE_MARKS.map(({ ms }) => ms);
/** From this pause on the prosody decides alone if no transcript has arrived, in ms. */
const TRANSCRIPT_PAUSE_MS = 800;
/** A pause of this length ends the turn if the model fails, in ms. */
const FALLBACK_PAUSE_MS = 1_500;

/** Pause that may end a turn inside a dictated value, in ms. */
const VALUE_PAUSE_MS: Readonly<Record<Eagerness, number>> = {
  low: 2_500,
  medium: 1_500,
  auto: 1_500,
  high: 1_500,
};

/** Probability above which the speaker has finished, at the first mark. */
const MIN_PROBABILITY: Readonly<Record<Eagerness, number>> = {
  low: 0.7,
  medium: 0.55,
  auto: 0.55,
  high: 0.35,
};
/**
 * Weights of the log odds of both estimates, fitted to synthetic speech: 280 complete sentences, 278 that break off and 141 pauses
 * inside sentences (docs/decisions/end-of-turn.md).
 */
const WEIGHTS = { prosody: 0.19, words: 0.95, bias: -1.74 };
/** Limits the log odds of an estimate. */
const MIN_ODDS = 1e-3;

export interface TurnEndOptions {
  readonly detector: TurnEndDetector;
  /** Whether transcripts of pauses arrive. Otherwise the prosody decides. */
  readonly hasTranscripts: boolean;
  /** Called when a turn has ended in its present pause. */
  readonly ended: (itemId: string) => void;
  readonly failed: (error: unknown) => void;
}

/** What the transcript of a pause says about its end. */
export interface TranscribedEnd {
  /** 0–1: whether the words are a complete sentence. */
  readonly sentenceEnd: number;
  /** Whether the words end inside a dictated value. */
  readonly isInsideValue: boolean;
}

/** What is known in the present pause. */
interface Pause {
  readonly stop: AbortController;
  /** Undefined until the transcript arrives. */
  words: TranscribedEnd | undefined;
  /** Latest estimate from the prosody; undefined probability: the model failed. */
  latest:
    | { readonly itemId: string; readonly pauseMs: number; readonly prosody: number | undefined }
    | undefined;
  eagerness: Eagerness;
}

export class TurnEnd {
  readonly #options: TurnEndOptions;
  #pause = newPause();

  constructor(options: TurnEndOptions) {
    this.#options = options;
  }

  /** A pause of a turn has reached a mark. @param audio mono, 16 kHz: the end of the turn with its pause. */
  paused(itemId: string, pauseMs: number, eagerness: Eagerness, audio: Float32Samples): void {
    this.#pause.eagerness = eagerness;
    void this.#ask(itemId, pauseMs, audio, this.#pause);
  }

  /** The turn is transcribed up to its present pause. */
  transcribed(words: TranscribedEnd): void {
    this.#pause.words = words;
    this.#decide(this.#pause);
  }

  /** The pause is over: speech continues, or the turn has ended. */
  over(): void {
    this.#pause.stop.abort();
    this.#pause = newPause();
  }

  async #ask(itemId: string, pauseMs: number, audio: Float32Samples, pause: Pause): Promise<void> {
    const { detector, failed } = this.#options;
    const { signal } = pause.stop;
    let prosody: number | undefined;
    try {
      prosody = await detector.probability(audio, signal);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    if (signal.aborted) return;
    pause.latest = { itemId, pauseMs, prosody };
    this.#decide(pause);
  }

  #decide({ latest, words, eagerness }: Pause): void {
    if (latest === undefined) return;
    const { itemId, pauseMs, prosody } = latest;
    if (prosody === undefined) {
      if (pauseMs >= FALLBACK_PAUSE_MS) this.#options.ended(itemId);
      return;
    }
    if (words === undefined && this.#options.hasTranscripts && pauseMs < TRANSCRIPT_PAUSE_MS) return;
    if (words?.isInsideValue && pauseMs < VALUE_PAUSE_MS[eagerness]) return;
    const probability = words === undefined ? prosody : combined(prosody, words.sentenceEnd);
    const { share } = PAUSE_MARKS.findLast(({ ms }) => pauseMs >= ms) ?? PAUSE_MARKS[0];
    if (probability >= share * MIN_PROBABILITY[eagerness]) this.#options.ended(itemId);
  }
}

function newPause(): Pause {
  return { stop: new AbortController(), words: undefined, latest: undefined, eagerness: 'auto' };
}

/** Logistic combination of both estimates. */
function combined(prosody: number, words: number): number {
  const score = WEIGHTS.prosody * logOdds(prosody) + WEIGHTS.words * logOdds(words) + WEIGHTS.bias;
  return 1 / (1 + Math.exp(-score));
}

function logOdds(probability: number): number {
  const limited = Math.min(1 - MIN_ODDS, Math.max(MIN_ODDS, probability));
  return Math.log(limited / (1 - limited));
}
