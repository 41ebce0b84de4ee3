/** Kokoro's voices: their styles, and the norm statistics that were measured with them. */

import { join } from 'node:path';
import { imported } from '../import-cache.ts';
import { catalogEntry, resolveModelFiles } from '../model-files.ts';
import type { Arithmetic } from '../onnx/convolution-product.ts';
import type { GraphSession } from '../runtime.ts';
import { HIDDEN_FRAMES, SOURCE_FRAMES, STAGE_FRAMES, STATISTICS_LENGTH } from './generator-graph.ts';
import type { KokoroFront, Utterance } from './kokoro-front.ts';
import {
  CALIBRATION_TEXTS,
  countKinds,
  energyThresholds,
  FRAME_KINDS,
  frameKinds,
  type MeasuredUtterance,
  poolProfile,
  type VoiceProfile,
} from './norm-statistics.ts';

/** Raise with every change of what is measured, or on what. */
const VERSION = 1;
const PROFILE_FILE = 'profile.f32';

export interface KokoroVoice {
  /** [510 x 256], one row for each number of tokens. */
  readonly styles: Float32Array;
  readonly profile: VoiceProfile;
}

export interface VoiceMeasuring {
  readonly modelsDir: string;
  readonly arithmetic: Arithmetic;
  readonly front: KokoroFront;
  /** Opens the measuring generator; it is closed again after use. */
  readonly openMeasuring: () => Promise<GraphSession>;
  readonly toPhonemes: (text: string) => Promise<string>;
}

/**
 * Loads a voice. Its first use on a machine takes a few seconds, because its statistics are measured; later
 * ones read them from the import cache.
 * @throws Error when there is no such voice; it lists those that there are.
 */
export async function loadVoice(name: string, measuring: VoiceMeasuring): Promise<KokoroVoice> {
  const voices = catalogEntry('kokoro-voices');
  const file = voices.files.find((candidate) => candidate.name === `${name}.bin`);
  if (!file) {
    const known = voices.files.map((candidate) => candidate.name.replace(/\.bin$/, '')).join(', ');
    throw new Error(`Kokoro has no voice '${name}'. Its voices: ${known}.`);
  }
  const path = resolveModelFiles(measuring.modelsDir, voices.id)[file.name] ?? '';
  const styles = new Float32Array(await Bun.file(path).arrayBuffer());
  const key = {
    sources: [...catalogEntry('kokoro-82m-int8').files.map((model) => model.sha256), file.sha256],
    importer: 'kokoro-voice',
    version: VERSION,
    provider: measuring.arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic: measuring.arithmetic },
  };
  const folder = await imported(
    measuring.modelsDir,
    key,
    async (dir) => {
      await Bun.write(join(dir, PROFILE_FILE), encodeProfile(await measure(styles, measuring)));
    },
    { keep: voices.files.length },
  );
  return {
    styles,
    profile: decodeProfile(new Float32Array(await Bun.file(join(folder, PROFILE_FILE)).arrayBuffer())),
  };
}

/** Speaks the calibration texts and averages each norm channel over each kind of frame. */
async function measure(styles: Float32Array, measuring: VoiceMeasuring): Promise<VoiceProfile> {
  const utterances: Utterance[] = [];
  for (const text of CALIBRATION_TEXTS) {
    utterances.push(await measuring.front.speak(await measuring.toPhonemes(text), styles, 1));
  }
  const thresholds = energyThresholds(utterances.map(prosodyOf));
  const graph = await measuring.openMeasuring();
  try {
    const measured: MeasuredUtterance[] = [];
    for (const utterance of utterances) {
      const kinds = frameKinds(prosodyOf(utterance), thresholds);
      measured.push((await decodeExactly(graph, utterance, kinds)).measured);
    }
    return poolProfile(thresholds, measured);
  } finally {
    await graph.close();
  }
}

/** Pitch and energy of an utterance. */
export function prosodyOf(utterance: Utterance) {
  return { pitch: utterance.pitch.data, energy: utterance.energy.data };
}

/**
 * Decodes a whole utterance in one pass, with norms over all of it as the model was trained, and measures
 * them. This is the reference that windows are compared with.
 * @param kinds of half frames, as {@link frameKinds} gives them.
 */
export async function decodeExactly(
  graph: GraphSession,
  utterance: Utterance,
  kinds: Uint8Array,
): Promise<{ audio: Float32Array; measured: MeasuredUtterance }> {
  const { frames, hidden, source, affine } = utterance;
  const counts = countKinds(kinds);
  const weights = STAGE_FRAMES.map((perFrame) => frameWeights(kinds, counts, perFrame / HIDDEN_FRAMES));
  const rows = FRAME_KINDS + 1;
  const { audio, means, squares } = await graph.run(
    {
      hidden: { type: 'float32', ...hidden },
      source: {
        type: 'float32',
        dims: [1, SOURCE_FRAMES * frames, source.dims[2] ?? 0],
        data: source.data.subarray(0, SOURCE_FRAMES * frames * (source.dims[2] ?? 0)),
      },
      affine: { type: 'float32', ...affine },
      ...Object.fromEntries(
        weights.map((data, stage) => [
          `weights${stage}`,
          { type: 'float32' as const, dims: [1, rows, data.length / rows], data },
        ]),
      ),
    },
    ['audio', 'means', 'squares'],
  );
  return {
    audio: audio.data,
    measured: {
      counts,
      mean: means.data.slice(STATISTICS_LENGTH),
      square: squares.data.slice(STATISTICS_LENGTH),
    },
  };
}

/** [1 + FRAME_KINDS, frames]: a uniform row, then for each kind a row that averages its frames. */
function frameWeights(kinds: Uint8Array, counts: readonly number[], repeat: number): Float32Array {
  const frames = kinds.length * repeat;
  const weights = new Float32Array((1 + FRAME_KINDS) * frames).fill(1 / frames, 0, frames);
  kinds.forEach((kind, i) => {
    const start = (1 + kind) * frames + i * repeat;
    weights.fill(1 / ((counts[kind] ?? 1) * repeat), start, start + repeat);
  });
  return weights;
}

/** Layout of the file: thresholds, means, squares. */
function encodeProfile(profile: VoiceProfile): Uint8Array {
  const { energyThresholds: thresholds, mean, square } = profile;
  const values = new Float32Array(thresholds.length + mean.length + square.length);
  values.set(thresholds);
  values.set(mean, thresholds.length);
  values.set(square, thresholds.length + mean.length);
  return new Uint8Array(values.buffer);
}

function decodeProfile(values: Float32Array): VoiceProfile {
  const size = FRAME_KINDS * STATISTICS_LENGTH;
  const thresholds = values.length - 2 * size;
  return {
    energyThresholds: Array.from(values.subarray(0, thresholds)),
    mean: values.subarray(thresholds, thresholds + size),
    square: values.subarray(thresholds + size),
  };
}
