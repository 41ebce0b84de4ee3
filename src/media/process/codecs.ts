import { registerMediabunnyServer } from '@mediabunny/server';
import { Logging } from 'mediabunny';
import { AV_LOG_QUIET, Log } from 'node-av';

/**
 * Registers FFmpeg's software codecs with mediabunny; GPU codecs are excluded, because no file should reach
 * graphics drivers. FFmpeg's log is disabled, because it may quote files. Call once per process, before other
 * code of this folder.
 */
export function loadCodecs(): void {
  Logging.level = 0;
  registerMediabunnyServer({ hardwareContext: null });
  Log.setLevel(AV_LOG_QUIET);
}
