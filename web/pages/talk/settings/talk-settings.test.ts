import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS, sessionOf, type TalkSettings } from './talk-settings.ts';

const DEFAULTS = { instructions: 'Be brief.', turnDetection: { type: 'semantic_vad', eagerness: 'low' } };
const session = (changes: Partial<TalkSettings> = {}) =>
  sessionOf({ ...DEFAULT_SETTINGS, ...changes }, DEFAULTS, 24_000);

describe('the session', () => {
  test('has the settings of the model by default', () => {
    expect(session()).toEqual({
      type: 'realtime',
      output_modalities: ['audio'],
      instructions: 'Be brief.',
      tools: [],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { language: null },
          turn_detection: DEFAULTS.turnDetection,
        },
        output: {},
      },
    });
  });

  test('has the settings of the user', () => {
    const changed = session({ instructions: 'Speak Latin.', voice: 'voice_1', language: 'la' });
    expect(changed.instructions).toBe('Speak Latin.');
    expect(changed.audio.output).toEqual({ voice: 'voice_1' });
    expect(changed.audio.input.transcription).toEqual({ language: 'la' });
  });

  test.each<[Partial<TalkSettings>, unknown]>([
    [{ mode: 'push_to_talk', detection: 'semantic_vad' }, null],
    [
      { detection: 'semantic_vad', eagerness: 'high' },
      { type: 'semantic_vad', eagerness: 'high' },
    ],
    [{ detection: 'server_vad' }, { type: 'server_vad' }],
  ])('with %j detects turns by %j', (changes, detection) => {
    expect(session(changes).audio.input.turn_detection).toEqual(detection);
  });

  test('of a model without detection of turns uses the VAD', () => {
    const defaults = { instructions: '', turnDetection: null };
    expect(sessionOf(DEFAULT_SETTINGS, defaults, 24_000).audio.input.turn_detection).toEqual({
      type: 'server_vad',
    });
  });

  test('has the functions that are on', () => {
    const { tools } = session({ exampleTools: ['roll_dice'] });
    expect(tools.map(({ name }) => name)).toEqual(['roll_dice']);
  });
});
