/** Kana to the symbols that Kokoro was trained with for Japanese: the table of misaki 0.9.4 (cutlet.py). */

/** Kana and their symbols, in turn. */
const SINGLE =
  'ぁ a あ a ぃ i い i ぅ ɯ う ɯ ぇ e え e ぉ o お o か ka が ɡa き kʲi ぎ ɡʲi く kɯ ぐ ɡɯ け ke げ ɡe こ ko ご ɡo さ sa ざ ʣa し ɕi ' +
  'じ ʥi す sɨ ず zɨ せ se ぜ ʣe そ so ぞ ʣo た ta だ da ち ʨi ぢ ʥi つ ʦɨ づ zɨ て te で de と to ど do な na に ɲi ぬ nɯ ね ne の no ' +
  'は ha ば ba ぱ pa ひ çi び bʲi ぴ pʲi ふ ɸɯ ぶ bɯ ぷ pɯ へ he べ be ぺ pe ほ ho ぼ bo ぽ po ま ma み mʲi む mɯ め me も mo ゃ ja ' +
  'や ja ゅ jɯ ゆ jɯ ょ jo よ jo ら ɾa り ɾʲi る ɾɯ れ ɾe ろ ɾo ゎ βa わ βa ゐ i ゑ e を o ゔ vɯ ゕ ka ゖ ke ヷ va ヸ vʲi ヹ ve ヺ vo';
/** Pairs with a small kana. */
const PAIRS =
  'いぇ je うぃ βi うぇ βe うぉ βo きぇ kʲe きゃ kʲa きゅ kʲɨ きょ kʲo ぎゃ ɡʲa ぎゅ ɡʲɨ ぎょ ɡʲo くぁ kᵝa くぃ kᵝi くぇ kᵝe くぉ kᵝo ぐぁ ɡᵝa ' +
  'ぐぃ ɡᵝi ぐぇ ɡᵝe ぐぉ ɡᵝo しぇ ɕe しゃ ɕa しゅ ɕɨ しょ ɕo じぇ ʥe じゃ ʥa じゅ ʥɨ じょ ʥo ちぇ ʨe ちゃ ʨa ちゅ ʨɨ ちょ ʨo ぢゃ ʥa ぢゅ ʥɨ ' +
  'ぢょ ʥo つぁ ʦa つぃ ʦʲi つぇ ʦe つぉ ʦo てぃ tʲi てゅ tʲɨ でぃ dʲi でゅ dʲɨ とぅ tɯ どぅ dɯ にぇ ɲe にゃ ɲa にゅ ɲɨ にょ ɲo ひぇ çe ひゃ ça ' +
  'ひゅ çɨ ひょ ço びゃ bʲa びゅ bʲɨ びょ bʲo ぴゃ pʲa ぴゅ pʲɨ ぴょ pʲo ふぁ ɸa ふぃ ɸʲi ふぇ ɸe ふぉ ɸo ふゅ ɸʲɨ ふょ ɸʲo みゃ mʲa みゅ mʲɨ ' +
  'みょ mʲo りゃ ɾʲa りゅ ɾʲɨ りょ ɾʲo ゔぁ va ゔぃ vʲi ゔぇ ve ゔぉ vo ゔゅ bʲɨ ゔょ bʲo';
/** Small letters of Ainu and the letters that they are spoken as. */
const SMALL_LETTERS = 'ㇰクㇱシㇲスㇳトㇴヌㇵハㇶヒㇷフㇸヘㇹホㇺムㇻラㇼリㇽルㇾレㇿロ';

const SYMBOLS: ReadonlyMap<string, string> = new Map(
  `${SINGLE} ${PAIRS}`
    .split(' ')
    .flatMap((kana, i, all) => (i % 2 === 0 ? [[kana, all[i + 1] ?? ''] as const] : [])),
);
const LARGE_LETTERS: ReadonlyMap<string, string> = new Map(
  [...SMALL_LETTERS].flatMap((kana, i, all) => (i % 2 === 0 ? [[kana, all[i + 1] ?? ''] as const] : [])),
);
const SMALL = new Set('ゃゅょぁぃぅぇぉ');
const DOUBLE_CONSONANT = 'っ';
const NASAL = 'ん';
const LONG = 'ー';
/** Repeats the kana before it, and the same with a voiced consonant. */
const ITERATION = 'ゝ';
const VOICED_ITERATION = 'ゞ';
const VOICED_MARK = '\u3099';

/** Katakana as hiragana. */
export function hiraganaOf(kana: string): string {
  return kana
    .replace(/[ㇰ-ㇿ]/gu, (letter) => LARGE_LETTERS.get(letter) ?? letter)
    .replace(/[ァ-ヶヽヾ]/gu, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0x60));
}

/** The symbols of a word in kana; empty if it contains none. */
export function symbolsOfKana(word: string): string {
  const kana = withoutIterations([...hiraganaOf(word)]);
  return kana.map((letter, i) => symbolsOf(letter, kana[i - 1] ?? '', kana[i + 1] ?? '')).join('');
}

function withoutIterations(kana: readonly string[]): readonly string[] {
  const read: string[] = [];
  for (const letter of kana) {
    const before = read.at(-1) ?? '';
    if (letter === ITERATION) read.push(before);
    else if (letter === VOICED_ITERATION) read.push(`${before}${VOICED_MARK}`.normalize('NFC'));
    else read.push(letter);
  }
  return read;
}

function symbolsOf(letter: string, before: string, after: string): string {
  const pair = SYMBOLS.get(before + letter);
  if (before !== '' && pair !== undefined) return pair;
  if (after !== '' && SYMBOLS.has(letter + after)) return '';
  if (letter === LONG) return 'ː';
  if (letter === DOUBLE_CONSONANT) return SMALL.has(after) ? '' : 'ʔ';
  if (letter === NASAL) return nasalBefore(SYMBOLS.get(after) ?? '');
  const own = SYMBOLS.get(letter) ?? '';
  // A small vowel without a pair of its own replaces the vowel.
  if (SMALL.has(after)) return own.slice(0, -1) + (SYMBOLS.get(after) ?? '');
  return SMALL.has(letter) && before !== '' ? '' : own;
}

/** The sound of ん takes the place of the consonant after it. */
function nasalBefore(next: string): string {
  if (/^[mpb]/u.test(next)) return 'm';
  if (/^[kɡ]/u.test(next)) return 'ŋ';
  if (/^[ɲʨʥ]/u.test(next)) return 'ɲ';
  return /^[ntdɾz]/u.test(next) ? 'n' : 'ɴ';
}
