/** Smart Turn on the ONNX runtime: computes the probability that a speaker has finished. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { type GraphSession, openGraph } from '../../../inference/runtime/runtime.ts';
import { LogMel } from '../../whisper/shared/log-mel.ts';
import { FRAMES, MEL_BANDS, turnFeatures } from './features.ts';

/**
 * Loads the graph and runs it once, because the first run is slower than the others.
 * @throws Error when the file is not a Smart Turn graph.
 */
export async function loadSmartTurn(path: string, threads: number): Promise<SmartTurnModel> {
  // Saturation would change 6 % of the decisions at a threshold of 0.5.
  const graph = await openGraph(path, { provider: 'cpu', threads }, { exactInt8: true });
  const model = new SmartTurnModel(graph);
  try {
    await model.probability(new Float32Array(0));
  } catch (error) {
    await model.close();
    throw error;
  }
  return model;
}

export class SmartTurnModel {
  readonly #graph: GraphSession;
  readonly #mel = new LogMel(MEL_BANDS);

  constructor(graph: GraphSession) {
    this.#graph = graph;
  }

  /**
   * Returns the probability, 0–1, that the speaker has finished.
   * @param samples mono, 16 kHz, at most 8 s.
   */
  async probability(samples: Float32Samples): Promise<number> {
    const data = turnFeatures(samples, this.#mel);
    const inputs = { input_features: { type: 'float32', dims: [1, MEL_BANDS, FRAMES], data } } as const;
    // In spite of its name, the output is a probability: the graph ends with a logistic function.
    const { logits } = await this.#graph.run(inputs, ['logits']);
    return logits.data[0] as number;
  }

  close(): Promise<void> {
    return this.#graph.close();
  }
}
