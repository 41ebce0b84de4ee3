/**
 * Phonemes of Mandarin as misaki 0.9.4 makes them for Kokoro v1.0 (`ZHG2P` without a version): words with a space between, each
 * syllable with its tone as in a dictionary. The model was trained so, and makes the sandhi of third tones itself.
 */

import { kokoroSounds } from '../espeak-g2p.ts';
import { foreignPhonemes } from '../foreign-words.ts';
import type { EspeakNg, G2p, Pronunciation, SymbolSet } from '../language.ts';
import type { TracedText } from '../traced-text.ts';
import type { WordsOf } from './dictionary.ts';
import { symbolsOfSyllable } from './syllables.ts';

export interface MandarinG2pOptions {
  /** The spoken form of a text. */
  readonly spoken: (text: string) => TracedText;
  readonly wordsOf: WordsOf;
  readonly symbols: SymbolSet;
  /** Reads words in Latin letters. */
  readonly english: () => Promise<G2p>;
  /** Reads words in other scripts, each by the rules of a language that is written in it. */
  readonly espeak: EspeakNg;
}

/** Chinese characters, words in Latin letters, words in other scripts, and any other character. */
const PARTS =
  /(\p{Script=Han}+)|((?:\p{Script=Latin}|\p{N})(?:[ '-]?(?:\p{Script=Latin}|[\p{M}\p{N}]))*)|([\p{Script=Hiragana}\p{Script=Katakana}ー\uff70\uff9e\uff9f]+|(?!\p{Script=Han})[\p{L}\p{M}](?:['-]?(?!\p{Script=Han}|\p{Script=Latin}|\p{Script=Hiragana}|\p{Script=Katakana})[\p{L}\p{M}])*)|./gsu;

/** Marks in the form of the model. */
const MODEL_MARKS: Readonly<Record<string, string>> = {
  '、': ',',
  '«': '“',
  '»': '”',
  '《': '“',
  '》': '”',
  '〈': '“',
  '〉': '”',
  '「': '“',
  '」': '”',
  '『': '“',
  '』': '”',
  '【': '“',
  '】': '”',
  '〔': '(',
  '〕': ')',
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '·': ' ',
};
const SPACE_BEFORE = /[«《〈「『【〔([{]/u;
const SPACE_AFTER = /[、,.!?:;»》〉」』】〕)\]}]/u;

export function createMandarinG2p(options: MandarinG2pOptions): G2p {
  const { spoken, wordsOf, symbols, english, espeak } = options;
  return {
    async phonemize(text) {
      const traced = spoken(text);
      const sounds = new Sounds(symbols);
      const parts = Array.from(traced.text.matchAll(PARTS));
      const others = parts.flatMap(([, , , other]) => (other === undefined ? [] : [other]));
      const otherSounds = await foreignPhonemes(espeak, others);
      let next = 0;
      for (const { 0: part, 1: run, 2: foreign, 3: other, index } of parts) {
        if (run !== undefined) {
          let at = index;
          for (const { characters, syllables } of wordsOf(run)) {
            sounds.add(' ', undefined);
            const source = traced.sourceOf(at);
            for (const [i, character] of characters.entries()) {
              sounds.add(symbolsOfSyllable(syllables[i] ?? '') ?? '', source);
              at += character.length;
            }
          }
        } else if (other !== undefined) {
          sounds.add(' ', undefined);
          sounds.add(kokoroSounds(otherSounds[next++] ?? ''), traced.sourceOf(index));
          sounds.add(' ', undefined);
        } else if (foreign !== undefined) {
          sounds.add(' ', undefined);
          const { phonemes, sources } = await (await english()).phonemize(foreign);
          for (const [i, symbol] of [...phonemes].entries()) {
            const source = sources[i];
            sounds.add(symbol, source === undefined ? undefined : traced.sourceOf(index + source));
          }
          sounds.add(' ', undefined);
        } else {
          if (SPACE_BEFORE.test(part)) sounds.add(' ', undefined);
          sounds.add(/\s/u.test(part) ? ' ' : (MODEL_MARKS[part] ?? part), undefined);
          if (SPACE_AFTER.test(part)) sounds.add(' ', undefined);
        }
      }
      return sounds.end();
    },
  };
}

/** Symbols with single spaces between words, and none before a mark. */
class Sounds {
  readonly #phonemes: string[] = [];
  readonly #sources: (number | undefined)[] = [];

  constructor(private readonly symbols: SymbolSet) {}

  add(sounds: string, source: number | undefined): void {
    for (const symbol of sounds) {
      const last = this.#phonemes.at(-1) ?? ' ';
      if (!this.symbols.has(symbol) || (symbol === ' ' && /[\s(“]/u.test(last))) continue;
      if (last === ' ' && this.#phonemes.length > 0 && /[,.!?:;)”]/u.test(symbol)) this.#pop();
      this.#phonemes.push(symbol);
      this.#sources.push(source);
    }
  }

  end(): Pronunciation {
    if (this.#phonemes.at(-1) === ' ') this.#pop();
    const phonemes = this.#phonemes.join('');
    return /\p{L}/u.test(phonemes) ? { phonemes, sources: this.#sources } : { phonemes: '', sources: [] };
  }

  #pop(): void {
    this.#phonemes.pop();
    this.#sources.pop();
  }
}
