import type { Slots } from '../../src/contract/plugin.ts';
import { hasNamedVoice } from '../../src/speak/stored-voices.ts';
import { spokenLanguagesOf } from './session/spoken-language.ts';
import { transcriptionModelId, transcriptionNames } from './session/transcription-models.ts';
import type { Rules } from './state/realtime-machine.ts';

/** What sessions may select: models, voices and languages. @param maxTextCharacters of a synthesized text, in code points. */
export function sessionRules({ stt, tts }: Pick<Slots, 'stt' | 'tts'>, maxTextCharacters: number): Rules {
  return {
    sttModels: transcriptionNames(stt),
    ttsModels: tts.ids,
    defaultSttModel: 'svc-stt',
    defaultTtsModel: 'svc-tts',
    languagesOf: (name: string) => stt.get(transcriptionModelId(name, stt))?.languages,
    hasVoice: (model: string, name: string) => hasNamedVoice(tts.get(model), name),
    spokenLanguages: (model: string) => spokenLanguagesOf(tts.get(model)),
    maxTextCharacters,
  };
}
