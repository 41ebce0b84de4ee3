import { describe, expect, test } from 'vitest';
import { FRONT_ENDS } from '../../../text/front-end.ts';
import { languageOfPreset } from '../shared/preset-languages.ts';
import { type KokoroMix, presetNames, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { accentedVoice, languageVoices } from './accents.ts';
import { PRESET_VOICES } from './preset-voices.ts';

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

const ACCENTS = FRONT_ENDS.flatMap(({ language, kokoroVoice, kokoroAccent }) =>
  kokoroAccent === undefined ? [] : [{ language, kokoroVoice, ...kokoroAccent }],
);

describe('in every language with an accent', () => {
  test.each(ACCENTS)('$language: the added voices speak the same language as its default voice', (accent) => {
    const { kokoroVoice, female, male } = accent;
    for (const { name, share } of [female, male]) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
      expect(presetNames()).toContain(name);
      expect(languageOfPreset(name)).toBe(languageOfPreset(kokoroVoice));
      expect(languageVoices()).toContain(name);
    }
  });

  test.each(ACCENTS)('$language: a preset of another language gets the share of its gender', (accent) => {
    const { language, female, male } = accent;
    for (const [voice, added] of [
      ['af_nova', female],
      ['bm_fable', male],
    ] as const) {
      const { timbre, prosody } = accented(preset(voice), language);
      expect(timbre[added.name]).toBeCloseTo(added.share);
      expect(timbre[voice] ?? 0).toBeCloseTo(1 - added.share);
      expect(prosody).toEqual(timbre);
    }
  });

  test.each(ACCENTS)('$language: a mix gets what it lacks', ({ language, male: { name, share } }) => {
    const some = accented(voiceOf({ [name]: share / 2, am_onyx: 1 - share / 2 }), language);
    // French has a female voice only.
    expect(sumOf(some.timbre)).toBeCloseTo(1);
    expect(some.timbre[name]).toBeCloseTo(share);
    const enough = voiceOf({ [name]: share, am_onyx: 1 - share });
    expect(accentedVoice(enough, language)).toBe(enough);
  });

  test.each(ACCENTS)('$language: a stored voice keeps its proportions', ({ language, male: { share } }) => {
    const stored = voiceOf({ am_onyx: 0.9, am_echo: 0.4, af_sky: -0.3 }, { prosody: { am_echo: 1 } });
    const { timbre, prosody } = accented(stored, language);
    expect([timbre.am_onyx, timbre.af_sky]).toEqual([
      expect.closeTo(0.9 * (1 - share), 3),
      expect.closeTo(-0.3 * (1 - share), 3),
    ]);
    expect(prosody.am_echo ?? 0).toBeCloseTo(1 - share);
    expect([sumOf(timbre), sumOf(prosody)]).toEqual([expect.closeTo(1, 3), expect.closeTo(1, 3)]);
  });
});

test('a voice keeps its pitch where the voice of the language is understood at it', () => {
  const factor = ((PRESET_VOICES.find(({ name }) => name === 'am_onyx')?.pitchHz ?? 0) / 207) ** 0.8;
  expect(accented(preset('am_onyx'), 'fr').pitchScale).toBeCloseTo(factor, 2);
  expect(accented(voiceOf({ am_onyx: 1 }, { pitchScale: 1.2 }), 'fr').pitchScale).toBeCloseTo(
    1.2 * factor,
    2,
  );
  const deep = voiceOf({ am_onyx: 1 }, { pitchScale: 0.75 });
  expect(accented(deep, 'fr').pitchScale).toBe(0.5);
  // Its share is 1, so nothing of the voice remains.
  expect(accented(voiceOf({ af_nova: 1 }, { pitchScale: 0.8 }), 'it')).toEqual({
    timbre: { if_sara: 1 },
    prosody: { if_sara: 1 },
    pitchScale: 1,
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
