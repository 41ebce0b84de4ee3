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
    guide('models', 'Models and engines'),
    guide('operations', 'Operations'),
    guide('scale-out', 'More than one machine'),
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
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Names of the pictures that pages show: files of `docs`. */
export const PICTURES = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.png'));

/** Bytes of one of {@link PICTURES}. */
export function pictureBytes(name: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(readFileSync(join(ROOT, 'docs', name)));
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
  return readdirSync(join(ROOT, folder))
    .map((name) => ({ name: name.replace(/\.md$/, ''), file: `${folder}/${fileOf(name)}` }))
    .filter(({ file }) => existsSync(join(ROOT, file)))
    .map(({ name, file }) => page(`${address}/${name}`, file, titleOf(file) ?? name))
    .sort((one, other) => one.label.localeCompare(other.label));
}

/** Its first line, without a look at the rest: this is done for every page at each start. */
function titleOf(file: string): string | undefined {
  return /^# (.+)/.exec(textOf(file))?.[1];
}
