import { type SpokenLanguages, spokenLanguages } from '../../../inference/pool/spoken-languages.ts';
import { FRONT_ENDS, requireFrontEnd } from '../../../text/front-end.ts';
import { languageOfPreset } from '../shared/preset-languages.ts';
import { accentedVoice } from './accents.ts';
import { kokoroVoices } from './named-voices.ts';

/**
 * The languages of Kokoro: those of its presets that have a front end. Every voice speaks every
 * language.
 * @param defaultVoice preset of requests without a voice.
 */
export function kokoroLanguages(defaultVoice: string): SpokenLanguages {
  const byDefault = languageOfPreset(defaultVoice);
  const named = kokoroVoices(defaultVoice);
  const tags = FRONT_ENDS.map(({ language }) => language);
  return spokenLanguages(tags, byDefault, {
    voiceOf: (language) =>
      language === byDefault ? undefined : named.find(requireFrontEnd(language).kokoroVoice)?.voice,
    accented: accentedVoice,
  });
}
