/** Launches the service with fake upstreams whose responses are known. */

import { startFakeSttUpstream } from '../upstreams/fake-stt-upstream.ts';
import { startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { startScriptedTextUpstream } from '../upstreams/scripted-text-upstream.ts';
import { type LaunchedService, launchService } from './launcher.ts';

export const TEXT_MODEL = 'smollm2-135m-instruct';
export const EMBED_MODEL = 'all-minilm-l6-v2';

export interface StubbedService {
  readonly service: LaunchedService;
  close(): Promise<void>;
}

/** @param config added to CONFIG. */
export async function launchStubbedService(config = ''): Promise<StubbedService> {
  const [voice, ear, text] = [startFakeUpstream(), startFakeSttUpstream(), startScriptedTextUpstream()];
  const servers = { 'svc-tts': voice, 'svc-stt': ear, [TEXT_MODEL]: text, [EMBED_MODEL]: text };
  const models = Object.entries(servers).map(
    ([id, { baseUrl }]) => `
      [models."${id}"]
      kind = "upstream"
      base_url = "${baseUrl}"
      model = "scripted"`,
  );
  const service = await launchService({ config: `${models.join('\n')}\n${config}` });
  return {
    service,
    async close() {
      await service.stop();
      await Promise.all([voice, ear, text].map((server) => server.close()));
    },
  };
}
