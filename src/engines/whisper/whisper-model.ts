/** Whisper in the inference process: files to graphs, and one window of audio for each request. */

import { arithmeticFor } from '../cpu-arithmetic.ts';
import type { WhisperSpec } from '../model-spec.ts';
import type { LinearArithmetic } from '../onnx/linear-layer.ts';
import type { PassModel, RuntimeOptions } from '../pass-model.ts';
import { sileroFile } from '../silero/silero-file.ts';
import { loadSilero } from '../silero/silero-model.ts';
import { openImportedGraphs } from './imported-graphs.ts';
import { FULL_FRAMES } from './log-mel.ts';
import { openOptimumGraphs } from './optimum-graphs.ts';
import { SpeechGate } from './speech-gate.ts';
import { whisperFiles } from './whisper-files.ts';
import { FRAME_MULTIPLE, type WhisperGraphs } from './whisper-graphs.ts';
import { importWhisper } from './whisper-import.ts';
import type { WhisperRequest, WhisperResult } from './whisper-request.ts';
import { WhisperTokenizer } from './whisper-tokenizer.ts';
import { WindowDecoder } from './window-decoder.ts';

/** What the serving side knows of a loaded model. */
export interface WhisperDescription {
  /** ISO codes; of one language when the model is English only. */
  readonly languages: readonly string[];
}

export type WhisperModel = PassModel<WhisperRequest, WhisperResult, WhisperDescription>;

/**
 * Loads a model, importing a checkpoint on the first start, and runs its graphs once so that the first
 * request finds everything warm.
 * @throws Error when a file is missing, or is not what it should be.
 */
export async function loadWhisper(
  { modelsDir, weights, runtime }: Omit<WhisperSpec, 'kind'> & { readonly runtime: RuntimeOptions },
  arithmetic: LinearArithmetic = arithmeticFor(runtime.provider),
): Promise<WhisperModel> {
  const files = await whisperFiles(modelsDir, weights);
  const tokenizer = new WhisperTokenizer(await Bun.file(files.tokenizer).json());
  const graphs =
    files.kind === 'optimum'
      ? await openOptimumGraphs(files.graphs, runtime)
      : await openImportedGraphs(await importWhisper(modelsDir, files.source, arithmetic), runtime);
  const detector = await loadSilero(sileroFile(modelsDir), { ...runtime, provider: 'cpu', threads: 1 });
  const gate = new SpeechGate(detector);
  const frames = graphs.shortWindows ? 5 * FRAME_MULTIPLE : FULL_FRAMES;
  const window = await graphs.encode(new Float32Array(graphs.shape.melBands * frames), frames);
  const tokens = [tokenizer.special.startOfTranscript];
  const { cache } = await graphs.step(window, tokens);
  await graphs.step(window, tokens, cache);
  return new Whisper(graphs, tokenizer, gate);
}

class Whisper implements WhisperModel {
  readonly description: WhisperDescription;
  readonly #graphs: WhisperGraphs;
  readonly #gate: SpeechGate;
  readonly #decoder: WindowDecoder;

  constructor(graphs: WhisperGraphs, tokenizer: WhisperTokenizer, gate: SpeechGate) {
    this.#graphs = graphs;
    this.#gate = gate;
    this.#decoder = new WindowDecoder({ graphs, tokenizer, gate });
    this.description = { languages: tokenizer.multilingual ? [...tokenizer.languages.keys()] : ['en'] };
  }

  open(request: WhisperRequest): AsyncGenerator<WhisperResult | null, void, undefined> {
    return this.#decoder.decode(request);
  }

  async close(): Promise<void> {
    await this.#gate.close();
    await this.#graphs.close();
  }
}
