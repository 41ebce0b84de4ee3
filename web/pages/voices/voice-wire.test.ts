import { expect, it } from 'vitest';
import { enrollmentForm } from './voice-wire.ts';

const clip = new File(['sound'], 'me.wav');
const SAID = { clip, name: 'Anna', text: 'Good morning.', description: 'Calm', consent: 'I agree.' };

it('a form has what the service asks for', () => {
  const fields = Object.fromEntries(enrollmentForm(SAID).entries());
  expect(fields).toMatchObject({
    name: 'Anna',
    ref_text: 'Good morning.',
    speaker_description: 'Calm',
    consent: 'I agree.',
  });
  expect((fields.audio_sample as File).name).toBe('me.wav');
});

it('a description that says nothing is left out', () => {
  expect(enrollmentForm({ ...SAID, description: ' ' }).has('speaker_description')).toBe(false);
});
