/** Chromium for tests of pages. */

import { existsSync } from 'node:fs';
import type { LaunchOptions } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
export const HAS_CHROMIUM = existsSync(CHROMIUM);

/**
 * With these features, each page costs twice the processor time: the first two load the suggestions of the invisible address
 * bar, the third starts a process for the next page.
 */
const UNUSED_FEATURES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'];

/** Options of Playwright to start Chromium. */
export function chromiumOptions(args: readonly string[] = []): LaunchOptions {
  return {
    executablePath: CHROMIUM,
    args: ['--no-sandbox', `--disable-features=${UNUSED_FEATURES.join(',')}`, ...args],
  };
}
