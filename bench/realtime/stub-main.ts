import { realtimePlugin } from '../../plugins/realtime/index.ts';
import { openEngines } from '../../src/engines/open-engines.ts';
import { runProcess } from '../../src/process.ts';
import { stubEngine } from './stub-engine.ts';

/** The real service with realtime alone, where every recogniser is the stub; voice activity is really detected. */
await runProcess({
  plugins: ({ limits }) => [
    realtimePlugin({
      connectionsPerOrganization: limits.realtimeConnectionsPerOrganization,
      maxCharacters: limits.speechCharacters,
    }),
  ],
  async open({ ttsModels, sttModels, inference, modelsDir }, needs, words) {
    const others = new Set([...needs].filter((slot) => slot !== 'stt'));
    const { slots, close } = await openEngines({
      needs: others,
      ttsModels,
      sttModels,
      inference,
      modelsDir,
      ...words,
    });
    const get = (id: string) => (sttModels.has(id) ? stubEngine : undefined);
    return { slots: { ...slots, stt: { ids: [...sttModels.keys()], get } }, close };
  },
});
