/** Which pages there are, where each stands below `/docs`, and which file it is made of. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface GuidePage {
  /** Path without the slash at its beginning: `docs/speech`. */
  readonly address: string;
  /** Path in the repository: `docs/guide/speech.md`. */
  readonly file: string;
  /** How the navigation calls it. */
  readonly label: string;
}

export interface GuideSection {
  readonly title: string;
  readonly pages: readonly GuidePage[];
  /** Whether the navigation shows the pages only on request. */
  readonly folded: boolean;
}

/** Address of the page that is drawn of the AsyncAPI documents. */
export const SOCKETS_ADDRESS = 'docs/sockets';

/** An AsyncAPI document, which has its part of that page. */
export interface SocketDocument {
  readonly anchor: string;
  readonly label: string;
  /** Path in the repository; scripts/asyncapi.ts makes it. */
  readonly file: string;
  /** Where it is downloaded. */
  readonly address: string;
}

function socketDocument(anchor: string, label: string): SocketDocument {
  const name = `${anchor}.asyncapi.json`;
  return { anchor, label, file: `docs/${name}`, address: `${SOCKETS_ADDRESS}/${name}` };
}

export const SOCKET_DOCUMENTS: readonly SocketDocument[] = [
  socketDocument('realtime', 'Realtime'),
  socketDocument('partner', 'Transcriber of the partner platform'),
];

/** Every page made of Markdown, in the order of the navigation. */
export const SECTIONS: readonly GuideSection[] = [
  section('Start', [
    guide('quick-start', 'Quick start', 'docs'),
    page('docs/overview', 'README.md', 'Overview'),
  ]),
  section('Use', [
    guide('speech', 'Speech'),
    guide('transcription', 'Transcription'),
    guide('voices', 'Voices'),
    guide('realtime', 'Realtime'),
    guide('partner', 'Partner platform'),
    guide('text', 'Chat and responses'),
    guide('embeddings', 'Embeddings'),
    guide('batches', 'Batches'),
    guide('video', 'Video'),
  ]),
  section('Run', [
    guide('configuration', 'Configuration'),
    guide('models', 'Models and engines'),
    guide('operations', 'Operations'),
    guide('scale-out', 'More than one machine'),
    guide('containers', 'Containers'),
    guide('gpu', 'On a GPU'),
    guide('metrics', 'Metrics'),
    guide('security', 'Security'),
    guide('realtime-traces', 'Traces of realtime'),
  ]),
  section(
    'Reference',
    folderPages('plugins', 'docs/reference', (name) => `${name}/README.md`),
  ),
  section('Inside', [
    page('docs/architecture', 'docs/architecture.md', 'Architecture'),
    page('docs/licences', 'docs/licences.md', 'Licences'),
  ]),
  section('Decisions', folderPages('docs/decisions', 'docs/decisions'), true),
  section('State machines', folderPages('docs/states', 'docs/states'), true),
];

/** Text of a file of the repository. */
export function textOf(file: string): string {
  return readFileSync(pathOf(file), 'utf8');
}

/** Pages of the guide, the one of the sockets among them, by their addresses. */
export const PAGE_ADDRESSES: readonly string[] = [
  ...SECTIONS.flatMap(({ pages }) => pages.map(({ address }) => address)),
  SOCKETS_ADDRESS,
];

/** A file that is served as it is. */
export interface GuideFile {
  readonly address: string;
  /** Path in the repository. */
  readonly file: string;
}

export const STYLE: GuideFile = { address: 'docs/guide.css', file: 'src/guide/guide.css' };

/** Pictures that pages show, the style that they have, and the documents of the sockets. */
export const GUIDE_FILES: readonly GuideFile[] = [
  STYLE,
  ...readdirSync(pathOf('docs'))
    .filter((name) => name.endsWith('.png'))
    .map((name) => ({ address: `docs/${name}`, file: `docs/${name}` })),
  ...SOCKET_DOCUMENTS,
];

/** Where a file of the repository lies. */
export function pathOf(file: string): string {
  return join(ROOT, file);
}

function section(title: string, pages: readonly GuidePage[], folded = false): GuideSection {
  return { title, pages, folded };
}

function page(address: string, file: string, label: string): GuidePage {
  return { address, file, label };
}

function guide(name: string, label: string, address = `docs/${name}`): GuidePage {
  return page(address, `docs/guide/${name}.md`, label);
}

/** The pages of a folder, by their titles. @param fileOf path of the page of an entry, within the folder. */
function folderPages(folder: string, address: string, fileOf = (name: string) => name): GuidePage[] {
  return readdirSync(pathOf(folder))
    .map((name) => ({ name: name.replace(/\.md$/, ''), file: `${folder}/${fileOf(name)}` }))
    .filter(({ file }) => existsSync(pathOf(file)))
    .map(({ name, file }) => page(`${address}/${name}`, file, titleOf(file) ?? name))
    .sort((one, other) => one.label.localeCompare(other.label));
}

/** Its first line, without a look at the rest: this is done for every page at each start. */
function titleOf(file: string): string | undefined {
  return /^# (.+)/.exec(textOf(file))?.[1];
}
