import { expect, it } from 'vitest';
import { transcriptionModelId, transcriptionNames } from './transcription-models.ts';

const REALTIME = ['gpt-live-transcribe', 'gpt-realtime-whisper'];

it('OpenAI names of realtime sessions stand for its model for files', () => {
  const table = { ids: ['svc-stt', 'gpt-transcribe'] };
  expect(transcriptionNames(table)).toEqual([...table.ids, ...REALTIME]);
  for (const name of REALTIME) expect(transcriptionModelId(name, table)).toBe('gpt-transcribe');
  expect(transcriptionModelId('svc-stt', table)).toBe('svc-stt');
});

it('do not exist without that model', () => {
  expect(transcriptionNames({ ids: ['svc-stt'] })).toEqual(['svc-stt']);
});

it('can be configured themselves', () => {
  const table = { ids: ['gpt-transcribe', 'gpt-live-transcribe'] };
  expect(transcriptionNames(table)).toEqual([...table.ids, 'gpt-realtime-whisper']);
  expect(transcriptionModelId('gpt-live-transcribe', table)).toBe('gpt-live-transcribe');
});
