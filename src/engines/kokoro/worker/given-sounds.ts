/** Phonemes of a text in which the request gives the sounds of some words. */

import type { GivenSounds } from '../../../contract/engines/engine.ts';
import type { Pronunciation } from '../../../text/front-end.ts';

/** Marks that follow a word directly. */
const LEADING_MARKS = /^[.,;:!?…)”]+/u;

export interface GivenSoundsDeps {
  /** Phonemes of a text without given sounds. */
  readonly phonemize: (text: string) => Promise<Pronunciation>;
  /** Symbols of the model for IPA; empty if it has none of them. */
  readonly symbolsOf: (ipa: string) => string;
}

/**
 * Phonemes of `text`, in which the words of `given` have their given sounds. Words whose sounds the model does not have are read as
 * written.
 * @param given in order, without overlaps.
 */
export async function phonemesWithGiven(
  text: string,
  given: readonly GivenSounds[],
  { phonemize, symbolsOf }: GivenSoundsDeps,
): Promise<Pronunciation> {
  let phonemes = '';
  const sources: (number | undefined)[] = [];
  const append = (piece: string, sourceOf: (index: number) => number | undefined) => {
    phonemes += piece;
    for (let i = 0; i < [...piece].length; i++) sources.push(sourceOf(i));
  };
  const appendText = async (from: number, to: number) => {
    const marks = phonemes === '' ? '' : (LEADING_MARKS.exec(text.slice(from, to))?.[0] ?? '');
    append(marks, () => undefined);
    const start = from + marks.length;
    const written = text.slice(start, to);
    if (phonemes !== '' && /^\s/u.test(written)) append(' ', () => undefined);
    if (written.trim() === '') return;
    const piece = await phonemize(written);
    append(piece.phonemes, (index) => {
      const source = piece.sources[index];
      return source === undefined ? undefined : start + source;
    });
    if (/\s$/u.test(written) && to < text.length) append(' ', () => undefined);
  };
  let at = 0;
  for (const { start, end, ipa } of given) {
    const symbols = symbolsOf(ipa);
    if (symbols === '' || start < at) continue;
    await appendText(at, start);
    append(symbols, (index) => ([...symbols][index] === ' ' ? undefined : start));
    at = end;
  }
  await appendText(at, text.length);
  return { phonemes, sources };
}
