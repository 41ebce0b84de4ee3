import { expect, test } from 'vitest';
import { requireModel, unknownModel } from './model-table.ts';

test('the error of an unknown model names it, the nearest one and the remedy', () => {
  const models = { ids: ['svc-tts', 'svc-tts-fast'], get: () => undefined };
  expect(() => requireModel(models, 'svc_tts')).toThrow(
    `Unknown model 'svc_tts'. Did you mean 'svc-tts'? Available models: svc-tts, svc-tts-fast. The operator adds models as [models."svc_tts"] in CONFIG.`,
  );
});

test.each([
  [
    'gpt-4o',
    `Unknown model 'gpt-4o'. Available models: a. The operator adds models as [models."gpt-4o"] in CONFIG.`,
  ],
  ['say "hi"', `[models."say \\"hi\\""] in CONFIG.`],
  [
    'x'.repeat(500),
    'Unknown model. Available models: a. The operator adds models as [models."NAME"] in CONFIG.',
  ],
  ['', 'Unknown model. Available models: a.'],
])('the model %j', (id, message) => {
  expect(unknownModel(id, ['a'], 'not_found').message).toContain(message);
});

test('the error of a model with diarization says that it is not offered yet', () => {
  const { message } = unknownModel(
    'gpt-4o-transcribe-diarize',
    ['whisper-1', 'gpt-4o-transcribe'],
    'not_found',
  );
  expect(message).toContain(
    `Unknown model 'gpt-4o-transcribe-diarize'. Diarization (who spoke when) is not offered yet. Did you mean 'gpt-4o-transcribe'?`,
  );
});
