import { resolve } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };

/**
 * `bun scripts/release-notes.ts vX.Y.Z` prints the section of a version in CHANGELOG.md. It fails if the tag is not the version of
 * package.json, or if the section is missing, empty or not dated.
 */

/**
 * The notes of a release.
 * @param tag name of the tag: `v` and the version.
 * @param version version of package.json.
 * @param changelog text in the format of Keep a Changelog.
 * @throws Error with the reason why this version cannot be released.
 */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`)
    throw new Error(`The tag is ${tag}, but the version of package.json is ${version}.`);
  const sections = changelog.split(/^(?=## \[)/m);
  const section = sections.find((text) => text.startsWith(`## [${version}]`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section [${version}].`);
  const [heading = '', ...lines] = section.split('\n');
  if (!/^## \[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading)) {
    throw new Error(`CHANGELOG.md: '${heading}' must end with the date of the release, as 2026-11-22.`);
  }
  // Link definitions end the file, not the last section.
  const notes = lines
    .filter((line) => !/^\[[^\]]+\]: /.test(line))
    .join('\n')
    .trim();
  if (notes === '') throw new Error(`CHANGELOG.md: the section [${version}] is empty.`);
  return `${notes}\n`;
}

if (import.meta.main) {
  const [tag = ''] = process.argv.slice(2);
  const changelog = await Bun.file(resolve(import.meta.dir, '../CHANGELOG.md')).text();
  try {
    process.stdout.write(releaseNotes(tag, packageJson.version, changelog));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
