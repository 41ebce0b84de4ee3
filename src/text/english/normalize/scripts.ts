/** Transliteration of letters and digits of other scripts, where a reasonable one exists. */

const CYRILLIC =
  'а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh ' +
  'щ shch ъ _ ы y ь _ э e ю yu я ya і i ї yi є ye ґ g ў w ј y љ ly њ ny ћ ch ђ j џ j';
const GREEK =
  'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o';
const TABLE = tableOf(`${CYRILLIC} ${GREEK}`);

/**
 * Latin letters for a word in Cyrillic or Greek: "привет" → "privet". A single Greek letter is a symbol and
 * is unchanged. Words of other scripts become empty, because the English voice has no sounds for them.
 */
export function latinWord(word: string): string {
  // Greek symbols, alone or with Latin letters: "π", "µm", "kΩ".
  if (
    /^[\p{Script=Greek}µ]$/u.test(word) ||
    (/[\p{Script=Greek}µ]/u.test(word) && /\p{Script=Latin}/u.test(word))
  )
    return word;
  let out = '';
  for (const char of word) {
    const plain = char.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
    const latin = TABLE.get(char.toLowerCase()) ?? TABLE.get(plain);
    if (latin !== undefined) out += char === char.toLowerCase() ? latin : capitalised(latin);
    else if (/[\p{Script=Latin}\p{N}]/u.test(char)) out += char;
  }
  return out;
}

/**
 * ASCII digit for a decimal digit of any script, or undefined. In Unicode the ten digits of a script are
 * contiguous.
 */
export function asciiDigit(char: string): string | undefined {
  if (!/\p{Nd}/u.test(char)) return undefined;
  const code = char.codePointAt(0) ?? 0;
  const row = code & ~15;
  const start = /\p{Nd}/u.test(String.fromCodePoint(row)) ? row : row + 6;
  return code - start <= 9 ? String(code - start) : undefined;
}

function capitalised(latin: string): string {
  return latin.charAt(0).toUpperCase() + latin.slice(1);
}

function tableOf(list: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  const parts = list.split(' ');
  for (let i = 0; i + 1 < parts.length; i += 2)
    table.set(parts[i] ?? '', (parts[i + 1] ?? '').replace('_', ''));
  return table;
}
