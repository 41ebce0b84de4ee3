/** An archive is damaged, lacks a member, or exceeds a size limit. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}
