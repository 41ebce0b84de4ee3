import type { SpeechParams } from '../../audio/playback/speech-request.ts';

export const LEXICON = 'v1/audio/lexicon';

/** An entry of `GET /v1/audio/lexicon`. */
export interface LexiconEntry {
  readonly word: string;
  /** BCP 47 tag; null: all texts. */
  readonly language: string | null;
  /** One of them is set. */
  readonly phonemes: string | null;
  readonly respelling: string | null;
}

/** Identifies an entry in a list. */
export function entryId({ word, language }: Pick<LexiconEntry, 'word' | 'language'>): string {
  return JSON.stringify([word, language]);
}

/** A request that speaks the word of an entry, also of an entry that is not stored. */
export function previewOf(
  { word, language, phonemes, respelling }: LexiconEntry,
  model: string,
): SpeechParams {
  const params = {
    model,
    voice: undefined,
    speed: 1,
    format: 'pcm',
    language: language ?? undefined,
  } as const;
  if (phonemes === null) return { ...params, input: respelling ?? word };
  const input = `<speak><phoneme alphabet="ipa" ph="${escaped(phonemes)}">${escaped(word)}</phoneme></speak>`;
  return { ...params, input, isSsml: true };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
