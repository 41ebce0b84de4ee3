/** Kokoro's acoustic model on ONNX Runtime: phonemes to the inputs of the generator, computed once per utterance. */

import type { AudibleFrames } from '../../../inference/runtime/frame-windows.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { HIDDEN_FRAMES } from '../import/generator-graph.ts';
import type { KokoroGraphs } from '../import/import-graphs.ts';
import { MAX_PASS_TOKENS, tokensOf, type Vocabulary } from '../shared/tokens.ts';
import { durationsAt } from './token-durations.ts';

/** Length of a style vector; a voice has one for each number of tokens. */
export const STYLE_LENGTH = 256;

export interface VoiceStyle {
  /** Style vector of {@link STYLE_LENGTH} values for an utterance of `tokens` tokens. */
  readonly style: (tokens: number) => Float32Array;
  /** Factor on the predicted pitch. */
  readonly pitchScale: number;
}

/** Acoustic features of an utterance of T text frames. */
export interface Utterance extends AudibleFrames {
  /** T; a frame lasts 25 ms. */
  readonly frames: number;
  /** [1, 2T, 512] */
  readonly hidden: GraphOutput;
  /** [1, 120T + 1, 22] */
  readonly source: GraphOutput;
  /** `gain - 1` and offset of each norm, [1, 2 x STATISTICS_LENGTH]. */
  readonly affine: GraphOutput;
  /** In Hz, [1, 2T]. */
  readonly pitch: GraphOutput;
  /** Logarithmic, [1, 2T]. */
  readonly energy: GraphOutput;
  /** Text frames of each token, with a pad token at both ends. */
  readonly durations: GraphOutput;
}

/** Predicted energy below which the audio is silent: -55 dB. */
export const AUDIBLE_ENERGY = 0;
/** Values of pitch and energy per text frame. */
export const PROSODY_STEPS = 2;
/** Frames of the leading pad that are retained at speed 1: speech starts up to five frames before the end of the pad. */
const LEAD_FRAMES = 6;
const FINAL_MARK = /[;:,.!?—…]$/u;

/**
 * The range of text frames [from, to) without most of the silence that the model adds: 0.3 s at the start, which would
 * only delay the first sound, and the final punctuation mark and pad, which follow at least 0.15 s of silence (measured
 * with four voices and five texts). Above speed 1, the silence before the first sound is shortened with the speed. At any
 * other speed than 1, the silence can be shorter than what is removed, so the range is extended to the first and the last sound.
 */
function audibleRange(
  frames: number,
  { durations, energy }: Pick<Utterance, 'durations' | 'energy'>,
  phonemes: string,
  speed: number,
): { from: number; to: number } {
  const trailing = FINAL_MARK.test(phonemes) ? 2 : 1;
  const tail = durations.data.slice(-trailing).reduce((sum, frames) => sum + frames, 0);
  const lead = Math.ceil(LEAD_FRAMES / Math.max(1, speed));
  const [start, end] = [(durations.data[0] ?? 0) - lead, frames - tail];
  const sounds = energy.data.map((value) => (value < AUDIBLE_ENERGY ? 0 : 1));
  if (!sounds.includes(1)) return { from: Math.max(0, start), to: Math.max(0, start, end) };
  const firstSound = Math.floor(sounds.indexOf(1) / PROSODY_STEPS);
  const soundEnd = Math.ceil((sounds.lastIndexOf(1) + 1) / PROSODY_STEPS);
  return {
    from: Math.max(0, Math.min(start, firstSound - 1)),
    to: Math.min(frames, Math.max(end, soundEnd + 1)),
  };
}

export class KokoroAcousticModel {
  readonly #durations: GraphSession;
  readonly #acoustic: GraphSession;
  readonly #vocabulary: Vocabulary;

  private constructor(durations: GraphSession, acoustic: GraphSession, vocabulary: Vocabulary) {
    this.#durations = durations;
    this.#acoustic = acoustic;
    this.#vocabulary = vocabulary;
  }

  /** Loads both graphs. @throws the errors of {@link openGraph}. */
  static async open(
    graphs: Pick<KokoroGraphs, 'durations' | 'acousticModel'>,
    vocabulary: Vocabulary,
    runtime: RuntimeOptions,
  ): Promise<KokoroAcousticModel> {
    const durations = await openGraph(graphs.durations, runtime);
    return new KokoroAcousticModel(durations, await openGraph(graphs.acousticModel, runtime), vocabulary);
  }

  /**
   * @param phonemes at most {@link MAX_PASS_TOKENS} symbols; the rest is cut off.
   * @param speed 1 is the natural speed, 2 is twice as fast.
   */
  async computeUtterance(
    phonemes: string,
    { style, pitchScale }: VoiceStyle,
    speed: number,
  ): Promise<Utterance> {
    const ids = tokensOf(phonemes, this.#vocabulary).slice(0, MAX_PASS_TOKENS);
    // The model was trained with a pad token, id 0, at both ends. The style table counts tokens without the pads.
    const padded = BigInt64Array.from([0, ...ids, 0], BigInt);
    const inputs = {
      tokens: { type: 'int64', dims: [1, padded.length], data: padded },
      style: { type: 'float32', dims: [1, STYLE_LENGTH], data: style(ids.length) },
    } as const;
    const { predicted, encoding } = await this.#durations.run(inputs, ['predicted', 'encoding']);
    const durations = { dims: predicted.dims, data: durationsAt(speed, predicted.data) };
    const outputs = await this.#acoustic.run(
      {
        ...inputs,
        encoding,
        durations,
        pitch_scale: { type: 'float32', dims: [1], data: Float32Array.of(pitchScale) },
      },
      ['hidden', 'source', 'affine', 'pitch', 'energy'],
    );
    const frames = (outputs.hidden.dims[1] ?? 0) / HIDDEN_FRAMES;
    const utterance = { ...outputs, durations, frames };
    return { ...utterance, ...audibleRange(frames, utterance, phonemes, speed) };
  }

  async close(): Promise<void> {
    await this.#durations.close();
    await this.#acoustic.close();
  }
}
