/**
 * The voices of Kokoro that requests can name: its presets of all supported languages, OpenAI's names, and blends of them
 * (docs/decisions/named-voices.md).
 */

import { quotedName, similarNamesHint } from '../../../contract/core/nearest-name.ts';
import type { NamedVoice, OpenaiVoice } from '../../../contract/engines/named-voice.ts';
import type { ModelVoice } from '../../../inference/pool/model.ts';
import { displayName, type NamedVoices, voiceKey } from '../../../inference/pool/named-voices.ts';
import { languageOfPreset, spokenPresetNames } from '../shared/preset-languages.ts';
import { type VoiceWeights, writeMix } from '../shared/voice-mix.ts';

/**
 * The preset of each of OpenAI's voices: same gender, similar pitch and character, and clearly different from the other twelve
 * (measured by `bun run bench named-voices`). Kokoro's presets with the same name are its imitations of those voices.
 */
const OPENAI_PRESETS: Readonly<Record<OpenaiVoice, string>> = {
  alloy: 'af_alloy',
  ash: 'am_fenrir',
  ballad: 'am_eric',
  cedar: 'am_michael',
  coral: 'af_aoede',
  echo: 'am_echo',
  fable: 'bm_fable',
  marin: 'af_sky',
  nova: 'af_nova',
  onyx: 'am_onyx',
  sage: 'af_river',
  shimmer: 'af_jessica',
  verse: 'am_liam',
};

const MAX_BLENDED = 8;
const MAX_WEIGHT = 100;
/** Longer texts are not names. */
const MAX_CHARACTERS = 200;
/** A voice with an optional weight: `af_heart`, `af_heart:0.6` or Kokoro-FastAPI's `af_heart(2)`. */
const PART = /^([a-z0-9_]+)(?::([0-9.]{1,12})|\(([0-9.]{1,12})\))?$/;
const EXAMPLES = "'af_heart:0.6+am_adam:0.4' or 'af_bella(2)+af_sky(1)'";

type Parsed =
  | { readonly weights: VoiceWeights /** As written. */; readonly names: readonly string[] }
  | { readonly problem: string | undefined };

/** @param defaultVoice preset that is always loaded. */
export function kokoroVoices(defaultVoice: string): NamedVoices {
  const names = spokenPresetNames();
  const presets = new Map(names.map((name) => [name, name]));
  for (const [name, preset] of Object.entries(OPENAI_PRESETS)) presets.set(name, preset);
  return {
    list: [
      ...Object.entries(OPENAI_PRESETS).map(([id, preset]) => ({ ...described(id, preset), preset })),
      ...names.map((name) => described(name, name)),
    ],
    find(name) {
      const parsed = parseVoice(name, presets);
      if (!('weights' in parsed)) return undefined;
      const { weights } = parsed;
      return {
        voice: modelVoice(weights, defaultVoice),
        language: languageOfPreset(largestPart(weights)),
        isOfAnyLanguage: parsed.names.every((each) => each in OPENAI_PRESETS),
      };
    },
    problemOf(name) {
      const parsed = parseVoice(name, presets);
      return 'problem' in parsed ? parsed.problem : undefined;
    },
  };
}

/** The part of a blend with the largest weight; of equal ones the first. */
function largestPart(weights: VoiceWeights): string {
  const [largest = ''] = Object.keys(weights).toSorted((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  return largest;
}

/** The first letter of a preset is its language, the second its gender. */
function described(id: string, preset: string): NamedVoice {
  return {
    id,
    name: displayName(id),
    language: languageOfPreset(preset),
    gender: preset[1] === 'f' ? 'female' : 'male',
  };
}

/**
 * A mix, also for a single preset: a preset that is not measured on this machine yet is measured when it is loaded as a preset,
 * which takes seconds, while a mix uses the statistics of the default voice until then.
 */
function modelVoice(weights: VoiceWeights, defaultVoice: string): ModelVoice {
  const [name, ...others] = Object.keys(weights);
  if (name === defaultVoice && others.length === 0) return { kind: 'preset', name };
  return { kind: 'adaptation', adaptation: writeMix({ timbre: weights, prosody: weights, pitchScale: 1 }) };
}

/** Parses a name or a blend. The weights are relative: their sum becomes 1. */
function parseVoice(written: string, presets: ReadonlyMap<string, string>): Parsed {
  if (written.length > MAX_CHARACTERS) return { problem: undefined };
  const key = voiceKey(written);
  const plain = presets.get(key);
  if (plain !== undefined) return { weights: { [plain]: 1 }, names: [key] };
  if (!/[+:()]/.test(key)) return { problem: undefined };
  const parts = key.replaceAll(/\s/g, '').split('+');
  if (parts.length > MAX_BLENDED) return { problem: `A blend has at most ${MAX_BLENDED} voices.` };
  const weights = new Map<string, number>();
  const names: string[] = [];
  for (const part of parts) {
    const [, name, afterColon, inBrackets] = PART.exec(part) ?? [];
    if (name === undefined) return { problem: `A blend must have a form such as ${EXAMPLES}.` };
    const preset = presets.get(name);
    if (preset === undefined) {
      const hint = similarNamesHint(name, [...presets.keys()]);
      return { problem: `The blend contains an unknown voice${quotedName(name)}.${hint}` };
    }
    const weight = Number(afterColon ?? inBrackets ?? 1);
    if (!(weight > 0 && weight <= MAX_WEIGHT)) {
      return { problem: `The weights of a blend must be numbers above 0 and at most ${MAX_WEIGHT}.` };
    }
    names.push(name);
    weights.set(preset, (weights.get(preset) ?? 0) + weight);
  }
  const sum = weights.values().reduce((total, weight) => total + weight, 0);
  // Four decimal places, as in a stored mix: smaller weights are inaudible.
  const shares = [...weights].map(([name, weight]) => [name, Number((weight / sum).toFixed(4))] as const);
  return { weights: Object.fromEntries(shares.filter(([, share]) => share > 0)), names };
}
