/** A Piper voice on the ONNX runtime: phonemes to samples. */

import type { Float32Samples } from '../../contract/audio.ts';
import type { PassModel, PassRequest, RuntimeOptions } from '../pass-model.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../runtime.ts';
import { cutPiperGraph, DECODER_INPUT } from './piper-graph.ts';
import { type PiperVoice, parsePiperVoice, phonemeIds } from './piper-voice.ts';
import { type FrameWindow, frameWindows } from './piper-windows.ts';

export interface PiperOptions {
  /** Path of the voice's graph, `*.onnx`. */
  readonly model: string;
  /** Path of its settings, `*.onnx.json`. */
  readonly settings: string;
  readonly runtime: RuntimeOptions;
  /** IPA of a text in the voice's own phoneme set, stress marks and punctuation included. */
  readonly toPhonemes: (text: string) => Promise<string>;
}

/**
 * Loads a voice and runs it once, so that the first request finds the runtime's memory in place.
 * @throws Error when a file is not a Piper voice of the known layout.
 */
export async function loadPiper(options: PiperOptions): Promise<PassModel> {
  const voice = parsePiperVoice(await Bun.file(options.settings).text());
  const graphs = cutPiperGraph(await Bun.file(options.model).bytes());
  const model = new PiperModel(
    voice,
    await openGraph(graphs.front, options.runtime),
    await openGraph(graphs.decoder, options.runtime),
    options.toPhonemes,
  );
  for await (const _ of model.open({ text: 'Ready.', speed: 1, delivery: 'whole' }));
  return model;
}

class PiperModel implements PassModel {
  readonly rateHz: number;

  constructor(
    private readonly voice: PiperVoice,
    private readonly front: GraphSession,
    private readonly decoder: GraphSession,
    private readonly toPhonemes: (text: string) => Promise<string>,
  ) {
    this.rateHz = voice.rateHz;
  }

  async *open(request: PassRequest): AsyncGenerator<Float32Samples | null, void, undefined> {
    const phonemes = await this.toPhonemes(request.text);
    const ids = phonemeIds(this.voice, phonemes);
    if (ids.length === 0) return;
    const latent = await this.#latentOf(ids, request.speed);
    const windows = [...frameWindows(latent.dims[2] ?? 0, request.delivery)];
    for (const window of windows) yield await this.#decode(latent, window);
  }

  async close(): Promise<void> {
    await this.front.close();
    await this.decoder.close();
  }

  async #latentOf(ids: readonly number[], speed: number): Promise<GraphOutput> {
    const { noiseScale, lengthScale, noiseWidth } = this.voice;
    const { latent } = await this.front.run(
      {
        input: { type: 'int64', dims: [1, ids.length], data: BigInt64Array.from(ids, BigInt) },
        input_lengths: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(ids.length)) },
        scales: {
          type: 'float32',
          dims: [3],
          data: Float32Array.of(noiseScale, lengthScale / speed, noiseWidth),
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
