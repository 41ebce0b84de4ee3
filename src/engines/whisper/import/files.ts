/** Resolves the setting `weights` to the files of a model: a checkpoint of the catalog, or a folder. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256File } from '../../../kit/storage/content-hash.ts';
import { hubRecord, resolveHubFiles } from '../../../models/hub-reference.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { hubWhisper, whisperEntry } from '../shared/weights.ts';
import type { WhisperSource } from './import.ts';
import { type OptimumFiles, optimumGraphFiles, optimumShape } from './optimum-files.ts';

/** The source of the graphs, and the path of the tokenizer. */
export type WhisperFiles = { readonly tokenizer: string } & (
  | { readonly kind: 'ctranslate2'; readonly source: WhisperSource }
  | { readonly kind: 'optimum'; readonly graphs: OptimumFiles }
);

/**
 * Resolves the files of a model.
 * @param weights a name of the catalog or of faster-whisper, `hf:owner/repository`, or the absolute path of a folder. In a folder, a CTranslate2 checkpoint takes
 *   precedence over an ONNX export, because its graphs are faster.
 * @throws Error that names the missing files.
 */
export async function whisperFiles(modelsDir: string, weights: string): Promise<WhisperFiles> {
  const entry = whisperEntry(weights);
  if (entry !== undefined) {
    const sha256 = entry.files.find(({ name }) => name === 'model.bin')?.sha256 ?? '';
    const paths = resolveModelFiles(modelsDir, entry.id);
    return checkpoint((name) => paths[name] ?? '', sha256);
  }
  const hub = hubWhisper(weights);
  if (hub !== undefined) {
    const paths = resolveHubFiles(modelsDir, hub);
    const sha256 = hubRecord(modelsDir, hub.repository, 'model.bin')?.sha256;
    if (paths !== undefined && sha256 !== undefined) return checkpoint((name) => paths[name] ?? '', sha256);
    throw new Error(`The files of '${weights}' are missing. Run \`bun run models fetch ${weights}\`.`);
  }
  const pathOf = (name: string) => join(weights, name);
  const missing = (...names: string[]) => names.filter((name) => !existsSync(pathOf(name)));
  const lacks = missing('config.json', 'tokenizer.json');
  const graphs = optimumGraphFiles(weights);
  if (lacks.length === 0 && missing('model.bin').length === 0) {
    return checkpoint(pathOf, await sha256File(pathOf('model.bin')));
  }
  if (lacks.length === 0 && 'encoder' in graphs) {
    const shape = await optimumShape(pathOf('config.json'));
    return { kind: 'optimum', tokenizer: pathOf('tokenizer.json'), graphs: { ...graphs, shape } };
  }
  const checkpointLacks = [...missing('model.bin'), ...lacks];
  const exportLacks = ['missing' in graphs ? graphs.missing : [], lacks].flat();
  throw new Error(
    `CONFIG: the folder ${weights} does not contain a Whisper model. Missing for a CTranslate2 checkpoint: ` +
      `${checkpointLacks.join(', ')}; for an ONNX export of Optimum: ${exportLacks.join(', ')}.`,
  );
}

/** @param pathOf returns the path of a file by its name. */
async function checkpoint(pathOf: (name: string) => string, sha256: string): Promise<WhisperFiles> {
  const { alignment_heads: alignmentHeads } = (await Bun.file(pathOf('config.json')).json()) as {
    alignment_heads?: WhisperSource['alignmentHeads'];
  };
  const source = { checkpoint: pathOf('model.bin'), sha256, alignmentHeads };
  return { kind: 'ctranslate2', tokenizer: pathOf('tokenizer.json'), source };
}
