/** Speech of a Piper voice for tests, and the position of sound in recordings. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import { loadPiper } from '../../../src/engines/piper/model.ts';
import { resultsOf } from '../../../src/inference/pool/model.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import { cachedFiles } from './fixture-cache.ts';
import { joined } from './sample-runs.ts';

const VOICE = 'piper-en-us-joe';

/** Sample rate of {@link speak} in Hz. */
export const SPOKEN_RATE_HZ = 22_050;

/** Synthesizes each text. The peak of each recording is half of full scale. */
export async function speak(texts: readonly string[]): Promise<Float32Samples[]> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-service-spoken-'));
  try {
    const names = texts.map((_, index) => `${index}.f32`);
    const inputs = { parameters: [VOICE, texts], sources: [import.meta.filename] };
    await cachedFiles(folder, inputs, names, (cache) => synthesize(cache, texts));
    return names.map((name) => new Float32Array(readFileSync(join(folder, name)).buffer.slice(0)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the samples of each text to `0.f32`, `1.f32` and so on. */
async function synthesize(folder: string, texts: readonly string[]): Promise<void> {
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, VOICE);
  const piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 1 },
  });
  for (const [index, text] of texts.entries()) {
    const chunks: Float32Samples[] = [];
    for await (const chunk of resultsOf(piper.open({ text, speed: 1, delivery: 'whole' })))
      if (chunk instanceof Float32Array) chunks.push(chunk);
    const samples = joined(chunks);
    const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
    const scaled = samples.map((sample) => (sample / peak) * 0.5);
    writeFileSync(join(folder, `${index}.f32`), new Uint8Array(scaled.buffer));
  }
  await piper.close();
}

export function silence(lengthMs: number, rateHz = SPOKEN_RATE_HZ): Float32Samples {
  return new Float32Array(Math.round((lengthMs * rateHz) / 1000));
}

/** First and last sample of clean speech at which the power over 5 ms is within 40 dB of its maximum. */
export function edgesOf(samples: Float32Samples, rateHz = SPOKEN_RATE_HZ): { onset: number; end: number } {
  const half = Math.round(rateHz * 0.0025);
  const sums = new Float64Array(samples.length + 1);
  for (const [i, sample] of samples.entries()) sums[i + 1] = (sums[i] ?? 0) + sample * sample;
  const power = (at: number) =>
    (sums[Math.min(samples.length, at + half)] ?? 0) - (sums[Math.max(0, at - half)] ?? 0);
  let greatest = 0;
  for (let at = 0; at < samples.length; at++) greatest = Math.max(greatest, power(at));
  let onset = 0;
  while (power(onset) < greatest * 1e-4) onset += 1;
  let end = samples.length - 1;
  while (power(end) < greatest * 1e-4) end -= 1;
  return { onset, end };
}
