/**
 * Splits rows into chunks, because both engines limit the number of values per statement (SQLite 32,766, PostgreSQL
 * 65,535). A chunk has `size` rows, or the largest power of 2 that remains, so that few different prepared statements are
 * needed.
 */
export function chunks<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  const chunksOfRows: (readonly Row[])[] = [];
  for (let start = 0; start < rows.length; ) {
    const remaining = rows.length - start;
    const length = remaining >= size ? size : 2 ** Math.floor(Math.log2(remaining));
    chunksOfRows.push(rows.slice(start, start + length));
    start += length;
  }
  return chunksOfRows;
}
