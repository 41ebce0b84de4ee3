/** Text-to-speech engine for one voice of an embedded model in the shared pool. */

import { ServiceError } from '../../contract/core/error.ts';
import type { TtsModelSettings } from '../../contract/core/settings.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../../contract/engines/engine.ts';
import { storedVoicesUnsupported } from '../../contract/voice-errors.ts';
import type { InferencePool } from './inference-pool.ts';
import type { SpeechDescription, SpeechRequest, SpeechResult } from './model.ts';
import type { FoundVoice, NamedVoices } from './named-voices.ts';
import { type SpokenLanguages, sentenceLanguage } from './spoken-languages.ts';

/** A model with voices, such as presets or speakers. */
export interface VoicedModelSettings extends Pick<TtsModelSettings, 'compatibility'> {
  /** Default voice. */
  readonly voice: string;
  /** Default speaker of a voice with several. */
  readonly speaker?: string | undefined;
}

/**
 * @param pool is not closed by the engine.
 * @param model name of the model in the pool.
 * @param languages languages of the model.
 * @param named voices that requests can name; undefined: none.
 */
export function poolTtsEngine(
  pool: InferencePool,
  model: string,
  { voice, speaker, compatibility }: VoicedModelSettings,
  languages: SpokenLanguages,
  named?: NamedVoices,
): TtsEngine {
  const defaultVoice = speaker ?? voice;
  const { rateHz, supportsAdaptations } = pool.description<SpeechDescription>(model);
  const lengthMs = (result: SpeechResult) => (isSamples(result) ? (result.length * 1000) / rateHz : 0);
  const findNamed = (name: string | undefined) => (name === undefined ? undefined : named?.find(name));
  const textLanguage = (
    { language, detectedLanguage, text }: Pick<SynthesisRequest, 'text' | 'language' | 'detectedLanguage'>,
    found: FoundVoice | undefined,
  ) =>
    language ?? sentenceLanguage(text, detectedLanguage ?? found?.language ?? languages.byDefault, languages);
  /** The voice of a request as it speaks the language of its text, and this language. */
  const voiceOf = (request: SynthesisRequest): FoundVoice => {
    const { voice, language } = plainVoiceOf(request);
    return { voice: languages.accented?.(voice, language) ?? voice, language };
  };
  const plainVoiceOf = (request: SynthesisRequest): FoundVoice => {
    const { voice, voiceName, language } = request;
    const found = findNamed(voiceName);
    if (voiceName !== undefined && found === undefined)
      throw new Error('the model has no voice of this name');
    const spoken = textLanguage(request, found);
    if (found !== undefined) return { voice: found.voice, language: spoken };
    if (voice === undefined) {
      // The default voice of a language is native; the configured one speaks its own.
      const native = language === undefined ? undefined : languages.voiceOf?.(language);
      return { voice: native ?? { kind: 'preset', name: defaultVoice }, language: spoken };
    }
    if (!supportsAdaptations) throw storedVoicesUnsupported();
    if (voice.adaptation === undefined) throw notPrepared();
    return { voice: { kind: 'adaptation', adaptation: voice.adaptation }, language: spoken };
  };
  return {
    rateHz,
    compatibility,
    languages: languages.tags,
    languageOf: (tag) => languages.find(tag),
    textLanguage: (request) => textLanguage(request, findNamed(request.voiceName)),
    voiceLanguage(name) {
      const found = findNamed(name);
      if (found === undefined) return { tag: languages.byDefault, isChosen: false };
      return { tag: found.language, isChosen: found.isOfAnyLanguage !== true };
    },
    ...(named && {
      voices: named.list,
      hasVoice: (name) => named.find(name) !== undefined,
      voiceProblem: (name) => named.problemOf(name),
    }),
    synthesize(request, signal) {
      const { text, speed, delivery, firstAudioMs, priority, fairnessKey, aheadMs, onWords } = request;
      const { givenSounds } = request;
      const { voice, language } = voiceOf(request);
      const words = onWords !== undefined;
      const job = {
        request: {
          text,
          voice,
          language,
          speed,
          delivery,
          words,
          ...(givenSounds !== undefined && givenSounds.length > 0 && { givenSounds }),
          ...(firstAudioMs !== undefined && aheadMs === undefined && { firstAudioMs }),
        },
        priority,
        fairnessKey,
        delivery,
        aheadMs,
        lengthMs,
      };
      // Without words, all results are samples.
      if (!words) return pool.runJob<SpeechRequest, Float32Samples>(model, job, signal);
      return samplesOf(pool.runJob<SpeechRequest, SpeechResult>(model, job, signal), onWords);
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

function isSamples(result: SpeechResult): result is Float32Samples {
  return result instanceof Float32Array;
}

async function* samplesOf(
  results: AsyncIterable<SpeechResult>,
  onWords: NonNullable<SynthesisRequest['onWords']>,
): AsyncGenerator<Float32Samples, void, undefined> {
  for await (const result of results) {
    if (isSamples(result)) yield result;
    else onWords(result);
  }
}

/** The stored voice has no adaptation for this version of the model yet. */
function notPrepared(): ServiceError {
  return new ServiceError('overloaded', 'The voice is being prepared for this model. Retry the request.', {
    param: 'voice',
    retryAfterS: 5,
  });
}
