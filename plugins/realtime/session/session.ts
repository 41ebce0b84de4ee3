/** Configuration of a realtime session: merging of updates, and the wire format (spec 2.6, 4.7). */

import { type Id, mayBeId } from '../../../src/contract/core/id.ts';
import { quotedName } from '../../../src/contract/core/nearest-name.ts';
import type { VadSettings } from '../../../src/contract/engines/engine.ts';
import { toWireFormat } from '../../../src/conversation/events/wire-format.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { languageRule, reducedLanguage } from '../../../src/kit/validation/languages.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { MAX_MODEL_CHARACTERS, MAX_PROMPT_CHARACTERS, SPEED } from '../limits.ts';
import type { ProtocolError } from '../protocol/errors.ts';
import type { WireSession, WireTurnDetection } from '../protocol/server-events.ts';
import {
  choiceOf,
  choicesOf,
  DEFAULT_FORMAT,
  formatOf,
  type Members,
  membersOf,
  numberOf,
  type SentField,
  textOf,
  turnDetectionOf,
  UpdateErrors,
} from './fields.ts';
import { ECHOED_FIELDS, ECHOED_TRANSCRIPTION_FIELDS, type Echoes, mergeEchoes } from './passthrough.ts';
import {
  readSpokenLanguage,
  type SpokenLanguages,
  spokenLanguageOf,
  spokenLanguageRule,
} from './spoken-language.ts';
import { keywordsOf, LOGPROBS, languagesOf } from './transcription-hints.ts';

/** Choices that the service configuration offers to sessions. */
export interface SessionRules {
  /** Names of the transcription and speech models. */
  readonly sttModels: readonly string[];
  readonly ttsModels: readonly string[];
  readonly defaultSttModel: string;
  readonly defaultTtsModel: string;
  /**
   * ISO 639-1 codes that a model supports. Undefined if they are not known; then any ISO 639-1 code is
   * accepted.
   */
  languagesOf(sttModel: string): readonly string[] | undefined;
  /** Whether a speech model has a voice of this name that is not a stored voice. Absent: no model has one. */
  hasVoice?(ttsModel: string, name: string): boolean;
  /** Languages that a speech model speaks. Absent or undefined: not known; then any tag is accepted. */
  spokenLanguages?(ttsModel: string): SpokenLanguages | undefined;
}

/** Result of looking up the voice that an update names. `failed`: the lookup failed. */
export type VoiceLookupResult = 'found' | 'missing' | 'failed';

const SESSION_TYPES = ['transcription', 'translation', 'realtime'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];

const MODALITIES = ['audio', 'text'] as const;
export type Modality = (typeof MODALITIES)[number];

const INCLUDES = [LOGPROBS] as const;
type Include = (typeof INCLUDES)[number];

export interface TranscriptionSettings {
  /** Name that the client sent. */
  readonly model: string;
  /** ISO 639-1 code; undefined: detected by the model. */
  readonly language: string | undefined;
  /** ISO 639-1 codes that may be detected; undefined: all. Without effect next to a language. */
  readonly languages: readonly string[] | undefined;
  readonly prompt: string | undefined;
  readonly keywords: readonly string[] | undefined;
}

/**
 * The validated configuration. Immutable. A format or detection that an update does not change stays the same
 * object.
 */
export interface Session {
  readonly id: Id<'sess_'>;
  readonly type: SessionType;
  /** As sent by the client; only echoed. */
  readonly model: string | undefined;
  readonly inputFormat: AudioFormat;
  readonly transcription: TranscriptionSettings;
  /** Additional fields of events. Undefined: none, and no value is echoed. */
  readonly include: readonly Include[] | undefined;
  /** Undefined: manual commits. Otherwise `inputFormat` is linear PCM. */
  readonly turnDetection: VadSettings | undefined;
  readonly outputFormat: AudioFormat;
  /** Id of a stored voice; undefined: the default voice. */
  readonly voice: string | undefined;
  /** BCP 47 tag of spoken text; undefined: the language of the voice, and no value is echoed. */
  readonly spokenLanguage: string | undefined;
  /** Speaking rate, 0.25–4; undefined: the default rate, and no value is echoed. */
  readonly speed: number | undefined;
  readonly outputModalities: readonly Modality[];
  readonly ttsModel: string;
  /** Echoed fields without effect, by their dotted names. */
  readonly echoed: Echoes;
}

/** Result of an update. */
export interface MergedSession {
  readonly session: Session;
  /** One error per rejected field. `param` is the field as named by the client. */
  readonly errors: readonly ProtocolError[];
  /**
   * Whether the update has `type: realtime`, which only clients of the GA protocol send (openai-wire 8.2).
   */
  readonly requestsGa: boolean;
}

/** Supported fields. Other fields are tolerated, or rejected with this list. */
const SESSION_FIELDS = ['type', 'model', 'audio', 'include', 'output_modalities', 'tts_model'];
const INPUT_FIELDS = ['format', 'transcription', 'turn_detection', 'noise_reduction'];
const OUTPUT_FIELDS = ['format', 'voice', 'language', 'speed'];
const TRANSCRIPTION_FIELDS = ['model', 'language', 'languages', 'prompt', 'keywords'];
const TOLERATED_FIELDS = [
  // Fields of the beta protocol.
  'input_audio_format',
  'input_audio_transcription',
  'turn_detection',
  'input_audio_noise_reduction',
  'output_audio_format',
  'voice',
  'speed',
  'modalities',
  ...ECHOED_FIELDS,
  // Fields of a session that a client sends back, or of a client secret.
  'id',
  'object',
  'expires_at',
  'client_secret',
];
/** Prefix of the transcription fields in {@link Session.echoed}. */
const TRANSCRIPTION = 'audio.input.transcription.';

const NO_HINTS = { language: undefined, languages: undefined, prompt: undefined, keywords: undefined };

/**
 * Returns the initial session (spec 2.6).
 * @param query query of the upgrade request. Its `model` is echoed; if it names a transcription or speech
 *   model, that model is used. No value is rejected (openai-wire 8.1).
 */
export function initialSession(id: Id<'sess_'>, rules: SessionRules, query: URLSearchParams): Session {
  const requestedModel = query.get('model') ?? '';
  return {
    id,
    type: 'transcription',
    model:
      requestedModel !== '' && requestedModel.length <= MAX_MODEL_CHARACTERS ? requestedModel : undefined,
    inputFormat: DEFAULT_FORMAT,
    transcription: {
      ...NO_HINTS,
      model: rules.sttModels.includes(requestedModel) ? requestedModel : rules.defaultSttModel,
    },
    include: undefined,
    turnDetection: undefined,
    outputFormat: DEFAULT_FORMAT,
    voice: undefined,
    spokenLanguage: undefined,
    speed: undefined,
    outputModalities: [],
    ttsModel: rules.ttsModels.includes(requestedModel) ? requestedModel : rules.defaultTtsModel,
    echoed: {},
  };
}

/**
 * Merges a `session` object sent by the client (spec 4.7, rules 1 and 2; openai-wire 8.3). Omitted and
 * rejected fields keep their values; all others apply. The operation is idempotent. Beta names are aliases of
 * the nested fields, which take precedence.
 * Null turns detection off and resets voice, speed, language and prompt to their defaults. A null
 * transcription keeps its model, which commits require, and resets its other fields.
 * G.711 and `server_vad` are mutually exclusive (rule 4): the one that is not yet active is rejected. If an
 * update activates both, G.711 applies with manual commits, so that the audio can be decoded.
 * @param update any JSON value.
 * @param voice lookup result of {@link namedVoice}. Any other name is not that of a stored voice.
 */
export function mergeSession(
  session: Session,
  update: unknown,
  rules: SessionRules,
  voice: VoiceLookupResult = 'missing',
): MergedSession {
  const errors = new UpdateErrors();
  const sent = sentFields(update, errors);
  if (sent.noiseReduction !== undefined && sent.noiseReduction.value !== null) {
    errors.unsupported(sent.noiseReduction.path, 'is not supported; omit it or send null');
  }
  const ttsModel = ttsModelOf(session, sent, rules, errors);
  const namesVoice = (value: unknown) =>
    typeof value === 'string' && rules.hasVoice?.(ttsModel, value) === true;
  const merged: Session = {
    ...session,
    type: choiceOf(sent.type, session.type, SESSION_TYPES, errors),
    model: textOf(sent.model, session.model, MAX_MODEL_CHARACTERS, errors),
    ...mergeTurns(session, sent, errors),
    transcription: mergeTranscription(session.transcription, sent, rules, errors),
    include:
      sent.include?.value === null ? undefined : choicesOf(sent.include, session.include, INCLUDES, errors),
    outputFormat: formatOf(sent.outputFormat, session.outputFormat, errors),
    voice: voiceOf(sent.voice, session.voice, { lookup: voice, namesVoice }, errors),
    spokenLanguage: mergeSpokenLanguage(sent, session, ttsModel, rules, errors),
    speed: sent.speed?.value === null ? undefined : numberOf(sent.speed, session.speed, SPEED, errors),
    outputModalities: choicesOf(sent.modalities, session.outputModalities, MODALITIES, errors),
    ttsModel,
    echoed: mergeEchoes(retainedEchoes(session.echoed, sent), sent.echoes, errors),
  };
  return { session: merged, errors: errors.all, requestsGa: sent.type?.value === 'realtime' };
}

type SentFields = ReturnType<typeof sentFields>;

/** Reads the fields of an update under all their names. */
function sentFields(update: unknown, errors: UpdateErrors) {
  const top = membersOf({ path: 'session', value: update }, SESSION_FIELDS, errors, TOLERATED_FIELDS);
  const audio = membersOf(top.get('audio'), ['input', 'output'], errors);
  const input = membersOf(audio.get('input'), INPUT_FIELDS, errors);
  const output = membersOf(audio.get('output'), OUTPUT_FIELDS, errors);
  const transcription = input.get('transcription') ?? top.get('input_audio_transcription');
  const transcriptionFields = membersOf(
    transcription?.value === null ? undefined : transcription,
    TRANSCRIPTION_FIELDS,
    errors,
    ECHOED_TRANSCRIPTION_FIELDS,
  );
  return {
    type: top.get('type'),
    model: top.get('model'),
    inputFormat: { nested: input.get('format'), beta: top.get('input_audio_format') },
    turnDetection: input.get('turn_detection') ?? top.get('turn_detection'),
    noiseReduction: input.get('noise_reduction') ?? top.get('input_audio_noise_reduction'),
    resetsTranscription: transcription?.value === null,
    transcriptionModel: transcriptionFields.get('model'),
    language: transcriptionFields.get('language'),
    languages: transcriptionFields.get('languages'),
    prompt: transcriptionFields.get('prompt'),
    keywords: transcriptionFields.get('keywords'),
    include: top.get('include'),
    outputFormat: { nested: output.get('format'), beta: top.get('output_audio_format') },
    voice: output.get('voice') ?? top.get('voice'),
    spokenLanguage: output.get('language'),
    speed: output.get('speed') ?? top.get('speed'),
    modalities: top.get('output_modalities') ?? top.get('modalities'),
    ttsModel: top.get('tts_model'),
    echoes: new Map([
      ...some(top, ECHOED_FIELDS, ''),
      ...some(transcriptionFields, ECHOED_TRANSCRIPTION_FIELDS, TRANSCRIPTION),
    ]),
  };
}

function some(members: Members, names: readonly string[], prefix: string): [name: string, sent: SentField][] {
  return [...members].filter(([name]) => names.includes(name)).map(([name, sent]) => [prefix + name, sent]);
}

/** Resolves conflicts between format and turn detection. */
function mergeTurns(session: Session, sent: SentFields, errors: UpdateErrors) {
  const inputFormat = formatOf(sent.inputFormat, session.inputFormat, errors);
  const turnDetection = turnDetectionOf(sent.turnDetection, session.turnDetection, errors);
  if (turnDetection === undefined || inputFormat.encoding === 'pcm16') return { inputFormat, turnDetection };
  if (session.turnDetection === undefined) {
    errors.invalid(
      `${sent.turnDetection?.path}.type`,
      "cannot be 'server_vad' while the input is G.711: set the input format to audio/pcm, or use manual commits",
    );
    return { inputFormat, turnDetection: undefined };
  }
  const { nested, beta } = sent.inputFormat;
  errors.invalid(
    nested === undefined ? `${beta?.path}` : `${nested.path}.type`,
    "cannot be G.711 while 'server_vad' is on, which needs audio/pcm: set turn_detection to null as well",
  );
  return { inputFormat: session.inputFormat, turnDetection };
}

/** Model and language must match. A new model that does not support the effective language is rejected. */
function mergeTranscription(
  prior: TranscriptionSettings,
  sent: SentFields,
  rules: SessionRules,
  errors: UpdateErrors,
): TranscriptionSettings {
  if (sent.resetsTranscription) return { ...NO_HINTS, model: prior.model };
  const model = choiceOf(sent.transcriptionModel, prior.model, rules.sttModels, errors);
  const known = rules.languagesOf(model);
  const language = languageOf(sent.language, prior.language, known, errors);
  const languages = languagesOf(sent.languages, prior.languages, known, errors);
  const text = textOf(sent.prompt, prior.prompt, MAX_PROMPT_CHARACTERS, errors);
  const prompt = text?.trim() ? text.toWellFormed() : undefined;
  const hints = { language, languages, prompt, keywords: keywordsOf(sent.keywords, prior.keywords, errors) };
  const all = [...(language === undefined ? [] : [language]), ...(languages ?? [])];
  if (all.every((each) => reducedLanguage(each, known) !== undefined)) return { model, ...hints };
  errors.invalid(
    `${sent.transcriptionModel?.path}`,
    'names a model that does not support the language of this session; also send another language, or null',
  );
  return { model: prior.model, ...hints };
}

function languageOf(
  sent: SentField | undefined,
  prior: string | undefined,
  known: readonly string[] | undefined,
  errors: UpdateErrors,
): string | undefined {
  if (sent === undefined) return prior;
  if (isUnset(sent.value)) return undefined;
  const language = typeof sent.value === 'string' ? reducedLanguage(sent.value, known) : undefined;
  if (language !== undefined) return language;
  errors.invalid(sent.path, `must be ${languageRule(known)}, or null to detect it`);
  return prior;
}

/**
 * Returns the id of the stored voice that an update names. It must be looked up before the update is merged.
 */
export function namedVoice(update: unknown): Id<'tts-vc-voice_'> | undefined {
  const errors = new UpdateErrors();
  const { voice } = sentFields(update, errors);
  const value = voice && voiceIdOf(voice, errors).value;
  return typeof value === 'string' && mayBeId('tts-vc-voice_', value) ? value : undefined;
}

/** A new model that does not have the voice of the session is rejected, unless the update sets the voice too. */
function ttsModelOf(
  { ttsModel: prior, voice }: Session,
  sent: SentFields,
  rules: SessionRules,
  errors: UpdateErrors,
): string {
  const model = choiceOf(sent.ttsModel, prior, rules.ttsModels, errors);
  const isNamed = sent.voice === undefined && voice !== undefined && !mayBeId('tts-vc-voice_', voice);
  if (!isNamed || model === prior || rules.hasVoice?.(model, voice)) return model;
  errors.invalid(
    `${sent.ttsModel?.path}`,
    'names a model that does not have the voice of this session; also send another voice, or null',
  );
  return prior;
}

/** Languages are checked again when the model changes. */
function mergeSpokenLanguage(
  { spokenLanguage: sent, ttsModel: sentModel }: SentFields,
  { spokenLanguage: prior }: Session,
  model: string,
  rules: SessionRules,
  errors: UpdateErrors,
): string | undefined {
  const spoken = rules.spokenLanguages?.(model);
  if (sent !== undefined) return readSpokenLanguage(sent, prior, spoken, errors);
  if (prior === undefined || spokenLanguageOf(prior, spoken) !== undefined) return prior;
  errors.invalid(
    `${sentModel?.path}`,
    `names a model that does not speak the language of this session: also send ${spokenLanguageRule(spoken)}`,
  );
  return undefined;
}

/** Reads a voice given as its id or as `{id}`. */
function voiceIdOf(sent: SentField, errors: UpdateErrors): SentField {
  return (isRecord(sent.value) ? membersOf(sent, ['id'], errors).get('id') : undefined) ?? sent;
}

function voiceOf(
  sent: SentField | undefined,
  prior: string | undefined,
  { lookup, namesVoice }: { lookup: VoiceLookupResult; namesVoice: (value: unknown) => boolean },
  errors: UpdateErrors,
): string | undefined {
  if (sent === undefined) return prior;
  const { path, value } = voiceIdOf(sent, errors);
  if (isUnset(value)) return undefined;
  if (typeof value === 'string' && (lookup === 'found' || namesVoice(value))) return value;
  if (typeof value === 'string' && lookup === 'failed') {
    errors.failed(path, 'lookup failed; retry');
    return prior;
  }
  errors.invalid(
    path,
    `must be the voice_id of a stored voice, as returned by POST /v1/audio/voices and listed by GET /v1/audio/voices${unknownVoice(value)}; omit it or send null for the default voice`,
  );
  return prior;
}

function unknownVoice(value: unknown): string {
  const name = typeof value === 'string' ? quotedName(value) : '';
  return name === '' ? '' : `, which has no${name}`;
}

/** Null and blank text mean the default, as in HTTP requests. */
function isUnset(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns the echoed values that an update does not reset. */
function retainedEchoes(echoed: Echoes, sent: SentFields): Echoes {
  if (!sent.resetsTranscription) return echoed;
  return Object.fromEntries(Object.entries(echoed).filter(([name]) => !name.startsWith(TRANSCRIPTION)));
}

/** Returns the session in the wire format of `session.created` and `session.updated` (spec 2.6). */
export function toWireSession(session: Session): WireSession {
  const { id, type, model, transcription, include, voice, spokenLanguage, speed, echoed } = session;
  const { language, languages, prompt, keywords } = transcription;
  const own = Object.entries(echoed).filter(([name]) => !name.startsWith(TRANSCRIPTION));
  const transcriptionFields = Object.entries(echoed)
    .filter(([name]) => name.startsWith(TRANSCRIPTION))
    .map(([name, value]) => [name.slice(TRANSCRIPTION.length), value]);
  return {
    ...Object.fromEntries(own),
    id,
    object: 'realtime.session',
    type,
    ...(model === undefined ? {} : { model }),
    ...(include === undefined ? {} : { include }),
    audio: {
      input: {
        format: toWireFormat(session.inputFormat),
        transcription: {
          ...Object.fromEntries(transcriptionFields),
          model: transcription.model,
          ...(language === undefined ? {} : { language }),
          ...(languages === undefined ? {} : { languages }),
          ...(prompt === undefined ? {} : { prompt }),
          ...(keywords === undefined ? {} : { keywords }),
        },
        turn_detection:
          session.turnDetection === undefined ? null : toWireTurnDetection(session.turnDetection),
        noise_reduction: null,
      },
      output: {
        format: toWireFormat(session.outputFormat),
        ...(voice === undefined ? {} : { voice }),
        ...(spokenLanguage === undefined ? {} : { language: spokenLanguage }),
        ...(speed === undefined ? {} : { speed }),
      },
    },
    output_modalities: session.outputModalities,
    tts_model: session.ttsModel,
  };
}

/** Includes the fields by which clients recognize that responses are not created automatically (openai-wire 8.3). */
function toWireTurnDetection({
  threshold,
  prefixPaddingMs,
  silenceDurationMs,
}: VadSettings): WireTurnDetection {
  return {
    type: 'server_vad',
    threshold,
    prefix_padding_ms: prefixPaddingMs,
    silence_duration_ms: silenceDurationMs,
    create_response: false,
    interrupt_response: false,
    idle_timeout_ms: null,
  };
}
