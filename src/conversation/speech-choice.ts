/**
 * Chooses the speech engine of each session of a conversation model: that of the model, for as many concurrent sessions as the machine can
 * synthesize in real time while the language model generates on the same cores, and a faster one for the others
 * (docs/decisions/conversations.md).
 */

import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { FastSpeech } from '../contract/engines/fast-speech.ts';
import type { TextEngine } from '../contract/engines/text.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';

/** About 3 s of speech. */
const SENTENCE = 'Thank you for your call. How can I help you this morning?';
const PROMPT = 'Tell me a long story about a lighthouse.';
/** More tokens than are generated during the measurement. */
const MAX_TOKENS = 256;
/** Synthesis time of one session as a share of the length of the audio. The rest is reserved for the other steps of a turn. */
const MAX_REAL_TIME_FACTOR = 0.85;
/** The same of several sessions that speak at the same time. Their transcriptions and the speech of others need the rest. */
const MAX_SHARED_FACTOR = 0.6;
const FAIRNESS_KEY = 'measurement';

export interface SpeechChoiceDeps {
  /** Id of the conversation model, for the log. */
  readonly model: string;
  readonly tts: TtsEngine;
  readonly text: TextEngine;
  readonly fastSpeech: FastSpeech;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
  /** Stops the measurement. */
  readonly signal: AbortSignal;
}

/** The speech engine of a session. */
export interface SessionSpeech {
  /** Undefined: the engine of the model. */
  readonly fasterEngine: TtsEngine | undefined;
  /** The session has ended. Idempotent. */
  release(): void;
}

export class SpeechChoice {
  readonly #deps: SpeechChoiceDeps;
  #maxSessions: Promise<number> | undefined;
  /** Sessions with the engine of the model. */
  #sessions = 0;

  constructor(deps: SpeechChoiceDeps) {
    this.#deps = deps;
  }

  /**
   * Chooses for a new session. The first call measures for a few seconds, and later ones wait for it. After an error, the model keeps
   * its engine.
   * @throws the reason of `signal` after an abort. The measurement continues for the next session.
   */
  async choose(signal: AbortSignal): Promise<SessionSpeech> {
    this.#maxSessions ??= this.#measure();
    const maxSessions = await unlessAborted(this.#maxSessions, signal);
    if (this.#sessions >= maxSessions) {
      const fasterEngine = await unlessAborted(this.#openFaster(), signal);
      if (fasterEngine !== undefined) return { fasterEngine, release: () => undefined };
    }
    this.#sessions += 1;
    let isOpen = true;
    const release = () => {
      if (isOpen) this.#sessions -= 1;
      isOpen = false;
    };
    return { fasterEngine: undefined, release };
  }

  /** Measures before the first session, and opens the faster engine if sessions may need it. Never rejects. */
  async prepare(): Promise<void> {
    this.#maxSessions ??= this.#measure();
    if (Number.isFinite(await this.#maxSessions)) await this.#openFaster();
  }

  async #openFaster(): Promise<TtsEngine | undefined> {
    const { model, fastSpeech, log } = this.#deps;
    try {
      return await fastSpeech.open();
    } catch (error) {
      log.error('the faster speech model could not be opened', error, { model });
      return undefined;
    }
  }

  /** Number of concurrent sessions that the engine of the model can serve. */
  async #measure(): Promise<number> {
    const { model, log } = this.#deps;
    try {
      const factor = await this.#realTimeFactor();
      const sessions =
        factor > MAX_REAL_TIME_FACTOR ? 0 : Math.max(1, Math.floor(MAX_SHARED_FACTOR / factor));
      log.info('speech of conversations', {
        model,
        real_time_factor: Number(factor.toFixed(2)),
        max_sessions: sessions,
      });
      return sessions;
    } catch (error) {
      log.error('choice of the speech model failed', error, { model });
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Time of the synthesis of a sentence while the language model generates, divided by the length of the audio. */
  async #realTimeFactor(): Promise<number> {
    const { tts, text, clock, signal } = this.#deps;
    const generation = new AbortController();
    const started = Promise.withResolvers<void>();
    const generated = this.#generate(text, AbortSignal.any([signal, generation.signal]), started.resolve);
    generated.catch(started.reject);
    try {
      await started.promise;
      const startMs = clock.monotonicMs();
      let audioMs = 0;
      const request = { text: SENTENCE, speed: 1, priority: 'realtime', delivery: 'stream' } as const;
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

/** Waits for `promise`. @throws the signal's reason after an abort. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  await Promise.race([promise, waitForAbort(signal)]);
  signal.throwIfAborted();
  return promise;
}
