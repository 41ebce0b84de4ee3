/** Speech engines for Piper voices: their names, speakers and languages. */

import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { ExpectedSpeech } from '../../inference/on-demand/retried-load.ts';
import type { InferencePool } from '../../inference/pool/inference-pool.ts';
import type { SpeechDescription } from '../../inference/pool/model.ts';
import { poolTtsEngine } from '../../inference/pool/tts-engine.ts';
import { parsePiperVoice } from './hub-voices.ts';
import { piperLanguage, piperLanguages, piperVoices, requireSpeaker } from './named-voices.ts';
import type { PiperModelSettings } from './settings.ts';

/**
 * Opens a voice that the pool has loaded.
 * @param model name in the pool.
 * @throws Error if CONFIG names a speaker that the voice does not have.
 */
export function openPiperEngine(pool: InferencePool, model: string, settings: PiperModelSettings): TtsEngine {
  const { voice, speaker, voices } = settings;
  const { speakers = [], language = 'und' } = pool.description<SpeechDescription>(model);
  const described = { voice, speaker, speakers, language };
  requireSpeaker(described);
  const named = voices === 'presets' ? piperVoices(described) : undefined;
  return poolTtsEngine(pool, model, settings, piperLanguages(language), named);
}

/** Rates of the qualities of Piper's voices, in Hz. */
const LOW_RATE_HZ = 16_000;
const RATE_HZ = 22_050;

/** What the name of a voice tells before its files are on disk. Its speakers are not known. */
export function piperBeforeLoad({
  voice,
  speaker,
  voices,
  compatibility,
}: PiperModelSettings): ExpectedSpeech {
  const { quality = '' } = parsePiperVoice(voice) ?? {};
  const language = piperLanguage(voice, undefined, undefined);
  const { tags, find } = piperLanguages(language);
  return {
    rateHz: quality.endsWith('low') ? LOW_RATE_HZ : RATE_HZ,
    compatibility,
    voices: voices === 'presets' ? piperVoices({ voice, speaker, language, speakers: [] }).list : undefined,
    languages: tags,
    languageOf: find,
  };
}
