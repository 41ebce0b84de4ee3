/** Writes src/engines/kokoro/host/preset-voices.json: `bun tools/measure-presets.ts`, about a minute on two cores. */

import { measuredSources, type PresetTable } from '../src/engines/kokoro/host/preset-voices.ts';
import { englishPresetNames } from '../src/engines/kokoro/shared/voice-mix.ts';
import { meanDirection } from '../src/engines/speakers/host/voice-print.ts';
import { openVoiceMeasurements, type VoiceMeasurements } from './harness/models/voice-measurements.ts';

const FILE = new URL('../src/engines/kokoro/host/preset-voices.json', import.meta.url);
/** A statement and a question of about three seconds each. */
const TEXTS = [
  'She asked whether you could bring five copies of the report, please.',
  'When the sun rose over the quiet harbor, was everyone already awake?',
];

/** The embedding and the higher pitch of the two texts. */
export async function measurePreset(
  { measure }: Pick<VoiceMeasurements, 'measure'>,
  name: string,
): Promise<{ readonly pitchHz: number; readonly embedding: Float32Array<ArrayBuffer> }> {
  const prints = [];
  for (const text of TEXTS) prints.push(await measure({ kind: 'preset', name }, text));
  const pitches = prints.flatMap(({ pitchHz }) => (pitchHz === undefined ? [] : [pitchHz]));
  if (pitches.length === 0) throw new Error(`${name} has no pitch`);
  return {
    pitchHz: Number(Math.max(...pitches).toFixed(1)),
    embedding: meanDirection(prints.map(({ embedding }) => embedding)),
  };
}

if (import.meta.main) {
  const measurements = await openVoiceMeasurements();
  try {
    const voices: PresetTable['voices'][number][] = [];
    for (const name of englishPresetNames()) {
      const { pitchHz, embedding } = await measurePreset(measurements, name);
      voices.push({ name, pitchHz, embedding: Buffer.from(embedding.buffer).toString('base64') });
    }
    const table: PresetTable = { sources: measuredSources(), voices };
    await Bun.write(FILE, `${JSON.stringify(table, null, 2)}\n`);
  } finally {
    await measurements.close();
  }
}
