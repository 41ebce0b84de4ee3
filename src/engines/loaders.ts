/** All loaders of the inference processes. The serving process must not import them. */

import type { ModelLoader } from '../inference/pool/model-loader.ts';
import { kokoroLoader } from './kokoro/loader.ts';
import { minilmLoader } from './minilm/loader.ts';
import { piperLoader } from './piper/loader.ts';
import { speakersLoader } from './speakers/loader.ts';
import { whisperLoader } from './whisper/loader.ts';

export const LOADERS: readonly ModelLoader[] = [
  kokoroLoader,
  piperLoader,
  whisperLoader,
  minilmLoader,
  speakersLoader,
];
