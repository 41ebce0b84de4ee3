/** Chromium for tests of pages. */

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
export const HAS_CHROMIUM = existsSync(CHROMIUM);

/**
 * With these features, each page costs twice the processor time: the first two load the suggestions of the invisible address
 * bar, the third starts a process for the next page.
 */
const UNUSED_FEATURES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'];

/** Starts a browser. The caller closes it. */
export function startChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', `--disable-features=${UNUSED_FEATURES.join(',')}`, ...args],
  });
}
