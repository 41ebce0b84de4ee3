import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { ignored, integer, list, requiredText, secretVariable, section, text } from './section.ts';

const folder = mkdtempSync(join(tmpdir(), 'section-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
/** Writes a CONFIG file. @returns the environment with it. */
function named(toml: string): { readonly CONFIG: string } {
  files += 1;
  const path = join(folder, `${files}.toml`);
  writeFileSync(path, toml);
  return { CONFIG: path };
}

const TEA = [
  section('tea', {
    cups: integer('max_cups', { min: 1, max: 9, default: 2, formerly: 'cups_at_once', doc: 'per table' }),
    places: integer('places', { min: 1, default: ({ halfOfQueue }) => halfOfQueue }),
    sorts: list('sorts', {
      maxItems: 3,
      default: ['green'],
      parse(written, at) {
        if (written !== 'coffee') return written.toUpperCase();
        throw at.error('must be a tea');
      },
    }),
    origin: text('origin', { maxCharacters: 5, default: undefined }),
    shop: secretVariable('shop_env', {}),
    sugar: ignored('sugar', Type.Integer(), { default: undefined, example: 1 }),
  }),
  section('limits', { teaPerOrganization: integer('tea_per_organization', { min: 1, default: 7 }) }),
];
const load = (toml: string, environment = {}) =>
  loadConfig({ ...environment, ...named(toml) }, { sections: TEA, usage: [] });

describe('the settings of a feature', () => {
  test('have their defaults, also those that depend on the core', () => {
    const { tea, limits } = load('[inference]\nqueue_limit = 9');
    expect(tea).toEqual({ cups: 2, places: 5, sorts: ['green'] });
    expect(limits).toMatchObject({ teaPerOrganization: 7, speechCharacters: 5000 });
  });

  test('are read under their keys, in tables that they share with the core', () => {
    const toml = `
      [tea]
      max_cups = 3
      sorts = ["oolong"]
      origin = "Assam"
      shop_env = "SHOP"
      [limits]
      tea_per_organization = 1
      speech_max_characters = 2
    `;
    const { tea, limits } = load(toml, { SHOP: 'hunter2' });
    expect(tea).toMatchObject({ cups: 3, sorts: ['OOLONG'], origin: 'Assam' });
    expect(tea.shop?.reveal()).toBe('hunter2');
    expect(limits).toMatchObject({ teaPerOrganization: 1, speechCharacters: 2 });
    expect(Object.isFrozen(limits) && Object.isFrozen(tea)).toBe(true);
  });

  test.each([
    ['[tea]\nmax_cups = 10', "'tea.max_cups' must be an integer from 1 to 9."],
    ['[tea]\ncups_at_once = 1', "'tea.cups_at_once' has been renamed to 'tea.max_cups'."],
    ['[tea]\nsorts = ["green", "coffee"]', "'tea.sorts.1' must be a tea."],
    ['[tea]\nshop_env = "SHOP"', "'tea.shop_env' names the environment variable SHOP, which is not set."],
    ['[tea]\nmilk = 1', "'tea.milk' is unknown; allowed: max_cups, places, sorts, origin, shop_env, sugar"],
    ['[coffee]', "'coffee' is unknown"],
    ['[limits]\ntea = 1', "'limits.tea' is unknown"],
  ])('%j is rejected: %s', (toml, words) => {
    expect(() => load(toml)).toThrow(words);
  });

  test('a key of a removed feature is reported', () => {
    expect(load('').ignoredKeys).toEqual([]);
    expect(load('[tea]\nsugar = 1').ignoredKeys).toEqual(['tea.sugar']);
  });
});

test('a required key is required only in a given table', () => {
  const sections = [section('shop', { url: requiredText('url', { pattern: '^https:' }) })];
  expect(loadConfig(named(''), { sections, usage: [] }).shop.url).toBeUndefined();
  expect(() => loadConfig(named('[shop]'), { sections, usage: [] })).toThrow("'shop.url' is required");
});

test('without features, their tables and keys are accepted, and those of the core are checked', () => {
  expect(loadConfig(named('[tea]\nmax_cups = 99\n[limits]\ntea = 1')).limits.speechCharacters).toBe(5000);
  expect(() => loadConfig(named('[limits]\nspeech_max_characters = 0'))).toThrow(
    'limits.speech_max_characters',
  );
});
