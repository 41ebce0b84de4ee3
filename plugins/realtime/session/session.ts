/** The configuration of a realtime session: how an update merges into it, and how it looks on the wire (spec 2.6, 4.7). */

import { type Id, mayBeId } from '../../../src/contract/core/id.ts';
import type { VadSettings } from '../../../src/contract/engines/engine.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { languageName } from '../../../src/kit/validation/languages.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
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
  toWireFormat,
  turnDetectionOf,
  UpdateErrors,
} from './fields.ts';
import { ECHOED_FIELDS, ECHOED_TRANSCRIPTION_FIELDS, type Echoes, mergeEchoes } from './passthrough.ts';

/** What the configuration of the service allows a session to choose. */
export interface SessionRules {
  /** Recognisers and voice models, as clients name them. */
  readonly sttModels: readonly string[];
  readonly ttsModels: readonly string[];
  readonly defaultSttModel: string;
  readonly defaultTtsModel: string;
  /** ISO 639-1 codes that a recogniser hears; undefined when only its server hasTurn: then any code there is. */
  languagesOf(sttModel: string): readonly string[] | undefined;
}

/** What was found out of the voice that an update names; `failed`: nothing, as the look-up went wrong. */
export type VoiceLookupResult = 'found' | 'missing' | 'failed';

const SESSION_TYPES = ['transcription', 'translation', 'realtime'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];

const MODALITIES = ['audio', 'text'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface TranscriptionSettings {
  readonly model: string;
  /** ISO 639-1 code; undefined: the recogniser detects it. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
}

/**
 * A session as the service uses it. Immutable; never in a state that the rules forbid. A format or a detection
 * that an update does not change stays the same object.
 */
export interface Session {
  readonly id: Id<'session'>;
  readonly type: SessionType;
  /** What the client said, for the echo alone. */
  readonly model: string | undefined;
  readonly inputFormat: AudioFormat;
  readonly transcription: TranscriptionSettings;
  /** Undefined: turns end by commit. Otherwise `inputFormat` is linear PCM. */
  readonly turnDetection: VadSettings | undefined;
  readonly outputFormat: AudioFormat;
  /** A stored voice; undefined: the configured default. */
  readonly voice: string | undefined;
  /** 0.25–4, a hint; undefined: natural, and nothing is echoed. */
  readonly speed: number | undefined;
  readonly outputModalities: readonly Modality[];
  readonly ttsModel: string;
  /** Fields without meaning here that the client gets back, by their dotted names. */
  readonly echoed: Echoes;
}

/** What an update did. */
export interface MergedSession {
  readonly session: Session;
  /** One for each field that keeps its value; `param` is the field as the client wrote it. */
  readonly errors: readonly ProtocolError[];
  /** The update says `type: realtime`, which only clients of the GA protocol do (openai-wire 8.2). */
  readonly requestsGa: boolean;
}

/** Longest name of a model that is echoed. */
const MAX_MODEL_CHARACTERS = 256;
/** As the HTTP route's. */
const MAX_PROMPT_CHARACTERS = 5_000;
/** As speech over HTTP (spec 8). */
const SPEED = { from: 0.25, to: 4 };

/** Fields that mean something; each other one is tolerated, or refused with a list of these. */
const SESSION_FIELDS = ['type', 'model', 'audio', 'output_modalities', 'tts_model'];
const INPUT_FIELDS = ['format', 'transcription', 'turn_detection', 'noise_reduction'];
const OUTPUT_FIELDS = ['format', 'voice', 'speed'];
const TRANSCRIPTION_FIELDS = ['model', 'language', 'prompt'];
const TOLERATED_FIELDS = [
  // Of the beta protocol.
  'input_audio_format',
  'input_audio_transcription',
  'turn_detection',
  'input_audio_noise_reduction',
  'output_audio_format',
  'voice',
  'speed',
  'modalities',
  ...ECHOED_FIELDS,
  // Of a session that a client sends back, or asks a key for.
  'id',
  'object',
  'expires_at',
  'client_secret',
];
/** Where {@link Session.echoed} has what belongs to the transcription. */
const TRANSCRIPTION = 'audio.input.transcription.';

/**
 * A session as it begins (spec 2.6).
 * @param query of the upgrade. Its `model` is echoed; when it names a recogniser or a voice model, that is the
 *   one the session begins with. Nothing in it is ever refused (openai-wire 8.1).
 */
export function initialSession(id: Id<'session'>, rules: SessionRules, query: URLSearchParams): Session {
  const requestedModel = query.get('model') ?? '';
  return {
    id,
    type: 'transcription',
    model:
      requestedModel !== '' && requestedModel.length <= MAX_MODEL_CHARACTERS ? requestedModel : undefined,
    inputFormat: DEFAULT_FORMAT,
    transcription: {
      model: rules.sttModels.includes(requestedModel) ? requestedModel : rules.defaultSttModel,
      language: undefined,
      prompt: undefined,
    },
    turnDetection: undefined,
    outputFormat: DEFAULT_FORMAT,
    voice: undefined,
    speed: undefined,
    outputModalities: [],
    ttsModel: rules.ttsModels.includes(requestedModel) ? requestedModel : rules.defaultTtsModel,
    echoed: {},
  };
}

/**
 * Merges a client's `session` into the session (spec 4.7, rules 1 and 2; openai-wire 8.3). Fields that were not
 * sent keep their value, and so does a field that is refused, while all others apply. Doing it again changes
 * nothing. Beta names stand for the nested fields, which win when both are sent.
 *
 * Null turns detection off, and brings back the default of a voice, a speed, a language and a prompt. A
 * transcription that is null keeps its model, as commits need one, and forgets the rest.
 *
 * G.711 and `server_vad` exclude each other (rule 4); the one that was not there before is refused. An update
 * with both to a session with neither gets G.711 and manual commit: its audio must at least be understood.
 * @param update whatever JSON gave.
 * @param voice what was found out of {@link namedVoice}; any other name is that of no stored voice.
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
    errors.unsupported(sent.noiseReduction.path, 'is not supported; leave it out or send null');
  }
  const merged: Session = {
    ...session,
    type: choiceOf(sent.type, session.type, SESSION_TYPES, errors),
    model: textOf(sent.model, session.model, MAX_MODEL_CHARACTERS, errors),
    ...mergeTurns(session, sent, errors),
    transcription: mergeTranscription(session.transcription, sent, rules, errors),
    outputFormat: formatOf(sent.outputFormat, session.outputFormat, errors),
    voice: voiceOf(sent.voice, session.voice, voice, errors),
    speed: sent.speed?.value === null ? undefined : numberOf(sent.speed, session.speed, SPEED, errors),
    outputModalities: choicesOf(sent.modalities, session.outputModalities, MODALITIES, errors),
    ttsModel: choiceOf(sent.ttsModel, session.ttsModel, rules.ttsModels, errors),
    echoed: mergeEchoes(retainedEchoes(session.echoed, sent), sent.echoes, errors),
  };
  return { session: merged, errors: errors.all, requestsGa: sent.type?.value === 'realtime' };
}

type SentFields = ReturnType<typeof sentFields>;

/** The fields of an update, by whichever name they came. */
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
    prompt: transcriptionFields.get('prompt'),
    outputFormat: { nested: output.get('format'), beta: top.get('output_audio_format') },
    voice: output.get('voice') ?? top.get('voice'),
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

/** What format and detection become together. */
function mergeTurns(session: Session, sent: SentFields, errors: UpdateErrors) {
  const inputFormat = formatOf(sent.inputFormat, session.inputFormat, errors);
  const turnDetection = turnDetectionOf(sent.turnDetection, session.turnDetection, errors);
  if (turnDetection === undefined || inputFormat.encoding === 'pcm16') return { inputFormat, turnDetection };
  if (session.turnDetection === undefined) {
    errors.invalid(
      `${sent.turnDetection?.path}.type`,
      "cannot be 'server_vad' while the input is G.711: set the input format to audio/pcm, or commit by hand",
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

/** Model and language must fit each other; a new model that does not know the language it would have is refused. */
function mergeTranscription(
  prior: TranscriptionSettings,
  sent: SentFields,
  rules: SessionRules,
  errors: UpdateErrors,
): TranscriptionSettings {
  if (sent.resetsTranscription) return { model: prior.model, language: undefined, prompt: undefined };
  const model = choiceOf(sent.transcriptionModel, prior.model, rules.sttModels, errors);
  const language = languageOf(sent.language, prior.language, rules.languagesOf(model), errors);
  const text = textOf(sent.prompt, prior.prompt, MAX_PROMPT_CHARACTERS, errors);
  const prompt = text?.trim() ? text.toWellFormed() : undefined;
  if (language === undefined || isSupported(language, rules.languagesOf(model)))
    return { model, language, prompt };
  errors.invalid(
    `${sent.transcriptionModel?.path}`,
    'names a model that does not know the language of this session; send another language, or null, with it',
  );
  return { model: prior.model, language, prompt };
}

function isSupported(language: string, known: readonly string[] | undefined): boolean {
  return known?.includes(language) ?? languageName(language) !== undefined;
}

function languageOf(
  sent: SentField | undefined,
  prior: string | undefined,
  known: readonly string[] | undefined,
  errors: UpdateErrors,
): string | undefined {
  if (sent === undefined) return prior;
  if (sent.value === null) return undefined;
  if (typeof sent.value === 'string' && isSupported(sent.value, known)) return sent.value;
  const allowed = known === undefined ? 'an ISO 639-1 code' : `one of ${known.join(', ')}`;
  errors.invalid(sent.path, `must be ${allowed}, or null to detect it`);
  return prior;
}

/** The stored voice that an update names, which must be looked up before the update is merged. */
export function namedVoice(update: unknown): Id<'voice'> | undefined {
  const errors = new UpdateErrors();
  const { voice } = sentFields(update, errors);
  const value = voice && voiceIdOf(voice, errors).value;
  return typeof value === 'string' && mayBeId('voice', value) ? value : undefined;
}

/** A stored voice, by its id or as `{id}`. */
function voiceIdOf(sent: SentField, errors: UpdateErrors): SentField {
  return (isRecord(sent.value) ? membersOf(sent, ['id'], errors).get('id') : undefined) ?? sent;
}

function voiceOf(
  sent: SentField | undefined,
  prior: string | undefined,
  lookup: VoiceLookupResult,
  errors: UpdateErrors,
): string | undefined {
  if (sent === undefined) return prior;
  if (sent.value === null) return undefined;
  const { path, value } = voiceIdOf(sent, errors);
  if (typeof value === 'string' && lookup === 'found') return value;
  if (typeof value === 'string' && lookup === 'failed') {
    errors.failed(path, 'could not be looked up; send it again');
    return prior;
  }
  errors.invalid(
    path,
    'must be the voice_id of a stored voice, as POST /v1/audio/voices returns it; leave it out or send null for the default voice',
  );
  return prior;
}

/** The echoes that an update leaves. */
function retainedEchoes(echoed: Echoes, sent: SentFields): Echoes {
  if (!sent.resetsTranscription) return echoed;
  return Object.fromEntries(Object.entries(echoed).filter(([name]) => !name.startsWith(TRANSCRIPTION)));
}

/** The whole session, as `session.created` and `session.updated` carry it (spec 2.6). */
export function toWireSession(session: Session): WireSession {
  const { id, type, model, transcription, voice, speed, echoed } = session;
  const { language, prompt } = transcription;
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
    audio: {
      input: {
        format: toWireFormat(session.inputFormat),
        transcription: {
          ...Object.fromEntries(transcriptionFields),
          model: transcription.model,
          ...(language === undefined ? {} : { language }),
          ...(prompt === undefined ? {} : { prompt }),
        },
        turn_detection:
          session.turnDetection === undefined ? null : toWireTurnDetection(session.turnDetection),
        noise_reduction: null,
      },
      output: {
        format: toWireFormat(session.outputFormat),
        ...(voice === undefined ? {} : { voice }),
        ...(speed === undefined ? {} : { speed }),
      },
    },
    output_modalities: session.outputModalities,
    tts_model: session.ttsModel,
  };
}

/** With what a client looks for to know that nothing answers by itself (openai-wire 8.3). */
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
