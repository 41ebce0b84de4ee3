/** The languages of the sentences of a text whose request names none (docs/decisions/language-detection.md). */

import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import {
  detectedLanguage,
  MAX_DETECTED_CHARACTERS,
  type PossibleLanguages,
} from '../text/detected-language.ts';

/** A sentence that ends a line ends its paragraph. */
const ENDS_PARAGRAPH = /\n\s*$/u;

/**
 * The languages that a text of a request may have. Undefined if its language is not detected: the request names it, or a voice of
 * a language; or only an upstream server knows the languages.
 */
export function possibleLanguages(
  engine: Pick<TtsEngine, 'languages' | 'voiceLanguage'>,
  { language, voiceName }: Pick<SynthesisRequest, 'language' | 'voiceName'>,
): PossibleLanguages | undefined {
  const { languages } = engine;
  if (language !== undefined || languages === undefined || languages.length < 2) return undefined;
  const voice = engine.voiceLanguage?.(voiceName);
  return voice === undefined || voice.isChosen ? undefined : { languages, usual: voice.tag };
}

/**
 * Detects languages by paragraph. An uncertain paragraph has the language of the certain one before it, or of the next one at the
 * start of a text; without one, the usual language.
 */
export class SentenceLanguages {
  /** Beginning of the current paragraph of a streamed text. */
  #paragraph = '';
  /** Language of the last certain paragraph. */
  #last: string | undefined;

  /** The language of the next sentence of a streamed text: that of its paragraph so far. Undefined: the usual one. */
  next(sentence: string, possible: PossibleLanguages): string | undefined {
    // Only the beginning of a paragraph counts.
    if (this.#paragraph.length < MAX_DETECTED_CHARACTERS) {
      this.#paragraph = (this.#paragraph + sentence).slice(0, MAX_DETECTED_CHARACTERS);
      this.#last = detectedLanguage(this.#paragraph, possible) ?? this.#last;
    }
    if (ENDS_PARAGRAPH.test(sentence)) this.#paragraph = '';
    return this.#unusual(possible);
  }

  /** The languages of the sentences of a complete text, or of the next part of one. Undefined: the usual one. */
  all(sentences: readonly string[], possible: PossibleLanguages): (string | undefined)[] {
    const paragraphs = paragraphsOf(sentences);
    const found = paragraphs.map((paragraph) => detectedLanguage(paragraph.join(''), possible));
    this.#last ??= found.find((language) => language !== undefined);
    return paragraphs.flatMap((paragraph, index) => {
      this.#last = found[index] ?? this.#last;
      return paragraph.map(() => this.#unusual(possible));
    });
  }

  #unusual({ usual }: PossibleLanguages): string | undefined {
    return this.#last === usual ? undefined : this.#last;
  }
}

function paragraphsOf(sentences: readonly string[]): string[][] {
  const paragraphs: string[][] = [];
  let isNew = true;
  for (const sentence of sentences) {
    if (isNew) paragraphs.push([]);
    paragraphs.at(-1)?.push(sentence);
    isNew = ENDS_PARAGRAPH.test(sentence);
  }
  return paragraphs;
}
