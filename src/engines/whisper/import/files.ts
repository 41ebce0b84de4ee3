/** From `weights` to files: the catalog's checkpoints, or whatever a folder holds. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { resolveModelFiles, whisperEntry } from '../../../../models/model-files.ts';
import { sha256File } from '../../../kit/storage/content-hash.ts';
import type { WhisperSource } from './import.ts';
import { type OptimumFiles, optimumGraphFiles, optimumShape } from './optimum-files.ts';

/** What graphs are to be had from, and the tokenizer's path. */
export type WhisperFiles = { readonly tokenizer: string } & (
  | { readonly kind: 'ctranslate2'; readonly source: WhisperSource }
  | { readonly kind: 'optimum'; readonly graphs: OptimumFiles }
);

/**
 * Files of a model by the name that CONFIG gives it.
 * @param weights a name of the catalog, or the absolute path of a folder. A folder with a CTranslate2 checkpoint
 *   is that, whatever else it holds: it makes the faster graphs.
 * @throws Error that names what is missing.
 */
export async function whisperFiles(modelsDir: string, weights: string): Promise<WhisperFiles> {
  const entry = whisperEntry(weights);
  if (entry !== undefined) {
    const sha256 = entry.files.find(({ name }) => name === 'model.bin')?.sha256 ?? '';
    const paths = resolveModelFiles(modelsDir, entry.id);
    return checkpoint((name) => paths[name] ?? '', sha256);
  }
  const at = (name: string) => join(weights, name);
  const missing = (...names: string[]) => names.filter((name) => !existsSync(at(name)));
  const lacks = missing('config.json', 'tokenizer.json');
  const graphs = optimumGraphFiles(weights);
  if (lacks.length === 0 && missing('model.bin').length === 0) {
    return checkpoint(at, await sha256File(at('model.bin')));
  }
  if (lacks.length === 0 && 'encoder' in graphs) {
    const shape = await optimumShape(at('config.json'));
    return { kind: 'optimum', tokenizer: at('tokenizer.json'), graphs: { ...graphs, shape } };
  }
  const checkpointLacks = [...missing('model.bin'), ...lacks];
  const exportLacks = ['missing' in graphs ? graphs.missing : [], lacks].flat();
  throw new Error(
    `CONFIG: the folder ${weights} holds no Whisper model. A CTranslate2 checkpoint lacks ` +
      `${checkpointLacks.join(', ')}; an ONNX export of Optimum lacks ${exportLacks.join(', ')}.`,
  );
}

/** @param at path of a file by its name. */
async function checkpoint(at: (name: string) => string, sha256: string): Promise<WhisperFiles> {
  const { alignment_heads: alignmentHeads } = (await Bun.file(at('config.json')).json()) as {
    alignment_heads?: WhisperSource['alignmentHeads'];
  };
  const source = { checkpoint: at('model.bin'), sha256, alignmentHeads };
  return { kind: 'ctranslate2', tokenizer: at('tokenizer.json'), source };
}
