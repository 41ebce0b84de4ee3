/** Rows in parts: a statement of either engine takes so many values and no more (SQLite 32 766, PostgreSQL 65 535). */
export function chunks<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
    rows.slice(index * size, (index + 1) * size),
  );
}
