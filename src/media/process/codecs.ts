import { registerMediabunnyServer } from '@mediabunny/server';
import { Logging } from 'mediabunny';
import { AV_LOG_QUIET, Log } from 'node-av';

/**
 * Gives mediabunny its codecs, none of them of a graphics card, whose drivers no file should reach. What FFmpeg says
 * about files, which may quote them, goes nowhere. Once in a process, before anything else of this folder.
 */
export function loadCodecs(): void {
  Logging.level = 0;
  registerMediabunnyServer({ hardwareContext: null });
  Log.setLevel(AV_LOG_QUIET);
}
