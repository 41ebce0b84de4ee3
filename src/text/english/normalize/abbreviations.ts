/** Reader for abbreviations: "Dr. Smith" but "Main Dr.", "e.g.", "No. 5", "etc.", "U.S.", "w/o". */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';

/** Titles before a name; their dot never ends a sentence. */
const TITLES: Readonly<Record<string, string>> = {
  Mr: 'Mister',
  Mrs: 'Missus',
  Ms: 'Miz',
  Mx: 'Mix',
  Dr: 'Doctor',
  Prof: 'Professor',
  St: 'Saint',
  Gen: 'General',
  Col: 'Colonel',
  Sgt: 'Sergeant',
  Capt: 'Captain',
  Cpt: 'Captain',
  Lt: 'Lieutenant',
  Cmdr: 'Commander',
  Maj: 'Major',
  Rev: 'Reverend',
  Hon: 'Honorable',
  Gov: 'Governor',
  Sen: 'Senator',
  Rep: 'Representative',
  Pres: 'President',
  Mt: 'Mount',
  Ft: 'Fort',
  Messrs: 'Messieurs',
};
/** Titles that are common without a dot. The others are ordinary words without it ("Gen Z"). */
const DOTLESS_TITLES = new Set(['Mr', 'Mrs', 'Ms', 'Mx', 'Dr', 'Prof', 'St', 'Mt', 'Sgt', 'Lt', 'Capt']);
/** Expanded after a name. */
const STREETS: Readonly<Record<string, string>> = {
  Dr: 'Drive',
  St: 'Street',
  Ave: 'Avenue',
  Blvd: 'Boulevard',
  Rd: 'Road',
  Ln: 'Lane',
  Hwy: 'Highway',
  Pkwy: 'Parkway',
  Sq: 'Square',
  Jr: 'Junior',
  Sr: 'Senior',
  Inc: 'Incorporated',
  Ltd: 'Limited',
  Corp: 'Corporation',
  Co: 'Company',
  Bros: 'Brothers',
};
/** Expanded only before a number. */
const BEFORE_FIGURES: Readonly<Record<string, string>> = {
  no: 'number',
  nos: 'numbers',
  p: 'page',
  pp: 'pages',
  pg: 'page',
  vol: 'volume',
  ch: 'chapter',
  fig: 'figure',
  figs: 'figures',
  eq: 'equation',
  sec: 'section',
  art: 'article',
  ext: 'extension',
  apt: 'apartment',
  ca: 'circa',
  c: 'circa',
  '§': 'section',
  '§§': 'sections',
  '№': 'number',
};
/** Expanded everywhere, in any case, with or without a dot. */
const ANYWHERE: Readonly<Record<string, string>> = {
  'e.g': 'for example',
  eg: 'for example',
  'i.e': 'that is',
  ie: 'that is',
  etc: 'et cetera',
  vs: 'versus',
  'a.k.a': 'also known as',
  aka: 'also known as',
  'w/': 'with',
  'w/o': 'without',
  'b/c': 'because',
  'c/o': 'care of',
  'n/a': 'not applicable',
};
/** Expanded only with a dot, since many are ordinary words without it ("Mar." but "mar"). */
const DOTTED: Readonly<Record<string, string>> = {
  approx: 'approximately',
  dept: 'department',
  est: 'established',
  govt: 'government',
  misc: 'miscellaneous',
  tel: 'telephone',
  incl: 'including',
  excl: 'excluding',
  cf: 'compare',
  viz: 'namely',
  assn: 'association',
  univ: 'university',
  min: 'minimum',
  max: 'maximum',
  avg: 'average',
  al: 'al',
  Approx: 'approximately',
  Dept: 'Department',
  Est: 'established',
  Tel: 'telephone',
  Incl: 'including',
  Avg: 'average',
  Univ: 'University',
  Jan: 'January',
  Feb: 'February',
  Mar: 'March',
  Apr: 'April',
  Jun: 'June',
  Jul: 'July',
  Aug: 'August',
  Sep: 'September',
  Sept: 'September',
  Oct: 'October',
  Nov: 'November',
  Dec: 'December',
  Mon: 'Monday',
  Tue: 'Tuesday',
  Tues: 'Tuesday',
  Wed: 'Wednesday',
  Thu: 'Thursday',
  Thur: 'Thursday',
  Thurs: 'Thursday',
  Fri: 'Friday',
  Sat: 'Saturday',
  Sun: 'Sunday',
};
/** Days and months that are also words: alone at the start of a sentence they are not abbreviations. */
const DAY_AND_WORD = new Set(['Sat', 'Sun', 'Mar']);

/** Reads an abbreviation in the context of its neighbours. */
export function readAbbreviation(chunks: readonly Chunk[], at: number): Reading | undefined {
  const chunk = chunks[at];
  if (chunk === undefined || chunk.core.length > 12) return undefined;
  const { core } = chunk;
  return (
    clipped(chunk) ??
    initials(chunks, at) ??
    nameOrStreet(chunks, at) ??
    beforeFigure(chunks, at) ??
    plainOrDotted(chunks, at, core)
  );
}

/** Words with an initial apostrophe: "'em", "'tis", "rock 'n' roll". */
function clipped({ before, core, after }: Chunk): Reading | undefined {
  if (!before.endsWith("'")) return undefined;
  if (core.toLowerCase() === 'n') return { spoken: ['and'], after: withoutApostrophe(after) };
  if (!/^(?:tis|twas|em|cause)$/i.test(core) || after.startsWith("'")) return undefined;
  return { spoken: [`'${core}`] };
}

function withoutApostrophe(after: string): string {
  return after.startsWith("'") ? after.slice(1) : after;
}

/** Words before a single letter whose dot ends the sentence: "Plan B. Then". */
const LABELS = new Set(
  'plan vitamin option group type class grade part section appendix exhibit hepatitis team gate building room'.split(
    ' ',
  ),
);

/** "U.S", "Ph.D", "J" before a dot: spelled letter by letter. */
function initials(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  if (/^(?:e\.g|i\.e|a\.k\.a)$/i.test(core)) return undefined;
  if (/^Ph\.?D$/.test(core)) return { spoken: ['PHD'], after: keptDot(chunks, at, true) };
  const parts = core.split('.');
  const dotted = parts.length > 1 && parts.every((part) => /^\p{L}$/u.test(part));
  if (dotted) return { spoken: [parts.join('').toUpperCase()], after: keptDot(chunks, at, true) };
  // The initial of a name: "J. Smith", "George W. Bush".
  const initial =
    /^[A-Z]$/.test(core) && chunks[at]?.after === '.' && /^\p{Lu}/u.test(coreAt(chunks, at + 1));
  if (LABELS.has(coreAt(chunks, at - 1).toLowerCase())) return undefined;
  if (!initial || (core === 'I' && at > 0 && !/^\p{Lu}/u.test(coreAt(chunks, at - 1)))) return undefined;
  return { spoken: [core], after: '' };
}

/** Distinguishes "Dr. Smith" from "Main Dr." and "St. Paul" from "5th St. in". */
function nameOrStreet(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const title = own(TITLES, core);
  const street = own(STREETS, core);
  if (title === undefined && street === undefined) return undefined;
  const next = chunks[at + 1];
  const after = chunks[at]?.after;
  const open = after === '.' || (after === '' && DOTLESS_TITLES.has(core));
  const beforeName = open && next !== undefined && /^\p{Lu}/u.test(next.core);
  const coupled =
    /^(?:and|&)$/.test(coreAt(chunks, at + 1)) && own(TITLES, coreAt(chunks, at + 2)) !== undefined;
  if (title !== undefined && (coupled || (beforeName && !endsAddress(chunks, at)))) {
    return { spoken: [title], after: '' };
  }
  const previous = chunks[at - 1];
  const afterName = previous !== undefined && /^(?:\p{Lu}|[0-9])/u.test(previous.core);
  if (street === undefined || !afterName || (previous.after !== '' && previous.after !== ','))
    return undefined;
  return { spoken: [street], after: keptDot(chunks, at, !/^(?:Jr|Sr)$/.test(core)) };
}

/** Whether there is a house number two words before: "12 Main St. James said". */
function endsAddress(chunks: readonly Chunk[], at: number): boolean {
  const ordinalStreet = /^[0-9]{1,3}(?:st|nd|rd|th)$/.test(coreAt(chunks, at - 1));
  return ordinalStreet || (/^[0-9]/.test(coreAt(chunks, at - 2)) && /^\p{Lu}/u.test(coreAt(chunks, at - 1)));
}

/** "No. 5" needs the dot, because "no 5" may mean "none"; "§ 5" does not. */
function beforeFigure(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const word = own(BEFORE_FIGURES, core.toLowerCase());
  if (word === undefined || !/^#?[0-9]/.test(coreAt(chunks, at + 1))) return undefined;
  const marked = /^[§№]/u.test(core)
    ? joined(chunks, at)
    : chunks[at]?.after === '.' && joined(chunks, at, '.');
  return marked ? { spoken: [word], after: '' } : undefined;
}

function plainOrDotted(chunks: readonly Chunk[], at: number, core: string): Reading | undefined {
  const after = chunks[at]?.after ?? '';
  const anywhere = own(ANYWHERE, core.toLowerCase());
  if (
    anywhere !== undefined &&
    (core.length > 2 || after.startsWith('.') || core === 'vs' || core === 'w/')
  ) {
    const introduces = /^(?:for|that|versus|also)/.test(anywhere);
    return { spoken: [anywhere], after: introduces ? withoutDot(after) : keptDot(chunks, at, true) };
  }
  const dotted = own(DOTTED, core);
  if (dotted === undefined || !after.startsWith('.')) return undefined;
  if (DAY_AND_WORD.has(core) && at === 0) return undefined;
  // "to the max." ends a sentence; "max. 5" does not.
  if (/^\p{Ll}/u.test(core) && chunks[at + 1] === undefined) return undefined;
  if (core === 'al' && coreAt(chunks, at - 1).toLowerCase() !== 'et') return undefined;
  return { spoken: [dotted], after: keptDot(chunks, at, true) };
}

/** The dot also ends the sentence at the end of the text and before a capital. */
export function keptDot(chunks: readonly Chunk[], at: number, mayEnd: boolean): string | undefined {
  const after = chunks[at]?.after ?? '';
  if (!after.startsWith('.')) return undefined;
  const next = chunks[at + 1];
  const ends = next === undefined || (mayEnd && startsSentence(next));
  return ends ? undefined : withoutDot(after);
}

/** Words that start a sentence far more often than they continue a name after an abbreviation. */
const SENTENCE_STARTERS = new Set(
  (
    'The This That These Those It He She They We You I There Then A An In On At If When While But And So ' +
    'My Our Your His Her Its Their What Who Why How Where For From To As After Before Please No Yes Let Is'
  ).split(' '),
);

function startsSentence(chunk: Chunk): boolean {
  return SENTENCE_STARTERS.has(chunk.core) || (chunk.before !== '' && /^\p{Lu}/u.test(chunk.core));
}

function withoutDot(after: string): string {
  return after.startsWith('.') ? after.slice(1) : after;
}

function own(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
