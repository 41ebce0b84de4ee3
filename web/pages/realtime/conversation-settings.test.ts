import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, sessionOf } from './conversation-settings.ts';

describe('sessionOf', () => {
  it('omits settings that were not chosen', () => {
    expect(sessionOf(DEFAULT_SETTINGS, 48_000)).toEqual({
      type: 'transcription',
      output_modalities: ['audio'],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 48_000 },
          transcription: { language: null },
          turn_detection: {
            type: 'server_vad',
            threshold: 0.5,
            prefix_padding_ms: 300,
            silence_duration_ms: 500,
          },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: null },
      },
    });
  });

  it('contains the chosen settings', () => {
    const session = sessionOf(
      {
        ...DEFAULT_SETTINGS,
        task: 'translation',
        transcriptionModel: 'ears',
        speechModel: 'mouth',
        voice: 'tts-vc-1',
        language: 'de',
        turns: 'hold',
      },
      24_000,
    );
    expect(session).toMatchObject({
      type: 'translation',
      tts_model: 'mouth',
      audio: {
        input: { transcription: { model: 'ears', language: 'de' }, turn_detection: null },
        output: { voice: 'tts-vc-1' },
      },
    });
  });
});
