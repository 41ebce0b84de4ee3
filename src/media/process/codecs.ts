import { registerMediabunnyServer } from '@mediabunny/server';
import { Logging } from 'mediabunny';
import { silenceFfmpeg } from './ffmpeg-log.ts';

/**
 * Registers FFmpeg's software codecs with mediabunny; GPU codecs are excluded, because no file should reach
 * graphics drivers. Disables FFmpeg's log. Call once per process, before other code of this folder.
 */
export function loadCodecs(): void {
  Logging.level = 0;
  registerMediabunnyServer({ hardwareContext: null });
  silenceFfmpeg();
}
