/** Whisper in the inference process: files to graphs, and one window of audio for each request. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256File } from '../content-hash.ts';
import { arithmeticFor } from '../cpu-arithmetic.ts';
import { catalogEntry, resolveModelFiles } from '../model-files.ts';
import type { WhisperSpec } from '../model-spec.ts';
import type { LinearArithmetic } from '../onnx/linear-layer.ts';
import type { PassModel, RuntimeOptions } from '../pass-model.ts';
import { loadSilero } from '../silero/silero-model.ts';
import { openImportedGraphs } from './imported-graphs.ts';
import { SpeechGate } from './speech-gate.ts';
import { FRAME_MULTIPLE, type WhisperGraphs } from './whisper-graphs.ts';
import { importWhisper } from './whisper-import.ts';
import { WhisperTokenizer } from './whisper-tokenizer.ts';
import { type WhisperRequest, type WhisperResult, WindowDecoder } from './window-decoder.ts';

/** What the serving side knows of a loaded model. */
export interface WhisperDescription {
  /** ISO codes; of one language when the model is English only. */
  readonly languages: readonly string[];
}

export type WhisperModel = PassModel<WhisperRequest, WhisperResult, WhisperDescription>;

/** Weights that the catalog of model files brings. */
const CATALOG_WEIGHTS: Readonly<Record<string, string>> = {
  base: 'whisper-base-ct2',
  'tiny.en': 'whisper-tiny-en-ct2',
};

/**
 * Loads a model, importing its checkpoint on the first start, and runs its graphs once so that the first
 * request finds everything warm.
 * @throws Error when a file is missing, or is not what it should be.
 */
export async function loadWhisper(
  { modelsDir, weights, runtime }: Omit<WhisperSpec, 'kind'> & { readonly runtime: RuntimeOptions },
  arithmetic: LinearArithmetic = arithmeticFor(runtime.provider),
): Promise<WhisperModel> {
  const files = await checkpointFiles(modelsDir, weights);
  const tokenizer = new WhisperTokenizer(await Bun.file(files.tokenizer).json());
  const imported = await importWhisper(modelsDir, files, arithmetic);
  const graphs = await openImportedGraphs(imported, runtime);
  const detector = resolveModelFiles(modelsDir, 'silero-vad')['silero_vad_v6.onnx'] ?? '';
  const gate = new SpeechGate(await loadSilero(detector, { ...runtime, provider: 'cpu', threads: 1 }));
  const frames = 5 * FRAME_MULTIPLE;
  const window = await graphs.encode(new Float32Array(graphs.melBands * frames), frames);
  await graphs.step(window, [tokenizer.special.startOfTranscript]);
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

interface CheckpointFiles {
  readonly checkpoint: string;
  readonly sha256: string;
  readonly tokenizer: string;
  readonly alignmentHeads: readonly (readonly [number, number])[] | undefined;
}

/** @throws Error that names what is missing. */
async function checkpointFiles(modelsDir: string, weights: string): Promise<CheckpointFiles> {
  const id = CATALOG_WEIGHTS[weights];
  const paths =
    id === undefined
      ? folderFiles(weights)
      : (resolveModelFiles(modelsDir, id) as ReturnType<typeof folderFiles>);
  const checkpoint = paths['model.bin'];
  const listed = id && catalogEntry(id).files.find(({ name }) => name === 'model.bin')?.sha256;
  const { alignment_heads: alignmentHeads } = (await Bun.file(paths['config.json']).json()) as {
    alignment_heads?: readonly (readonly [number, number])[];
  };
  return {
    checkpoint,
    sha256: listed ?? (await sha256File(checkpoint)),
    tokenizer: paths['tokenizer.json'],
    alignmentHeads,
  };
}

const CHECKPOINT_FILES = ['model.bin', 'config.json', 'tokenizer.json'] as const;

function folderFiles(folder: string): Readonly<Record<(typeof CHECKPOINT_FILES)[number], string>> {
  const missing = CHECKPOINT_FILES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) {
    throw new Error(
      `CONFIG: the folder ${folder} holds no CTranslate2 Whisper checkpoint: ${missing.join(', ')} missing.`,
    );
  }
  return {
    'model.bin': join(folder, 'model.bin'),
    'config.json': join(folder, 'config.json'),
    'tokenizer.json': join(folder, 'tokenizer.json'),
  };
}
