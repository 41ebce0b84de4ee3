import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import { mayBeId } from '../contract/core/id.ts';
import { quotedName, similarName, similarNamesHint } from '../contract/core/nearest-name.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { type SpokenVoice, voiceDeleted } from '../contract/engines/spoken-voice.ts';
import type { BlobStore } from '../contract/stores/blob-store.ts';
import { clipBlob, type VoiceRecord, type VoiceStore } from '../contract/stores/voice-store.ts';

export interface StoredVoicesDeps {
  readonly voices: Pick<VoiceStore, 'get' | 'list'>;
  readonly blobs: Pick<BlobStore, 'read'>;
}

/** Number of newest voices of an organization that are compared with an unknown one. */
const COMPARED_VOICES = 100;

export type VoiceLookup = Pick<StoredVoices, 'find' | 'findSimilar'>;

/** Looks up the stored voices of organizations. */
export class StoredVoices {
  readonly #deps: StoredVoicesDeps;

  constructor(deps: StoredVoicesDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the current state of a voice. Its adaptation can be replaced after an upgrade.
   * @param id voice id as sent by the client.
   * @returns undefined if the organization has no such voice.
   * @throws the errors of the store.
   */
  async find(id: string, organization: string): Promise<SpokenVoice | undefined> {
    const record = await this.#deps.voices.get(organization, id);
    return record && this.#spoken(record);
  }

  /**
   * Returns the id of the voice that an unknown id or name was probably meant to be.
   * @throws the errors of the store.
   */
  async findSimilar(written: string, organization: string): Promise<string | undefined> {
    const { voices } = await this.#deps.voices.list({ organization, limit: COMPARED_VOICES, order: 'desc' });
    const idsByName = new Map(voices.flatMap(({ id, name }) => [[id, id] as const, [name, id] as const]));
    return idsByName.get(similarName(written, [...idsByName.keys()]) ?? '');
  }

  #spoken({ id, organization, adaptation, refText }: VoiceRecord): SpokenVoice {
    const { voices, blobs } = this.#deps;
    return {
      id,
      adaptation,
      refText,
      async clip(signal) {
        const bytes = await blobs.read(clipBlob(id), signal);
        // A clip has a few seconds (MAX_CLIP_S), so it fits in memory.
        if (bytes !== undefined) return Buffer.concat(await Array.fromAsync(bytes));
        if ((await voices.get(organization, id)) === undefined) throw voiceDeleted();
        throw new ServiceError('internal', 'The clip of this voice is lost.', { code: 'server_error' });
      },
    };
  }
}

/**
 * The voice of a synthesis: a stored voice, a voice of the engine, or neither for its default voice; and the language of the text,
 * if the request names it.
 */
export type SelectedVoice = Pick<SynthesisRequest, 'voice' | 'voiceName' | 'language'>;

/** A voice that a request names. */
export interface RequestedVoice {
  /** Id of a stored voice or name of a voice of the model, as sent by the client; undefined selects the default voice. */
  readonly id: string | undefined;
  /** Id of the speech model, for error messages. */
  readonly model: string;
  /** Name of the request field with the voice, for error messages. */
  readonly param: string;
  readonly organization: string;
  /** BCP 47 tag as sent by the client; undefined: the language of the voice. */
  readonly language?: string | undefined;
  /** Name of the request field with the language, for error messages. Default: `language`. */
  readonly languageParam?: string | undefined;
}

type VoicedEngine = Pick<TtsEngine, 'hasVoice' | 'voices' | 'voiceProblem' | 'languages' | 'languageOf'>;

/**
 * Selects the voice that a request names, in its current state, and its language.
 * @throws ServiceError `invalid_request` (`voice_not_found`) if neither the organization nor the engine has the voice;
 *   `invalid_request` if the engine does not speak the language; the errors of the store.
 */
export async function selectVoice(
  voices: VoiceLookup,
  engine: VoicedEngine,
  requested: RequestedVoice,
): Promise<SelectedVoice> {
  const { id, organization } = requested;
  const language = requireLanguage(engine, requested);
  if (id === undefined) return { voice: undefined, language };
  const mayBeStored = mayBeId('tts-vc-voice_', id);
  if (!mayBeStored && engine.hasVoice?.(id)) return { voiceName: id, language };
  const voice = mayBeStored ? await voices.find(id, organization) : undefined;
  if (voice === undefined) throw await unknownVoice(voices, engine, id, requested);
  return { voice, language };
}

/** @throws ServiceError `invalid_request` if the engine does not speak the language. */
function requireLanguage(
  engine: VoicedEngine,
  { language, languageParam = 'language', model }: RequestedVoice,
): string | undefined {
  const { languages } = engine;
  if (language === undefined || languages === undefined) return language;
  const found = engine.languageOf?.(language);
  if (found !== undefined) return found;
  throw invalidRequest(
    `'${languageParam}'${quotedName(language)} is not a language of ${model}. It must be one of ${languages.join(', ')}, or unset for the language of the voice.`,
    languageParam,
    'unsupported_value',
  );
}

/**
 * Whether a session can name this voice of a model. Servers with a voice list of their own reject unknown names only when they
 * speak, so names of their voices are accepted only if CONFIG says that the model follows OpenAI's API.
 */
export function hasNamedVoice(
  engine: Pick<TtsEngine, 'hasVoice' | 'voices' | 'compatibility'> | undefined,
  name: string,
): boolean {
  if (engine?.voices === undefined && engine?.compatibility === undefined) return false;
  return !mayBeId('tts-vc-voice_', name) && engine.hasVoice?.(name) === true;
}

/** The error that names similar voices of the model and of the organization, and where they are listed. */
async function unknownVoice(
  voices: VoiceLookup,
  engine: VoicedEngine,
  id: string,
  { model, param, organization }: RequestedVoice,
): Promise<ServiceError> {
  const message = `Unknown voice${quotedName(id)}.`;
  const error = (hint: string, rule: string) =>
    invalidRequest(`${message}${hint} '${param}' must be ${rule}.`, param, 'voice_not_found');
  const problem = engine.voiceProblem?.(id);
  const named = engine.voices?.map((voice) => voice.id) ?? [];
  const similar = problem === undefined ? await voices.findSimilar(id, organization) : undefined;
  const known = similar === undefined ? named : [...named, similar];
  const storedHint = similar === undefined ? '' : ` Did you mean '${similar}'?`;
  if (named.length === 0) {
    const rule = `the id of a stored voice of your organization, or unset for the default voice`;
    return error(storedHint, `${rule}; GET /v1/audio/voices lists your voices`);
  }
  const hint = problem === undefined ? similarNamesHint(id, known) || storedHint : ` ${problem}`;
  return error(
    hint,
    `a voice of the model, as listed by GET /v1/audio/voices?model=${model}, the id of a stored voice of your organization, or unset for the default voice`,
  );
}
