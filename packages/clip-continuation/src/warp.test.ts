import { expect, it } from 'vitest';
import { referenceWarp } from '../testing/reference-warp.ts';
import { warpCases } from '../testing/warp.cases.ts';
import { blend } from './warp.ts';

warpCases('the reference warp', referenceWarp);

it('blends two pictures by weight', () => {
  const dark = new Uint8Array(4).fill(10);
  blend(dark, new Uint8Array(4).fill(210), 0.25);
  expect(dark).toEqual(new Uint8Array(4).fill(60));
});
