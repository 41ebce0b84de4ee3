/** Creates a deterministic generator of numbers in [0, 1) (Bob Jenkins' small fast generator, 32 bits). */
export function seededRandom(seed: number): () => number {
  let a = 0xf1ea5eed;
  let b = seed | 0;
  let c = b;
  let d = b;
  const next = (): number => {
    const e = (a - ((b << 27) | (b >>> 5))) | 0;
    a = b ^ ((c << 17) | (c >>> 15));
    b = (c + d) | 0;
    c = (d + e) | 0;
    d = (e + a) | 0;
    return (d >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 20; round++) next();
  return next;
}
