/** Kokoro's front on the ONNX runtime: phonemes to everything that is computed once for an utterance. */

import { MAX_PASS_TOKENS, tokensOf, type Vocabulary } from '../../../text/english/g2p/kokoro-tokens.ts';
import type { AudibleFrames } from '../../runtime/frame-windows.ts';
import type { GraphOutput, GraphSession } from '../../runtime/runtime.ts';
import { HIDDEN_FRAMES } from '../import/generator-graph.ts';

/** Length of a style vector; a voice has one for each number of tokens. */
export const STYLE_LENGTH = 256;

/** A voice. */
export interface SpokenStyle {
  /** Of an utterance of so many tokens, {@link STYLE_LENGTH} values. */
  readonly style: (tokens: number) => Float32Array;
  /** By which the predicted pitch is multiplied. */
  readonly pitchScale: number;
}

/** What the front knows of an utterance of T text frames. */
export interface Utterance extends AudibleFrames {
  /** T; a frame lasts 25 ms. */
  readonly frames: number;
  /** [1, 2T, 512] */
  readonly hidden: GraphOutput;
  /** [1, 120T + 1, 22] */
  readonly source: GraphOutput;
  /** Gain-1 and offset of each norm, [1, 2 x STATISTICS_LENGTH]. */
  readonly affine: GraphOutput;
  /** In Hz, [1, 2T]. */
  readonly pitch: GraphOutput;
  /** Logarithmic, [1, 2T]. */
  readonly energy: GraphOutput;
}

/** Frames of the leading pad that are kept: speech starts up to five frames before the pad's end. */
const LEAD_FRAMES = 6;
const FINAL_MARK = /[;:,.!?—…]$/u;

/**
 * Leaves out most of the silence that the model puts around an utterance: 0.3 s before, which would only
 * delay the first sound, and the last mark and pad behind, which come after 0.15 s and more of silence
 * (measured over four voices and five texts).
 */
function audibleRange(
  frames: number,
  durations: Float32Array,
  phonemes: string,
): { from: number; to: number } {
  const trailing = FINAL_MARK.test(phonemes) ? 2 : 1;
  const tail = durations.slice(-trailing).reduce((sum, frames) => sum + frames, 0);
  const from = Math.max(0, (durations[0] ?? 0) - LEAD_FRAMES);
  return { from, to: Math.max(from, frames - tail) };
}

export class KokoroFront {
  readonly #graph: GraphSession;
  readonly #vocabulary: Vocabulary;

  constructor(graph: GraphSession, vocabulary: Vocabulary) {
    this.#graph = graph;
    this.#vocabulary = vocabulary;
  }

  /**
   * @param phonemes at most {@link MAX_PASS_TOKENS} symbols.
   * @param speed 1 is natural, 2 twice as fast.
   */
  async speak(phonemes: string, { style, pitchScale }: SpokenStyle, speed: number): Promise<Utterance> {
    const tokens = tokensOf(phonemes, this.#vocabulary).slice(0, MAX_PASS_TOKENS);
    // The model was trained with a pad, id 0, at both ends; styles count tokens without them.
    const padded = BigInt64Array.from([0, ...tokens, 0], BigInt);
    const outputs = await this.#graph.run(
      {
        tokens: { type: 'int64', dims: [1, padded.length], data: padded },
        style: { type: 'float32', dims: [1, STYLE_LENGTH], data: style(tokens.length) },
        speed: { type: 'float32', dims: [1], data: Float32Array.of(speed) },
        pitch_scale: { type: 'float32', dims: [1], data: Float32Array.of(pitchScale) },
      },
      ['hidden', 'source', 'affine', 'pitch', 'energy', 'durations'],
    );
    const frames = (outputs.hidden.dims[1] ?? 0) / HIDDEN_FRAMES;
    return { ...outputs, frames, ...audibleRange(frames, outputs.durations.data, phonemes) };
  }

  close(): Promise<void> {
    return this.#graph.close();
  }
}
