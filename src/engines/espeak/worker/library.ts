/** eSpeak NG through its C API (speak_lib.h of version 1.52). */

import { CString, dlopen, type Pointer, ptr } from 'bun:ffi';
import type { EspeakFiles } from './import-library.ts';

/** AUDIO_OUTPUT_SYNCHRONOUS: no audio device is opened. */
const SYNCHRONOUS = 2;
/** espeakINITIALIZE_DONT_EXIT: a missing data folder is an error instead of the end of the process. */
const DONT_EXIT = 0x8000;
const UTF8 = 1;
/** IPA, with a tie between the letters of one sound; the tie is in bits 8 to 23. */
const IPA_WITH_TIES = 0x02 | 0x80 | (0x0361 << 8);
const TIE = '\u0361';
/** Marks of words that are spoken in another language: `(en)`; a bug of eSpeak puts ties into them. */
const LANGUAGE_SWITCH = /\(.+?\)/g;

export interface EspeakLibrary {
  /**
   * The phonemes of each text, in IPA with `^` as tie; undefined for an unknown voice.
   * @param voice language of eSpeak, such as `pt-br`.
   */
  phonemes(voice: string, texts: readonly string[]): string[] | undefined;
}

/** @throws Error if the library cannot be loaded or initialized. */
export function openLibrary({ library, folder }: EspeakFiles): EspeakLibrary {
  const { symbols } = dlopen(library, {
    espeak_Initialize: { args: ['int', 'int', 'cstring', 'int'], returns: 'int' },
    espeak_SetVoiceByName: { args: ['cstring'], returns: 'int' },
    espeak_TextToPhonemes: { args: ['ptr', 'int', 'int'], returns: 'ptr' },
  });
  if (symbols.espeak_Initialize(SYNCHRONOUS, 0, cString(folder), DONT_EXIT) < 0) {
    throw new Error('eSpeak NG could not be initialized.');
  }
  let current: string | undefined;
  const phonemesOf = (text: string): string => {
    const bytes = cString(text);
    /** `const void **`: the library advances it to the next clause, and sets it to null after the last one. */
    const position = new BigUint64Array([BigInt(ptr(bytes))]);
    const clauses: string[] = [];
    while (position[0] !== 0n) {
      const clause = symbols.espeak_TextToPhonemes(position, UTF8, IPA_WITH_TIES);
      if (clause !== null) clauses.push(new CString(clause as Pointer).toString());
    }
    const line = clauses
      .filter((clause) => clause !== '')
      .join(' ')
      .trim();
    return line.replaceAll('\n', ' ').replace(/ {2}/g, ' ').replace(LANGUAGE_SWITCH, '').replaceAll(TIE, '^');
  };
  return {
    phonemes(voice, texts) {
      if (voice !== current) {
        if (symbols.espeak_SetVoiceByName(cString(voice)) !== 0) return undefined;
        current = voice;
      }
      return texts.map(phonemesOf);
    },
  };
}

/** UTF-8 with a final zero. Zeros inside the text would end it. */
function cString(text: string): Buffer {
  return Buffer.from(`${text.replaceAll('\0', ' ')}\0`);
}
