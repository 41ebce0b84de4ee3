/** `bun run bench [case …]`: runs benchmarks and writes tables to bench/results. */

import { benchIntelligibility } from './cases/audio/intelligibility.ts';
import { benchLanguageDetection } from './cases/audio/language-detection.ts';
import { benchLanguages, languageParts } from './cases/audio/languages.ts';
import { benchMemory } from './cases/audio/memory.ts';
import { benchNamedVoices } from './cases/audio/named-voices.ts';
import { benchSpeech } from './cases/audio/speech.ts';
import { benchSpeechFormats } from './cases/audio/speech-formats.ts';
import { benchTranscription } from './cases/audio/transcription.ts';
import { benchVoices } from './cases/audio/voices.ts';
import { benchBatch } from './cases/batch/batch.ts';
import { benchBatchEmbeddings } from './cases/batch/batch-embeddings.ts';
import { benchBatchKills } from './cases/batch/batch-kills.ts';
import { benchBatchPriority } from './cases/batch/batch-priority.ts';
import { benchClients } from './cases/realtime/clients.ts';
import { benchConversation } from './cases/realtime/conversation.ts';
import { benchConversationBargeIn } from './cases/realtime/conversation-barge-in.ts';
import { benchConversationFunctions } from './cases/realtime/conversation-functions.ts';
import { benchConversationInterruptions } from './cases/realtime/conversation-interruptions.ts';
import { benchConversationTurns } from './cases/realtime/conversation-turns.ts';
import { benchPartner } from './cases/realtime/partner.ts';
import { benchRealtime, realtimeParts } from './cases/realtime/realtime.ts';
import { benchVoiceActivity } from './cases/realtime/voice-activity.ts';
import { benchApiFuzz } from './cases/service/api-fuzz.ts';
import { benchCalls } from './cases/service/calls.ts';
import { benchExpensiveInputs } from './cases/service/expensive-inputs.ts';
import { benchFairness } from './cases/service/fairness.ts';
import { benchGpu } from './cases/service/gpu.ts';
import { benchPluginSwitch } from './cases/service/plugin-switch.ts';
import { benchEmbeddings } from './cases/text/embeddings.ts';
import { benchLlm } from './cases/text/llm.ts';
import { benchLlmRealtime } from './cases/text/llm-realtime.ts';
import { benchMaskBench } from './cases/text/maskbench.ts';
import { benchNormalization } from './cases/text/normalization.ts';
import { benchSchemas } from './cases/text/schemas.ts';
import { benchText } from './cases/text/text.ts';
import { benchVideo } from './cases/video/video.ts';
import { benchVideoPriority } from './cases/video/video-priority.ts';

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  speech: benchSpeech,
  'speech-formats': benchSpeechFormats,
  intelligibility: benchIntelligibility,
  'language-detection': benchLanguageDetection,
  languages: benchLanguages,
  memory: benchMemory,
  hearing: benchTranscription,
  'voice-activity': benchVoiceActivity,
  'transcription-tiny.en': () => benchTranscription('tiny.en'),
  realtime: benchRealtime,
  clients: benchClients,
  conversation: benchConversation,
  'conversation-barge-in': benchConversationBargeIn,
  'conversation-functions': benchConversationFunctions,
  'conversation-interruptions': benchConversationInterruptions,
  'conversation-turns': benchConversationTurns,
  'api-fuzz': benchApiFuzz,
  text: benchText,
  llm: benchLlm,
  'llm-realtime': benchLlmRealtime,
  embeddings: benchEmbeddings,
  schemas: benchSchemas,
  maskbench: benchMaskBench,
  normalization: benchNormalization,
  calls: benchCalls,
  batch: benchBatch,
  'batch-embeddings': benchBatchEmbeddings,
  'batch-kills': benchBatchKills,
  'batch-priority': benchBatchPriority,
  'expensive-inputs': benchExpensiveInputs,
  fairness: benchFairness,
  gpu: benchGpu,
  partner: benchPartner,
  'plugin-switch': benchPluginSwitch,
  video: benchVideo,
  'video-priority': benchVideoPriority,
  voices: benchVoices,
  'named-voices': benchNamedVoices,
};

/** Cases that `bun run bench` does not run on their own. */
const PARTS = { ...realtimeParts, ...languageParts };

// The baselines in Python inherit it, too.
process.env.ORT_DISABLE_TELEMETRY = '1';
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CASES);
for (const name of names) {
  const run = CASES[name] ?? PARTS[name];
  if (!run) {
    console.error(
      `Unknown benchmark '${name}'. Benchmarks: ${Object.keys({ ...CASES, ...PARTS }).join(', ')}.`,
    );
    process.exit(1);
  }
  await run();
}
