/**
 * Chooses the speech engine of a conversation model: its own, or a faster one if the machine cannot synthesize in real time while the
 * language model generates on the same cores (docs/decisions/conversations.md).
 */

import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { FastSpeech } from '../contract/engines/fast-speech.ts';
import type { TextEngine } from '../contract/engines/text.ts';

/** About 3 s of speech. */
const SENTENCE = 'Thank you for your call. How can I help you this morning?';
const PROMPT = 'Tell me a long story about a lighthouse.';
/** More tokens than are generated during the measurement. */
const MAX_TOKENS = 256;
/** Synthesis time as a share of the length of the audio. The rest is reserved for the other steps of a turn. */
const MAX_REAL_TIME_FACTOR = 0.85;
const FAIRNESS_KEY = 'measurement';

export interface SpeechChoiceDeps {
  /** Id of the conversation model, for the log. */
  readonly model: string;
  readonly tts: TtsEngine;
  readonly text: TextEngine;
  readonly fastSpeech: FastSpeech;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

export class SpeechChoice {
  readonly #deps: SpeechChoiceDeps;
  #measurement: Promise<void> | undefined;
  #fasterEngine: TtsEngine | undefined;

  constructor(deps: SpeechChoiceDeps) {
    this.#deps = deps;
  }

  /** The faster engine; undefined before the measurement, or if the model keeps its own. */
  get fasterEngine(): TtsEngine | undefined {
    return this.#fasterEngine;
  }

  /** Measures with the first call, for a few seconds. Never rejects: after an error, the model keeps its engine. */
  measure(): Promise<void> {
    this.#measurement ??= this.#choose();
    return this.#measurement;
  }

  async #choose(): Promise<void> {
    const { model, fastSpeech, log } = this.#deps;
    try {
      const factor = await this.#realTimeFactor();
      const isFastEnough = factor <= MAX_REAL_TIME_FACTOR;
      if (!isFastEnough) this.#fasterEngine = await fastSpeech.open();
      const speech = isFastEnough ? 'default' : 'fast';
      log.info('speech of conversations', { model, speech, real_time_factor: Number(factor.toFixed(2)) });
    } catch (error) {
      log.error('choice of the speech model failed', error, { model });
    }
  }

  /** Time of the synthesis of a sentence while the language model generates, divided by the length of the audio. */
  async #realTimeFactor(): Promise<number> {
    const { tts, text, clock } = this.#deps;
    const generation = new AbortController();
    const started = Promise.withResolvers<void>();
    const generated = this.#generate(text, generation.signal, started.resolve);
    generated.catch(started.reject);
    try {
      await started.promise;
      const startMs = clock.monotonicMs();
      let audioMs = 0;
      const request = { text: SENTENCE, speed: 1, priority: 'realtime', delivery: 'stream' } as const;
      const signal = new AbortController().signal;
      for await (const samples of tts.synthesize({ ...request, fairnessKey: FAIRNESS_KEY }, signal)) {
        audioMs += (samples.length * 1000) / tts.rateHz;
      }
      return (clock.monotonicMs() - startMs) / audioMs;
    } finally {
      generation.abort();
      await generated.catch(() => undefined);
    }
  }

  /** Generates until it is stopped. Models of other servers do not share the cores. */
  async #generate(text: TextEngine, signal: AbortSignal, onToken: () => void): Promise<void> {
    if (text.prepare !== undefined) {
      const events = text.generate(
        {
          messages: [{ role: 'user', parts: [{ kind: 'text', text: PROMPT }] }],
          tools: [],
          toolChoice: 'none',
          parallelToolCalls: false,
          stop: [],
          sampling: {},
          maxTokens: MAX_TOKENS,
          output: { kind: 'text' },
          priority: 'realtime',
          fairnessKey: FAIRNESS_KEY,
        },
        signal,
      );
      for await (const _ of events) onToken();
    }
    onToken();
  }
}
