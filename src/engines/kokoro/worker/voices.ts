/** Kokoro's voices: their styles, and the norm statistics that were measured with them. */

import { join } from 'node:path';
import { catalogEntry, resolveModelFiles } from '../../../../models/model-files.ts';
import { type ImportKey, imported, importedBefore } from '../../cache/import-cache.ts';
import type { Arithmetic } from '../../onnx/convolution-product.ts';
import { STATISTICS_LENGTH } from '../import/generator-graph.ts';
import { type KokoroFront, type SpokenStyle, STYLE_LENGTH, type Utterance } from './front.ts';
import type { KokoroGenerator } from './generator.ts';
import {
  CALIBRATION_TEXTS,
  energyThresholds,
  FRAME_KINDS,
  frameKinds,
  type MeasuredUtterance,
  poolProfile,
  type VoiceProfile,
} from './norm-statistics.ts';

/** Raise with every change of what is measured, or on what. */
const VERSION = 3;
const PROFILE_FILE = 'profile.f32';

export interface KokoroVoice extends SpokenStyle {
  readonly profile: VoiceProfile;
}

export interface VoiceMeasuring {
  readonly modelsDir: string;
  readonly arithmetic: Arithmetic;
  readonly front: KokoroFront;
  readonly generator: KokoroGenerator;
  readonly toPhonemes: (text: string) => Promise<string>;
}

/**
 * Loads a voice. Its first use on a machine takes a few seconds, because its statistics are measured; later
 * ones read them from the import cache.
 * @throws Error when there is no such voice; it lists those that there are.
 */
export async function loadVoice(name: string, measuring: VoiceMeasuring): Promise<KokoroVoice> {
  const { modelsDir, arithmetic } = measuring;
  const style = await loadStyle(name, modelsDir);
  const folder = await imported(
    modelsDir,
    profileKey(name, arithmetic),
    async (dir) => {
      await Bun.write(join(dir, PROFILE_FILE), encodeProfile(await measure(style, measuring)));
    },
    { keep: catalogEntry('kokoro-voices').files.length },
  );
  return { style, profile: await readProfile(folder), pitchScale: 1 };
}

/** The styles of a voice: by the number of tokens. @throws as {@link loadVoice}. */
export async function loadStyle(name: string, modelsDir: string): Promise<SpokenStyle['style']> {
  const path = resolveModelFiles(modelsDir, 'kokoro-voices')[voiceFile(name).name] ?? '';
  return styleTable(new Float32Array(await Bun.file(path).arrayBuffer()));
}

/** Statistics of a voice that was measured on this machine before; undefined of others. */
export async function measuredProfile(
  name: string,
  { modelsDir, arithmetic }: Pick<VoiceMeasuring, 'modelsDir' | 'arithmetic'>,
): Promise<VoiceProfile | undefined> {
  const folder = await importedBefore(modelsDir, profileKey(name, arithmetic));
  return folder === undefined ? undefined : await readProfile(folder);
}

function voiceFile(name: string) {
  const { files } = catalogEntry('kokoro-voices');
  const file = files.find((candidate) => candidate.name === `${name}.bin`);
  if (file) return file;
  const known = files.map((candidate) => candidate.name.replace(/\.bin$/, '')).join(', ');
  throw new Error(`Kokoro has no voice '${name}'. Its voices: ${known}.`);
}

function profileKey(name: string, arithmetic: Arithmetic): ImportKey {
  return {
    sources: [...catalogEntry('kokoro-82m-int8').files.map((model) => model.sha256), voiceFile(name).sha256],
    importer: 'kokoro-voice',
    version: VERSION,
    provider: arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic },
  };
}

async function readProfile(folder: string): Promise<VoiceProfile> {
  return decodeProfile(new Float32Array(await Bun.file(join(folder, PROFILE_FILE)).arrayBuffer()));
}

/** @param styles [510 x STYLE_LENGTH], the row for n tokens at n; for more, the last. */
function styleTable(styles: Float32Array): SpokenStyle['style'] {
  const rows = styles.length / STYLE_LENGTH;
  return (tokens) => {
    const row = Math.min(tokens, rows - 1) * STYLE_LENGTH;
    return styles.slice(row, row + STYLE_LENGTH);
  };
}

/** Speaks the calibration texts and averages each norm channel over each kind of frame. */
async function measure(style: SpokenStyle['style'], measuring: VoiceMeasuring): Promise<VoiceProfile> {
  const utterances: Utterance[] = [];
  for (const text of CALIBRATION_TEXTS) {
    utterances.push(
      await measuring.front.speak(await measuring.toPhonemes(text), { style, pitchScale: 1 }, 1),
    );
  }
  const thresholds = energyThresholds(utterances.map(prosodyOf));
  const measured: MeasuredUtterance[] = [];
  for (const utterance of utterances) {
    const kinds = frameKinds(prosodyOf(utterance), thresholds);
    measured.push((await measuring.generator.decodeWhole(utterance, kinds)).measured);
  }
  return poolProfile(thresholds, measured);
}

/** Pitch and energy of an utterance. */
export function prosodyOf(utterance: Utterance) {
  return { pitch: utterance.pitch.data, energy: utterance.energy.data };
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
