/** Which files of a folder are an export of Hugging Face Optimum, and the model's sizes. */

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

/** What stands in file names for how the weights are kept (transformers.js, `utils/dtypes.js`), in order of choice. */
const VARIANTS = ['', '_fp16', '_quantized', '_int8', '_uint8', '_q4', '_q4f16', '_bnb4'] as const;
/** Where the graphs are: beside config.json, or in the folder that transformers.js wants them in. */
const SUBFOLDERS = ['', 'onnx'] as const;

/**
 * Graphs of a folder; the encoder's weights may be kept otherwise than the decoder's. Of several decoders the
 * merged one is taken, as Optimum does: its weights are in memory once.
 * @returns the missing files' names, when it holds no complete export.
 */
export function optimumGraphFiles(
  folder: string,
): OptimumGraphFiles | { readonly missing: readonly string[] } {
  const places = VARIANTS.flatMap((variant) =>
    SUBFOLDERS.map((sub) => ({ variant, dir: join(folder, sub) })),
  );
  const first = <File>(find: (path: (stem: string) => string | undefined) => File | undefined) => {
    for (const { variant, dir } of places) {
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

/** What this reads of a model's config.json. */
const WhisperConfig = Type.Object({
  model_type: Type.Literal('whisper'),
  num_mel_bins: Type.Union([Type.Literal(80), Type.Literal(128)]),
  decoder_layers: Size,
  decoder_attention_heads: Size,
  d_model: Size,
  max_target_positions: Size,
});

/**
 * Sizes of a model.
 * @param path of its config.json.
 * @throws Error that names the first field that is not Whisper's.
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
