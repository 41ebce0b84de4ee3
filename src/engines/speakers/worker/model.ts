/** Resemblyzer's speaker encoder in the inference process: audio to embeddings of its voice, and how high the voice is. */

import { Resampler } from '../../../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { RuntimeOptions, StepModel } from '../../pool/model.ts';
import { type GraphSession, openGraph } from '../../runtime/runtime.ts';
import { MEL_BANDS } from '../import/graph.ts';
import { importSpeakers } from '../import/import.ts';
import type { SpeakerRequest, SpeakerResult } from '../shared/protocol.ts';
import { medianPitch } from './median-pitch.ts';
import { melRuns, RUN_FRAMES } from './mel.ts';

/** Runs of one pass. */
const PASS_RUNS = 8;

export interface SpeakersOptions {
  readonly modelsDir: string;
  readonly runtime: RuntimeOptions;
}

export type SpeakerModel = StepModel<SpeakerRequest, SpeakerResult>;

/**
 * Loads the model, importing it on the first start, and listens once, so that the first request finds everything warm.
 * @throws Error when the file is missing or not what it should be.
 */
export async function loadSpeakers({ modelsDir, runtime }: SpeakersOptions): Promise<SpeakerModel> {
  // Too small for a GPU to be of use.
  const graph = await openGraph(await importSpeakers(modelsDir), { ...runtime, provider: 'cpu' });
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
    const heard = atListenRate(samples, rateHz);
    yield { kind: 'pitch', hz: medianPitch(heard) };
    const runs = melRuns(heard);
    for (let at = 0; at < runs.length; at += PASS_RUNS) {
      const some = runs.slice(at, at + PASS_RUNS);
      const mel = new Float32Array(some.length * RUN_FRAMES * MEL_BANDS);
      for (const [place, run] of some.entries()) mel.set(run, place * run.length);
      const dims = [some.length, RUN_FRAMES, MEL_BANDS];
      const { embedding } = await this.#graph.run({ mel: { type: 'float32', dims, data: mel } }, [
        'embedding',
      ]);
      yield { kind: 'runs', embeddings: embedding.data.slice() };
    }
  }

  async close(): Promise<void> {
    await this.#graph.close();
  }
}

function atListenRate(samples: Float32Samples, rateHz: number): Float32Samples {
  if (rateHz === LISTEN_RATE_HZ) return samples;
  const resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const [begin, end] = [resampler.push(samples), resampler.flush()];
  resampler.close();
  const all = new Float32Array(begin.length + end.length);
  all.set(begin);
  all.set(end, begin.length);
  return all;
}
