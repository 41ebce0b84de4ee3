/**
 * Stress and suffixes on phoneme strings in misaki's symbols (American English): A I O W Y are the diphthongs
 * of "say, sigh, so, how, soy"; ˈ and ˌ precede the vowel of the stressed syllable.
 */

export const PRIMARY_STRESS = 'ˈ';
export const SECONDARY_STRESS = 'ˌ';
/**
 * Without ɐ, the article "a": the form of "to" in "to a" depends on the word after the article, as in the
 * training data.
 */
const VOWELS = new Set([...'AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ']);
const CONSONANTS = new Set([...'bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ']);
/** Sounds that count double in the weight of a word. */
const HEAVY = new Set([...'AIOQWYʤʧ']);
/** After these sounds a "t" between vowels is flapped: "better", "waited". */
const BEFORE_FLAP = new Set([...'AIOWYiuæɑəɛɪɹʊʌ']);

/** Whether the sound is a vowel or diphthong. */
export function isVowel(sound: string): boolean {
  return VOWELS.has(sound);
}

/** Whether the sound is a consonant of English. */
export function isConsonant(sound: string): boolean {
  return CONSONANTS.has(sound);
}

/** Relative length of a word; decides which half of a compound keeps its stress. */
export function stressWeight(phonemes: string): number {
  let weight = 0;
  for (const sound of phonemes) weight += HEAVY.has(sound) ? 2 : 1;
  return weight;
}

/**
 * Raises or lowers the stress of a word.
 * @param level below -1 removes all stress; -1 leaves secondary stress; 0 and ±0.5 weaken a primary stress (0
 * and 0.5 also add a secondary stress to an unstressed word); 1 strengthens secondary to primary stress;
 * above 1 also stresses unstressed words. Undefined changes nothing.
 */
export function applyStress(phonemes: string, level: number | undefined): string {
  if (level === undefined) return phonemes;
  const primary = phonemes.includes(PRIMARY_STRESS);
  const secondary = phonemes.includes(SECONDARY_STRESS);
  if (level < -1) return withoutStress(phonemes);
  if (level === -1 || (level <= 0 && primary)) {
    return phonemes.replaceAll(SECONDARY_STRESS, '').replaceAll(PRIMARY_STRESS, SECONDARY_STRESS);
  }
  if (!primary && !secondary) {
    if (level < 0) return phonemes;
    return stressFirstVowel(phonemes, level > 1 ? PRIMARY_STRESS : SECONDARY_STRESS);
  }
  return level >= 1 && !primary ? phonemes.replaceAll(SECONDARY_STRESS, PRIMARY_STRESS) : phonemes;
}

function withoutStress(phonemes: string): string {
  return phonemes.replaceAll(PRIMARY_STRESS, '').replaceAll(SECONDARY_STRESS, '');
}

function stressFirstVowel(phonemes: string, mark: string): string {
  let before = '';
  for (const sound of phonemes) {
    if (isVowel(sound)) return before + mark + phonemes.slice(before.length);
    before += sound;
  }
  return phonemes;
}

/** Whose dictionary the pronunciations come from: General American or Received Pronunciation. */
export type Accent = 'american' | 'british';

/** Plural, third person or possessive: "cats", "dogs", "horses". */
export function withS(stem: string, accent: Accent = 'american'): string {
  const last = stem.at(-1) ?? '';
  if ('ptkfθ'.includes(last)) return `${stem}s`;
  return 'szʃʒʧʤ'.includes(last) ? `${stem}${weakVowel(accent)}z` : `${stem}z`;
}

/** Past tense: "walked", "played", "wanted", "waited" (flapped). */
export function withEd(stem: string, accent: Accent = 'american'): string {
  const last = stem.at(-1) ?? '';
  if ('pkfθʃsʧ'.includes(last)) return `${stem}t`;
  if (last === 'd') return `${stem}${weakVowel(accent)}d`;
  if (last !== 't') return `${stem}d`;
  if (accent === 'british') return `${stem}ɪd`;
  return BEFORE_FLAP.has(stem.at(-2) ?? '') ? `${stem.slice(0, -1)}ɾᵻd` : `${stem}ᵻd`;
}

/**
 * Progressive: "walking", "waiting" (flapped). Undefined after a British stem whose final r is heard only before the
 * suffix: "hearing".
 */
export function withIng(stem: string, accent: Accent = 'american'): string | undefined {
  if (accent === 'british') return /[əː]$/u.test(stem) ? undefined : `${stem}ɪŋ`;
  const flapped = stem.endsWith('t') && BEFORE_FLAP.has(stem.at(-2) ?? '');
  return flapped ? `${stem.slice(0, -1)}ɾɪŋ` : `${stem}ɪŋ`;
}

function weakVowel(accent: Accent): string {
  return accent === 'british' ? 'ɪ' : 'ᵻ';
}

/**
 * Joins the parts of a compound ("well-known") and weakens the lighter halves, so that one primary stress
 * remains.
 * @param parts phonemes and the letters that they represent.
 */
export function joinCompound(
  parts: readonly { readonly phonemes: string; readonly letters: string }[],
): string {
  const spoken = parts.filter((part) => part.phonemes !== '');
  const weak = weakParts(spoken);
  return spoken.map((part, i) => (weak.has(i) ? applyStress(part.phonemes, -0.5) : part.phonemes)).join('');
}

function weakParts(parts: readonly { readonly phonemes: string; readonly letters: string }[]): Set<number> {
  if (parts.length === 2 && parts[0]?.letters.length === 1) return new Set([1]);
  const stressed = parts.filter((part) => part.phonemes.includes(PRIMARY_STRESS)).length;
  if (parts.length < 2 || stressed <= Math.floor((parts.length + 1) / 2)) return new Set();
  const order = parts.map((part, index) => ({
    index,
    stressed: part.phonemes.includes(PRIMARY_STRESS) ? 1 : 0,
    weight: stressWeight(part.phonemes),
  }));
  order.sort((a, b) => a.stressed - b.stressed || a.weight - b.weight || a.index - b.index);
  return new Set(order.slice(0, Math.floor(parts.length / 2)).map((part) => part.index));
}
