/** Speech and transcription with Vercel's `ai` and `@ai-sdk/openai`. Settings on the command line, one JSON line per result. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateSpeech, transcribe } from 'ai';
import { report, settings } from './bridge.mjs';

const openai = createOpenAI({ apiKey: settings.key, baseURL: settings.baseURL });

const { audio } = await generateSpeech({
  model: openai.speech(settings.speech),
  voice: settings.voice,
  text: settings.text,
  maxRetries: 0,
});
report('speech', { bytes: audio.uint8Array.length, type: audio.mediaType, format: audio.format });

const { text, segments, language, durationInSeconds } = await transcribe({
  model: openai.transcription(settings.transcription),
  audio: audio.uint8Array,
  maxRetries: 0,
});
report('json', { text, segments: segments.length, language, seconds: durationInSeconds });
