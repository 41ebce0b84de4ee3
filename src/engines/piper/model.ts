/** A Piper voice on the ONNX runtime: text to samples, window by window. */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import { loadEspeak } from '../../text/english/g2p/espeak.ts';
import { createPiperG2p, type PiperG2p } from '../../text/english/g2p/piper-g2p.ts';
import type { RuntimeOptions, SpeechDescription, SpeechModel, SpeechRequest } from '../pool/model.ts';
import { type FrameWindow, frameWindows, type WindowPlan } from '../runtime/frame-windows.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../runtime/runtime.ts';
import { cutPiperGraph, DECODER_INPUT } from './piper-graph.ts';
import { type PiperVoice, parsePiperVoice } from './piper-voice.ts';

/**
 * In latent frames, 86 a second: windows of 0.46 s to 3.7 s. The decoder's convolutions reach 11 frames:
 * with a context of 12 a window differs from the whole by 1e-6, with 10 by 2e-6, with 8 by 2e-3 (measured).
 */
const WINDOWS: WindowPlan = { first: 40, maxLength: 320, context: 12 };

export interface PiperOptions {
  /** Path of the voice's graph, `*.onnx`. */
  readonly model: string;
  /** Path of its settings, `*.onnx.json`. */
  readonly settings: string;
  readonly runtime: RuntimeOptions;
}

/**
 * Loads a voice and speaks once, so that the first request finds everything warm.
 * @throws Error when a file is not a Piper voice of the known layout.
 */
export async function loadPiper(options: PiperOptions): Promise<SpeechModel> {
  const voice = parsePiperVoice(await Bun.file(options.settings).text());
  const graphs = cutPiperGraph(await Bun.file(options.model).bytes());
  const g2p = createPiperG2p({ espeak: await loadEspeak(), phonemeIds: voice.phoneme_id_map });
  const front = await openGraph(graphs.front, options.runtime);
  const decoder = await openGraph(graphs.decoder, options.runtime);
  const model = new PiperModel(voice, g2p, front, decoder);
  for await (const _ of model.open({ text: 'Ready when you are.', speed: 1, delivery: 'stream' }));
  return model;
}

class PiperModel implements SpeechModel {
  readonly description: SpeechDescription;

  constructor(
    private readonly voice: PiperVoice,
    private readonly g2p: PiperG2p,
    private readonly front: GraphSession,
    private readonly decoder: GraphSession,
  ) {
    this.description = { rateHz: voice.audio.sample_rate, supportsAdaptations: false };
  }

  async *open(request: SpeechRequest): AsyncGenerator<Float32Samples | null, void, undefined> {
    for (const ids of await this.g2p.phonemize(request.text)) {
      const latent = await this.#latentOf(ids, request.speed);
      const frames = latent.dims[2] ?? 0;
      for (const window of frameWindows({ frames, from: 0, to: frames }, WINDOWS, request.delivery)) {
        yield await this.#decode(latent, window);
      }
    }
  }

  async close(): Promise<void> {
    await this.front.close();
    await this.decoder.close();
  }

  async #latentOf(ids: readonly number[], speed: number): Promise<GraphOutput> {
    const { noise_scale, length_scale, noise_w } = this.voice.inference;
    const { latent } = await this.front.run(
      {
        input: { type: 'int64', dims: [1, ids.length], data: BigInt64Array.from(ids, BigInt) },
        input_lengths: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(ids.length)) },
        scales: {
          type: 'float32',
          dims: [3],
          data: Float32Array.of(noise_scale, length_scale / speed, noise_w),
        },
      },
      ['latent'],
    );
    return latent;
  }

  /** Samples of the window's frames, without its context. */
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
    const hop = audio.data.length / length;
    return audio.data.slice((start - contextStart) * hop, (end - contextStart) * hop);
  }
}
