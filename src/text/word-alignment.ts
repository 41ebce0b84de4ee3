/** Finds the words in phonemes of eSpeak, which joins some words: "end of the day" → "ˈɛnd ʌvðə dˈeɪ". */

/** Letters that often represent a consonant. */
const LETTERS: Readonly<Record<string, string>> = {
  b: 'b',
  d: 'djg',
  f: 'fgp',
  h: 'h',
  j: 'jiuey',
  k: 'kcqxg',
  l: 'l',
  m: 'm',
  n: 'nkg',
  p: 'p',
  s: 'scxz',
  t: 'tcd',
  v: 'vf',
  w: 'wuoq',
  z: 'zsx',
  ð: 't',
  ŋ: 'n',
  ɚ: 'r',
  ɡ: 'gx',
  ɹ: 'r',
  ɾ: 'td',
  ʃ: 'sct',
  ʒ: 'sgj',
  ʔ: 't',
  θ: 't',
};
const VOWEL_LETTERS = 'aeiouyw';
const VOWELS = new Set([...'aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ']);
/** A sound with its stress and length. */
const SOUND = /[ˈˌ]*(?:[aeoɔ][ɪʊ]|dʒ|tʃ|.)ː?/gsu;

const MATCH = 3;
const MISMATCH = -3;
const SKIPPED = -1;
/** Boundaries between words are matched wherever the phonemes have them, and only with each other. */
const BOUNDARY = 8;
const SKIPPED_BOUNDARY = -4;
const MISMATCHED_BOUNDARY = -16;

/**
 * For each symbol of `phonemes`, the index of the word that it belongs to. If the number of words differs, letters and
 * sounds are aligned by their similarity (Needleman and Wunsch 1970), in time proportional to the product of their numbers.
 * @param words at least one.
 * @param phonemes with spaces between words.
 */
export function alignWords(words: readonly string[], phonemes: string): number[] {
  if (words.length === 1) return [...phonemes].map(() => 0);
  if (phonemes.split(' ').length !== words.length) return alignSounds(words, phonemes.match(SOUND) ?? []);
  let word = 0;
  return [...phonemes].map((symbol) => (symbol === ' ' ? word++ : word));
}

function alignSounds(words: readonly string[], sounds: readonly string[]): number[] {
  const letters = [...words.join(' ').toLowerCase()];
  const matching = sounds.map(lettersOf);
  const width = sounds.length + 1;
  /** Score of the best alignment of letters[i..] with sounds[j..], at i * width + j. */
  const scores = new Int32Array((letters.length + 1) * width);
  const both = (i: number, j: number) =>
    (scores[(i + 1) * width + j + 1] ?? 0) + matchScore(letters[i], matching[j]);
  const letterOnly = (i: number, j: number) => (scores[(i + 1) * width + j] ?? 0) + skipScore(letters[i]);
  const soundOnly = (i: number, j: number) => (scores[i * width + j + 1] ?? 0) + skipScore(sounds[j]);
  for (let i = letters.length; i >= 0; i--) {
    for (let j = sounds.length; j >= 0; j--) {
      if (i < letters.length && j < sounds.length)
        scores[i * width + j] = Math.max(both(i, j), letterOnly(i, j), soundOnly(i, j));
      else if (i < letters.length) scores[i * width + j] = letterOnly(i, j);
      else if (j < sounds.length) scores[i * width + j] = soundOnly(i, j);
    }
  }
  let word = 0;
  let i = 0;
  const passLetter = () => {
    if (letters[i++] === ' ') word++;
  };
  return sounds.flatMap((sound, j) => {
    while (i < letters.length && scores[i * width + j] === letterOnly(i, j)) passLetter();
    const own = word;
    if (i < letters.length && scores[i * width + j] === both(i, j)) passLetter();
    return [...sound].map(() => own);
  });
}

/** The letters that a sound may represent. */
function lettersOf(sound: string): string {
  if (sound === ' ') return sound;
  return [...sound]
    .map((symbol) => (VOWELS.has(symbol) ? VOWEL_LETTERS : '') + (LETTERS[symbol] ?? ''))
    .join('');
}

function matchScore(letter = '', matching = ''): number {
  if (letter === ' ' || matching === ' ') return letter === matching ? BOUNDARY : MISMATCHED_BOUNDARY;
  return matching.includes(letter) ? MATCH : MISMATCH;
}

function skipScore(skipped = ''): number {
  return skipped === ' ' ? SKIPPED_BOUNDARY : SKIPPED;
}
