/**
 * Rows in parts, since a statement of either engine takes so many values and no more (SQLite 32 766, PostgreSQL
 * 65 535). A part has `size` rows, or the largest power of 2 that is left: statements that are prepared once and kept
 * are then of few lengths, whatever the number of rows.
 */
export function chunks<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  const parts: (readonly Row[])[] = [];
  for (let start = 0; start < rows.length; ) {
    const left = rows.length - start;
    const length = left >= size ? size : 2 ** Math.floor(Math.log2(left));
    parts.push(rows.slice(start, start + length));
    start += length;
  }
  return parts;
}
