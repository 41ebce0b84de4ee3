/** `bun run bench [case …]`: runs benchmarks and writes tables to bench/results. */

import { benchApiFuzz } from './cases/api-fuzz.ts';
import { benchBatch } from './cases/batch.ts';
import { benchBatchEmbeddings } from './cases/batch-embeddings.ts';
import { benchBatchKills } from './cases/batch-kills.ts';
import { benchBatchPriority } from './cases/batch-priority.ts';
import { benchCalls } from './cases/calls.ts';
import { benchClients } from './cases/clients.ts';
import { benchFairness } from './cases/fairness.ts';
import { benchHearing } from './cases/hearing.ts';
import { benchIntelligibility } from './cases/intelligibility.ts';
import { benchMemory } from './cases/memory.ts';
import { benchPartner } from './cases/partner.ts';
import { benchPluginSwitch } from './cases/plugin-switch.ts';
import { benchRealtime, realtimeParts } from './cases/realtime.ts';
import { benchSchemas } from './cases/schemas.ts';
import { benchSpeech } from './cases/speech.ts';
import { benchText } from './cases/text.ts';
import { benchVideo } from './cases/video.ts';
import { benchVideoPriority } from './cases/video-priority.ts';
import { benchVoiceActivity } from './cases/voice-activity.ts';
import { benchVoices } from './cases/voices.ts';

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  speech: benchSpeech,
  intelligibility: benchIntelligibility,
  memory: benchMemory,
  hearing: benchHearing,
  'voice-activity': benchVoiceActivity,
  'hearing-tiny.en': () => benchHearing('tiny.en'),
  realtime: benchRealtime,
  clients: benchClients,
  'api-fuzz': benchApiFuzz,
  text: benchText,
  schemas: benchSchemas,
  calls: benchCalls,
  batch: benchBatch,
  'batch-embeddings': benchBatchEmbeddings,
  'batch-kills': benchBatchKills,
  'batch-priority': benchBatchPriority,
  fairness: benchFairness,
  partner: benchPartner,
  'plugin-switch': benchPluginSwitch,
  video: benchVideo,
  'video-priority': benchVideoPriority,
  voices: benchVoices,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CASES);
for (const name of names) {
  const run = CASES[name] ?? realtimeParts[name];
  if (!run) {
    console.error(
      `Unknown benchmark '${name}'. Benchmarks: ${Object.keys({ ...CASES, ...realtimeParts }).join(', ')}.`,
    );
    process.exit(1);
  }
  await run();
}
