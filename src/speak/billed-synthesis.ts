/** Billed speech synthesis for HTTP responses and realtime responses, paced by the consumer (spec 4.3, 4.7, 4.9). */

import { type Encoding, encodeAudio } from '../audio/codec.ts';
import { outcomeOf } from '../contract/core/outcome.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { Slots } from '../contract/plugin.ts';
import type { PlaybackClock } from '../kit/playback-clock.ts';
import { codePoints } from '../kit/validation/code-points.ts';
import type { SpeechUsageMeter } from '../usage/usage-meters.ts';
import type { SelectedVoice } from './stored-voices.ts';
import { type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

export interface BilledSynthesisOptions extends Pick<Slots, 'calls' | 'clock'> {
  readonly request: Omit<SynthesizeTextRequest, keyof SelectedVoice>;
  readonly encoding: Encoding;
  /** Maximum length of a chunk in ms. Default: the length that the engine generates. */
  readonly maxChunkMs?: number;
  /** Measures the call. The synthesis opens and closes it. */
  readonly meter: SpeechUsageMeter;
  /**
   * Returns the engine, and the voice unless it is its default voice. Called when the call is open. An error
   * ends the synthesis.
   */
  selectVoice(): Promise<{ readonly engine: TtsEngine } & SelectedVoice>;
  /** Whether a request that is rejected before any audio leaves no usage row, instead of a failed one. */
  readonly discardsRejections: boolean;
  /** Called for each sentence as it starts. Together the sentences are the text. */
  readonly onSentence?: (sentence: string) => void;
  /**
   * Called for each chunk as it is counted, before it is yielded. Not called after an abort, whereas a chunk that
   * is yielded can arrive after it.
   */
  readonly onChunk?: (chunk: SpeechChunk) => void;
  /** Called when the call is closed. */
  readonly onClosed?: () => void;
  /** Playback of the listener, see {@link SynthesisObserver.playback}. */
  readonly playback?: PlaybackClock;
}

/** Encoded mono audio. Each chunk contains whole samples. */
export type SpeechChunk = Uint8Array<ArrayBuffer>;

/**
 * Synthesizes a text as one call: opens it before the synthesis, and closes it before the iteration ends or
 * throws. Yields each chunk as soon as it is available. A text without speakable text yields nothing and leaves no
 * usage row. Ending the iteration stops the synthesis and cancels the call; throwing an error into it
 * fails the call.
 * @throws ServiceError `insufficient_quota`; the errors of `selectVoice` and of the engine; the reason of the
 *   signal after an abort.
 */
export async function* billedSynthesis(
  options: BilledSynthesisOptions,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk, void, undefined> {
  const { request, encoding, maxChunkMs, meter, calls, clock, discardsRejections, onSentence, playback } =
    options;
  const maxSamples = maxChunkMs === undefined ? Infinity : Math.floor((request.rateHz * maxChunkMs) / 1000);
  const closeRejected = () => (discardsRejections ? meter.discard() : meter.close('failed'));
  try {
    await meter.open(calls);
    const { engine, ...voice } = await options.selectVoice();
    /** Characters of the sentences without audio so far. */
    let waitingCharacters = 0;
    const observer = {
      onSentence(sentence: string) {
        waitingCharacters += codePoints(sentence);
        onSentence?.(sentence);
      },
      ...(playback && { playback }),
      onGenerated(samples: number) {
        meter.addSpokenCharacters(waitingCharacters);
        waitingCharacters = 0;
        meter.addSamples(samples, engine.rateHz);
      },
    };
    for await (const samples of synthesizeText(engine, { ...request, ...voice }, clock, signal, observer)) {
      for (const part of partsOf(samples, maxSamples)) {
        signal.throwIfAborted();
        const chunk = encodeAudio(part, encoding);
        meter.addBytes(chunk.length);
        options.onChunk?.(chunk);
        yield chunk;
      }
    }
    await (meter.hasAudio ? meter.close('completed') : meter.discard());
  } catch (error) {
    const outcome = outcomeOf(error, { signal, hasOutput: meter.hasAudio });
    await (outcome === 'rejected' ? closeRejected() : meter.close(outcome));
    throw error;
  } finally {
    // The call is still open if the consumer stopped early.
    await meter.close('cancelled');
    options.onClosed?.();
  }
}

function* partsOf(samples: Float32Samples, maxSamples: number): Generator<Float32Samples> {
  for (let at = 0; at < samples.length; at += maxSamples) yield samples.subarray(at, at + maxSamples);
}
