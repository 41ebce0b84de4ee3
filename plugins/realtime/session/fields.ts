/** Parsers for the fields of a session update. A field that is rejected keeps its previous value. */

import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { DEFAULT_VAD_SETTINGS, type VadSettings } from '../../../src/contract/engines/engine.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { G711_RATE_HZ, type NumberRange, PCM_RATE_HZ, THRESHOLD, VAD_MS } from '../limits.ts';
import { invalidEvent, type ProtocolError, unsupportedFeature } from '../protocol/errors.ts';
import type { WireFormat } from '../protocol/server-events.ts';

/** A field as sent by the client. */
export interface SentField {
  /** Dotted path, starting with `session`. */
  readonly path: string;
  readonly value: unknown;
}

/** The known members of an object, by name. */
export type Members = ReadonlyMap<string, SentField>;

/** Maximum number of unknown fields that are reported individually. Further ones are reported together. */
const MAX_UNKNOWN_NAMED = 16;
/**
 * Maximum number of characters of an unknown field name in an error message, because the name comes from the
 * client.
 */
const MAX_NAME_CHARACTERS = 100;

/** Fields for inline voice cloning, which is supported only with stored voices (spec 4.7, rule 7). */
const CLONING: ReadonlySet<string> = new Set([
  'voice_ref_wav_b64',
  'voice_ref_wav_format',
  'ref_text',
  'x_vector_only_mode',
]);

/** Receives the errors of the fields of an update. Paths are quoted in messages; a problem follows the path. */
export interface FieldErrors {
  invalid(path: string, problem: string): void;
  unsupported(path: string, problem: string): void;
  /** @param siblings the supported fields, listed in the message. */
  unknown(path: string, siblings: readonly string[]): void;
}

/** Collects the errors of one update. */
export class UpdateErrors implements FieldErrors {
  readonly #errors: ProtocolError[] = [];
  #unknown = 0;

  /** All errors, in the order of the fields of the protocol. */
  get all(): readonly ProtocolError[] {
    const unreported = this.#unknown - MAX_UNKNOWN_NAMED;
    if (unreported <= 0) return this.#errors;
    return [...this.#errors, invalidEvent(`${unreported} more unknown fields in 'session'.`, 'session')];
  }

  invalid(path: string, problem: string): void {
    this.#errors.push(invalidEvent(`'${path}' ${problem}.`, path));
  }

  unsupported(path: string, problem: string): void {
    this.#errors.push(unsupportedFeature(`'${path}' ${problem}.`, path));
  }

  /** Reports a failure of the server. */
  failed(path: string, problem: string): void {
    this.#errors.push({ code: 'internal_error', message: `'${path}' ${problem}.`, param: path });
  }

  unknown(path: string, siblings: readonly string[]): void {
    this.#unknown += 1;
    if (this.#unknown > MAX_UNKNOWN_NAMED) return;
    this.invalid(path, `is an unknown field; allowed: ${siblings.join(', ')}`);
  }
}

/**
 * Returns the members of an object; none if it was not sent. Reports an error for a value that is not an
 * object, and for each member that is neither in `names` nor in `tolerated`.
 */
export function membersOf(
  sent: SentField | undefined,
  names: readonly string[],
  errors: FieldErrors,
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

/** Parses an enumerated string. */
export function choiceOf<Value extends string>(
  sent: SentField | undefined,
  prior: Value,
  allowed: readonly Value[],
  errors: FieldErrors,
): Value {
  if (sent === undefined) return prior;
  const chosen = allowed.find((value) => value === sent.value);
  if (chosen === undefined) errors.invalid(sent.path, `must be one of: ${allowed.join(', ')}`);
  return chosen ?? prior;
}

/** Parses a list of distinct enumerated strings. */
export function choicesOf<Value extends string, Prior extends readonly Value[] | undefined>(
  sent: SentField | undefined,
  prior: Prior,
  allowed: readonly Value[],
  errors: FieldErrors,
): readonly Value[] | Prior {
  if (sent === undefined) return prior;
  const { path, value } = sent;
  const isValid = Array.isArray(value) && value.every((each) => allowed.includes(each));
  if (isValid && new Set(value).size === value.length) return value;
  errors.invalid(path, `must be a list of any of ${allowed.join(', ')}, each at most once`);
  return prior;
}

/** Parses a number within an inclusive range. */
export function numberOf<Prior>(
  sent: SentField | undefined,
  prior: Prior,
  range: NumberRange,
  errors: FieldErrors,
): number | Prior {
  if (sent === undefined) return prior;
  const { from, to, isInteger = false } = range;
  const { path, value } = sent;
  const isValid = typeof value === 'number' && value >= from && value <= to;
  if (isValid && (!isInteger || Number.isInteger(value))) return value;
  errors.invalid(path, `must be ${isInteger ? 'an integer' : 'a number'} from ${from} to ${to}`);
  return prior;
}

/** Parses a string of limited length. Null returns undefined. */
export function textOf(
  sent: SentField | undefined,
  prior: string | undefined,
  maxCharacters: number,
  errors: FieldErrors,
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

/** Format of a new session (spec 2.6). */
export const DEFAULT_FORMAT: AudioFormat = { encoding: 'pcm16', rateHz: SPEECH_RATE_HZ };

/** An audio format in its two notations. */
export interface SentFormat {
  /** `{type, rate}`, both optional. */
  readonly nested: SentField | undefined;
  /** Format name of the beta protocol. */
  readonly beta: SentField | undefined;
}

/**
 * Parses an audio format (spec 4.7, rules 3 and 4). If both notations were sent, the nested one applies. Type
 * and rate are one value: if one is rejected, neither applies. Without a rate, G.711 uses 8000 Hz, PCM keeps
 * its rate, and PCM after G.711 uses the 24 kHz of a new session.
 * @returns `prior` itself if nothing changes, so that the input is not reconfigured.
 */
export function formatOf({ nested, beta }: SentFormat, prior: AudioFormat, errors: FieldErrors): AudioFormat {
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

function rateOf(sent: SentField, encoding: AudioFormat['encoding'], errors: FieldErrors): number | undefined {
  if (encoding === 'pcm16') return numberOf(sent, undefined, PCM_RATE_HZ, errors);
  if (sent.value === G711_RATE_HZ) return G711_RATE_HZ;
  errors.invalid(sent.path, `must be ${G711_RATE_HZ} for G.711, or be omitted`);
  return undefined;
}

function encodingOf(
  sent: SentField | undefined,
  prior: AudioFormat,
  names: Readonly<Record<string, AudioFormat['encoding']>>,
  errors: FieldErrors,
): AudioFormat['encoding'] | undefined {
  if (sent === undefined) return prior.encoding;
  const allowed = `one of: ${Object.keys(names).join(', ')}`;
  if (typeof sent.value !== 'string') errors.invalid(sent.path, `must be ${allowed}`);
  else if (Object.hasOwn(names, sent.value)) return names[sent.value];
  else errors.unsupported(sent.path, `is an unsupported codec; it must be ${allowed}`);
  return undefined;
}

function inEncoding(encoding: AudioFormat['encoding'], prior: AudioFormat): AudioFormat {
  if (encoding === prior.encoding) return prior;
  return encoding === 'pcm16' ? DEFAULT_FORMAT : { encoding, rateHz: G711_RATE_HZ };
}

/**
 * Supported fields of turn detection, and fields that are ignored because the service never creates responses
 * by itself.
 */
const DETECTION = ['type', 'threshold', 'prefix_padding_ms', 'silence_duration_ms'];
const IGNORED_DETECTION_FIELDS = ['create_response', 'interrupt_response', 'idle_timeout_ms'];

/**
 * Parses turn detection: null for manual commits, or `server_vad` (spec 4.7, rule 6). While the type stays,
 * omitted fields keep their values; turning it on sets defaults. If the type is rejected, its other fields
 * are not validated.
 * @returns `prior` itself if nothing changes.
 */
export function turnDetectionOf(
  sent: SentField | undefined,
  prior: VadSettings | undefined,
  errors: FieldErrors,
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
  const threshold = numberOf(members.get('threshold'), base.threshold, THRESHOLD, errors);
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

function rejectDetection(type: SentField, errors: FieldErrors): void {
  const allowed = "use 'server_vad', or null instead of the object for manual commits";
  if (type.value === 'semantic_vad') errors.unsupported(type.path, `is not supported; ${allowed}`);
  else errors.invalid(type.path, `must be 'server_vad'; ${allowed}`);
}

/**
 * Validates a field that has no effect, because the service never creates responses by itself (openai-wire
 * 8.3).
 */
function checkIgnoredField(sent: SentField | undefined, errors: FieldErrors): void {
  if (sent === undefined || sent.value === null) return;
  const wanted = sent.path.endsWith('_ms') ? 'number' : 'boolean';
  if (typeof sent.value !== wanted) errors.invalid(sent.path, `must be a ${wanted} or null`);
}
