/**
 * Estimates the part of speech of a word from its neighbours, for heteronyms ("record", "live", "close"). A
 * table of function words is enough for most sentences; otherwise the dictionary's default applies.
 */

import type { Tag } from './lexicon.ts';

/** A word of the normalized text, and whether punctuation separates it from its neighbours. */
export interface WordInText {
  readonly text: string;
  /** First word of the text, or after a punctuation mark. */
  readonly afterPause: boolean;
  /** Last word of the text, or before a punctuation mark. */
  readonly beforePause: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const BEFORE_VERB = set(
  "to will would can could may might must shall should do does did don't doesn't didn't won't wouldn't can't " +
    "cannot couldn't shouldn't mustn't let's please i'll you'll we'll they'll he'll she'll it'll let gonna wanna " +
    'not never always often usually sometimes rarely helps help',
);
const DETERMINERS = set(
  'a an the this these those my your his her its our their no any some every each another either neither whose ' +
    'one two three four five six seven eight nine ten many few several more most much less all both such',
);
const SUBJECTS = set('i you we they he she it who people');
const THIRD_PERSON = set('he she it who');
const BE = set(
  "am is are was were be been being i'm you're we're they're he's she's it's isn't aren't wasn't weren't that's",
);
const HAVE = set("have has had having i've you've we've they've haven't hasn't hadn't");
const PREPOSITIONS = set(
  'of in for with on at from about by into through over under between without within against during ' +
    'across per via than as upon toward towards',
);
const OBJECTS = set(
  'the a an this these those my your his her its our their it me him them us you everything',
);
const ADVERBS = set(
  'not never always often usually sometimes rarely also just still even ever soon already only',
);
const CONJUNCTIONS = set('and or but');
/** After these words "to" is followed by a noun: "access to content". */
const BEFORE_NOUN_TO = set(
  'access thanks due according listen prior response addition exposure compared next close',
);
const FUNCTION_WORDS: ReadonlySet<string> = new Set([
  ...BEFORE_VERB,
  ...DETERMINERS,
  ...SUBJECTS,
  ...BE,
  ...HAVE,
  ...PREPOSITIONS,
  ...OBJECTS,
  ...ADVERBS,
  ...CONJUNCTIONS,
  ...set('that if when while because so then there here which what how why where'),
]);
/** Words in capitals that are emphasized, not initialisms. */
const EMPHASISED = set(
  'and the for you your but not with from are was this that have has had can will would could should our of to on ' +
    'if so do we my by or is in as be me he hi oh act add cap all no yes any never always must may now new any',
);
const READ_IN_PAST = set('yesterday ago last earlier once previously');

/** Most likely uses first; empty if unknown. Checks only a few neighbours: constant time per word. */
export function tagsOf(words: readonly WordInText[], at: number, shouting: boolean): readonly Tag[] {
  const word = words[at]?.text ?? '';
  const lower = word.toLowerCase();
  if (lower === 'a') return isArticle(words, at, shouting) ? ['DT'] : ['NNP'];
  if (isInitialism(word, shouting)) return ['NNP'];
  const special = SPECIAL.get(lower);
  return special === undefined ? usual(words, at) : special(words, at);
}

/** Whether most words are in capitals, so that capitals carry no information. */
export function isShouting(words: readonly WordInText[]): boolean {
  let capitals = 0;
  let counted = 0;
  for (const { text } of words) {
    if (text.length < 2) continue;
    counted++;
    if (text === text.toUpperCase()) capitals++;
  }
  return counted >= 3 && capitals * 10 >= counted * 7;
}

function isInitialism(word: string, shouting: boolean): boolean {
  if (shouting || word.length < 2 || word.length > 7) return false;
  return /^[A-Z]+$/.test(word) && !EMPHASISED.has(word.toLowerCase());
}

/** "a" is the article; a capital A only at the start of a clause: "plan A", "A is for". */
function isArticle(words: readonly WordInText[], at: number, shouting: boolean): boolean {
  const word = words[at];
  if (word === undefined) return false;
  if (word.text === 'a') return !word.beforePause;
  if (shouting) return !word.beforePause;
  const next = nextOf(words, at);
  return word.afterPause && !word.beforePause && next.length > 1 && !set('is and or was').has(next);
}

function previousOf(words: readonly WordInText[], at: number): string {
  return words[at]?.afterPause === true ? '' : (words[at - 1]?.text.toLowerCase() ?? '');
}

function nextOf(words: readonly WordInText[], at: number): string {
  return words[at]?.beforePause === true ? '' : (words[at + 1]?.text.toLowerCase() ?? '');
}

/** Index of the nearest word before `at` that is not an adverb, at most three words back. */
function beforeAdverbs(words: readonly WordInText[], at: number): number {
  let index = at;
  while (at - index < 3) {
    const previous = previousOf(words, index);
    if (!ADVERBS.has(previous) && !(previous.endsWith('ly') && previous.length > 4)) break;
    index--;
  }
  return index;
}

function usual(words: readonly WordInText[], at: number): readonly Tag[] {
  const next = nextOf(words, at);
  const direct = previousOf(words, at);
  const base = beforeAdverbs(words, at);
  const previous = previousOf(words, base);
  if (previous === 'to') {
    return BEFORE_NOUN_TO.has(previousOf(words, base - 1)) ? ['NOUN'] : ['VERB'];
  }
  if (BE.has(previous)) return ['ADJ', 'VBN'];
  if (HAVE.has(previous)) return ['VBN', 'NOUN'];
  if (BEFORE_VERB.has(previous)) return ['VERB'];
  if (SUBJECTS.has(previous)) return ['VERB', 'VBD'];
  if (DETERMINERS.has(direct) || isPossessive(direct)) {
    return next !== '' && !FUNCTION_WORDS.has(next) ? ['ADJ', 'NOUN'] : ['NOUN'];
  }
  if (PREPOSITIONS.has(direct)) return ['NOUN'];
  if (base !== at && previous !== '' && BEFORE_VERB.has(direct)) return ['VERB'];
  if (OBJECTS.has(next) && (previous === '' || !FUNCTION_WORDS.has(previous) || CONJUNCTIONS.has(previous))) {
    return ['VERB'];
  }
  return isAdjective(direct) ? ['NOUN'] : [];
}

function isPossessive(word: string): boolean {
  return word.endsWith("'s") && !BE.has(word) && !BEFORE_VERB.has(word);
}

/** Suffixes that are rare for nouns and verbs; a noun is likely to follow. */
function isAdjective(word: string): boolean {
  return /(?:ous|ful|ive|able|ible|ical|less|ary|ish|est|new|good|bad|great|big|old)$/.test(word);
}

type Rule = (words: readonly WordInText[], at: number) => readonly Tag[];

/** "She read it", "have read", "read yesterday" as opposed to "to read", "I read books". */
const read: Rule = (words, at) => {
  const previous = previousOf(words, beforeAdverbs(words, at));
  if (HAVE.has(previous) || BE.has(previous)) return ['VBN'];
  if (BEFORE_VERB.has(previous)) return [];
  if (DETERMINERS.has(previous)) return ['NOUN'];
  if (THIRD_PERSON.has(previous)) return ['VBD'];
  for (let i = at + 1; i < Math.min(words.length, at + 12); i++) {
    if (words[i]?.afterPause === true) break;
    if (READ_IN_PAST.has(words[i]?.text.toLowerCase() ?? '')) return ['VBD'];
  }
  return /^\p{Lu}/u.test(words[at - 1]?.text ?? '') && previous !== '' && previous !== 'i' ? ['VBD'] : [];
};

/** The verb "live", except after "be", "go" or an article. */
const live: Rule = (words, at) => {
  const next = nextOf(words, at);
  const previous = previousOf(words, beforeAdverbs(words, at));
  if (set('go goes going went went broadcast stream streamed streaming').has(previous)) return ['ADJ'];
  if (BE.has(previous) || DETERMINERS.has(previous) || isPossessive(previous)) return ['ADJ'];
  if (BEFORE_VERB.has(previous) || SUBJECTS.has(previous)) return ['VERB'];
  if (set('in at on with here there together alone without for near by and to where under long').has(next)) {
    return ['VERB'];
  }
  return previous !== '' && next === '' && !PREPOSITIONS.has(previous) ? ['VERB'] : ['ADJ'];
};

const lives: Rule = (words, at) => {
  const previous = previousOf(words, at);
  const counted = DETERMINERS.has(previous) || PREPOSITIONS.has(previous) || isPossessive(previous);
  return counted || isAdjective(previous) || previous === '' ? ['NOUN'] : ['VERB'];
};

/** "close to", "a close friend" as opposed to "close the door", "they close at five", "the close of day". */
const close: Rule = (words, at) => {
  const tags = usual(words, at);
  const next = nextOf(words, at);
  if (next === 'to') return previousOf(words, at) === 'to' ? ['VERB'] : ['ADJ'];
  if (tags[0] !== 'NOUN') return tags[0] === 'ADJ' ? ['ADV'] : tags;
  return next === 'of' || next === '' ? ['NOUN'] : ['ADV'];
};

/** The noun, except "content with", "content to" and after a form of "be" or "feel". */
const content: Rule = (words, at) => {
  const previous = previousOf(words, beforeAdverbs(words, at));
  const felt = BE.has(previous) || set('feel feels felt seem seems seemed').has(previous);
  return felt || set('with to').has(nextOf(words, at)) ? ['ADJ'] : ['NOUN'];
};

/** "I used to", "am used to" as opposed to "is used to make". */
const used: Rule = (words, at) => {
  const previous = previousOf(words, beforeAdverbs(words, at));
  return BE.has(previous) && !set("i'm we're you're they're am").has(previous) ? [] : ['VBD'];
};

/** Stressed as a pronoun or before a noun at the start of a clause, weak as a conjunction. */
const that: Rule = (words, at) => {
  const previous = previousOf(words, at);
  const alone = nextOf(words, at) === '';
  if (previous === '' || alone || PREPOSITIONS.has(previous)) return ['DT'];
  return BEFORE_CLAUSE.has(previous) && STARTS_PREDICATE.has(nextOf(words, at)) ? ['DT'] : [];
};

const BEFORE_CLAUSE = set(
  'and but so or because if when that think know say said says believe hope guess like',
);
const STARTS_PREDICATE = set(
  'is was will would has had can could should might may does did means makes sounds',
);

/** Noun unless the context is that of a verb. */
const mostlyNoun: Rule = (words, at) => {
  const tags = usual(words, at);
  return tags[0] === 'VERB' ? tags : ['NOUN'];
};

/**
 * "come in and sit down": a particle of the verb, not a preposition. Before a pause it is always stressed.
 */
const particle: Rule = (words, at) => {
  const moved = MOTION.has(previousOf(words, at));
  return moved && set('and or for to from with on').has(nextOf(words, at)) ? ['ADV'] : [];
};
const MOTION = set(
  'come comes came coming go goes went going bring brought get got let check log sign step move walk drop stop ' +
    'turn give call join fill',
);

/** The adjective ("tiny") before certain nouns, otherwise the unit of time. */
const minute: Rule = (words, at) =>
  set(
    'detail details amount amounts quantity quantities trace traces particle particles difference differences',
  ).has(nextOf(words, at))
    ? ['ADJ']
    : ['NOUN'];

/** The instrument and the voice, unless the context is about fish. */
const bass: Rule = (words, at) => {
  const around = [previousOf(words, at - 1), previousOf(words, at), nextOf(words, at)];
  return around.some((word) => set('sea striped largemouth caught catch fishing fish lake').has(word))
    ? []
    : ['ADJ'];
};

const SPECIAL: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['read', read],
  ['live', live],
  ['lives', lives],
  ['lived', () => ['VERB']],
  ['close', close],
  ['content', content],
  ['used', used],
  ['that', that],
  ['invalid', () => ['ADJ']],
  ['in', particle],
  ['by', particle],
  ['minute', minute],
  ['bass', bass],
  ['contents', () => ['NOUN']],
  ['progress', mostlyNoun],
  ['process', mostlyNoun],
  ['proceeds', mostlyNoun],
]);
