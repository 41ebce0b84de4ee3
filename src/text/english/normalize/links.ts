/** Reader for e-mail and web addresses, as they are dictated: "jane dot doe at example dot com". */

import { type Chunk, coreAt, type Reading } from '../tokens.ts';
import { cardinal, digitByDigit } from './numbers.ts';

/** Top-level domains of bare host names, so that "end.Next" and "e.g" are not read as host names. */
const HOST_ENDINGS = new Set(
  (
    'com org net edu gov mil int io ai dev app co uk us de fr es it nl eu ca au nz jp cn in br ru ch at se no ' +
    'dk fi pl cz info biz me tv ly fm gg xyz tech cloud online site shop blog news page so to sh'
  ).split(' '),
);
/** Top-level domains that are spelled letter by letter. */
const SPELLED_ENDINGS = new Set(
  'io ai uk us de fr nl eu ca au nz jp cn br ru ch tv ly fm gg xyz sh edu cz dk'.split(' '),
);
const SIGNS: Readonly<Record<string, string>> = {
  '.': 'dot',
  '/': 'slash',
  '-': 'dash',
  _: 'underscore',
  '+': 'plus',
  '~': 'tilde',
  '%': 'percent',
  ':': 'colon',
  '@': 'at',
  '=': 'equals',
  '&': 'ampersand',
  '?': 'question mark',
  '#': 'hash',
};

/** Reads a chunk that is an e-mail or web address. */
export function readLink(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  if (core.length < 4 || !core.includes('.')) return undefined;
  const spoken = email(core) ?? webAddress(core);
  return spoken === undefined ? undefined : { spoken: [spoken] };
}

function email(core: string): string | undefined {
  const address = core.replace(/^mailto:/i, '');
  const at = address.indexOf('@');
  if (at <= 0 || at !== address.lastIndexOf('@')) return undefined;
  const host = address.slice(at + 1);
  if (!isHost(host) || !/^[\p{L}\p{N}._%+&-]+$/u.test(address.slice(0, at))) return undefined;
  return `${dictated(address.slice(0, at))} at ${dictatedHost(host)}`;
}

function webAddress(core: string): string | undefined {
  const marked = /^(?:https?|ftp):\/\//i.exec(core);
  const rest = core.slice(marked?.[0].length ?? 0).replace(/^www\./i, '');
  const hostEnd = rest.search(/[/?#:]/);
  const host = hostEnd === -1 ? rest : rest.slice(0, hostEnd);
  const explicit = marked !== null || /^www\./i.test(core);
  const isNamed = /^[\p{L}\p{N}.-]+$/u.test(host) && /[\p{L}\p{N}]/u.test(host);
  if (!(explicit ? isNamed : isHost(host) && hasKnownEnding(host))) return undefined;
  const tail = hostEnd === -1 ? '' : rest.slice(hostEnd);
  const path = tail.endsWith('/') ? tail.slice(0, -1) : tail;
  return [dictatedHost(host), dictated(path)].filter((words) => words !== '').join(' ');
}

function isHost(host: string): boolean {
  const labels = host.split('.');
  return labels.length > 1 && labels.every((label) => /^[\p{L}\p{N}-]+$/u.test(label)) && /\p{L}/u.test(host);
}

function hasKnownEnding(host: string): boolean {
  return HOST_ENDINGS.has(host.slice(host.lastIndexOf('.') + 1));
}

function dictatedHost(host: string): string {
  const labels = host.split('.');
  return labels
    .map((label, i) =>
      i > 0 && SPELLED_ENDINGS.has(label.toLowerCase()) ? label.toUpperCase() : dictated(label),
    )
    .filter((words) => words !== '')
    .join(' dot ');
}

/** Words unchanged, digits as numbers, signs by name. */
function dictated(written: string): string {
  const words: string[] = [];
  for (const run of written.match(/\p{L}+|[0-9]+|[^\p{L}0-9]/gu) ?? []) {
    if (/^[0-9]/.test(run)) words.push(run.length > 2 ? digitByDigit(run) : cardinal(run));
    else if (/^\p{L}/u.test(run)) words.push(run);
    else if (SIGNS[run] !== undefined) words.push(SIGNS[run]);
  }
  return words.join(' ');
}
