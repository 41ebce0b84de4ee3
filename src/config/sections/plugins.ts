import { Type } from '@sinclair/typebox';
import { ROOT } from '../config-file.ts';
import { list, section, value } from '../section.ts';

/** Plugins of other authors. */
export const PLUGINS_TABLE = section('plugins', {
  extra: list('extra', {
    maxCharacters: 4096,
    maxItems: 100,
    default: [],
    example: [],
    doc: 'plugins of other authors: paths and packages, as seen from the folder of this file; see Plugins of your own',
  }),
});

/** The tables `plugin.NAME` where these plugins are not loaded; their content is not checked. */
export const UNKNOWN_PLUGINS = section(ROOT, {
  plugin: value<object, undefined>('plugin', Type.Record(Type.String(), Type.Unknown()), {
    default: undefined,
  }),
});
