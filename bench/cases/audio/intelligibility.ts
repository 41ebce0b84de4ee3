/** Word error rate of synthesized speech in the transcripts of faster-whisper. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import { type SpokenText, wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import { runPeer } from '../../python.ts';
import { report } from '../../report.ts';
import { launchBenchService, speak } from '../../service.ts';

const TARGET_PERCENT = 6;
const TEXTS = join(import.meta.dirname, '../../../tools/harness/media/spoken-texts.jsonl');

/** Links the model files with their original names in one folder, as faster-whisper requires. */
function whisperFolder(scratch: string): string {
  const folder = join(scratch, 'whisper');
  mkdirSync(folder);
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, 'whisper-tiny-en-ct2');
  for (const [name, path] of Object.entries(files)) symlinkSync(path, join(folder, name));
  return folder;
}

export async function benchIntelligibility(): Promise<void> {
  const texts: SpokenText[] = (await Bun.file(TEXTS).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  const service = await launchBenchService();
  try {
    const rows = [];
    const notes: string[] = [];
    for (const [model, engine] of [
      ['svc-tts', 'kokoro'],
      ['svc-tts-fast', 'piper'],
    ] as const) {
      const paths = new Map<string, SpokenText>();
      for (const text of texts) {
        const path = join(scratch, `${engine}-${text.id}.wav`);
        await Bun.write(path, (await speak(service, text.text, 'wav', model)).body);
        paths.set(path, text);
      }
      const transcripts = await runPeer<{ path: string; text: string }>(
        'whisper_transcripts.py',
        [whisperFolder(mkdtempSync(join(scratch, 'model-')))],
        [...paths.keys()].join('\n'),
      );
      let [errors, words] = [0, 0];
      for (const { path, text } of transcripts) {
        const spoken = paths.get(path);
        if (!spoken) continue;
        const result = wordErrors(spoken.spoken, text);
        errors += result.errors;
        words += result.words;
        if (result.errors > 0)
          notes.push(`${engine}, ${spoken.id}: ${result.errors} of ${result.words}, transcript "${text}"`);
      }
      rows.push({
        measure: `word error rate, ${engine}, ${texts.length} texts, ${words} words`,
        ours: (100 * errors) / words,
        unit: '%',
        ...(engine === 'kokoro' ? { target: TARGET_PERCENT } : {}),
      });
    }
    await report('intelligibility', 'Intelligibility, transcribed by faster-whisper tiny.en', rows, notes);
  } finally {
    await service.stop();
    rmSync(scratch, { recursive: true });
  }
}
