/** One side of a conversation: turns of speech, and silence while the other side speaks. */

import { Resampler } from '../src/audio/resampler.ts';
import { loadPiper } from '../src/engines/piper/model.ts';
import { resultsOf } from '../src/inference/pool/model.ts';
import { resolveModelFiles } from '../src/models/model-files.ts';

export const CONVERSATION_RATE_HZ = 24_000;
/** Texts of the turns. Silence of the same length follows each turn. */
const TURNS = [
  'I would like to book a table for two at seven.',
  'Yes, that is right.',
  'Could you tell me whether there is a place to park the car nearby?',
  'No, thank you, that was all.',
  'The harbour was quiet that morning, and two boats lay at the pier.',
];

/** Turns with silence in between, at {@link CONVERSATION_RATE_HZ}. */
export async function conversation(modelsDir: string): Promise<Float32Array<ArrayBuffer>> {
  const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
  const piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 1 },
  });
  const samples: number[] = [];
  for (const text of TURNS) {
    const resampler = new Resampler({
      fromHz: piper.description.rateHz,
      toHz: CONVERSATION_RATE_HZ,
      format: 'float32',
    });
    const turn: number[] = [];
    for await (const run of resultsOf(piper.open({ text, speed: 1, delivery: 'whole' }))) {
      if (run instanceof Float32Array) turn.push(...resampler.push(run));
    }
    turn.push(...resampler.flush());
    samples.push(...turn, ...new Array<number>(turn.length).fill(0));
  }
  await piper.close();
  return Float32Array.from(samples);
}
