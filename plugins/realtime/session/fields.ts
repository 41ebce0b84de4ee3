/** The fields of a session update, one reader each: a field that is refused keeps the value it had. */

import { MAX_RATE_HZ, MIN_RATE_HZ, SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { DEFAULT_VAD_SETTINGS, type VadSettings } from '../../../src/contract/engines/engine.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { invalidEvent, type ProtocolError, unsupportedFeature } from '../protocol/errors.ts';
import type { WireFormat } from '../protocol/server-events.ts';

/** A field as the client wrote it. */
export interface SentField {
  /** Dotted, from `session`. */
  readonly path: string;
  readonly value: unknown;
}

/** The members of an object that may be there, by name. */
export type Members = ReadonlyMap<string, SentField>;

/** Fields that no object of the protocol has are errors one by one up to this many, the rest together. */
const MAX_UNKNOWN_NAMED = 16;
/** Characters of an unknown field's name that a error repeats: the name comes from the client. */
const MAX_NAME_CHARACTERS = 100;

/** Cloning in place, which only stored voices do (spec 4.7, rule 7). */
const CLONING: ReadonlySet<string> = new Set([
  'voice_ref_wav_b64',
  'voice_ref_wav_format',
  'ref_text',
  'x_vector_only_mode',
]);

/** What was refused of one update. */
export class UpdateErrors {
  readonly #errors: ProtocolError[] = [];
  #unknown = 0;

  /** Everything that was refused, in the order of the protocol's fields. */
  get all(): readonly ProtocolError[] {
    const unreported = this.#unknown - MAX_UNKNOWN_NAMED;
    if (unreported <= 0) return this.#errors;
    return [
      ...this.#errors,
      invalidEvent(`${unreported} more fields of 'session' are not known.`, 'session'),
    ];
  }

  /** @param problem continues "`field` …". */
  invalid(path: string, problem: string): void {
    this.#errors.push(invalidEvent(`'${path}' ${problem}.`, path));
  }

  unsupported(path: string, problem: string): void {
    this.#errors.push(unsupportedFeature(`'${path}' ${problem}.`, path));
  }

  /** The fault is the server's. */
  failed(path: string, problem: string): void {
    this.#errors.push({ code: 'internal_error', message: `'${path}' ${problem}.`, param: path });
  }

  /** @param siblings that do something; shown as what is allowed. */
  unknown(path: string, siblings: readonly string[]): void {
    this.#unknown += 1;
    if (this.#unknown > MAX_UNKNOWN_NAMED) return;
    this.invalid(path, `is not known; allowed there: ${siblings.join(', ')}`);
  }
}

/**
 * Takes an object apart; none was sent: no members. What is not an object, and each member that is neither in
 * `names` nor in `tolerated`, is refused.
 */
export function membersOf(
  sent: SentField | undefined,
  names: readonly string[],
  errors: UpdateErrors,
  tolerated: readonly string[] = [],
): Members {
  const members = new Map<string, SentField>();
  if (sent === undefined) return members;
  if (!isRecord(sent.value)) {
    errors.invalid(sent.path, 'must be an object');
    return members;
  }
  for (const [name, value] of Object.entries(sent.value)) {
    const path = `${sent.path}.${name.slice(0, MAX_NAME_CHARACTERS)}`;
    if (names.includes(name) || tolerated.includes(name)) members.set(name, { path, value });
    else if (CLONING.has(name)) errors.unsupported(path, NO_CLONING);
    else errors.unknown(path, names);
  }
  return members;
}

const NO_CLONING =
  'is not supported: store the voice with POST /v1/audio/voices, then name its voice_id in session.audio.output.voice';

/** One of a few strings. */
export function choiceOf<Value extends string>(
  sent: SentField | undefined,
  prior: Value,
  allowed: readonly Value[],
  errors: UpdateErrors,
): Value {
  if (sent === undefined) return prior;
  const chosen = allowed.find((value) => value === sent.value);
  if (chosen === undefined) errors.invalid(sent.path, `must be one of: ${allowed.join(', ')}`);
  return chosen ?? prior;
}

/** A list of some of a few strings, each once. */
export function choicesOf<Value extends string>(
  sent: SentField | undefined,
  prior: readonly Value[],
  allowed: readonly Value[],
  errors: UpdateErrors,
): readonly Value[] {
  if (sent === undefined) return prior;
  const { path, value } = sent;
  const isValid = Array.isArray(value) && value.every((each) => allowed.includes(each));
  if (isValid && new Set(value).size === value.length) return value;
  errors.invalid(path, `must be a list of any of ${allowed.join(', ')}, each at most once`);
  return prior;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly isInteger?: boolean;
}

/** A number within a range, both ends included. */
export function numberOf<Prior>(
  sent: SentField | undefined,
  prior: Prior,
  range: Range,
  errors: UpdateErrors,
): number | Prior {
  if (sent === undefined) return prior;
  const { from, to, isInteger = false } = range;
  const { path, value } = sent;
  const isValid = typeof value === 'number' && value >= from && value <= to;
  if (isValid && (!isInteger || Number.isInteger(value))) return value;
  errors.invalid(path, `must be ${isInteger ? 'an integer' : 'a number'} from ${from} to ${to}`);
  return prior;
}

/** A string of bounded length; null is none. */
export function textOf(
  sent: SentField | undefined,
  prior: string | undefined,
  maxCharacters: number,
  errors: UpdateErrors,
): string | undefined {
  if (sent === undefined) return prior;
  if (sent.value === null) return undefined;
  if (typeof sent.value === 'string' && sent.value.length <= maxCharacters) return sent.value;
  errors.invalid(sent.path, `must be a string of at most ${maxCharacters} characters, or null`);
  return prior;
}

const ENCODINGS = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'mulaw',
  'audio/pcma': 'alaw',
} as const satisfies Record<WireFormat['type'], AudioFormat['encoding']>;
const BETA_ENCODINGS = { pcm16: 'pcm16', g711_ulaw: 'mulaw', g711_alaw: 'alaw' } as const satisfies Record<
  string,
  AudioFormat['encoding']
>;
const PCM_RATE_HZ = { from: MIN_RATE_HZ, to: MAX_RATE_HZ, isInteger: true };
/** The only rate of G.711 (spec 4.7, rule 3). */
const G711_RATE_HZ = 8_000;

/** How every session begins (spec 2.6). */
export const DEFAULT_FORMAT: AudioFormat = { encoding: 'pcm16', rateHz: SPEECH_RATE_HZ };

/** A format under its two names. */
export interface SentFormat {
  /** `{type, rate}`, of which either may be left out. */
  readonly nested: SentField | undefined;
  /** The beta protocol's name of a format. */
  readonly beta: SentField | undefined;
}

/**
 * A format (spec 4.7, rules 3 and 4), the nested one if both were sent. Type and rate are one value: when one
 * is refused, neither applies. Without a rate, G.711 has 8000 Hz, PCM keeps its rate, and PCM after G.711 has
 * the 24 kHz of a new session.
 * @returns `prior` itself when nothing changes: a listener then has nothing to begin anew.
 */
export function formatOf(
  { nested, beta }: SentFormat,
  prior: AudioFormat,
  errors: UpdateErrors,
): AudioFormat {
  if (nested === undefined) {
    const encoding = encodingOf(beta, prior, BETA_ENCODINGS, errors);
    return encoding === undefined ? prior : inEncoding(encoding, prior);
  }
  const members = membersOf(nested, ['type', 'rate'], errors);
  const encoding = encodingOf(members.get('type'), prior, ENCODINGS, errors);
  if (encoding === undefined) return prior;
  const rate = members.get('rate');
  if (rate === undefined) return inEncoding(encoding, prior);
  const rateHz = rateOf(rate, encoding, errors);
  const isSame = encoding === prior.encoding && rateHz === prior.rateHz;
  return rateHz === undefined || isSame ? prior : { encoding, rateHz };
}

function rateOf(
  sent: SentField,
  encoding: AudioFormat['encoding'],
  errors: UpdateErrors,
): number | undefined {
  if (encoding === 'pcm16') return numberOf(sent, undefined, PCM_RATE_HZ, errors);
  if (sent.value === G711_RATE_HZ) return G711_RATE_HZ;
  errors.invalid(sent.path, `must be ${G711_RATE_HZ} for G.711, or be left out`);
  return undefined;
}

function encodingOf(
  sent: SentField | undefined,
  prior: AudioFormat,
  names: Readonly<Record<string, AudioFormat['encoding']>>,
  errors: UpdateErrors,
): AudioFormat['encoding'] | undefined {
  if (sent === undefined) return prior.encoding;
  const allowed = `one of: ${Object.keys(names).join(', ')}`;
  if (typeof sent.value !== 'string') errors.invalid(sent.path, `must be ${allowed}`);
  else if (Object.hasOwn(names, sent.value)) return names[sent.value];
  else errors.unsupported(sent.path, `is a codec that is not supported; it must be ${allowed}`);
  return undefined;
}

function inEncoding(encoding: AudioFormat['encoding'], prior: AudioFormat): AudioFormat {
  if (encoding === prior.encoding) return prior;
  return encoding === 'pcm16' ? DEFAULT_FORMAT : { encoding, rateHz: G711_RATE_HZ };
}

export function toWireFormat({ encoding, rateHz }: AudioFormat): WireFormat {
  const types = { pcm16: 'audio/pcm', mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const;
  return { type: types[encoding], rate: rateHz };
}

/** Limits of both durations (spec 4.7, rule 6). */
const VAD_MS = { from: 0, to: 5_000, isInteger: true };

/** Fields of turn detection that mean something, and those that mean nothing because nothing answers by itself. */
const DETECTION = ['type', 'threshold', 'prefix_padding_ms', 'silence_duration_ms'];
const IGNORED_DETECTION_FIELDS = ['create_response', 'interrupt_response', 'idle_timeout_ms'];

/**
 * Null for manual commit, or `server_vad` (spec 4.7, rule 6). While the type stays, fields that were not sent
 * keep their value; turning it on gives defaults. Fields beside a type that is refused belong to that type and
 * are not looked at.
 * @returns `prior` itself when nothing changes.
 */
export function turnDetectionOf(
  sent: SentField | undefined,
  prior: VadSettings | undefined,
  errors: UpdateErrors,
): VadSettings | undefined {
  if (sent === undefined) return prior;
  if (sent.value === null) return undefined;
  if (isRecord(sent.value) && 'type' in sent.value && sent.value.type !== 'server_vad') {
    rejectDetection({ path: `${sent.path}.type`, value: sent.value.type }, errors);
    return prior;
  }
  const members = membersOf(sent, DETECTION, errors, IGNORED_DETECTION_FIELDS);
  for (const name of IGNORED_DETECTION_FIELDS) checkIgnoredField(members.get(name), errors);
  const base = prior ?? (members.has('type') ? DEFAULT_VAD_SETTINGS : undefined);
  if (base === undefined) {
    if (isRecord(sent.value)) errors.invalid(`${sent.path}.type`, "is required, as 'server_vad'");
    return prior;
  }
  const threshold = numberOf(members.get('threshold'), base.threshold, { from: 0, to: 1 }, errors);
  const prefixPaddingMs = numberOf(members.get('prefix_padding_ms'), base.prefixPaddingMs, VAD_MS, errors);
  const silenceDurationMs = numberOf(
    members.get('silence_duration_ms'),
    base.silenceDurationMs,
    VAD_MS,
    errors,
  );
  const isSame =
    threshold === base.threshold &&
    prefixPaddingMs === base.prefixPaddingMs &&
    silenceDurationMs === base.silenceDurationMs;
  return isSame ? base : { ...base, threshold, prefixPaddingMs, silenceDurationMs };
}

function rejectDetection(type: SentField, errors: UpdateErrors): void {
  const allowed = "use 'server_vad', or null in place of the object for manual commit";
  if (type.value === 'semantic_vad') errors.unsupported(type.path, `is not supported here; ${allowed}`);
  else errors.invalid(type.path, `must be 'server_vad'; ${allowed}`);
}

/** Accepted and without effect: the service never answers by itself (openai-wire 8.3). */
function checkIgnoredField(sent: SentField | undefined, errors: UpdateErrors): void {
  if (sent === undefined || sent.value === null) return;
  const wanted = sent.path.endsWith('_ms') ? 'number' : 'boolean';
  if (typeof sent.value !== wanted) errors.invalid(sent.path, `must be a ${wanted} or null`);
}
