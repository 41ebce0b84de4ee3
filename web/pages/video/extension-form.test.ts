import { describe, expect, test } from 'vitest';
import {
  type ExtendForm,
  errorsAfter,
  extensionField,
  extensionForm,
  NEW_EXTENSION,
} from './extension-form.ts';

const CLIP = new File(['bytes'], 'clip.mp4');
const created = (changes: Partial<ExtendForm>) =>
  extensionForm({ ...NEW_EXTENSION, model: 'vid-2.0', prompt: 'On and on.', ...changes });

describe('the clip has the field name of its source and comes last', () => {
  test.each<[string, Partial<ExtendForm>, string, unknown]>([
    ['a file', { source: 'file', file: CLIP }, 'video', CLIP],
    ['a video', { source: 'video', video: 'video_1', file: CLIP }, 'video[id]', 'video_1'],
    [
      'a URL',
      { source: 'url', url: ' https://example.com/a.mp4 ' },
      'video[url]',
      'https://example.com/a.mp4',
    ],
  ])('%s', (_, changes, name, value) => {
    const result = created(changes);
    if ('fieldErrors' in result) throw new Error(JSON.stringify(result.fieldErrors));
    const entries = [...result.form.entries()];
    expect(entries.slice(0, 3)).toEqual([
      ['model', 'vid-2.0'],
      ['prompt', 'On and on.'],
      ['seconds', '4'],
    ]);
    expect(entries.slice(3)).toEqual([[name, value]]);
  });
});

describe('a missing value has an error at its field', () => {
  test.each<[string, Partial<ExtendForm>, string]>([
    ['a file', { source: 'file' }, 'video'],
    ['a video', { source: 'video' }, 'video'],
    ['a URL', { source: 'url', url: ' ' }, 'video'],
    ['a model', { file: CLIP, model: '' }, 'model'],
    ['a prompt', { file: CLIP, prompt: ' ' }, 'prompt'],
    ['a length', { file: CLIP, seconds: '' }, 'seconds'],
  ])('%s', (_, changes, field) => {
    expect(created(changes)).toEqual({ fieldErrors: { [field]: expect.stringMatching(/\.$/) } });
  });
});

test.each([
  ['video', 'video'],
  ['video[id]', 'video'],
  ['seconds', 'seconds'],
  ['videos', undefined],
  ['audio', undefined],
  [null, undefined],
])('an error of %s is shown at %s', (param, field) => {
  expect(extensionField(param)).toBe(field);
});

test.each<[Partial<ExtendForm>, object]>([
  [{ model: 'vid-2.0' }, { prompt: 'p', video: 'v' }],
  [{ prompt: 'On.' }, { model: 'm', video: 'v' }],
  [{ url: 'https://a.test/' }, { model: 'm', prompt: 'p' }],
  [
    { source: 'file', file: CLIP },
    { model: 'm', prompt: 'p' },
  ],
])('a change of %j keeps the errors of other fields', (changes, left) => {
  expect(errorsAfter({ model: 'm', prompt: 'p', video: 'v' }, changes)).toEqual(left);
});
