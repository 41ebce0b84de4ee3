/** Keys of `[models]` that several families have. */

import { type TProperties, Type } from '@sinclair/typebox';
import type { MappedLanguages, SpeechCompatibility } from '../contract/core/settings.ts';
import { oneOf } from '../kit/validation/type-errors.ts';
import type { TableSource } from './family.ts';

const strict = { additionalProperties: false } as const;
const MAX_NAME_CHARACTERS = 200;
/** Length of a path. */
const MAX_WEIGHTS_CHARACTERS = 4096;

/** Schema of a table: the keys of its family and the common keys. */
export function modelTable<Keys extends TProperties>(keys: Keys) {
  return Type.Object(
    {
      ...keys,
      required: Type.Optional(
        Type.Boolean({
          default: false,
          description: '`true` makes /readyz return 503 while this model is unavailable',
        }),
      ),
    },
    strict,
  );
}

export function kindKey<const Kind extends string>(kind: Kind, description: string) {
  return oneOf([kind], { description });
}

/** A name, such as that of a voice or of a model. */
export function nameKey(description: string, options: { readonly default?: string } = {}) {
  return Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, description, ...options });
}

/** The name or the path of weights. */
export function weightsKey(description: string, fallback: string) {
  return Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_WEIGHTS_CHARACTERS, description, default: fallback }),
  );
}

export const languagesKey = Type.Optional(
  Type.Record(
    Type.String({ minLength: 1, maxLength: 64 }),
    Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }),
    { description: 'ids of the speech models that speak a language instead of this one, by BCP 47 tag' },
  ),
);

/** `none` gives a model with one of OpenAI's names the rules of the specification. */
export const compatibilityKey = Type.Optional(
  oneOf(['openai', 'none'], {
    default: 'none',
    description:
      '`openai` has all formats of OpenAI’s API, and mp3 by default; the default of OpenAI’s names is `openai`',
  }),
);

export const presetVoicesKey = Type.Optional(
  oneOf(['presets', 'none'], {
    default: 'none',
    description:
      'whether requests can name voices of the model in addition to stored voices; the default of OpenAI’s names is `presets`',
  }),
);

export const contextTokensKey = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 256, maximum: 1_048_576, description }));

export const tokenIdsKey = Type.Optional(
  oneOf(['cl100k_base', 'model'], {
    default: 'cl100k_base',
    description: 'vocabulary of token ids in requests',
  }),
);

/** A speech model with one of OpenAI's names follows OpenAI's API unless its table says otherwise. */
export function compatibilityOf(
  written: 'openai' | 'none' | undefined,
  { hasOpenaiName }: TableSource,
): SpeechCompatibility | undefined {
  const compatibility = written ?? (hasOpenaiName ? 'openai' : 'none');
  return compatibility === 'none' ? undefined : compatibility;
}

/** Whether requests can name the voices of a model: those with one of OpenAI's names can by default. */
export function presetVoicesOf(
  written: 'presets' | 'none' | undefined,
  { hasOpenaiName }: TableSource,
): 'presets' | undefined {
  const voices = written ?? (hasOpenaiName ? 'presets' : 'none');
  return voices === 'none' ? undefined : voices;
}

/**
 * The property `languages` with the models of languages, by canonical BCP 47 tag; no property without any.
 * @throws ConfigError for a key that is not a tag, or that means the same tag as another.
 */
export function languagesOf(
  written: Readonly<Record<string, string>> | undefined,
  source: TableSource,
): { readonly languages?: MappedLanguages } {
  const languages = new Map<string, string>();
  for (const [key, model] of Object.entries(written ?? {})) {
    const tag = canonicalTag(key);
    if (tag === undefined)
      throw source.error(`languages.${key}`, 'must be a BCP 47 tag, such as de or de-AT');
    if (languages.has(tag)) throw source.error(`languages.${key}`, 'is the same language as another key');
    languages.set(tag, model);
  }
  return languages.size > 0 ? { languages } : {};
}

function canonicalTag(written: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/**
 * Checks the form of weights. The names of available weights are checked when the files are needed.
 * @param what what an absolute path names, such as `a folder`.
 * @param parseReference throws for an invalid reference to the model hub.
 * @throws ConfigError for a relative path and for an invalid reference.
 */
export function requireWeightsForm(
  weights: string,
  source: TableSource,
  what: string,
  parseReference: (weights: string) => unknown,
): void {
  try {
    if (parseReference(weights) !== undefined) return;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw source.error('weights', error.message);
  }
  if (!/^[^/]+\//.test(weights)) return;
  throw source.error(
    'weights',
    `must be the name of built-in weights, a reference hf:…, or the absolute path of ${what}`,
  );
}
