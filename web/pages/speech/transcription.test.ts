import { describe, expect, it } from 'vitest';
import { formOf, parseTranscriptEvent, resultFile, type TranscriptionParams } from './transcription.ts';

const file = new File(['sound'], 'talk.wav');
const ASK: TranscriptionParams = {
  task: 'transcriptions',
  file,
  model: 'svc-stt',
  language: 'en',
  result: 'text',
};

describe('formOf', () => {
  const fields = (params: Partial<TranscriptionParams>) =>
    [...formOf({ ...ASK, ...params }).entries()].map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value as File).name,
    ]);

  it('requests a stream for text', () => {
    expect(fields({})).toEqual([
      ['model', 'svc-stt'],
      ['language', 'en'],
      ['stream', 'true'],
      ['file', 'talk.wav'],
    ]);
  });

  it('requests captions and verbose JSON', () => {
    expect(fields({ result: 'srt', language: '' })).toEqual([
      ['model', 'svc-stt'],
      ['response_format', 'srt'],
      ['file', 'talk.wav'],
    ]);
    expect(fields({ result: 'json' })).toContainEqual(['response_format', 'json']);
    expect(fields({ result: 'verbose_json' })).toContainEqual(['timestamp_granularities[]', 'word']);
  });

  it('omits language and granularity for a translation', () => {
    expect(fields({ task: 'translations', result: 'verbose_json' })).toEqual([
      ['model', 'svc-stt'],
      ['response_format', 'verbose_json'],
      ['file', 'talk.wav'],
    ]);
  });
});

describe('parseTranscriptEvent', () => {
  const part = (data: object) => parseTranscriptEvent({ event: 'message', data: JSON.stringify(data) });

  it('is a text delta, or the final usage', () => {
    expect(part({ type: 'transcript.text.delta', delta: ' not' })).toEqual({ kind: 'words', text: ' not' });
    expect(
      part({ type: 'transcript.text.done', text: '', usage: { input_tokens: 3, output_tokens: 4 } }),
    ).toEqual({ kind: 'end', inputTokens: 3, outputTokens: 4 });
    expect(part({ type: 'transcript.text.segment' })).toBeUndefined();
  });

  it('throws an error event', () => {
    expect(() => part({ error: { message: 'The model crashed.', code: 'worker_crashed' } })).toThrow(
      'The model crashed.',
    );
  });
});

it('a result file is named after the recording', async () => {
  const captions = resultFile('my.talk.mp3', 'vtt', 'WEBVTT');
  expect([captions.name, captions.type, await captions.text()]).toEqual([
    'my.talk.vtt',
    'text/vtt;charset=utf-8',
    'WEBVTT',
  ]);
  expect(resultFile('.wav', 'text', '').name).toBe('recording.txt');
});
