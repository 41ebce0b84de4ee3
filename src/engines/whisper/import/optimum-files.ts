/** Finds the files of a Hugging Face Optimum export in a folder, and reads the sizes of the model. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { toValidationIssue } from '../../../kit/validation/type-errors.ts';
import type { WhisperShape } from '../shared/graphs.ts';

/** Paths of the graphs. */
export interface OptimumGraphFiles {
  readonly encoder: string;
  readonly decoder: { readonly merged: string } | { readonly first: string; readonly withPast: string };
}

/** Paths of the graphs, and their shape. */
export interface OptimumFiles extends OptimumGraphFiles {
  readonly shape: WhisperShape;
}

/** Suffixes of file names for the data types of weights (transformers.js, `utils/dtypes.js`), in order of preference. */
const VARIANTS = ['', '_fp16', '_quantized', '_int8', '_uint8', '_q4', '_q4f16', '_bnb4'] as const;
/** Folders of the graphs: the folder of config.json, or the subfolder that transformers.js requires. */
const SUBFOLDERS = ['', 'onnx'] as const;

/**
 * Finds the graphs of a folder. Encoder and decoder may have different data types. Prefers a merged decoder, as Optimum
 * does, because its weights are in memory only once.
 * @returns the names of the missing files if the folder does not contain a complete export.
 */
export function optimumGraphFiles(
  folder: string,
): OptimumGraphFiles | { readonly missing: readonly string[] } {
  const locations = VARIANTS.flatMap((variant) =>
    SUBFOLDERS.map((sub) => ({ variant, dir: join(folder, sub) })),
  );
  const first = <File>(find: (path: (stem: string) => string | undefined) => File | undefined) => {
    for (const { variant, dir } of locations) {
      const found = find((stem) => existing(join(dir, `${stem}${variant}.onnx`)));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const encoder = first((path) => path('encoder_model'));
  const decoder = first((path) => {
    const merged = path('decoder_model_merged');
    if (merged) return { merged };
    const [start, withPast] = [path('decoder_model'), path('decoder_with_past_model')];
    return start && withPast ? { first: start, withPast } : undefined;
  });
  if (encoder && decoder) return { encoder, decoder };
  return {
    missing: [
      ...(encoder ? [] : ['encoder_model.onnx']),
      ...(decoder
        ? []
        : ['decoder_model_merged.onnx (or decoder_model.onnx and decoder_with_past_model.onnx)']),
    ],
  };
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

const Size = Type.Integer({ minimum: 1, maximum: 2 ** 20 });

/** The fields of config.json that are used. */
const WhisperConfig = Type.Object({
  model_type: Type.Literal('whisper'),
  num_mel_bins: Type.Union([Type.Literal(80), Type.Literal(128)]),
  decoder_layers: Size,
  decoder_attention_heads: Size,
  d_model: Size,
  max_target_positions: Size,
});

/**
 * Reads the sizes of a model.
 * @param path of its config.json.
 * @throws Error that names the first field that does not match a Whisper model.
 */
export async function optimumShape(path: string): Promise<WhisperShape> {
  const json: unknown = await Bun.file(path).json();
  const error = Value.Errors(WhisperConfig, json).First();
  if (error !== undefined) {
    const { field, problem } = toValidationIssue(error);
    throw new Error(`CONFIG: ${path} is not a Whisper model's: ${field || 'the file'} ${problem}.`);
  }
  const config = json as Static<typeof WhisperConfig>;
  return {
    width: config.d_model,
    heads: config.decoder_attention_heads,
    decoderLayers: config.decoder_layers,
    melBands: config.num_mel_bins,
    textPositions: config.max_target_positions,
  };
}
