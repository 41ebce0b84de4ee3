/** Launches the service with fake upstreams whose responses are known. */

import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { startFakeSttUpstream } from '../upstreams/fake-stt-upstream.ts';
import { startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { startScriptedTextUpstream } from '../upstreams/scripted-text-upstream.ts';
import { type LaunchedService, type LaunchOptions, launchService } from './launcher.ts';

export const TEXT_MODEL = 'smollm2-135m-instruct';
export const EMBED_MODEL = 'all-minilm-l6-v2';

export interface StubbedService {
  readonly service: LaunchedService;
  close(): Promise<void>;
}

/** Length of any speech, in seconds. */
export const STUBBED_SPEECH_S = 1.5;
export const STUBBED_SPEECH = Buffer.alloc(STUBBED_SPEECH_S * SPEECH_RATE_HZ * 2, 1);

/** @param config added to CONFIG. */
export async function launchStubbedService(
  config = '',
  env: LaunchOptions['env'] = {},
): Promise<StubbedService> {
  const [voice, ear, text] = [startFakeUpstream(), startFakeSttUpstream(), startScriptedTextUpstream()];
  voice.answer(() => new Response(STUBBED_SPEECH, { headers: { 'content-type': 'audio/pcm' } }));
  const servers = { 'svc-tts': voice, 'svc-stt': ear, [TEXT_MODEL]: text, [EMBED_MODEL]: text };
  const models = Object.entries(servers).map(
    ([id, { baseUrl }]) => `
      [models."${id}"]
      kind = "upstream"
      base_url = "${baseUrl}"
      model = "scripted"`,
  );
  const service = await launchService({ config: `${models.join('\n')}\n${config}`, env });
  return {
    service,
    async close() {
      await service.stop();
      await Promise.all([voice, ear, text].map((server) => server.close()));
    },
  };
}
