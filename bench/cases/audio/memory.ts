/** Memory of all processes of the service over many requests. */

import { report } from '../../report.ts';
import { residentKb } from '../../resident-memory.ts';
import { launchBenchService, speak } from '../../service.ts';
import { slope } from '../../statistics.ts';

const WARM_UP = 96;
const REQUESTS = 528;
/**
 * All combinations of length, format and engine. The minimum within a cycle is the retained memory; between garbage
 * collections, memory varies by 40 MB.
 */
const CYCLE = 48;
const SLOPE_TARGET_KB = 20;
const WORDS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');

export async function benchMemory(): Promise<void> {
  const service = await launchBenchService();
  const sizes: number[] = [];
  try {
    for (let i = 0; i < WARM_UP + REQUESTS; i++) {
      // Lengths vary from one to twelve words.
      const text = `${WORDS.slice(0, 1 + (i % WORDS.length)).join(' ')}.`;
      await speak(service, text, i % 2 === 0 ? 'pcm' : 'wav', i % 4 === 3 ? 'svc-tts-fast' : 'svc-tts');
      if (i < WARM_UP) continue;
      const residentMemoryKb = residentKb(service.pid);
      const cycle = Math.floor((i - WARM_UP) / CYCLE);
      sizes[cycle] = Math.min(sizes[cycle] ?? residentMemoryKb, residentMemoryKb);
    }
  } finally {
    await service.stop();
  }
  await report(
    'memory',
    `Memory over ${REQUESTS} speech requests`,
    [
      {
        measure: 'growth after warm-up',
        ours: slope(sizes) / CYCLE,
        unit: 'kB a request',
        target: SLOPE_TARGET_KB,
      },
      {
        measure: 'resident memory, all processes, at the end',
        ours: (sizes.at(-1) ?? 0) / 1024,
        unit: 'MiB',
      },
    ],
    [
      `${WARM_UP} requests of warm-up, then ${REQUESTS}: pcm and wav, kokoro and piper, one to twelve words.`,
      `Slope of the minimum memory per ${CYCLE} requests, MiB: ${sizes.map((kb) => Math.round(kb / 1024)).join(' ')}.`,
    ],
  );
}
