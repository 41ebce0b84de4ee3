import { batchLoad, smallBatchLoad } from './batch-load.ts';
import { fileLoad, smallFileLoad } from './file-load.ts';
import { hearingLoad } from './hearing-load.ts';
import type { Load } from './load.ts';
import { partnerLoad } from './partner-load.ts';
import { realtimeLoad } from './realtime-load.ts';
import { speechLoad } from './speech-load.ts';
import { smallTextLoad, textLoad } from './text-load.ts';
import { videoLoad } from './video-load.ts';
import { voiceLoad } from './voice-load.ts';

/** Everything that clients of a soak run do, all at the same time. */
export const LOADS: readonly Load[] = [
  ...[speechLoad, hearingLoad, realtimeLoad, partnerLoad, textLoad],
  ...[fileLoad, batchLoad, voiceLoad, videoLoad],
  ...[smallTextLoad, smallFileLoad, smallBatchLoad],
];
