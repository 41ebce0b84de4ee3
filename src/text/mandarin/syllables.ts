/** Syllables of pinyin in the symbols that Kokoro v1.0 was trained with: misaki 0.9.4 (`transcription.py` and `ZHG2P`). */

const INITIALS: Readonly<Record<string, string>> = {
  b: 'p',
  c: 'ʦʰ',
  ch: 'ꭧʰ',
  d: 't',
  f: 'f',
  g: 'k',
  h: 'x',
  j: 'ʨ',
  k: 'kʰ',
  l: 'l',
  m: 'm',
  n: 'n',
  p: 'pʰ',
  q: 'ʨʰ',
  r: 'ɻ',
  s: 's',
  sh: 'ʂ',
  t: 'tʰ',
  x: 'ɕ',
  z: 'ʦ',
  zh: 'ꭧ',
};
/** As spelled after an initial, and without one; `_` is the place of the tone. */
const FINALS: Readonly<Record<string, string>> = {
  a: 'a_',
  ai: 'ai_',
  an: 'a_n',
  ang: 'a_ŋ',
  ao: 'au_',
  e: 'ɤ_',
  ei: 'ei_',
  en: 'ə_n',
  eng: 'ə_ŋ',
  er: 'ɚ_',
  hm: 'hm_',
  hng: 'hŋ_',
  i: 'i_',
  ia: 'ja_',
  ian: 'jɛ_n',
  iang: 'ja_ŋ',
  iao: 'jau_',
  ie: 'je_',
  in: 'i_n',
  ing: 'i_ŋ',
  iong: 'jʊ_ŋ',
  iu: 'jou_',
  m: 'm_',
  n: 'n_',
  ng: 'ŋ_',
  o: 'wo_',
  ong: 'ʊ_ŋ',
  ou: 'ou_',
  u: 'u_',
  ua: 'wa_',
  uai: 'wai_',
  uan: 'wa_n',
  uang: 'wa_ŋ',
  ui: 'wei_',
  un: 'wə_n',
  uo: 'wo_',
  v: 'y_',
  van: 'ɥɛ_n',
  ve: 'ɥe_',
  vn: 'y_n',
  wa: 'wa_',
  wai: 'wai_',
  wan: 'wa_n',
  wang: 'wa_ŋ',
  wei: 'wei_',
  wen: 'wə_n',
  weng: 'wə_ŋ',
  wo: 'wo_',
  wu: 'u_',
  ya: 'ja_',
  yai: 'jai_',
  yan: 'jɛ_n',
  yang: 'ja_ŋ',
  yao: 'jau_',
  ye: 'je_',
  yi: 'i_',
  yin: 'i_n',
  ying: 'i_ŋ',
  yo: 'wo_',
  yong: 'jʊ_ŋ',
  you: 'jou_',
  yu: 'y_',
  yuan: 'ɥɛ_n',
  yue: 'ɥe_',
  yun: 'y_n',
  ê: 'ɛ_',
};
/** Of the first to the fourth tone; the neutral tone has none. */
const TONES = ['→', '↗', '↓', '↘', ''];
const SYLLABLE = /^(?:(zh|ch|sh|[bcdfghjklmnpqrstxz])(?=[aeiouvê]))?([^1-5]+)([1-5])$/u;

/**
 * The symbols of a syllable: "xing2" → "ɕi↗ŋ".
 * @param syllable in pinyin with `v` for ü and a digit from 1 to 5 for the tone.
 * @returns undefined for other text.
 */
export function symbolsOfSyllable(syllable: string): string | undefined {
  const [, initial = '', spelled = '', tone = ''] = SYLLABLE.exec(syllable) ?? [];
  const final = FINALS[finalOf(initial, spelled)];
  if (final === undefined) return undefined;
  const mark = TONES[Number(tone) - 1] ?? '';
  if (initial === '') return (spelled === 'o' ? 'ɔ_' : final).replace('_', mark);
  const vowel = spelled === 'i' && /^(?:[zcs]h?|r)$/.test(initial) ? 'ɨ_' : final;
  return (INITIALS[initial] ?? '') + vowel.replace('_', mark);
}

/** After j, q and x, u is the vowel ü. */
function finalOf(initial: string, spelled: string): string {
  return /^[jqx]$/.test(initial) ? spelled.replace(/^u/, 'v') : spelled;
}
