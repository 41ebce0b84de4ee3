/**
 * The tables `[models]` of the CONFIG file. Used by src/config/config.ts.
 */

import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { hubGguf, hubWhisper } from '../../models/hub-reference.ts';
import { Secret } from '../contract/core/secret.ts';
import type {
  ConfiguredModels,
  ConversationModelSettings,
  EmbedModelSettings,
  MappedLanguages,
  SpeechCompatibility,
  SttModelSettings,
  TextModelSettings,
  TtsModelSettings,
  VideoModelSettings,
} from '../contract/core/settings.ts';
import { MAX_RATE_HZ, MIN_RATE_HZ, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { ModelEngine } from '../contract/model-table.ts';
import { isRecord } from '../kit/validation/is-record.ts';
import { languageRule, reducedLanguage } from '../kit/validation/languages.ts';
import { oneOf } from '../kit/validation/type-errors.ts';
import { ConfigError } from './config-error.ts';
import { checked } from './config-file.ts';
import { OPENAI_NAMES, type OpenaiName } from './openai-names.ts';

const strict = { additionalProperties: false } as const;
const name = Type.String({ minLength: 1, maxLength: 200 });

/** Schema of a table of `[models]`: the keys of its kind and the common keys. */
function modelTable<Keys extends TProperties>(keys: Keys) {
  return Type.Object({ ...keys, required: Type.Optional(Type.Boolean()) }, strict);
}

/** `none` gives a model with one of OpenAI's names the rules of the specification. */
const compatibility = Type.Optional(oneOf(['openai', 'none']));
const languages = Type.Optional(Type.Record(Type.String({ minLength: 1, maxLength: 64 }), name));
const KokoroModel = modelTable({
  kind: oneOf(['kokoro']),
  voice: Type.Optional(name),
  voices: Type.Optional(oneOf(['presets', 'none'])),
  languages,
  compatibility,
});
const PiperModel = modelTable({
  kind: oneOf(['piper']),
  voice: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  speaker: Type.Optional(name),
  voices: Type.Optional(oneOf(['presets', 'none'])),
  languages,
  compatibility,
});
const WhisperModel = modelTable({
  kind: oneOf(['whisper']),
  weights: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
});
const contextTokens = Type.Optional(Type.Integer({ minimum: 256, maximum: 1_048_576 }));
const LlamaModel = modelTable({
  kind: oneOf(['llama']),
  weights: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  slots: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  context_tokens: contextTokens,
  default_max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_048_576 })),
});
const tokenIds = Type.Optional(oneOf(['cl100k_base', 'model']));
const MinilmModel = modelTable({ kind: oneOf(['minilm']), token_ids: tokenIds });
const ContinuationModel = modelTable({ kind: oneOf(['continuation']) });
const ConversationModel = modelTable({
  kind: oneOf(['conversation']),
  stt: Type.Optional(name),
  llm: Type.Optional(name),
  tts: Type.Optional(name),
  instructions: Type.Optional(Type.String({ maxLength: 65_536 })),
  voice: Type.Optional(name),
  turn_detection: Type.Optional(oneOf(['semantic_vad', 'server_vad', 'none'])),
  interruption_guard: Type.Optional(Type.Boolean()),
  speculative_replies: Type.Optional(Type.Boolean()),
  language: Type.Optional(name),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096 })),
  reasoning_effort: Type.Optional(oneOf(['none', 'minimal', 'low', 'medium', 'high'])),
  fallback_message: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  max_session_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400 })),
  sessions_per_organization: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  max_tool_output_characters: Type.Optional(Type.Integer({ minimum: 100, maximum: 1_000_000 })),
});
const TASKS = ['speech', 'transcription', 'chat', 'embeddings', 'video'] as const;
const variableName = Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }));
const upstreamKeys = {
  kind: oneOf(['upstream']),
  task: Type.Optional(oneOf(TASKS)),
  base_url: Type.String({ pattern: '^https?://.+' }),
  api_key_env: variableName,
  model: name,
};
const UpstreamPlain = modelTable(upstreamKeys);
const UpstreamChat = modelTable({
  ...upstreamKeys,
  context_tokens: contextTokens,
  image_urls: Type.Optional(oneOf(['public', 'any'])),
});
const UpstreamSpeech = modelTable({
  ...upstreamKeys,
  voice: Type.Optional(name),
  voices: Type.Optional(oneOf(['register', 'inline', 'none'])),
  rate_hz: Type.Optional(Type.Integer({ minimum: MIN_RATE_HZ, maximum: MAX_RATE_HZ })),
  languages,
  compatibility,
});
const UpstreamEmbeddings = modelTable({ ...upstreamKeys, token_ids: tokenIds });
const UpstreamVideo = modelTable({
  ...upstreamKeys,
  tail_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 30 })),
  context_frames: Type.Optional(Type.Integer({ minimum: 0, maximum: 240 })),
  audio: Type.Optional(Type.Boolean()),
  fields: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 4096 })),
  ),
});
/** Schemas of the tables of `[models]`, by kind and task; documented in the guide. */
export const MODEL_TABLES = [
  KokoroModel,
  PiperModel,
  WhisperModel,
  LlamaModel,
  MinilmModel,
  ContinuationModel,
  ConversationModel,
  UpstreamSpeech,
  UpstreamChat,
  UpstreamEmbeddings,
  UpstreamVideo,
] as const;
type UpstreamKeys = Static<typeof UpstreamSpeech> &
  Static<typeof UpstreamChat> &
  Static<typeof UpstreamEmbeddings> &
  Static<typeof UpstreamVideo>;

/** Keys of upstream models, by task. */
function upstreamSchema(task: unknown) {
  if (task === 'chat') return UpstreamChat;
  if (task === 'embeddings') return UpstreamEmbeddings;
  if (task === 'video') return UpstreamVideo;
  return task === undefined || task === 'speech' ? UpstreamSpeech : UpstreamPlain;
}

/** Keys that determine the schema of a table, so they are validated first. */
const ModelKind = Type.Object({
  kind: oneOf(['kokoro', 'piper', 'whisper', 'llama', 'minilm', 'continuation', 'conversation', 'upstream']),
  task: Type.Optional(Type.Unknown()),
});

/** The tables of models of a CONFIG file. */
export interface ModelTables {
  /** Path of the file, for error messages. */
  readonly path: string;
  /** Checked by {@link parseModels}. */
  readonly models?: Readonly<Record<string, unknown>> | undefined;
}

const DEFAULT_VOICES = { kokoro: 'af_heart', piper: 'en_US-joe-medium' } as const;
const DEFAULT_WEIGHTS = 'base';
const DEFAULT_LLAMA = 'smollm2-135m-instruct';
const LLAMA_SLOTS = 4;
const LLAMA_CONTEXT_TOKENS = 2048;
/** Generated within the usual client timeout of 60 s, even by a model of 1.5 billion parameters on two cores. */
const LLAMA_DEFAULT_MAX_TOKENS = 768;
/** Default context of weights that have been trained for longer conversations. */
const CONTEXT_TOKENS_OF_WEIGHTS: Readonly<Record<string, number>> = {
  'qwen2.5-0.5b-instruct': 8192,
  'qwen2.5-1.5b-instruct': 8192,
};
/** Default model ids, which need no configuration. The file can remap them and add more. */
const DEFAULT_MODELS = {
  'svc-tts': { kind: 'kokoro' },
  'svc-stt': { kind: 'whisper' },
  'smollm2-135m-instruct': { kind: 'llama' },
  'qwen2.5-0.5b-instruct': { kind: 'llama', weights: 'qwen2.5-0.5b-instruct' },
  'qwen2.5-1.5b-instruct': { kind: 'llama', weights: 'qwen2.5-1.5b-instruct' },
  'all-minilm-l6-v2': { kind: 'minilm' },
  'vid-2.0-mini': { kind: 'continuation' },
  'vid-2.0-fast': { kind: 'continuation' },
  'vid-2.0': { kind: 'continuation' },
  'vid-2.5': { kind: 'continuation' },
  'svc-voice': { kind: 'conversation' },
} as const;
/** Keys of a conversation model that CONFIG omits. */
const CONVERSATION_DEFAULTS = {
  stt: 'svc-stt',
  llm: 'qwen2.5-1.5b-instruct',
  tts: 'svc-tts',
  instructions:
    'You are a friendly voice assistant. Your replies are spoken: answer in one or two short sentences of plain text, without lists, headings or emoji. If you did not understand the user, ask.',
  turnDetection: 'semantic_vad',
  maxSessionS: 3600,
  sessionsPerOrganization: 100,
  maxToolOutputCharacters: 20_000,
} as const;
/**
 * Default number of frames at the start of a conditioned result: two latent frames of Cosmos
 * (partner-and-upstreams B.2).
 */
const CONTEXT_FRAMES = 5;
const TAIL_SECONDS = 2;
/** Tasks of upstream models with a default id; the default task is speech. */
const DEFAULT_TASKS: Readonly<Record<string, string>> = {
  'svc-stt': 'transcription',
  'smollm2-135m-instruct': 'chat',
  'qwen2.5-0.5b-instruct': 'chat',
  'qwen2.5-1.5b-instruct': 'chat',
  'all-minilm-l6-v2': 'embeddings',
  'vid-2.0-mini': 'video',
  'vid-2.0-fast': 'video',
  'vid-2.0': 'video',
  'vid-2.5': 'video',
  ...Object.fromEntries([...OPENAI_NAMES].map(([id, { task }]) => [id, task])),
};

/** The models of the file and the default models, by task. */
export interface ParsedModels extends ConfiguredModels {
  /** All model ids, in order. */
  readonly ids: readonly string[];
  /** Ids of models with `required = true`. */
  readonly required: ReadonlySet<string>;
  readonly video: ReadonlyMap<string, VideoModelSettings>;
  readonly conversation: ReadonlyMap<string, ConversationModelSettings>;
  /** What is behind each model, by id. */
  readonly engines: ReadonlyMap<string, ModelEngine>;
  /** Models that CONFIG does not define, by id: the model whose engine each has. */
  readonly followers: ReadonlyMap<string, string>;
  /** The followers, and the names whose tables only add keys, by id: the model whose prices each has. */
  readonly pricedAs: ReadonlyMap<string, string>;
}

/**
 * Parses the models.
 * @param variable reads an environment variable, for the API keys of upstreams.
 * @throws ConfigError that names the model and the key.
 */
export function parseModels(file: ModelTables, variable: (name: string) => string | undefined): ParsedModels {
  const { openai_names: hasOpenaiNames = true, ...tables } = file.models ?? {};
  if (typeof hasOpenaiNames !== 'boolean') {
    throw new ConfigError(
      `${file.path}: 'models.openai_names' must be true or false; no model can have this id.`,
    );
  }
  const parsed = new Map<string, RequirableModel>();
  for (const [id, value] of Object.entries({ ...DEFAULT_MODELS, ...tables })) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id)) {
      throw new ConfigError(
        `${file.path}: a model id must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit.`,
      );
    }
    parsed.set(id, parseModel(id, withFollowedKeys(id, value, tables), file.path, variable));
  }
  const following = hasOpenaiNames ? followersOf(parsed) : new Map<string, Follower>();
  // The models that CONFIG adds are last.
  const ids = new Set([...Object.keys(DEFAULT_MODELS), ...following.keys(), ...parsed.keys()]);
  const tts = new Map<string, TtsModelSettings>();
  const stt = new Map<string, SttModelSettings>();
  const text = new Map<string, TextModelSettings>();
  const embed = new Map<string, EmbedModelSettings>();
  const video = new Map<string, VideoModelSettings>();
  const conversation = new Map<string, ConversationModelSettings>();
  const engines = new Map<string, ModelEngine>();
  const required = new Set<string>();
  for (const id of ids) {
    const settings = parsed.get(id) ?? following.get(id)?.settings;
    if (settings === undefined) continue;
    if (settings.required) required.add(id);
    engines.set(id, engineOf(settings));
    switch (settings.task) {
      case 'speech':
        tts.set(id, Object.freeze(settings.model));
        break;
      case 'transcription':
        stt.set(id, Object.freeze(settings.model));
        break;
      case 'chat':
        text.set(id, Object.freeze(settings.model));
        break;
      case 'embeddings':
        embed.set(id, Object.freeze(settings.model));
        break;
      case 'video':
        video.set(id, Object.freeze(settings.model));
        break;
      case 'conversation':
        conversation.set(id, Object.freeze(settings.model));
        break;
    }
  }
  requireLanguageModels(file.path, tts);
  for (const [id, model] of conversation) {
    const { stt: ear, llm, tts: voice, choosesSpeech } = model;
    const language = languageOf(file.path, id, model.language);
    // Only Kokoro is measured: another server does not share the cores, and Piper is the faster model.
    conversation.set(
      id,
      Object.freeze({
        ...model,
        language,
        choosesSpeech: choosesSpeech && tts.get(voice)?.kind === 'kokoro',
      }),
    );
    requireModelOf(file.path, id, 'stt', ear, stt);
    requireModelOf(file.path, id, 'llm', llm, text);
    requireModelOf(file.path, id, 'tts', voice, tts);
  }
  const followers = new Map([...following].map(([id, { follows }]) => [id, follows]));
  const byTask = { tts, stt, text, embed, video, conversation };
  const pricedAs = new Map([...followers, ...extendedNames(tables)]);
  return { ids: Object.freeze([...ids]), required, engines, followers, pricedAs, ...byTask };
}

/** The names of OpenAI whose tables have no `kind`, by id: the model that each extends. */
function extendedNames(tables: Readonly<Record<string, unknown>>): Map<string, OpenaiName['follows']> {
  const names = [...OPENAI_NAMES].filter(([id]) => {
    const table = tables[id];
    return isRecord(table) && !('kind' in table);
  });
  return new Map(names.map(([id, { follows }]) => [id, follows]));
}

/**
 * A table of one of OpenAI's names without `kind` adds its keys to those of the model that the name follows:
 * `[models."tts-1"] languages = { … }`. The rules of the name stay those of OpenAI, and it is not `required`, as without a table.
 */
function withFollowedKeys(id: string, value: unknown, tables: Readonly<Record<string, unknown>>): unknown {
  const follows = extendedNames(tables).get(id);
  const followed = follows && (tables[follows] ?? DEFAULT_MODELS[follows]);
  if (!isRecord(followed) || !isRecord(value)) return value;
  const { required: _, compatibility: __, voices, ...keys } = followed;
  // On another server, the key is about stored voices.
  const kept = followed.kind === 'upstream' && voices !== undefined && { voices };
  return { ...keys, ...kept, ...value };
}

/**
 * The models of languages, by canonical BCP 47 tag; undefined without any.
 * @throws ConfigError for a key that is not a tag, or that means the same tag as another.
 */
function languagesOf(
  written: Readonly<Record<string, string>> | undefined,
  path: string,
  location: string,
): MappedLanguages | undefined {
  const languages = new Map<string, string>();
  for (const [key, model] of Object.entries(written ?? {})) {
    const where = `${path}: '${location}.languages.${key}'`;
    const tag = canonicalTag(key);
    if (tag === undefined) throw new ConfigError(`${where} must be a BCP 47 tag, such as de or de-AT.`);
    if (languages.has(tag)) throw new ConfigError(`${where} is the same language as another key.`);
    languages.set(tag, model);
  }
  return languages.size > 0 ? languages : undefined;
}

function canonicalTag(written: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/**
 * @throws ConfigError if a language is mapped to what is not another speech model, or if models speak a language through each
 *   other.
 */
function requireLanguageModels(path: string, tts: ReadonlyMap<string, TtsModelSettings>): void {
  const finished = new Set<string>();
  const visit = (id: string, open: readonly string[]): void => {
    if (finished.has(id)) return;
    for (const [tag, target] of tts.get(id)?.languages ?? []) {
      requireModelOf(path, id, `languages.${tag}`, target, tts);
      const models = [...open, id];
      if (models.includes(target)) {
        throw new ConfigError(
          `${path}: 'models."${id}".languages.${tag}' must not lead back to its own model: ${[...models.slice(models.indexOf(target)), target].join(' → ')}.`,
        );
      }
      visit(target, models);
    }
    finished.add(id);
  };
  for (const id of tts.keys()) visit(id, []);
}

interface Follower {
  readonly follows: OpenaiName['follows'];
  readonly settings: RequirableModel;
}

/**
 * The models with OpenAI's names that the file does not define, each with the settings of the model that it follows. A model
 * that CONFIG maps to another task has no followers.
 */
function followersOf(parsed: ReadonlyMap<string, RequirableModel>): ReadonlyMap<string, Follower> {
  const followers = new Map<string, Follower>();
  for (const [id, { task, follows }] of OPENAI_NAMES) {
    const followed = parsed.get(follows);
    if (parsed.has(id) || followed?.task !== task) continue;
    const settings = { ...withOpenaiRules(followed), required: false };
    followers.set(id, { follows, settings });
  }
  return followers;
}

function withOpenaiRules(settings: ParsedModel): ParsedModel {
  if (settings.task !== 'speech') return settings;
  const { model } = settings;
  const compatible =
    model.kind === 'upstream'
      ? { ...model, compatibility: 'openai' as const }
      : { ...model, compatibility: 'openai' as const, voices: 'presets' as const };
  return { task: 'speech', model: compatible };
}

/** Paths of the operator's files are not shown to clients. */
function engineOf({ task, model }: ParsedModel): ModelEngine {
  if (task === 'conversation') return { kind: 'conversation' };
  const compatibility = task === 'speech' ? model.compatibility : undefined;
  const weights = 'weights' in model && !model.weights.startsWith('/') ? model.weights : undefined;
  const languages = task === 'speech' ? model.languages : undefined;
  return {
    kind: model.kind,
    ...(weights !== undefined && { weights }),
    ...(compatibility !== undefined && { compatibility }),
    ...(languages !== undefined && { languages: Object.fromEntries(languages) }),
  };
}

/** @throws ConfigError if a conversation model has an unknown language. */
function languageOf(path: string, id: string, written: string | undefined): string | undefined {
  const language = written === undefined ? undefined : reducedLanguage(written, undefined);
  if (written === undefined || language !== undefined) return language;
  throw new ConfigError(`${path}: 'models."${id}".language' must be ${languageRule(undefined)}.`);
}

/** @throws ConfigError if a part of a conversation model is not a model of its task. */
function requireModelOf(
  path: string,
  id: string,
  key: string,
  value: string,
  models: ReadonlyMap<string, unknown>,
): void {
  if (models.has(value)) return;
  throw new ConfigError(
    `${path}: 'models."${id}".${key}' must be a model id of this task; allowed: ${[...models.keys()].join(', ')}.`,
  );
}

type ParsedModel =
  | { readonly task: 'speech'; readonly model: TtsModelSettings }
  | { readonly task: 'transcription'; readonly model: SttModelSettings }
  | { readonly task: 'chat'; readonly model: TextModelSettings }
  | { readonly task: 'embeddings'; readonly model: EmbedModelSettings }
  | { readonly task: 'video'; readonly model: VideoModelSettings }
  | { readonly task: 'conversation'; readonly model: ConversationModelSettings };
type RequirableModel = ParsedModel & { readonly required: boolean };

/** A speech model with one of OpenAI's names follows OpenAI's API unless its table says otherwise. */
function compatibilityOf(
  id: string,
  written: 'openai' | 'none' | undefined,
): SpeechCompatibility | undefined {
  const compatibility = written ?? (OPENAI_NAMES.has(id) ? 'openai' : 'none');
  return compatibility === 'none' ? undefined : compatibility;
}

function parseModel(
  id: string,
  value: unknown,
  path: string,
  variable: (name: string) => string | undefined,
): RequirableModel {
  const location = `models."${id}"`;
  const { kind, task = DEFAULT_TASKS[id] } = checked(ModelKind, value, path, location);
  switch (kind) {
    case 'kokoro':
    case 'piper': {
      const table: Static<typeof KokoroModel> | Static<typeof PiperModel> = checked(
        kind === 'kokoro' ? KokoroModel : PiperModel,
        value,
        path,
        location,
      );
      const { voice = DEFAULT_VOICES[kind], required = false } = table;
      const { voices: written = OPENAI_NAMES.has(id) ? 'presets' : 'none' } = table;
      const voices = written === 'none' ? undefined : written;
      const languages = languagesOf(table.languages, path, location);
      const compatibility = compatibilityOf(id, table.compatibility);
      const speaker = 'speaker' in table ? table.speaker : undefined;
      const added = { ...(speaker !== undefined && { speaker }), ...(languages && { languages }) };
      return { required, task: 'speech', model: { kind, voice, voices, compatibility, ...added } };
    }
    case 'whisper': {
      const { weights = DEFAULT_WEIGHTS, required = false } = checked(WhisperModel, value, path, location);
      requireWeights(weights, path, location, 'a folder', hubWhisper);
      return { required, task: 'transcription', model: { kind, weights } };
    }
    case 'llama': {
      const {
        weights = DEFAULT_LLAMA,
        slots = LLAMA_SLOTS,
        context_tokens: contextTokens = CONTEXT_TOKENS_OF_WEIGHTS[weights] ?? LLAMA_CONTEXT_TOKENS,
        default_max_tokens: defaultMaxTokens = LLAMA_DEFAULT_MAX_TOKENS,
        required = false,
      } = checked(LlamaModel, value, path, location);
      requireWeights(weights, path, location, 'a GGUF file', hubGguf);
      return { required, task: 'chat', model: { kind, weights, slots, contextTokens, defaultMaxTokens } };
    }
    case 'minilm': {
      const { token_ids: tokenIds, required = false } = checked(MinilmModel, value, path, location);
      return { required, task: 'embeddings', model: { kind, tokenIds } };
    }
    case 'continuation': {
      const { required = false } = checked(ContinuationModel, value, path, location);
      return { required, task: 'video', model: { kind } };
    }
    case 'conversation': {
      const table = checked(ConversationModel, value, path, location);
      const { required = false } = table;
      return {
        required,
        task: 'conversation',
        model: {
          stt: table.stt ?? CONVERSATION_DEFAULTS.stt,
          llm: table.llm ?? CONVERSATION_DEFAULTS.llm,
          tts: table.tts ?? CONVERSATION_DEFAULTS.tts,
          choosesSpeech: table.tts === undefined,
          instructions: table.instructions ?? CONVERSATION_DEFAULTS.instructions,
          voice: table.voice,
          turnDetection: table.turn_detection ?? CONVERSATION_DEFAULTS.turnDetection,
          guardsInterruptions: table.interruption_guard ?? true,
          preparesReplies: table.speculative_replies ?? true,
          language: table.language,
          temperature: table.temperature,
          maxOutputTokens: table.max_output_tokens,
          reasoningEffort: table.reasoning_effort,
          fallbackMessage: table.fallback_message,
          maxSessionS: table.max_session_seconds ?? CONVERSATION_DEFAULTS.maxSessionS,
          sessionsPerOrganization:
            table.sessions_per_organization ?? CONVERSATION_DEFAULTS.sessionsPerOrganization,
          maxToolOutputCharacters:
            table.max_tool_output_characters ?? CONVERSATION_DEFAULTS.maxToolOutputCharacters,
        },
      };
    }
    case 'upstream': {
      const schema = upstreamSchema(task);
      const model: UpstreamKeys = checked(schema, value, path, location);
      const { required = false } = model;
      const server = {
        kind,
        baseUrl: model.base_url.replace(/\/+$/, ''),
        apiKey: keyOf(model.api_key_env, path, location, variable),
        model: model.model,
      };
      if (task === 'transcription') return { required, task, model: server };
      if (task === 'embeddings') {
        return { required, task, model: { ...server, tokenIds: model.token_ids } };
      }
      if (task === 'chat') {
        const { context_tokens: contextTokens, image_urls: imageUrls } = model;
        return { required, task, model: { ...server, contextTokens, imageUrls } };
      }
      if (task === 'video') {
        const { tail_seconds: tailSeconds = TAIL_SECONDS, audio = false, fields = {} } = model;
        const contextFrames = model.context_frames ?? (tailSeconds === 0 ? 1 : CONTEXT_FRAMES);
        return { required, task, model: { ...server, tailSeconds, contextFrames, audio, fields } };
      }
      const { voice, voices = 'none', rate_hz: rateHz = SPEECH_RATE_HZ } = model;
      const compatibility = compatibilityOf(id, model.compatibility);
      const languages = languagesOf(model.languages, path, location);
      return {
        required,
        task: 'speech',
        model: { ...server, voice, voices, rateHz, compatibility, ...(languages && { languages }) },
      };
    }
  }
}

/**
 * The names of available weights are checked when the files are loaded.
 * @param parseReference throws for an invalid reference to the model hub.
 */
function requireWeights(
  weights: string,
  path: string,
  location: string,
  what: string,
  parseReference: (weights: string) => unknown,
): void {
  try {
    if (parseReference(weights) !== undefined) return;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ConfigError(`${path}: '${location}.weights' ${error.message}.`);
  }
  if (!/^[^/]+\//.test(weights)) return;
  throw new ConfigError(
    `${path}: '${location}.weights' must be the name of built-in weights, a reference hf:…, or the absolute path of ${what}.`,
  );
}

/** @throws ConfigError if the environment variable is not set. */
function keyOf(
  keyVariable: string | undefined,
  path: string,
  location: string,
  variable: (name: string) => string | undefined,
): Secret | undefined {
  if (keyVariable === undefined) return undefined;
  const key = variable(keyVariable);
  if (key !== undefined) return new Secret(key);
  throw new ConfigError(
    `${path}: '${location}.api_key_env' names the environment variable ${keyVariable}, which is not set.`,
  );
}
