/** Kokoro's preset voices: style tables and measured norm statistics. */

import { join } from 'node:path';
import type { Arithmetic } from '../../../inference/onnx/convolution-product.ts';
import { findImport, importOnce } from '../../../kit/storage/import-cache.ts';
import { catalogEntry, resolveModelFiles } from '../../../models/model-files.ts';
import { STATISTICS_LENGTH } from '../import/generator-graph.ts';
import { profileKey, voiceFile } from '../shared/profile-key.ts';
import { type KokoroAcousticModel, STYLE_LENGTH, type Utterance, type VoiceStyle } from './acoustic-model.ts';
import type { KokoroGenerator } from './generator.ts';
import {
  CALIBRATION_TEXTS,
  energyThresholds,
  FRAME_KINDS,
  frameKinds,
  type MeasuredUtterance,
  type NormProfile,
  poolProfile,
} from './norm-statistics.ts';

const PROFILE_FILE = 'profile.f32';

export interface KokoroVoice extends VoiceStyle {
  readonly profile: NormProfile;
}

export interface ProfileDeps {
  readonly modelsDir: string;
  readonly arithmetic: Arithmetic;
  readonly acousticModel: KokoroAcousticModel;
  readonly generator: KokoroGenerator;
  readonly toPhonemes: (text: string) => Promise<string>;
  /** Called when the voice is measured. */
  readonly onImport?: (() => void) | undefined;
}

/**
 * Loads a voice. The first load on a machine measures its statistics, which takes a few seconds; later loads read them
 * from the import cache.
 * @throws Error for an unknown voice, with a list of the available voices.
 */
export async function loadVoice(name: string, deps: ProfileDeps): Promise<KokoroVoice> {
  const { modelsDir, arithmetic } = deps;
  const style = await loadStyle(name, modelsDir);
  const folder = await importOnce(
    modelsDir,
    profileKey(name, arithmetic),
    async (dir) => {
      await Bun.write(join(dir, PROFILE_FILE), encodeProfile(await measureProfile(style, deps)));
    },
    { keep: catalogEntry('kokoro-voices').files.length, onBuild: deps.onImport },
  );
  return { style, profile: await readProfile(folder), pitchScale: 1 };
}

/** The style vectors of a voice, by the number of tokens. @throws Error for an unknown voice. */
export async function loadStyle(name: string, modelsDir: string): Promise<VoiceStyle['style']> {
  const path = resolveModelFiles(modelsDir, 'kokoro-voices')[voiceFile(name).name] ?? '';
  return styleTable(new Float32Array(await Bun.file(path).arrayBuffer()));
}

/** The cached statistics of a voice; undefined if it is not yet measured on this machine. */
export async function readCachedProfile(
  name: string,
  { modelsDir, arithmetic }: Pick<ProfileDeps, 'modelsDir' | 'arithmetic'>,
): Promise<NormProfile | undefined> {
  const folder = await findImport(modelsDir, profileKey(name, arithmetic));
  return folder === undefined ? undefined : await readProfile(folder);
}

async function readProfile(folder: string): Promise<NormProfile> {
  return decodeProfile(new Float32Array(await Bun.file(join(folder, PROFILE_FILE)).arrayBuffer()));
}

/** @param styles [510 x STYLE_LENGTH]: row n is the style for n tokens; longer utterances use the last row. */
function styleTable(styles: Float32Array): VoiceStyle['style'] {
  const rows = styles.length / STYLE_LENGTH;
  return (tokens) => {
    const row = Math.min(tokens, rows - 1) * STYLE_LENGTH;
    return styles.slice(row, row + STYLE_LENGTH);
  };
}

/** Synthesizes the calibration texts and averages each norm channel over each kind of frame. */
async function measureProfile(style: VoiceStyle['style'], deps: ProfileDeps): Promise<NormProfile> {
  const utterances: Utterance[] = [];
  for (const text of CALIBRATION_TEXTS) {
    utterances.push(
      await deps.acousticModel.computeUtterance(await deps.toPhonemes(text), { style, pitchScale: 1 }, 1),
    );
  }
  const thresholds = energyThresholds(utterances.map(prosodyOf));
  const measured: MeasuredUtterance[] = [];
  for (const utterance of utterances) {
    const kinds = frameKinds(prosodyOf(utterance), thresholds);
    measured.push((await deps.generator.decodeWhole(utterance, kinds)).measured);
  }
  return poolProfile(thresholds, measured);
}

/** Pitch and energy of an utterance. */
export function prosodyOf(utterance: Utterance) {
  return { pitch: utterance.pitch.data, energy: utterance.energy.data };
}

/** Layout of the file, as 32-bit floats: thresholds, means, mean squares. */
function encodeProfile(profile: NormProfile): Uint8Array {
  const { energyThresholds: thresholds, mean, square } = profile;
  const values = new Float32Array(thresholds.length + mean.length + square.length);
  values.set(thresholds);
  values.set(mean, thresholds.length);
  values.set(square, thresholds.length + mean.length);
  return new Uint8Array(values.buffer);
}

function decodeProfile(values: Float32Array): NormProfile {
  const size = FRAME_KINDS * STATISTICS_LENGTH;
  const thresholds = values.length - 2 * size;
  return {
    energyThresholds: Array.from(values.subarray(0, thresholds)),
    mean: values.subarray(thresholds, thresholds + size),
    square: values.subarray(thresholds + size),
  };
}
