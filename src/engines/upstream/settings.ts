/** Keys of the tables of models of other servers, by task. */

import { type Static, Type } from '@sinclair/typebox';
import type { Secret } from '../../contract/core/secret.ts';
import type { EmbedModelSettings, ModelSettings, TtsModelSettings } from '../../contract/core/settings.ts';
import { MAX_RATE_HZ, MIN_RATE_HZ, SPEECH_RATE_HZ } from '../../contract/engines/audio.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import type { TableSource } from '../family.ts';
import {
  compatibilityKey,
  compatibilityOf,
  contextTokensKey,
  kindKey,
  languagesKey,
  languagesOf,
  modelTable,
  nameKey,
  tokenIdsKey,
} from '../table-keys.ts';

const KIND = 'upstream';
const TASKS = ['speech', 'transcription', 'chat', 'embeddings', 'video'] as const;
/**
 * Default number of frames at the start of a conditioned result: two latent frames of Cosmos
 * (partner-and-upstreams B.2).
 */
const CONTEXT_FRAMES = 5;
const TAIL_SECONDS = 2;

/** A model of an upstream server with an OpenAI-compatible API. */
export interface UpstreamModelSettings extends ModelSettings {
  readonly kind: typeof KIND;
  /** Up to and including `/v1`, without a slash at the end. */
  readonly baseUrl: string;
  /** Absent when the upstream asks for none. */
  readonly apiKey: Secret | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
}

/** A speech model of a server with `/v1/audio/speech`. */
export interface UpstreamTtsSettings
  extends UpstreamModelSettings,
    Omit<TtsModelSettings, keyof ModelSettings> {
  readonly voice: string | undefined;
  /**
   * How stored voices are sent: `register` uploads the clip once under the voice id, `inline` sends it with
   * each request, `none` (default) never sends it.
   */
  readonly voices: 'register' | 'inline' | 'none';
  /** Sample rate of the raw PCM that the upstream returns, in Hz. */
  readonly rateHz: number;
}

export type ImageUrls = 'public' | 'any';

/** A language model of a server with `/v1/chat/completions`. */
export interface UpstreamTextSettings extends UpstreamModelSettings {
  /**
   * Context window in tokens, prompt and response together, if CONFIG sets it; the upstream API does not
   * report it.
   */
  readonly contextTokens?: number | undefined;
  /** URLs of images that are sent to the server: only those of hosts on the public internet (default), or any. */
  readonly imageUrls?: ImageUrls | undefined;
}

/** An embedding model of a server with `/v1/embeddings`. */
export type UpstreamEmbedSettings = UpstreamModelSettings & Omit<EmbedModelSettings, keyof ModelSettings>;

/** A video model of a server with `/v1/videos`. */
export interface UpstreamVideoSettings extends UpstreamModelSettings {
  /** Length of the end of the clip that is sent, in seconds; 0 sends only the last frame, as an image. */
  readonly tailSeconds: number;
  /** Number of frames at the start of the result that repeat the input clip and are removed. */
  readonly contextFrames: number;
  /** Whether its segments have sound. */
  readonly audio: boolean;
  /** Additional request fields, with the names that the upstream expects. */
  readonly fields: Readonly<Record<string, string>>;
}

const serverKeys = {
  kind: kindKey(KIND, 'a model of another server with an OpenAI-compatible API'),
  task: Type.Optional(
    oneOf(TASKS, {
      default: 'speech',
      description: 'what the model does; ids that exist by default have theirs',
    }),
  ),
  base_url: Type.String({
    pattern: '^https?://.+',
    description: 'address of the API, up to and including `/v1`',
  }),
  api_key_env: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      description: 'environment variable with the key of the server; default: no key',
    }),
  ),
  model: nameKey('name of the model there'),
};

export const UpstreamTranscriptionTable = modelTable(serverKeys);

export const UpstreamSpeechTable = modelTable({
  ...serverKeys,
  voice: Type.Optional(nameKey('for requests without a voice; if unset, the server decides')),
  voices: Type.Optional(
    oneOf(['register', 'inline', 'none'], {
      default: 'none',
      description:
        'support for stored voices: `register` uploads the clip once, `inline` sends it with each request',
    }),
  ),
  rate_hz: Type.Optional(
    Type.Integer({
      minimum: MIN_RATE_HZ,
      maximum: MAX_RATE_HZ,
      default: SPEECH_RATE_HZ,
      description: 'sample rate of its PCM',
    }),
  ),
  languages: languagesKey,
  compatibility: compatibilityKey,
});

export const UpstreamChatTable = modelTable({
  ...serverKeys,
  context_tokens: contextTokensKey(
    'maximum of prompt and completion tokens; if unset, a priced request without a token limit gets 4096',
  ),
  image_urls: Type.Optional(
    oneOf(['public', 'any'], {
      default: 'public',
      description:
        'URLs of images that the server may fetch: of public https hosts, or any; `data:` is always allowed',
    }),
  ),
});

export const UpstreamEmbeddingsTable = modelTable({ ...serverKeys, token_ids: tokenIdsKey });

export const UpstreamVideoTable = modelTable({
  ...serverKeys,
  tail_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 30,
      default: TAIL_SECONDS,
      description: 'length of the end of the clip that is sent; 0: the last frame, as an image',
    }),
  ),
  context_frames: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 240,
      default: CONTEXT_FRAMES,
      description:
        'frames of the clip at the start of its output, which are removed; default 1 if `tail_seconds` is 0',
    }),
  ),
  audio: Type.Optional(Type.Boolean({ default: false, description: 'whether its output has sound' })),
  fields: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 4096 }), {
      description: 'additional request fields',
    }),
  ),
});

export function parseServer(
  table: Static<typeof UpstreamTranscriptionTable>,
  source: TableSource,
): UpstreamModelSettings {
  return {
    kind: KIND,
    baseUrl: table.base_url.replace(/\/+$/, ''),
    apiKey: source.secret('api_key_env', table.api_key_env),
    model: table.model,
  };
}

export function parseSpeech(
  table: Static<typeof UpstreamSpeechTable>,
  source: TableSource,
): UpstreamTtsSettings {
  const { voice, voices = 'none', rate_hz: rateHz = SPEECH_RATE_HZ } = table;
  return {
    ...parseServer(table, source),
    voice,
    voices,
    rateHz,
    compatibility: compatibilityOf(table.compatibility, source),
    ...languagesOf(table.languages, source),
  };
}

export function parseChat(
  table: Static<typeof UpstreamChatTable>,
  source: TableSource,
): UpstreamTextSettings {
  const { context_tokens: contextTokens, image_urls: imageUrls } = table;
  return { ...parseServer(table, source), contextTokens, imageUrls };
}

export function parseEmbeddings(
  table: Static<typeof UpstreamEmbeddingsTable>,
  source: TableSource,
): UpstreamEmbedSettings {
  return { ...parseServer(table, source), tokenIds: table.token_ids };
}

export function parseVideo(
  table: Static<typeof UpstreamVideoTable>,
  source: TableSource,
): UpstreamVideoSettings {
  const { tail_seconds: tailSeconds = TAIL_SECONDS, audio = false, fields = {} } = table;
  const contextFrames = table.context_frames ?? (tailSeconds === 0 ? 1 : CONTEXT_FRAMES);
  return { ...parseServer(table, source), tailSeconds, contextFrames, audio, fields };
}
