/** Streaming text to speech: mono samples at any rate. */

import { Resampler } from '../audio/resampler.ts';
import { splitSentences } from '../audio/sentences.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { PlaybackClock } from '../kit/playback-clock.ts';

/** A synthesis request. */
export interface SynthesizeTextRequest extends Omit<SynthesisRequest, 'aheadMs' | 'text'> {
  /** A text of any length, or its sentences as they arrive, each short enough for {@link SynthesisRequest.text}. */
  readonly text: string | AsyncIterable<string>;
  /** Sample rate of the result in Hz, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}. */
  readonly rateHz: number;
}

export interface SynthesisObserver {
  /**
   * Called for each sentence as it starts, including blank ones. Together the sentences are the text.
   */
  onSentence?(sentence: string): void;
  /** @param samples number of samples that the engine generated, at its rate. */
  onGenerated?(samples: number): void;
  /** Playback of the listener, which is updated. Default: it starts with the first audio. */
  readonly playback?: PlaybackClock;
}

export interface SynthesisOutput<Chunk> {
  readonly clock: Clock;
  /** Converts generated samples at the requested rate. Each chunk is yielded before the next one is created. */
  chunksOf(samples: Float32Samples): Iterable<Chunk>;
}

/**
 * Synthesizes text sentence by sentence (spec 4.3, rules 1 and 2). Yields the chunks of the samples in order,
 * converted to the requested rate; yields nothing if the text contains no speakable text. A sentence starts
 * after the audio of the previous one was consumed, so a consumer that stops pulling stops the synthesis.
 * @throws the errors of the engine, and the reason of the signal after an abort.
 */
export async function* synthesizeText<Chunk>(
  engine: TtsEngine,
  { rateHz, ...request }: SynthesizeTextRequest,
  { clock, chunksOf }: SynthesisOutput<Chunk>,
  signal: AbortSignal,
  observer: SynthesisObserver = {},
): AsyncGenerator<Chunk, void, undefined> {
  const { playback = new PlaybackClock() } = observer;
  const resampler =
    engine.rateHz === rateHz
      ? undefined
      : new Resampler({ fromHz: engine.rateHz, toHz: rateHz, format: 'float32' });
  try {
    for await (const text of typeof request.text === 'string' ? splitSentences(request.text) : request.text) {
      observer.onSentence?.(text);
      if (text.trim() === '') continue;
      const sentence = { ...request, text, aheadMs: playback.aheadMs(clock.monotonicMs()) };
      for await (const chunk of engine.synthesize(sentence, signal)) {
        observer.onGenerated?.(chunk.length);
        const samples = resampler ? resampler.push(chunk) : chunk;
        if (samples.length === 0) continue;
        playback.addAudio((samples.length * 1000) / rateHz, clock.monotonicMs());
        for (const piece of chunksOf(samples)) yield piece;
      }
    }
    const rest = resampler?.flush();
    if (rest && rest.length > 0) for (const piece of chunksOf(rest)) yield piece;
  } finally {
    resampler?.close();
  }
}
