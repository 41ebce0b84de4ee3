import { describe, expect, test } from 'vitest';
import { releaseNotes } from './release-notes.ts';

const CHANGELOG = `# Changelog

## [0.3.0] - Unreleased

- not released

## [0.2.0] - 2026-11-27

### Added

- conversations

## [0.1.1] - 2026-11-23

## [0.1.0] - 2026-11-22

- first release

[0.1.0]: https://host.example/0.1.0
`;

describe('releaseNotes', () => {
  test.each([
    ['0.2.0', '### Added\n\n- conversations\n'],
    ['0.1.0', '- first release\n'],
  ])('of %s are its section', (version, notes) => {
    expect(releaseNotes(`v${version}`, version, CHANGELOG)).toBe(notes);
  });

  test.each([
    ['v0.2.1', '0.2.0', 'The tag is v0.2.1, but the version of package.json is 0.2.0.'],
    ['0.2.0', '0.2.0', 'The tag is 0.2.0, but the version of package.json is 0.2.0.'],
    ['v0.4.0', '0.4.0', 'CHANGELOG.md has no section [0.4.0].'],
    ['v0.3.0', '0.3.0', "'## [0.3.0] - Unreleased' must end with the date of the release"],
    ['v0.1.1', '0.1.1', 'the section [0.1.1] is empty'],
  ])('of tag %s and version %s fail', (tag, version, message) => {
    expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(message);
  });
});
