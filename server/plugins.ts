import { batch } from '../plugins/batch/index.ts';
import { partner } from '../plugins/partner/index.ts';
import { realtime } from '../plugins/realtime/index.ts';
import { responses } from '../plugins/responses/index.ts';
import { speech } from '../plugins/speech/index.ts';
import { video } from '../plugins/video/index.ts';
import { voices } from '../plugins/voices/index.ts';

/** The plugins of this build, in the order of `PLUGINS`. */
export const PLUGINS = [speech, voices, realtime, partner, batch, responses, video] as const;
