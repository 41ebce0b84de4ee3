/** Speech models that speak some languages through other models, as the keys `languages` of CONFIG say. */

import { Resampler } from '../audio/resampler.ts';
import { StartError } from '../contract/core/error.ts';
import type { MappedLanguages, TtsModels } from '../contract/core/settings.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import type { NamedVoice } from '../contract/engines/named-voice.ts';

/**
 * Returns the engines, those with mapped languages in front of the others. CONFIG has no cycles.
 * @param engines by model id.
 * @throws StartError if a model does not speak a language that is mapped to it.
 */
export function languageTable(
  models: TtsModels,
  engines: ReadonlyMap<string, TtsEngine>,
): ReadonlyMap<string, TtsEngine> {
  const opened = new Map<string, TtsEngine>();
  const open = (id: string): TtsEngine => {
    const known = opened.get(id);
    if (known !== undefined) return known;
    const own = engines.get(id);
    if (own === undefined) throw new Error(`no speech model '${id}'`);
    const { languages } = models.get(id) ?? {};
    const engine = languages ? multilingual(own, mappedEngines(id, languages, open)) : own;
    opened.set(id, engine);
    return engine;
  };
  return new Map([...engines.keys()].map((id) => [id, open(id)]));
}

/** By BCP 47 tag. */
type EnginesByLanguage = ReadonlyMap<string, TtsEngine>;

function mappedEngines(
  id: string,
  languages: MappedLanguages,
  open: (id: string) => TtsEngine,
): EnginesByLanguage {
  const targets = [...languages].map(([tag, target]) => {
    const engine = open(target);
    if (engine.languages !== undefined && engine.languageOf?.(tag) === undefined) {
      throw new StartError(
        `CONFIG: 'models."${id}".languages.${tag}' names the model '${target}', which does not speak this language; it speaks ${engine.languages.join(', ')}.`,
      );
    }
    return [tag, engine] as const;
  });
  return new Map(targets);
}

/**
 * The mapped tag that a BCP 47 tag in any form means: an unknown region falls back to its language (RFC 4647, section 3.4).
 * Undefined for a language that is not mapped.
 */
function mappedTag(tag: string, mapped: EnginesByLanguage): string | undefined {
  const subtags = tag.trim().toLowerCase().replaceAll('_', '-').split('-', MAX_SUBTAGS);
  for (; subtags.length > 0; subtags.pop()) {
    const range = subtags.join('-');
    const found = mapped.keys().find((each) => each.toLowerCase() === range);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** More than any tag of a language with a voice has. */
const MAX_SUBTAGS = 8;

/** What selects the model of a request. */
type RoutedRequest = Pick<SynthesisRequest, 'voice' | 'voiceName' | 'language' | 'detectedLanguage'>;

function multilingual(own: TtsEngine, mapped: EnginesByLanguage): TtsEngine {
  /** The languages that only mapped models speak are added. */
  const tags = own.languages && [...new Set([...own.languages, ...mapped.keys()])];
  const { hasVoice } = own;
  const others = [...new Set(mapped.values())];
  const engineOfVoice = (name: string): TtsEngine =>
    [own, ...others].find((engine) => engine.hasVoice?.(name)) ?? own;
  /**
   * The model of a request: that of its language, else the first that has its voice. Stored voices have only the languages of the
   * own model, so a detected language of another one does not select that model.
   */
  const engineOf = (request: RoutedRequest): TtsEngine => {
    const { language, detectedLanguage, voice, voiceName } = request;
    const tag = language ?? (voice === undefined ? detectedLanguage : undefined);
    const ofLanguage = tag === undefined ? undefined : mapped.get(mappedTag(tag, mapped) ?? '');
    if (ofLanguage !== undefined || language !== undefined || voiceName === undefined) {
      return ofLanguage ?? own;
    }
    return engineOfVoice(voiceName);
  };
  /** The request to one of the models. A voice that this model does not have is replaced by its default voice. */
  const routed = <Request extends RoutedRequest>(engine: TtsEngine, request: Request): Request => {
    const { detectedLanguage, voiceName } = request;
    const isOwn = engine === own;
    const tag = request.language ?? (isOwn ? undefined : detectedLanguage);
    const detected = detectedLanguage && isOwn ? own.languageOf?.(detectedLanguage) : undefined;
    return {
      ...request,
      language: tag === undefined ? undefined : (engine.languageOf?.(tag) ?? tag),
      ...(detectedLanguage !== undefined && { detectedLanguage: detected }),
      voiceName: voiceName !== undefined && engine.hasVoice?.(voiceName) ? voiceName : undefined,
    };
  };
  return {
    compatibility: own.compatibility,
    languages: tags,
    get rateHz() {
      return own.rateHz;
    },
    get voices() {
      return own.voices && [...own.voices, ...voicesOf(others, own.voices)];
    },
    ...(own.languages && { languageOf: (tag) => mappedTag(tag, mapped) ?? own.languageOf?.(tag) }),
    ...(own.textLanguage && {
      textLanguage(request) {
        const engine = engineOf(request);
        return engine.textLanguage?.(routed(engine, request));
      },
    }),
    ...(own.voiceLanguage && {
      voiceLanguage: (name) => (name === undefined ? own : engineOfVoice(name)).voiceLanguage?.(name),
    }),
    ...(hasVoice && {
      hasVoice: (name) => [own, ...others].some((engine) => engine.hasVoice?.(name) === true),
    }),
    ...(own.voiceProblem && { voiceProblem: own.voiceProblem.bind(own) }),
    ...(own.deleteVoice && { deleteVoice: own.deleteVoice.bind(own) }),
    ...(own.load && { load: own.load.bind(own) }),
    synthesize(request, signal) {
      const engine = engineOf(request);
      const audio = engine.synthesize(routed(engine, request), signal);
      return engine === own ? audio : atRate(audio, engine, own);
    },
    ready: () => own.ready(),
    close: () => own.close(),
  };
}

/** The voices that only mapped models have. OpenAI's names are those of the own voices. */
function voicesOf(others: readonly TtsEngine[], own: readonly NamedVoice[]): NamedVoice[] {
  const known = new Set(own.map(({ id }) => id));
  const added = others.flatMap(({ voices = [] }) => voices.filter(({ preset }) => preset === undefined));
  return [...new Map(added.map((voice) => [voice.id, voice])).values()].filter(({ id }) => !known.has(id));
}

/** Audio of one engine at the rate of another. */
async function* atRate(
  audio: AsyncIterable<Float32Samples>,
  from: TtsEngine,
  to: TtsEngine,
): AsyncGenerator<Float32Samples, void, undefined> {
  if (from.rateHz === to.rateHz) {
    yield* audio;
    return;
  }
  const resampler = new Resampler({ fromHz: from.rateHz, toHz: to.rateHz, format: 'float32' });
  try {
    for await (const samples of audio) {
      const converted = resampler.push(samples);
      if (converted.length > 0) yield converted;
    }
    const rest = resampler.flush();
    if (rest.length > 0) yield rest;
  } finally {
    resampler.close();
  }
}
