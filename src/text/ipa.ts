/** Pronunciations in the International Phonetic Alphabet, as requests and lexicons give them. */

/** Tie bars, syllable breaks and linking marks, which have no sound. */
const SILENT = /[\u035c\u0361.|‖‿]/gu;

/** A pronunciation in the letters that models know: decomposed, without ties, `ɡ` for `g`, with stress marks and single spaces. */
export function plainIpa(ipa: string): string {
  return ipa
    .normalize('NFD')
    .replace(SILENT, '')
    .replaceAll('g', 'ɡ')
    .replaceAll("'", 'ˈ')
    .replace(/\s+/gu, ' ')
    .trim();
}
