/** Normalizes a vector to length 1, in place; a zero vector is unchanged. */
export function unitVector<Vector extends Float32Array>(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const scale = 1 / Math.sqrt(squares);
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) * scale;
  return vector;
}
