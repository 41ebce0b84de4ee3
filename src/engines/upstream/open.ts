/** Opens the engines of models of other servers. Nothing is sent before the first request. */

import type { Logger } from '../../contract/core/logger.ts';
import type { EmbedEngine } from '../../contract/engines/embed.ts';
import type { SttEngine, TtsEngine } from '../../contract/engines/engine.ts';
import type { TextEngine } from '../../contract/engines/text.ts';
import type { VideoEngine } from '../../contract/engines/video.ts';
import { clipCutter } from '../../media/clips/clip-cutter.ts';
import { clipReader } from '../../media/clips/clip-reader.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { type UpstreamMeter, upstreamMeters } from './client/metrics.ts';
import { upstreamEmbedEngine } from './embeddings/engine.ts';
import type {
  UpstreamEmbedSettings,
  UpstreamModelSettings,
  UpstreamTextSettings,
  UpstreamTtsSettings,
  UpstreamVideoSettings,
} from './settings.ts';
import { upstreamTtsEngine } from './speech/engine.ts';
import { upstreamTextEngine } from './text/engine.ts';
import { upstreamSttEngine } from './transcription/engine.ts';
import { upstreamVideoEngine } from './video/engine.ts';

/** What the engine of a model needs. */
interface Remote<Settings> {
  readonly settings: Settings;
  readonly log: Logger;
  readonly meter: UpstreamMeter;
}

function openEach<Settings, Engine>(
  models: ReadonlyMap<string, Settings>,
  { log, metrics, tracer }: EngineHost,
  open: (remote: Remote<Settings>) => Engine,
): OpenedEngines<Engine> {
  // The metrics exist without models, too.
  const meterOf = upstreamMeters(metrics, tracer);
  const remotes = [...models].map(([id, settings]) => {
    return [id, open({ settings, log: log.child({ model: id }), meter: meterOf(id) })] as const;
  });
  return { engines: new Map(remotes) };
}

export function openSpeech(
  models: ReadonlyMap<string, UpstreamTtsSettings>,
  host: EngineHost,
): OpenedEngines<TtsEngine> {
  return openEach(models, host, upstreamTtsEngine);
}

export function openTranscription(
  models: ReadonlyMap<string, UpstreamModelSettings>,
  host: EngineHost,
): OpenedEngines<SttEngine> {
  return openEach(models, host, upstreamSttEngine);
}

export function openChat(
  models: ReadonlyMap<string, UpstreamTextSettings>,
  host: EngineHost,
): OpenedEngines<TextEngine> {
  return openEach(models, host, upstreamTextEngine);
}

export function openEmbeddings(
  models: ReadonlyMap<string, UpstreamEmbedSettings>,
  host: EngineHost,
): OpenedEngines<EmbedEngine> {
  return openEach(models, host, upstreamEmbedEngine);
}

export function openVideo(
  models: ReadonlyMap<string, UpstreamVideoSettings>,
  host: EngineHost,
): OpenedEngines<VideoEngine> {
  const { environment } = host.inference;
  const clips = clipReader({ environment });
  const cutter = clipCutter({ environment });
  const opened = openEach(models, host, (remote) => upstreamVideoEngine({ ...remote, clips, cutter }));
  return { ...opened, shared: [clips, cutter] };
}
