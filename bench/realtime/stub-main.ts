import { realtime } from '../../plugins/realtime/index.ts';
import { runProcess } from '../../server/process.ts';
import { engineProvider } from '../../src/engines/open-engines.ts';
import { combineProviders, LazyServices, serviceHandle } from '../../src/kit/lifecycle/lazy-services.ts';
import { configured } from '../../src/plugin-host/configure.ts';
import { stubEngine } from './stub-engine.ts';

/** The service with only the realtime plugin, the stub as transcription engine, and real voice activity detection. */
await runProcess({
  plugins: (config) => [configured(realtime, config)],
  services({ models: { speech, transcription }, inference, modelsDir }, words) {
    const get = (id: string) => (transcription.has(id) ? stubEngine : undefined);
    const stubs = { ids: [...transcription.keys()], get };
    const engines = engineProvider({ models: { speech }, inference, modelsDir, ...words });
    return combineProviders([engines, new LazyServices({ stt: () => serviceHandle(stubs) })]);
  },
});
