/** The Resemblyzer speaker encoder in the inference process: computes voice embeddings and the median pitch of audio. */

import { resample } from '../../../audio/resampler.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { StepModel } from '../../../inference/pool/model.ts';
import { type GraphSession, openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { MEL_BANDS } from '../import/graph.ts';
import { importSpeakers } from '../import/import.ts';
import type { SpeakerRequest, SpeakerResult } from '../shared/protocol.ts';
import { medianPitch } from './median-pitch.ts';
import { melPartials, PARTIAL_FRAMES } from './mel.ts';

/** Partials per inference step. */
const STEP_PARTIALS = 8;

export interface SpeakersOptions {
  readonly modelsDir: string;
  readonly runtime: RuntimeOptions;
  /** Called when the file is converted. */
  readonly onImport?: () => void;
}

export type SpeakerModel = StepModel<SpeakerRequest, SpeakerResult>;

/**
 * Loads the model, imports it on the first start, and runs it once to warm up.
 * @throws Error when the file is missing or invalid.
 */
export async function loadSpeakers({ modelsDir, runtime, onImport }: SpeakersOptions): Promise<SpeakerModel> {
  // The model is too small to benefit from a GPU.
  const graph = await openGraph(await importSpeakers(modelsDir, onImport), { ...runtime, provider: 'cpu' });
  const model = new Speakers(graph);
  for await (const _ of model.open({ samples: new Float32Array(LISTEN_RATE_HZ), rateHz: LISTEN_RATE_HZ }));
  return model;
}

class Speakers implements SpeakerModel {
  readonly description = undefined;
  readonly #graph: GraphSession;

  constructor(graph: GraphSession) {
    this.#graph = graph;
  }

  async *open({ samples, rateHz }: SpeakerRequest): AsyncGenerator<SpeakerResult, void, undefined> {
    const resampled = resample(samples, rateHz, LISTEN_RATE_HZ);
    yield { kind: 'pitch', hz: medianPitch(resampled) };
    const partials = melPartials(resampled);
    for (let start = 0; start < partials.length; start += STEP_PARTIALS) {
      const batch = partials.slice(start, start + STEP_PARTIALS);
      const mel = new Float32Array(batch.length * PARTIAL_FRAMES * MEL_BANDS);
      for (const [index, partial] of batch.entries()) mel.set(partial, index * partial.length);
      const dims = [batch.length, PARTIAL_FRAMES, MEL_BANDS];
      const { embedding } = await this.#graph.run({ mel: { type: 'float32', dims, data: mel } }, [
        'embedding',
      ]);
      yield { kind: 'partials', embeddings: embedding.data.slice() };
    }
  }

  async close(): Promise<void> {
    await this.#graph.close();
  }
}
