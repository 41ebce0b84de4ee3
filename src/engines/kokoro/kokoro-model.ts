/** Kokoro-82M on the ONNX runtime: text to samples, window by window. */

import { type Float32Samples, SPEECH_RATE_HZ } from '../../contract/audio.ts';
import { arithmeticFor } from '../cpu-arithmetic.ts';
import { type FrameWindow, frameWindows, type WindowPlan } from '../frame-windows.ts';
import type { PassModel, PassRequest, RuntimeOptions } from '../pass-model.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../runtime.ts';
import { splitPhonemes } from '../text/kokoro-tokens.ts';
import {
  HIDDEN_FRAMES,
  HOP_SAMPLES,
  normSlots,
  SOURCE_FRAMES,
  STATISTICS_LENGTH,
} from './generator-graph.ts';
import { KokoroFront, type Utterance } from './kokoro-front.ts';
import { importKokoro } from './kokoro-import.ts';
import { loadKokoroText } from './kokoro-text.ts';
import { type KokoroVoice, loadVoice, prosodyOf } from './kokoro-voices.ts';
import { type NormAffine, predictNorms } from './norm-statistics.ts';

/** Samples of one text frame: 25 ms at 24 kHz. */
const FRAME_SAMPLES = SOURCE_FRAMES * HOP_SAMPLES;

/**
 * In text frames of 25 ms. The generator's convolutions reach 60 frames at 800 Hz, 60 at 4,800 Hz and a few
 * more: just under four text frames.
 */
const WINDOWS: WindowPlan = { first: 12, longest: 80, context: 4 };

const NORM_CHANNELS = normSlots().map((slot) => slot.channels);

export interface KokoroOptions {
  readonly modelsDir: string;
  /** Voices to have ready, e.g. `af_heart`; the first is that of requests that name none. */
  readonly voices: readonly string[];
  readonly runtime: RuntimeOptions;
}

/**
 * Loads the model and its voices, importing and measuring them on the first start, and speaks once so that
 * the first request finds everything warm.
 * @throws Error when a file is missing, or one of the voices does not exist.
 */
export async function loadKokoro(
  options: KokoroOptions,
  arithmetic = arithmeticFor(options.runtime.provider),
): Promise<PassModel> {
  const { modelsDir, runtime, voices } = options;
  const { vocabulary, toPhonemes } = await loadKokoroText(modelsDir);
  const graphs = await importKokoro(modelsDir, arithmetic);
  const front = new KokoroFront(await openGraph(graphs.front, runtime), vocabulary);
  const generator = await openGraph(graphs.generator, runtime);
  const openVoice = (name: string) =>
    loadVoice(name, {
      modelsDir,
      arithmetic,
      front,
      openMeasuring: () => openGraph(graphs.measuring, runtime),
      toPhonemes,
    });
  const model = new KokoroModel(voices, toPhonemes, front, generator, openVoice);
  await model.loadVoices();
  for await (const _ of model.open({ text: 'Ready when you are.', speed: 1, delivery: 'stream' }));
  return model;
}

class KokoroModel implements PassModel {
  readonly rateHz = SPEECH_RATE_HZ;
  /** Voices of the options and those that were asked for; there are as many as the catalog lists. */
  readonly #loaded = new Map<string, Promise<KokoroVoice>>();

  constructor(
    private readonly voices: readonly string[],
    private readonly toPhonemes: (text: string) => Promise<string>,
    private readonly front: KokoroFront,
    private readonly generator: GraphSession,
    private readonly openVoice: (name: string) => Promise<KokoroVoice>,
  ) {}

  /** One after the other: measuring two at once would only take more memory. */
  async loadVoices(): Promise<void> {
    for (const name of this.voices) await this.#voice(name);
  }

  async *open(request: PassRequest): AsyncGenerator<Float32Samples | null, void, undefined> {
    const voice = await this.#voice(request.voice ?? this.voices[0] ?? '');
    const phonemes = await this.toPhonemes(request.text);
    for (const pass of splitPhonemes(phonemes)) {
      const utterance = await this.front.speak(pass, voice.styles, request.speed);
      const norms = predictNorms(voice.profile, prosodyOf(utterance), utterance.affine.data, NORM_CHANNELS);
      yield null;
      for (const window of frameWindows(utterance, WINDOWS, request.delivery)) {
        yield await this.#decode(utterance, norms, window);
      }
    }
  }

  async close(): Promise<void> {
    await this.front.close();
    await this.generator.close();
  }

  #voice(name: string): Promise<KokoroVoice> {
    const known = this.#loaded.get(name);
    if (known) return known;
    const loading = this.openVoice(name);
    this.#loaded.set(name, loading);
    // A voice that could not be loaded may be there next time.
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }

  /** Samples of the window's frames, without its context. */
  async #decode(utterance: Utterance, norms: NormAffine, window: FrameWindow): Promise<Float32Samples> {
    const { contextStart, contextEnd, start, end } = window;
    const norm = (data: Float32Array) => ({
      type: 'float32' as const,
      dims: [1, 1, STATISTICS_LENGTH],
      data,
    });
    const { audio } = await this.generator.run(
      {
        hidden: cutFrames(utterance.hidden, HIDDEN_FRAMES, contextStart, contextEnd),
        source: cutFrames(utterance.source, SOURCE_FRAMES, contextStart, contextEnd),
        gain: norm(norms.gain),
        offset: norm(norms.offset),
      },
      ['audio'],
    );
    // The graph's first sample is number HOP_SAMPLES of its window, and the window's last few are not made;
    // only the very ends of an utterance lack them, less than a millisecond of silence.
    const first = (start - contextStart) * FRAME_SAMPLES - HOP_SAMPLES;
    const samples = new Float32Array((end - start) * FRAME_SAMPLES);
    const made = audio.data.subarray(Math.max(0, first), first + samples.length);
    samples.set(made, Math.max(0, -first));
    return samples;
  }
}

/** Rows of [1, frames x perFrame, channels] that belong to some frames; a view, not a copy. */
function cutFrames(tensor: GraphOutput, perFrame: number, start: number, end: number) {
  const channels = tensor.dims[2] ?? 0;
  return {
    type: 'float32' as const,
    dims: [1, (end - start) * perFrame, channels],
    data: tensor.data.subarray(start * perFrame * channels, end * perFrame * channels),
  };
}
