import type { ConversationModels } from '../src/contract/core/settings.ts';
import type { ConversationModel } from '../src/contract/engines/conversation.ts';
import type { ModelFiles, ModelTable } from '../src/contract/model-table.ts';
import type { ServiceProvider, Slots } from '../src/contract/plugin.ts';
import { modelFilesById } from '../src/engines/model-list.ts';
import { engineProvider } from '../src/engines/open-engines.ts';
import { combineProviders, LazyServices, serviceHandle } from '../src/kit/lifecycle/lazy-services.ts';
import { audioFileReader } from '../src/media/audio/audio-file-reader.ts';
import { clipReader } from '../src/media/clips/clip-reader.ts';
import { audioEncoder } from '../src/media/speech/audio-encoder.ts';
import { configured } from '../src/plugin-host/configure.ts';
import type { AnyPlugin } from '../src/plugin-host/registry.ts';
import { codeRunner } from '../src/sandbox/code-runner.ts';
import { searxngSearch } from '../src/search/searxng-search.ts';
import type { Config } from './config.ts';
import { PLUGINS } from './plugins.ts';

/** The plugins and services of this build. */
export const build = {
  plugins: (config: Config): readonly AnyPlugin[] => PLUGINS.map((plugin) => configured(plugin, config)),
  /** The files of the models, by model id. */
  modelFiles: (config: Config): Promise<ReadonlyMap<string, ModelFiles>> => {
    const {
      ttsModels: tts,
      sttModels: stt,
      textModels: text,
      embedModels: embed,
      plugins,
      modelsDir,
    } = config;
    return modelFilesById({ tts, stt, text, embed }, plugins, modelsDir);
  },
  services(config: Config, base: Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>): ServiceProvider {
    const { ttsModels, sttModels, textModels, embedModels, videoModels, requiredModels } = config;
    const { inference, modelsDir, hub, modelIdleMs, limits, conversationModels } = config;
    const { modelFollowers: followers } = config;
    const { environment } = inference;
    const models = { ttsModels, sttModels, textModels, embedModels, videoModels, requiredModels };
    return combineProviders([
      engineProvider({ ...models, followers, inference, modelsDir, hub, modelIdleMs, ...base }),
      new LazyServices({
        conversations: () => serviceHandle(conversationTable(conversationModels)),
        audioFiles: () => serviceHandle(audioFileReader({ environment, maxS: limits.transcriptionSeconds })),
        audioEncoder: () => serviceHandle(audioEncoder({ environment, ...base })),
        clips: () => serviceHandle(clipReader({ environment })),
        codeRunner: () => serviceHandle(codeRunner({ ...config.codeInterpreter, log: base.log })),
        webSearch: () => serviceHandle(searxngSearch(config.webSearch)),
      }),
    ]);
  },
};

function conversationTable(models: ConversationModels): ModelTable<ConversationModel> {
  const table = new Map(
    [...models].map(([id, settings]): [string, ConversationModel] => {
      const { stt, llm, tts } = settings;
      return [id, { ...settings, id, ready: () => ({ ready: true, detail: `uses ${stt}, ${llm}, ${tts}` }) }];
    }),
  );
  return { ids: [...table.keys()], get: (id) => table.get(id) };
}
