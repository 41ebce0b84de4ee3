import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { loadConfig } from '../../config/config.ts';
import { resolveModelFiles } from '../../models/model-files.ts';
import { FRONT_ENDS, requireFrontEnd } from '../../text/front-end.ts';
import { vocabularyOf } from '../kokoro/shared/tokens.ts';
import fixture from './fixtures/misaki.json' with { type: 'json' };
import { EspeakEngine } from './host/engine.ts';

const { modelsDir } = loadConfig(process.env);

function open(): EspeakEngine {
  const engine = new EspeakEngine({ modelsDir, environment: {}, log: silentLog });
  onTestFinished(() => engine.close());
  return engine;
}

test('eSpeak knows the voice of every front end', async () => {
  const engine = open();
  for (const { espeakVoice } of FRONT_ENDS) {
    const [phonemes] = await engine.phonemes(espeakVoice, ['radio']);
    expect(phonemes).toMatch(/ˈ/);
  }
});

test('characters that end a text in C, or that no voice reads, do not crash it', async () => {
  const engine = open();
  const clauses = [
    '',
    ' ',
    'a\0b',
    '\ud800',
    '日本語',
    '😀',
    'ا',
    '\u0301',
    'x'.repeat(5000),
    '<speak>&amp;',
    '[[h@l]]',
  ];
  expect(await engine.phonemes('es', clauses)).toHaveLength(clauses.length);
  expect(await engine.phonemes('hi', clauses)).toHaveLength(clauses.length);
});

/**
 * Sentences of Django's translations, and their phonemes by misaki 0.9.4 (EspeakG2P) with the same library. In Japanese, 173 sentences
 * of everyday texts by misaki's JAG2P with the same dictionary; four have 私 as ワタシ instead of misaki's ワタクシ.
 */
describe('phonemes are those of misaki', () => {
  test.each(Object.entries(fixture))('in %s', async (language, sentences) => {
    const engine = open();
    const path = resolveModelFiles(modelsDir, 'kokoro-vocabulary')['config.json'] ?? '';
    const symbols = vocabularyOf((await Bun.file(path).json()).vocab);
    const g2p = await requireFrontEnd(language).openKokoroG2p({
      symbols,
      files: (entry) => resolveModelFiles(modelsDir, entry),
      espeak: (voice, clauses) => engine.phonemes(voice, clauses),
      english: () => Promise.reject(new Error('not used')),
    });
    const different: string[] = [];
    for (const [text = '', expected = ''] of sentences) {
      const { phonemes, sources } = await g2p.phonemize(text);
      expect(sources).toHaveLength([...phonemes].length);
      if (phonemes !== expected) different.push(`${text} → ${phonemes}, not ${expected}`);
    }
    expect(different).toEqual([]);
  });
});
