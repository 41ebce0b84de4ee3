/** A Piper voice on ONNX Runtime: text to samples, window by window. */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import { loadEspeak } from '../../text/espeak.ts';
import { DEFAULT_LANGUAGE, requireFrontEnd } from '../../text/front-end.ts';
import type { SpeechDescription, SpeechModel, SpeechRequest, SpeechResult } from '../pool/model.ts';
import { type FrameWindow, frameWindows, type WindowPlan } from '../runtime/frame-windows.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../runtime/runtime.ts';
import type { RuntimeOptions } from '../runtime/runtime-options.ts';
import { WordTimes } from '../runtime/word-times.ts';
import { createPiperG2p, type PiperG2p } from './g2p.ts';
import { DECODER_INPUT, splitPiperGraph } from './split-graph.ts';
import { type PiperSettings, parsePiperSettings } from './voice-settings.ts';

/**
 * In latent frames, 86 per second: windows of 0.46 s to 3.7 s. The receptive field of the decoder is 11 frames. A context of
 * 12 frames gives a maximum error of 1e-6, 10 frames 2e-6, 8 frames 2e-3 (measured).
 */
const WINDOWS: WindowPlan = { first: 40, maxLength: 320, context: 12 };
/** Samples of a latent frame. */
const HOP_SAMPLES = 256;

export interface PiperOptions {
  /** Path of the voice's graph, `*.onnx`. */
  readonly model: string;
  /** Path of the voice's settings, `*.onnx.json`. */
  readonly settings: string;
  readonly runtime: RuntimeOptions;
}

/**
 * Loads a voice and synthesizes one sentence to warm up the graphs.
 * @throws Error when a file is not a Piper voice with the expected structure.
 */
export async function loadPiper(options: PiperOptions): Promise<SpeechModel> {
  const voice = parsePiperSettings(await Bun.file(options.settings).text());
  const graphs = splitPiperGraph(await Bun.file(options.model).bytes());
  const { words } = requireFrontEnd(DEFAULT_LANGUAGE);
  const g2p = createPiperG2p({ espeak: await loadEspeak(), words, phonemeIds: voice.phoneme_id_map });
  const encoder = await openGraph(graphs.encoder, options.runtime);
  const decoder = await openGraph(graphs.decoder, options.runtime);
  const model = new PiperModel(voice, g2p, encoder, decoder);
  for await (const _ of model.open({ text: 'Ready when you are.', speed: 1, delivery: 'stream' }));
  return model;
}

class PiperModel implements SpeechModel {
  readonly description: SpeechDescription;

  constructor(
    private readonly voice: PiperSettings,
    private readonly g2p: PiperG2p,
    private readonly encoder: GraphSession,
    private readonly decoder: GraphSession,
  ) {
    this.description = { rateHz: voice.audio.sample_rate, supportsAdaptations: false };
  }

  async *open(request: SpeechRequest): AsyncGenerator<SpeechResult | null, void, undefined> {
    const sentences = await this.g2p.phonemize(request.text);
    const sources = request.words ? sentences.map((sentence) => sentence.sources()) : [];
    const frameMs = (HOP_SAMPLES * 1000) / this.voice.audio.sample_rate;
    const times = new WordTimes(request.text, sources.flat(), frameMs);
    for (const [i, { ids }] of sentences.entries()) {
      const { latent, durations } = await this.#encode(ids, request.speed);
      const frames = latent.dims[2] ?? 0;
      const audible = { frames, from: 0, to: frames };
      const own = sources[i];
      if (own !== undefined) yield times.add({ ...audible, sources: own, durations: durations.data });
      const { delivery, firstAudioMs = Number.POSITIVE_INFINITY } = request;
      for (const window of frameWindows(audible, WINDOWS, delivery, firstAudioMs / frameMs)) {
        yield await this.#decode(latent, window);
      }
    }
  }

  async close(): Promise<void> {
    await this.encoder.close();
    await this.decoder.close();
  }

  async #encode(ids: readonly number[], speed: number) {
    const { noise_scale, length_scale, noise_w } = this.voice.inference;
    return await this.encoder.run(
      {
        input: { type: 'int64', dims: [1, ids.length], data: BigInt64Array.from(ids, BigInt) },
        input_lengths: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(ids.length)) },
        scales: {
          type: 'float32',
          dims: [3],
          data: Float32Array.of(noise_scale, length_scale / speed, noise_w),
        },
      },
      ['latent', 'durations'],
    );
  }

  /** Decodes the samples of a window, without its context. */
  async #decode(latent: GraphOutput, window: FrameWindow): Promise<Float32Samples> {
    const [, channels = 0, frames = 0] = latent.dims;
    const { start, end, contextStart, contextEnd } = window;
    const length = contextEnd - contextStart;
    const data = new Float32Array(channels * length);
    for (let channel = 0; channel < channels; channel++) {
      const row = latent.data.subarray(channel * frames + contextStart, channel * frames + contextEnd);
      data.set(row, channel * length);
    }
    const { audio } = await this.decoder.run(
      { [DECODER_INPUT]: { type: 'float32', dims: [1, channels, length], data } },
      ['audio'],
    );
    return audio.data.slice((start - contextStart) * HOP_SAMPLES, (end - contextStart) * HOP_SAMPLES);
  }
}
