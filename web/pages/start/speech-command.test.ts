import { expect, test } from 'vitest';
import { speechCommand } from './speech-command.ts';

test('the command names the service, also behind a path prefix and without the page', () => {
  expect(speechCommand('https://host/#/start')).toMatch(/^curl -f 'https:\/\/host\/v1\/audio\/speech' \\\n/);
  expect(speechCommand('https://host/voice/')).toContain("'https://host/voice/v1/audio/speech'");
});
