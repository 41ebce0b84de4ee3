/**
 * Session of a conversation: merging of updates, and the wire format, with the fields of OpenAI's realtime sessions. Standard
 * clients send values that this service does not have, and end when they receive an error; such values are echoed.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import type { ConversationModel } from '../../../src/contract/engines/conversation.ts';
import type { ConversationError } from '../../../src/conversation/events/errors.ts';
import { toWireFormat } from '../../../src/conversation/events/wire-format.ts';
import type { ConversationSettings, ReplyLanguage, Truncation } from '../../../src/conversation/settings.ts';
import { DEFAULT_RETENTION_RATIO } from '../../../src/conversation/state/reply-request.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { languageRule, reducedLanguage } from '../../../src/kit/validation/languages.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { CONVERSATION_SPEED, MAX_MODEL_CHARACTERS, MAX_PROMPT_CHARACTERS, TOKEN_LIMIT } from '../limits.ts';
import {
  choiceOf,
  DEFAULT_FORMAT,
  type FieldErrors,
  formatOf,
  type Members,
  membersOf,
  numberOf,
  type SentField,
  type SentFormat,
  textOf,
} from '../session/fields.ts';
import { type Echoes, mergeEchoes } from '../session/passthrough.ts';
import { readSpokenLanguage, type SpokenLanguages } from '../session/spoken-language.ts';
import { keywordsOf, LOGPROBS, languagesOf } from '../session/transcription-hints.ts';
import { ConversationFieldErrors } from './field-errors.ts';
import { mergeField, nonNull } from './merge-field.ts';
import {
  BETA_RESPONSE_FIELDS,
  mergeResponseSettings,
  RESPONSE_FIELDS,
  type SentSettings,
} from './response-settings.ts';
import type { WireConversationSession } from './session-schema.ts';
import { initialDetection, mergeDetection, toWireDetection } from './turn-detection.ts';
import { type ConversationVoice, initialVoice, mergeVoice, type VoiceContext } from './voice.ts';

const INITIAL_SPEED = 1;
/** Value of `include` that adds the times of the turn to `response.done`. */
const TIMING = 'response.timing';

/** A session of a conversation. Immutable. */
export interface ConversationSession extends Omit<SentSettings, 'settings'> {
  readonly id: Id<'sess_'>;
  readonly modelId: string;
  /** Unix time in seconds. */
  readonly expiresAt: number;
  readonly settings: ConversationSettings;
  /** Names that the client knows. */
  readonly voiceName: string;
  readonly transcriptionModel: string;
  /** Fields without effect, by name. */
  readonly echoes: Echoes;
}

/** The session of a connection that has sent no update. @param modelId id of the model in the request. */
export function initialConversationSession(
  id: Id<'sess_'>,
  model: ConversationModel,
  startedS: number,
  modelId = model.id,
): ConversationSession {
  return {
    id,
    modelId,
    expiresAt: startedS + model.maxSessionS,
    settings: initialSettings(model),
    voiceName: initialVoice(model.voice).name,
    transcriptionModel: model.stt,
    wireTools: [],
    wireToolChoice: 'auto',
    echoes: {},
  };
}

function initialSettings(model: ConversationModel): ConversationSettings {
  return {
    modality: 'audio',
    instructions: model.instructions,
    tools: [],
    toolChoice: 'auto',
    parallelToolCalls: true,
    maxOutputTokens: model.maxOutputTokens,
    temperature: model.temperature,
    reasoningEffort: model.reasoningEffort,
    outputFormat: DEFAULT_FORMAT,
    voice: initialVoice(model.voice).id,
    speed: INITIAL_SPEED,
    language: replyLanguage(undefined, model.language),
    inputFormat: DEFAULT_FORMAT,
    turnDetection: initialDetection(model.turnDetection),
    transcription: {
      language: model.language,
      languages: undefined,
      prompt: undefined,
      keywords: undefined,
    },
    truncation: AUTOMATIC_TRUNCATION,
    includesLogprobs: false,
    includesTiming: false,
  };
}

const AUTOMATIC_TRUNCATION: Truncation = {
  kind: 'oldest_first',
  retentionRatio: DEFAULT_RETENTION_RATIO,
  maxTokens: undefined,
};

const FIELDS = ['type', 'model', 'audio', 'truncation', ...RESPONSE_FIELDS];
/** Accepted, but not suggested to clients that send an unknown field. */
const TOLERATED = [
  // Fields without effect.
  ...['include', 'prompt', 'tracing', 'metadata'],
  // Fields of the server, which some clients send back.
  ...['id', 'object', 'expires_at', 'client_secret', 'tts_model'],
  // Fields of the beta protocol.
  ...BETA_RESPONSE_FIELDS,
  ...['input_audio_format', 'input_audio_transcription', 'turn_detection', 'input_audio_noise_reduction'],
  ...['output_audio_format', 'voice', 'speed'],
];

/** Context of a merge. */
export interface MergeContext extends Omit<VoiceContext, 'modelVoice'> {
  readonly model: ConversationModel;
  /** Languages of the speech model. Absent: not known; then any tag is accepted. */
  readonly spokenLanguages?: SpokenLanguages | undefined;
}

/**
 * Merges a `session` object of a client. Omitted and rejected fields keep their values, null means the default; all others
 * apply.
 * @returns the session and one error per rejected field.
 */
export function mergeConversationSession(
  session: ConversationSession,
  update: unknown,
  context: MergeContext,
): { readonly session: ConversationSession; readonly errors: readonly ConversationError[] } {
  const errors = new ConversationFieldErrors();
  const top = membersOf({ path: 'session', value: update }, FIELDS, errors, TOLERATED);
  const { input, output } = audioMembers(top, errors);
  const { settings } = session;
  const initial = initialSettings(context.model);
  choiceOf(nonNull(top.get('type')), 'realtime', ['realtime'], errors);
  const transcription = mergeTranscription(
    session,
    { model: context.model.stt, settings: initial.transcription },
    input.get('transcription') ?? top.get('input_audio_transcription'),
    errors,
  );
  const voice = mergeSessionVoice(session, output.get('voice') ?? top.get('voice'), context, errors);
  const response = mergeResponseSettings(session, initial, top, errors);
  const merged: ConversationSettings = {
    ...settings,
    ...response.settings,
    voice: voice.id,
    outputFormat: mergeFormat(
      { nested: output.get('format'), beta: top.get('output_audio_format') },
      settings.outputFormat,
      errors,
    ),
    speed: mergeField(output.get('speed') ?? top.get('speed'), settings.speed, INITIAL_SPEED, (sent) =>
      numberOf(sent, settings.speed, CONVERSATION_SPEED, errors),
    ),
    language: mergeReplyLanguage(
      settings,
      output.get('language'),
      transcription.settings.language,
      context.spokenLanguages,
      errors,
    ),
    inputFormat: mergeFormat(
      { nested: input.get('format'), beta: top.get('input_audio_format') },
      settings.inputFormat,
      errors,
    ),
    turnDetection: mergeDetection(
      input.get('turn_detection') ?? top.get('turn_detection'),
      settings.turnDetection,
      errors,
    ),
    transcription: transcription.settings,
    truncation: mergeTruncation(top.get('truncation'), settings.truncation, errors),
    includesLogprobs: settings.includesLogprobs,
    includesTiming: settings.includesTiming,
  };
  const echoes = mergeEchoes(session.echoes, sentEchoes(top, input, session.echoes, errors), errors);
  const includes = (name: string) => Array.isArray(echoes.include) && echoes.include.includes(name);
  return {
    session: {
      ...session,
      settings: { ...merged, includesLogprobs: includes(LOGPROBS), includesTiming: includes(TIMING) },
      voiceName: voice.name,
      transcriptionModel: transcription.model,
      wireTools: response.wireTools,
      wireToolChoice: response.wireToolChoice,
      echoes,
    },
    errors: errors.all,
  };
}

/** Fields of the audio. A group that is null has no fields. */
export function audioMembers(members: Members, errors: FieldErrors) {
  const audio = membersOf(nonNull(members.get('audio')), ['input', 'output'], errors);
  return {
    input: membersOf(
      nonNull(audio.get('input')),
      ['format', 'transcription', 'turn_detection', 'noise_reduction'],
      errors,
    ),
    output: membersOf(nonNull(audio.get('output')), ['format', 'voice', 'language', 'speed'], errors),
  };
}

/** Without a language of its own, a session replies in the language that is transcribed. */
function replyLanguage(
  spoken: string | undefined,
  transcribed: string | undefined,
): ReplyLanguage | undefined {
  if (spoken !== undefined) return { tag: spoken, source: 'session' };
  return transcribed === undefined ? undefined : { tag: transcribed, source: 'transcription' };
}

/** Merges the language of a session, or of one response. @param transcribed language of the user, if it is known. */
export function mergeReplyLanguage(
  { language: prior }: ConversationSettings,
  sent: SentField | undefined,
  transcribed: string | undefined,
  spoken: SpokenLanguages | undefined,
  errors: FieldErrors,
): ReplyLanguage | undefined {
  const own = prior?.source === 'session' ? prior.tag : undefined;
  return replyLanguage(sent === undefined ? own : readSpokenLanguage(sent, own, spoken, errors), transcribed);
}

/** Merges the voice of a session, or of one response. */
export function mergeSessionVoice(
  { voiceName, settings }: ConversationSession,
  sent: SentField | undefined,
  { model, ...context }: MergeContext,
  errors: ConversationFieldErrors,
): ConversationVoice {
  const prior = { name: voiceName, id: settings.voice };
  return mergeVoice(prior, sent, { ...context, modelVoice: model.voice }, errors);
}

export function mergeFormat(sent: SentFormat, prior: AudioFormat, errors: FieldErrors): AudioFormat {
  return mergeField(sent.nested ?? sent.beta, prior, DEFAULT_FORMAT, () => formatOf(sent, prior, errors));
}

interface Transcription {
  /** Name that the client knows. */
  readonly model: string;
  readonly settings: ConversationSettings['transcription'];
}

/** The language model reads text, so transcription is never off. Another model starts with the initial settings. */
function mergeTranscription(
  { transcriptionModel, settings }: ConversationSession,
  initial: Transcription,
  sent: SentField | undefined,
  errors: FieldErrors,
): Transcription {
  const prior = { model: transcriptionModel, settings: settings.transcription };
  return mergeField<Transcription>(sent, prior, initial, (field) => {
    const fields = ['model', 'language', 'languages', 'prompt', 'keywords'];
    const members = membersOf(field, fields, errors, ['delay']);
    const model = mergeField(
      members.get('model'),
      prior.model,
      initial.model,
      (name) => textOf(name, prior.model, MAX_MODEL_CHARACTERS, errors) ?? prior.model,
    );
    const base = model === prior.model ? prior.settings : initial.settings;
    const prompt = textOf(members.get('prompt'), base.prompt, MAX_PROMPT_CHARACTERS, errors);
    return {
      model,
      settings: {
        language: languageOf(members.get('language'), base.language, errors),
        languages: languagesOf(members.get('languages'), base.languages, undefined, errors),
        prompt: prompt?.trim() ? prompt : undefined,
        keywords: keywordsOf(members.get('keywords'), base.keywords, errors),
      },
    };
  });
}

/** Null and blank text detect the language. A regional code selects its language. */
function languageOf(
  sent: SentField | undefined,
  prior: string | undefined,
  errors: FieldErrors,
): string | undefined {
  return mergeField(sent, prior, undefined, ({ path, value }) => {
    if (typeof value === 'string' && value.trim() === '') return undefined;
    const language = typeof value === 'string' ? reducedLanguage(value, undefined) : undefined;
    if (language !== undefined) return language;
    errors.invalid(path, `must be ${languageRule(undefined)}, or null to detect the language`);
    return prior;
  });
}

function mergeTruncation(sent: SentField | undefined, prior: Truncation, errors: FieldErrors): Truncation {
  return mergeField(sent, prior, AUTOMATIC_TRUNCATION, (field): Truncation => {
    const { path, value } = field;
    if (value === 'auto') return AUTOMATIC_TRUNCATION;
    if (value === 'disabled') return { kind: 'disabled' };
    if (!isRecord(value) || value.type !== 'retention_ratio') {
      errors.invalid(path, "must be 'auto', 'disabled', or {type: 'retention_ratio', retention_ratio}");
      return prior;
    }
    const members = membersOf(field, ['type', 'retention_ratio', 'token_limits'], errors);
    const limits = membersOf(nonNull(members.get('token_limits')), ['post_instructions'], errors);
    return {
      kind: 'oldest_first',
      retentionRatio: numberOf(
        members.get('retention_ratio'),
        DEFAULT_RETENTION_RATIO,
        { from: 0, to: 1 },
        errors,
      ),
      maxTokens: numberOf(nonNull(limits.get('post_instructions')), undefined, TOKEN_LIMIT, errors),
    };
  });
}

const isNullOrObject = (value: unknown) => value === null || isRecord(value);

/** Fields that are echoed, the forms that clients accept in an echo, and their descriptions. */
const ECHOES: Readonly<Record<string, readonly [accepts: (value: unknown) => boolean, form: string]>> = {
  include: [
    (value) => value === null || (Array.isArray(value) && value.every((each) => typeof each === 'string')),
    'a list of names, or null',
  ],
  prompt: [isNullOrObject, 'an object or null'],
  tracing: [(value) => value === 'auto' || isNullOrObject(value), "'auto', an object, or null"],
  metadata: [isNullOrObject, 'an object or null'],
  noise_reduction: [
    (value) =>
      value === null ||
      (isRecord(value) &&
        (value.type === 'near_field' || value.type === 'far_field') &&
        (value.strength === undefined || (typeof value.strength === 'number' && value.strength >= 0))),
    "{type: 'near_field' or 'far_field', strength: a number of at least 0}, or null",
  ],
};
/** Fields with an effect, which are echoed only to clients that send them. Their values are checked elsewhere. */
const OPTIONAL_ECHOES: Readonly<Record<string, (value: unknown) => boolean>> = {
  parallel_tool_calls: (value) => typeof value === 'boolean',
  reasoning: (value) => isRecord(value) && (value.effort == null || typeof value.effort === 'string'),
  temperature: (value) => typeof value === 'number',
};

function sentEchoes(
  top: Members,
  input: Members,
  prior: Echoes,
  errors: FieldErrors,
): ReadonlyMap<string, SentField> {
  const echoes = new Map<string, SentField>();
  for (const [name, [accepts, form]] of Object.entries(ECHOES)) {
    const sent =
      name === 'noise_reduction'
        ? withPrior(input.get(name) ?? top.get('input_audio_noise_reduction'), prior[name])
        : top.get(name);
    if (sent === undefined) continue;
    if (accepts(sent.value)) echoes.set(name, sent);
    else errors.invalid(sent.path, `must be ${form}`);
  }
  for (const [name, accepts] of Object.entries(OPTIONAL_ECHOES)) {
    const sent = top.get(name);
    if (sent !== undefined && (sent.value === null || accepts(sent.value))) echoes.set(name, sent);
  }
  return echoes;
}

/** Members that an object does not have keep their values (openai-2026.md 6.1). */
function withPrior(sent: SentField | undefined, prior: unknown): SentField | undefined {
  if (!isRecord(sent?.value) || !isRecord(prior)) return sent;
  return { ...sent, value: { ...prior, ...sent.value } };
}

/** The session in the form of `session.created` and `session.updated`. */
export function toWireConversationSession(session: ConversationSession): WireConversationSession {
  const { id, modelId, expiresAt, settings, voiceName, transcriptionModel, echoes } = session;
  // Echoes have the forms of the schema.
  const { noise_reduction = null, ...others } = echoes as WireEchoes;
  const { language, prompt } = settings.transcription;
  return {
    tracing: null,
    prompt: null,
    include: null,
    ...others,
    type: 'realtime',
    object: 'realtime.session',
    id,
    model: modelId,
    expires_at: expiresAt,
    output_modalities: [settings.modality],
    instructions: settings.instructions,
    tools: session.wireTools,
    tool_choice: session.wireToolChoice,
    max_output_tokens: settings.maxOutputTokens ?? 'inf',
    truncation: toWireTruncation(settings.truncation),
    audio: {
      input: {
        format: toWireFormat(settings.inputFormat),
        transcription: { model: transcriptionModel, language: language ?? null, prompt: prompt ?? null },
        noise_reduction,
        turn_detection: toWireDetection(settings.turnDetection),
      },
      output: {
        format: toWireFormat(settings.outputFormat),
        voice: voiceName,
        // An extension, so only clients that send it receive it.
        ...(settings.language?.source === 'session' && { language: settings.language.tag }),
        speed: settings.speed,
      },
    },
  };
}

type WireEchoes = Partial<
  Pick<
    WireConversationSession,
    'include' | 'prompt' | 'tracing' | 'metadata' | 'parallel_tool_calls' | 'reasoning' | 'temperature'
  > &
    Pick<WireConversationSession['audio']['input'], 'noise_reduction'>
>;

function toWireTruncation(truncation: Truncation): WireConversationSession['truncation'] {
  if (truncation.kind === 'disabled') return 'disabled';
  if (truncation === AUTOMATIC_TRUNCATION) return 'auto';
  const { retentionRatio, maxTokens } = truncation;
  return {
    type: 'retention_ratio',
    retention_ratio: retentionRatio,
    ...(maxTokens !== undefined && { token_limits: { post_instructions: maxTokens } }),
  };
}
