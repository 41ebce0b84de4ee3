/** Whisper in the inference process: loads the graphs and transcribes one window of audio per request. */

import type { LinearArithmetic } from '../../inference/onnx/linear-layer.ts';
import type { StepModel } from '../../inference/pool/model.ts';
import { arithmeticFor } from '../../inference/runtime/cpu-arithmetic.ts';
import type { RuntimeOptions } from '../../inference/runtime/runtime-options.ts';
import { sileroFile } from '../silero/shared/file.ts';
import { loadSilero } from '../silero/worker/model.ts';
import { SpeechGate } from './decode/speech-gate.ts';
import { WindowDecoder } from './decode/window-decoder.ts';
import { openImportedGraphs } from './graphs/imported-graphs.ts';
import { openOptimumGraphs } from './graphs/optimum-graphs.ts';
import { whisperFiles } from './import/files.ts';
import { importWhisper } from './import/import.ts';
import type { WhisperSpec } from './settings.ts';
import { FRAME_MULTIPLE, type WhisperGraphs } from './shared/graphs.ts';
import { FULL_FRAMES } from './shared/log-mel.ts';
import type { WhisperRequest, WhisperResult } from './shared/protocol.ts';
import { WhisperTokenizer } from './shared/tokenizer.ts';

/** Description of a loaded model for its engine. */
export interface WhisperDescription {
  /** ISO codes of the supported languages; `en` only for an English-only model. */
  readonly languages: readonly string[];
}

export type WhisperModel = StepModel<WhisperRequest, WhisperResult, WhisperDescription>;

export interface WhisperOptions extends Omit<WhisperSpec, 'kind'> {
  readonly runtime: RuntimeOptions;
  /** Called when the checkpoint is converted. */
  readonly onImport?: () => void;
}

/**
 * Loads a model, imports a checkpoint on the first start, and runs the graphs once to warm up.
 * @throws Error when a file is missing or invalid.
 */
export async function loadWhisper(
  { modelsDir, weights, runtime, onImport }: WhisperOptions,
  arithmetic: LinearArithmetic = arithmeticFor(runtime.provider),
): Promise<WhisperModel> {
  const files = await whisperFiles(modelsDir, weights);
  const tokenizer = new WhisperTokenizer(await Bun.file(files.tokenizer).json());
  const graphs =
    files.kind === 'optimum'
      ? await openOptimumGraphs(files.graphs, runtime)
      : await openImportedGraphs(await importWhisper(modelsDir, files.source, arithmetic, onImport), runtime);
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
