/** The names of a Piper voice: its own, those of its speakers, and those of OpenAI's voices. */

import { basename } from 'node:path';
import { similarNamesHint } from '../../contract/core/nearest-name.ts';
import { OPENAI_VOICES } from '../../contract/engines/named-voice.ts';
import { type NamedVoices, voiceKey } from '../../inference/pool/named-voices.ts';
import type { SpokenLanguages } from '../../inference/pool/spoken-languages.ts';
import { frontEndOf } from '../../text/front-end.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';
import { parsePiperVoice } from './hub-voices.ts';

export interface PiperVoice {
  /** As in CONFIG: `de_DE-thorsten-medium`, or the path of a file. */
  readonly voice: string;
  /** BCP 47 tag. */
  readonly language: string;
  /** Names of its speakers; empty for a voice with one. */
  readonly speakers: readonly string[];
  /** Default speaker of a voice with several; undefined: the first. */
  readonly speaker?: string | undefined;
}

/** The id of a voice in requests: without the folder and the ending of a file. */
export function piperVoiceId(voice: string): string {
  return basename(voice).replace(/\.onnx$/, '');
}

/**
 * A Piper file has one voice, or several speakers. OpenAI's names select the default voice too, because clients send them as
 * their defaults; the list shows what is heard.
 */
export function piperVoices({ voice, language, speakers, speaker }: PiperVoice): NamedVoices {
  const id = piperVoiceId(voice);
  const own = parsePiperVoice(id)?.speaker ?? id;
  const heard = speaker ?? id;
  const described = { language, ...(voice === DEFAULT_PIPER_VOICE && { gender: 'male' as const }) };
  /** The name of the model's voice, by the names that requests can have. */
  const names = new Map([
    ...[id, own, ...OPENAI_VOICES].map((name) => [voiceKey(name), heard] as const),
    ...speakers.map((name) => [voiceKey(name), name] as const),
  ]);
  return {
    list: [
      {
        id,
        name: displayName(own),
        ...described,
        ...(heard !== id && { preset: heard }),
      },
      ...speakers.map((name) => ({ id: name, name: displayName(name), ...described })),
      ...OPENAI_VOICES.map((name) => ({ id: name, name: displayName(name), ...described, preset: heard })),
    ],
    find(name) {
      const key = voiceKey(name);
      const found = names.get(key);
      if (found === undefined) return undefined;
      const isOfAnyLanguage = OPENAI_VOICES.some((each) => each === key);
      return { voice: { kind: 'preset', name: found }, language, isOfAnyLanguage };
    },
    problemOf: () => undefined,
  };
}

/** @throws Error if a voice has no speaker of this name. */
export function requireSpeaker({ voice, speakers, speaker }: PiperVoice): void {
  if (speaker === undefined || speakers.includes(speaker)) return;
  const rule =
    speakers.length === 0
      ? 'it has only one speaker'
      : `it must be one of its ${speakers.length} speakers: ${shortened(speakers)}`;
  throw new Error(
    `CONFIG: unknown speaker '${speaker}' of the Piper voice ${piperVoiceId(voice)}; ${rule}.${similarNamesHint(speaker, [...speakers])}`,
  );
}

const MAX_SHOWN = 20;

function shortened(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN).join(', ');
  return names.length > MAX_SHOWN ? `${shown}, …` : shown;
}

/** Codes of eSpeak NG and of Piper for the same language. */
const SAME_LANGUAGES: Readonly<Record<string, string>> = { nb: 'no', cmn: 'zh' };

/** The first subtag of a tag: `de` for `DE_at`. */
function primaryOf(tag: string): string {
  const [primary = ''] = tag.trim().toLowerCase().split(/[-_]/);
  return SAME_LANGUAGES[primary] ?? primary;
}

/**
 * The language of a voice: that of its name, else that of its settings, whose region counts only if it is that of the phonemes.
 * @param voice as in CONFIG.
 * @param code language of the settings, such as `de_DE`.
 * @param espeak voice of eSpeak NG, such as `de`.
 */
export function piperLanguage(voice: string, code: string | undefined, espeak: string | undefined): string {
  const named = parsePiperVoice(piperVoiceId(voice))?.language;
  if (named !== undefined) return named;
  const written = code?.replaceAll('_', '-');
  if (espeak === undefined || (written !== undefined && primaryOf(written) === primaryOf(espeak))) {
    return written ?? 'und';
  }
  return espeak;
}

/** The languages of a voice: its own. A tag of the same language with another region is spoken with the accent of the voice. */
export function piperLanguages(language: string): SpokenLanguages {
  const own = frontEndOf(language)?.language;
  const isOwn = (tag: string) => {
    const other = frontEndOf(tag)?.language;
    return own === undefined && other === undefined ? primaryOf(tag) === primaryOf(language) : other === own;
  };
  return {
    tags: [language],
    byDefault: language,
    find: (tag) => (isOwn(tag) ? language : undefined),
  };
}

/** A name for people: `thorsten_emotional` is `Thorsten emotional`. */
function displayName(id: string): string {
  const name = id.replaceAll('_', ' ');
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
