import { type ComponentType, lazy } from 'react';
import type { IconName } from '../components/icon.tsx';

/** A page of the console. */
export interface ConsolePage {
  /** Path in the fragment of the URL. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The plugin that the page depends on; undefined for pages of the core. */
  readonly plugin?: string;
  /** Whether the page has subpaths: `/batches/batch_1`. */
  readonly hasSubpaths?: true;
  /** Lazily loaded. */
  readonly component: ComponentType;
}

const start: ConsolePage = {
  path: '/start',
  title: 'Start',
  icon: 'start',
  component: lazy(() => import('./start/start-page.tsx')),
};

const speak: ConsolePage = {
  path: '/speak',
  title: 'Speech',
  icon: 'speak',
  plugin: 'speech',
  component: lazy(() => import('./speech/speech-page.tsx')),
};

const voices: ConsolePage = {
  path: '/voices',
  title: 'Voices',
  icon: 'voices',
  plugin: 'voices',
  component: lazy(() => import('./voices/voices-page.tsx')),
};

const pronunciation: ConsolePage = {
  path: '/pronunciation',
  title: 'Pronunciation',
  icon: 'pronunciation',
  plugin: 'speech',
  component: lazy(() => import('./pronunciation/pronunciation-page.tsx')),
};

const talk: ConsolePage = {
  path: '/talk',
  title: 'Talk',
  icon: 'talk',
  plugin: 'realtime',
  component: lazy(() => import('./talk/talk-page.tsx')),
};

const realtime: ConsolePage = {
  path: '/realtime',
  title: 'Realtime',
  icon: 'realtime',
  plugin: 'realtime',
  component: lazy(() => import('./realtime/realtime-page.tsx')),
};

const responses: ConsolePage = {
  path: '/responses',
  title: 'Responses',
  icon: 'responses',
  plugin: 'responses',
  component: lazy(() => import('./responses/responses-page.tsx')),
};

const batches: ConsolePage = {
  path: '/batches',
  title: 'Batches',
  icon: 'batches',
  plugin: 'batch',
  hasSubpaths: true,
  component: lazy(() => import('./batches/batches-page.tsx')),
};

const video: ConsolePage = {
  path: '/video',
  title: 'Video',
  icon: 'video',
  plugin: 'video',
  hasSubpaths: true,
  component: lazy(() => import('./video/video-page.tsx')),
};

const usage: ConsolePage = {
  path: '/usage',
  title: 'Usage',
  icon: 'usage',
  component: lazy(() => import('./usage/usage-page.tsx')),
};

const keys: ConsolePage = {
  path: '/keys',
  title: 'API keys',
  icon: 'keys',
  component: lazy(() => import('./keys/keys-page.tsx')),
};

const models: ConsolePage = {
  path: '/models',
  title: 'Models',
  icon: 'models',
  component: lazy(() => import('./models/models-page.tsx')),
};

const plugins: ConsolePage = {
  path: '/plugins',
  title: 'Plugins',
  icon: 'plugins',
  component: lazy(() => import('./plugins/plugins-page.tsx')),
};

/** Groups of the navigation. */
export const PAGE_GROUPS: readonly { readonly title: string; readonly pages: readonly ConsolePage[] }[] = [
  { title: 'Overview', pages: [start] },
  { title: 'Voice', pages: [speak, voices, pronunciation, talk, realtime] },
  { title: 'Text and video', pages: [responses, batches, video] },
  { title: 'Organization', pages: [usage, keys, models, plugins] },
];

/** All pages; the first one is the start page. */
export const PAGES = [
  start,
  speak,
  voices,
  pronunciation,
  talk,
  realtime,
  responses,
  batches,
  video,
  usage,
  keys,
  models,
  plugins,
] as const;
