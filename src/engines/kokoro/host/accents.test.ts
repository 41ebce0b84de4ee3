import { describe, expect, test } from 'vitest';
import { FRONT_ENDS } from '../../../text/front-end.ts';
import { languageOfPreset } from '../shared/preset-languages.ts';
import { type KokoroMix, presetNames, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { accentedVoice, languageVoices } from './accents.ts';

const voiceOf = (timbre: VoiceWeights, more: Partial<KokoroMix> = {}) => ({
  kind: 'adaptation' as const,
  adaptation: writeMix({ timbre, prosody: timbre, pitchScale: 1, ...more }),
});
const preset = (name: string) => ({ kind: 'preset' as const, name });

/** The mix of a voice in a language. @throws Error if it is not a valid one. */
function accented(voice: Parameters<typeof accentedVoice>[0], language: string): KokoroMix {
  const spoken = accentedVoice(voice, language);
  const mix = spoken.kind === 'adaptation' ? readMix(spoken.adaptation) : undefined;
  if (mix === undefined) throw new Error('not a mix');
  return mix;
}

const sumOf = (weights: VoiceWeights) => Object.values(weights).reduce((sum, weight) => sum + weight, 0);

const ACCENTS = FRONT_ENDS.flatMap(({ language, kokoroAccent }) =>
  kokoroAccent === undefined ? [] : [{ language, ...kokoroAccent }],
);

describe('in every language with an accent', () => {
  test.each(ACCENTS)(
    '$language: the shares are of voices of the language',
    ({ language, share, female, male }) => {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
      for (const { name } of [female, male]) {
        expect(presetNames()).toContain(name);
        expect(languageOfPreset(name)).toBe(language);
        expect(languageVoices()).toContain(name);
      }
    },
  );

  test.each(ACCENTS)('$language: a preset of another language gets the share of its gender', (accent) => {
    const { language, share, female, male } = accent;
    for (const [voice, { name: added }] of [
      ['af_nova', female],
      ['bm_fable', male],
    ] as const) {
      const { timbre, prosody } = accented(preset(voice), language);
      expect(timbre[added]).toBeCloseTo(share);
      expect(timbre[voice] ?? 0).toBeCloseTo(1 - share);
      expect(prosody).toEqual(timbre);
    }
  });

  test.each(ACCENTS)('$language: a mix gets what it lacks', ({ language, share, female: { name } }) => {
    const some = accented(voiceOf({ [name]: share / 2, af_heart: 1 - share / 2 }), language);
    expect(some.timbre[name]).toBeCloseTo(share);
    const enough = voiceOf({ [name]: share, af_heart: 1 - share });
    expect(accentedVoice(enough, language)).toBe(enough);
  });

  test.each(ACCENTS)('$language: a stored voice keeps its proportions', ({ language, share }) => {
    const stored = voiceOf({ af_heart: 0.9, af_sky: 0.4, am_adam: -0.3 }, { prosody: { af_sky: 1 } });
    const { timbre, prosody } = accented(stored, language);
    expect([timbre.af_heart, timbre.am_adam].map((weight) => weight ?? 0)).toEqual([
      expect.closeTo(0.9 * (1 - share), 3),
      expect.closeTo(-0.3 * (1 - share), 3),
    ]);
    expect(prosody.af_sky ?? 0).toBeCloseTo(1 - share);
    expect([sumOf(timbre), sumOf(prosody)]).toEqual([expect.closeTo(1, 3), expect.closeTo(1, 3)]);
  });

  test.each(ACCENTS)('$language: a voice keeps its pitch', ({ language, share, male }) => {
    // af_heart speaks at the pitch of the table times the factor of the mix.
    const high = accented(voiceOf({ af_sky: 1 }, { pitchScale: 0.9 }), language);
    const low = accented(preset('am_onyx'), language);
    expect(high.pitchScale).not.toBeCloseTo(0.9, 2);
    const pitch = 85;
    expect(low.pitchScale).toBeCloseTo(Math.max(0.5, (pitch / male.pitchHz) ** share), 1);
  });
});

test('a voice of the language, English, and languages without an accent leave a voice as it is', () => {
  for (const { language, kokoroVoice } of FRONT_ENDS) {
    const own = preset(kokoroVoice);
    expect(accentedVoice(own, language)).toBe(own);
  }
  const siwis = preset('ff_siwis');
  for (const language of ['en-US', 'en-GB', 'de']) expect(accentedVoice(siwis, language)).toBe(siwis);
  const invalid = { kind: 'adaptation' as const, adaptation: '{}' };
  expect(accentedVoice(invalid, 'fr')).toBe(invalid);
});
