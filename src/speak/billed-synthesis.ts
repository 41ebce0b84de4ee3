/** Billed speech synthesis for HTTP responses and realtime responses, paced by the consumer (spec 4.3, 4.7, 4.9). */

import { type Encoding, encodeAudio } from '../audio/codec.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { Slots } from '../contract/plugin.ts';
import type { PlaybackClock } from '../kit/playback-clock.ts';
import { codePoints } from '../kit/validation/code-points.ts';
import { billed, type CallPlan } from '../usage/billed.ts';
import type { SpeechUsageMeter } from '../usage/usage-meters.ts';
import { matcherOf } from './lexicon-matcher.ts';
import type { SelectedVoice } from './stored-voices.ts';
import { type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

export interface BilledSynthesisOptions
  extends Omit<CallPlan, 'maxUsage' | 'endpoint'>,
    Pick<Slots, 'clock' | 'lexicons'> {
  /** Default: `/v1/audio/speech`. */
  readonly endpoint?: EndpointLabel;
  readonly request: Omit<SynthesizeTextRequest, keyof SelectedVoice | 'lexicon'>;
  readonly encoding: Encoding;
  /** Maximum length of a chunk in ms. Default: the length that the engine generates. */
  readonly maxChunkMs?: number;
  /** Measures the call. */
  readonly meter: SpeechUsageMeter;
  /**
   * Returns the engine, and the voice unless it is its default voice. Called when the call is open. An error
   * ends the synthesis.
   */
  selectVoice(): Promise<{ readonly engine: TtsEngine } & SelectedVoice>;
  /** Called for each sentence as it starts. Together the sentences are the text. */
  readonly onSentence?: (sentence: string) => void;
  /**
   * Called for each chunk as it is counted, before it is yielded. Not called after an abort, whereas a chunk that
   * is yielded can arrive after it.
   */
  readonly onChunk?: (chunk: SpeechChunk) => void;
  /** Playback of the listener, see {@link SynthesisObserver.playback}. */
  readonly playback?: PlaybackClock;
}

/** Encoded mono audio. Each chunk contains whole samples. */
export type SpeechChunk = Uint8Array<ArrayBuffer>;

/**
 * Synthesizes a text as one call, see {@link billed}, with the pronunciation lexicon of the caller's organization. Yields each chunk as soon as it is available. A text without speakable text
 * yields nothing and leaves no usage row.
 * @throws ServiceError `insufficient_quota`; the errors of `selectVoice` and of the engine; the reason of the
 *   signal after an abort.
 */
export function billedSynthesis(
  options: BilledSynthesisOptions,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk, void, undefined> {
  const { endpoint = '/v1/audio/speech', model, caller, calls, rejections, onClosed, meter } = options;
  const plan = { endpoint, model, caller, calls, rejections, onClosed, maxUsage: meter.maxUsage };
  return billed(plan, meter, () => synthesis(options, signal), signal, options.onChunk);
}

/** Selects the voice and starts the synthesis. */
async function synthesis(
  options: BilledSynthesisOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<SpeechChunk>> {
  const { request, encoding, maxChunkMs, meter, clock, lexicons, caller, onSentence, playback } = options;
  const maxSamples = maxChunkMs === undefined ? Infinity : Math.floor((request.rateHz * maxChunkMs) / 1000);
  const { engine, ...voice } = await options.selectVoice();
  const lexicon = matcherOf(await lexicons.lexiconOf(caller.organization));
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
  const chunksOf = function* (samples: Float32Samples) {
    for (let at = 0; at < samples.length; at += maxSamples)
      yield encodeAudio(samples.subarray(at, at + maxSamples), encoding);
  };
  return synthesizeText(engine, { ...request, ...voice, lexicon }, { clock, chunksOf }, signal, observer);
}
