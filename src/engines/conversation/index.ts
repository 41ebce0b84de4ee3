/** Spoken conversations. They have no engine of their own, but the models of three other tasks. */

import type { ConversationModelSettings } from '../../contract/core/settings.ts';
import { languageRule, reducedLanguage } from '../../kit/validation/languages.ts';
import { defineFamily, type EngineTask, type OtherModels, type TableSource } from '../family.ts';
import { ConversationTable, parseConversation } from './settings.ts';

export const conversation = defineFamily({
  kind: 'conversation',
  task: 'conversation',
  schema: ConversationTable,
  parse: parseConversation,
  link(settings: ConversationModelSettings, models, source) {
    const language = languageOf(settings.language, source);
    const speech = models.familyOf(settings.tts);
    const choosesSpeech = settings.choosesSpeech && speech?.mayBeTooSlow === true;
    requireModel('stt', settings.stt, 'transcription', models, source);
    requireModel('llm', settings.llm, 'chat', models, source);
    requireModel('tts', settings.tts, 'speech', models, source);
    return { ...settings, language, choosesSpeech };
  },
  parts: ({ stt, llm, tts }) => [stt, llm, tts],
  files: () => ({ catalog: [] }),
  async open(models, { requiredModels }) {
    const open = (id: string, settings: ConversationModelSettings) => {
      const { stt, llm, tts } = settings;
      const ready = () => ({ ready: true, detail: `uses ${stt}, ${llm}, ${tts}` });
      return { ...settings, id, isRequired: requiredModels.has(id), ready };
    };
    return { engines: new Map([...models].map(([id, settings]) => [id, open(id, settings)])) };
  },
  follow: async (followed) => followed,
});

function languageOf(written: string | undefined, source: TableSource): string | undefined {
  const language = written === undefined ? undefined : reducedLanguage(written, undefined);
  if (written === undefined || language !== undefined) return language;
  throw source.error('language', `must be ${languageRule(undefined)}`);
}

/** @throws ConfigError if a part is not a model of its task. */
function requireModel(
  key: string,
  id: string,
  task: EngineTask,
  models: OtherModels,
  source: TableSource,
): void {
  const allowed = models.idsOf(task);
  if (allowed.includes(id)) return;
  throw source.error(key, `must be a model id of this task; allowed: ${allowed.join(', ')}`);
}
