import type { ModelFiles } from '../src/contract/model-table.ts';
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
  modelFiles: (config: Config): Promise<ReadonlyMap<string, ModelFiles>> =>
    modelFilesById(config.models, config.plugins, config.modelsDir),
  services(config: Config, base: Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>): ServiceProvider {
    const { inference, modelFollowers: followers, modelsDir, limits } = config;
    const { environment } = inference;
    return combineProviders([
      engineProvider({ ...config, followers, ...base }),
      new LazyServices({
        audioFiles: () => serviceHandle(audioFileReader({ environment, maxS: limits.transcriptionSeconds })),
        audioEncoder: () => serviceHandle(audioEncoder({ environment, ...base })),
        clips: () => serviceHandle(clipReader({ environment })),
        codeRunner: () => serviceHandle(codeRunner({ ...config.codeInterpreter, modelsDir, log: base.log })),
        webSearch: () => serviceHandle(searxngSearch(config.webSearch)),
      }),
    ]);
  },
};
