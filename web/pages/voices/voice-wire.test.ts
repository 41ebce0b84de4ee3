import { expect, it } from 'vitest';
import { enrollmentForm } from './voice-wire.ts';

const clip = new File(['sound'], 'me.wav');
const SAID = { clip, name: 'Anna', text: 'Good morning.', description: 'Calm', consent: 'I agree.' };

it('the form has the fields of the API', () => {
  const form = enrollmentForm(SAID);
  expect(Object.fromEntries(form.entries())).toMatchObject({
    name: 'Anna',
    ref_text: 'Good morning.',
    speaker_description: 'Calm',
    consent: 'I agree.',
  });
  expect((form.get('audio_sample') as unknown as File).name).toBe('me.wav');
});

it('a blank description is omitted', () => {
  expect(enrollmentForm({ ...SAID, description: ' ' }).has('speaker_description')).toBe(false);
});
