import { batchLoad, smallBatchLoad } from './batch-load.ts';
import { conversationLoad } from './conversation-load.ts';
import { fileLoad, smallFileLoad } from './file-load.ts';
import type { Load } from './load.ts';
import { partnerLoad } from './partner-load.ts';
import { realtimeLoad } from './realtime-load.ts';
import { speechLoad } from './speech-load.ts';
import { smallTextLoad, textLoad } from './text-load.ts';
import { transcriptionLoad } from './transcription-load.ts';
import { videoLoad } from './video-load.ts';
import { voiceLoad } from './voice-load.ts';

/** All loads of a soak run, which run concurrently. */
export const LOADS: readonly Load[] = [
  ...[speechLoad, transcriptionLoad, realtimeLoad, conversationLoad, partnerLoad, textLoad],
  ...[fileLoad, batchLoad, voiceLoad, videoLoad],
  ...[smallTextLoad, smallFileLoad, smallBatchLoad],
];
