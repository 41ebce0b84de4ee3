/** Real speech of the fast voice, and where in it there is sound. */

import { resolveModelFiles } from '../../../models/model-files.ts';
import { loadConfig } from '../../../src/config/config.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import { loadPiper } from '../../../src/engines/piper/model.ts';
import { joined } from './sample-runs.ts';

/** Rate of {@link speak}. */
export const SPOKEN_RATE_HZ = 22_050;

/** Says each text; the loudest sample of each is half of full scale. */
export async function speak(texts: readonly string[]): Promise<Float32Samples[]> {
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, 'piper-en-us-joe');
  const piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 1 },
  });
  const spoken: Float32Samples[] = [];
  for (const text of texts) {
    const runs: Float32Samples[] = [];
    for await (const run of piper.open({ text, speed: 1, delivery: 'whole' })) if (run) runs.push(run);
    const samples = joined(runs);
    const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    spoken.push(samples.map((sample) => (sample / loudest) * 0.5));
  }
  await piper.close();
  return spoken;
}

export function silence(lengthMs: number, rateHz = SPOKEN_RATE_HZ): Float32Samples {
  return new Float32Array(Math.round((lengthMs * rateHz) / 1000));
}

/**
 * First and last sample at which the power of clean speech, over 5 ms around it, is within 40 dB of its
 * greatest.
 */
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
