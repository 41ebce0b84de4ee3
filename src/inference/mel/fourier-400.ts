/** The discrete Fourier transform of 400 complex values (the window length of Whisper) in four passes: 5 · 5 · 4 · 4. */

export const TRANSFORM_LENGTH = 400;

const COS_72 = Math.cos((2 * Math.PI) / 5);
const COS_144 = Math.cos((4 * Math.PI) / 5);
const SIN_72 = Math.sin((2 * Math.PI) / 5);
const SIN_144 = Math.sin((4 * Math.PI) / 5);

/**
 * Transforms {@link real} and {@link imaginary} in place.
 *
 * Stockham's self-sorting decimation in frequency: a pass of radix p over parts of length n reads values at a distance of
 * n / p and writes its p results next to each other, so no bit reversal is needed. After an even number of passes the
 * result is in the original buffers.
 */
export class FourierTransform400 {
  readonly real = new Float64Array(TRANSFORM_LENGTH);
  readonly imaginary = new Float64Array(TRANSFORM_LENGTH);
  readonly #real = new Float64Array(TRANSFORM_LENGTH);
  readonly #imaginary = new Float64Array(TRANSFORM_LENGTH);
  readonly #cos = turnTable(Math.cos);
  readonly #sin = turnTable(Math.sin);

  /** Forward transform, without scaling. */
  transform(): void {
    this.#pass5(this.real, this.imaginary, this.#real, this.#imaginary, 400, 1);
    this.#pass5(this.#real, this.#imaginary, this.real, this.imaginary, 80, 5);
    this.#pass4(this.real, this.imaginary, this.#real, this.#imaginary, 16, 25);
    this.#pass4(this.#real, this.#imaginary, this.real, this.imaginary, 4, 100);
  }

  /** @param length of the transformed parts. @param stride number of interleaved parts. */
  #pass5(
    inReal: Float64Array,
    inImaginary: Float64Array,
    outReal: Float64Array,
    outImaginary: Float64Array,
    length: number,
    stride: number,
  ): void {
    const count = length / 5;
    const apart = TRANSFORM_LENGTH / 5;
    for (let j = 0; j < count; j++) {
      // The twiddle of output r is the (stride · j · r)th 400th of a turn; together below one turn.
      const turn = stride * j;
      const c1 = this.#cos[turn] as number;
      const s1 = this.#sin[turn] as number;
      const c2 = this.#cos[2 * turn] as number;
      const s2 = this.#sin[2 * turn] as number;
      const c3 = this.#cos[3 * turn] as number;
      const s3 = this.#sin[3 * turn] as number;
      const c4 = this.#cos[4 * turn] as number;
      const s4 = this.#sin[4 * turn] as number;
      const from = turn;
      const to = 5 * turn;
      for (let q = 0; q < stride; q++) {
        const i = from + q;
        const ar = inReal[i] as number;
        const ai = inImaginary[i] as number;
        const br = inReal[i + apart] as number;
        const bi = inImaginary[i + apart] as number;
        const cr = inReal[i + 2 * apart] as number;
        const ci = inImaginary[i + 2 * apart] as number;
        const dr = inReal[i + 3 * apart] as number;
        const di = inImaginary[i + 3 * apart] as number;
        const er = inReal[i + 4 * apart] as number;
        const ei = inImaginary[i + 4 * apart] as number;
        const outerR = br + er;
        const outerI = bi + ei;
        const innerR = cr + dr;
        const innerI = ci + di;
        const outerDifferenceR = br - er;
        const outerDifferenceI = bi - ei;
        const innerDifferenceR = cr - dr;
        const innerDifferenceI = ci - di;
        const evenR1 = ar + COS_72 * outerR + COS_144 * innerR;
        const evenI1 = ai + COS_72 * outerI + COS_144 * innerI;
        const evenR2 = ar + COS_144 * outerR + COS_72 * innerR;
        const evenI2 = ai + COS_144 * outerI + COS_72 * innerI;
        const oddR1 = SIN_72 * outerDifferenceI + SIN_144 * innerDifferenceI;
        const oddI1 = -SIN_72 * outerDifferenceR - SIN_144 * innerDifferenceR;
        const oddR2 = SIN_144 * outerDifferenceI - SIN_72 * innerDifferenceI;
        const oddI2 = -SIN_144 * outerDifferenceR + SIN_72 * innerDifferenceR;
        const o = to + q;
        outReal[o] = ar + outerR + innerR;
        outImaginary[o] = ai + outerI + innerI;
        const r1 = evenR1 + oddR1;
        const i1 = evenI1 + oddI1;
        outReal[o + stride] = r1 * c1 + i1 * s1;
        outImaginary[o + stride] = i1 * c1 - r1 * s1;
        const r2 = evenR2 + oddR2;
        const i2 = evenI2 + oddI2;
        outReal[o + 2 * stride] = r2 * c2 + i2 * s2;
        outImaginary[o + 2 * stride] = i2 * c2 - r2 * s2;
        const r3 = evenR2 - oddR2;
        const i3 = evenI2 - oddI2;
        outReal[o + 3 * stride] = r3 * c3 + i3 * s3;
        outImaginary[o + 3 * stride] = i3 * c3 - r3 * s3;
        const r4 = evenR1 - oddR1;
        const i4 = evenI1 - oddI1;
        outReal[o + 4 * stride] = r4 * c4 + i4 * s4;
        outImaginary[o + 4 * stride] = i4 * c4 - r4 * s4;
      }
    }
  }

  #pass4(
    inReal: Float64Array,
    inImaginary: Float64Array,
    outReal: Float64Array,
    outImaginary: Float64Array,
    length: number,
    stride: number,
  ): void {
    const count = length / 4;
    const apart = TRANSFORM_LENGTH / 4;
    for (let j = 0; j < count; j++) {
      const turn = stride * j;
      const c1 = this.#cos[turn] as number;
      const s1 = this.#sin[turn] as number;
      const c2 = this.#cos[2 * turn] as number;
      const s2 = this.#sin[2 * turn] as number;
      const c3 = this.#cos[3 * turn] as number;
      const s3 = this.#sin[3 * turn] as number;
      const from = turn;
      const to = 4 * turn;
      for (let q = 0; q < stride; q++) {
        const i = from + q;
        const ar = inReal[i] as number;
        const ai = inImaginary[i] as number;
        const br = inReal[i + apart] as number;
        const bi = inImaginary[i + apart] as number;
        const cr = inReal[i + 2 * apart] as number;
        const ci = inImaginary[i + 2 * apart] as number;
        const dr = inReal[i + 3 * apart] as number;
        const di = inImaginary[i + 3 * apart] as number;
        const sumR = ar + cr;
        const sumI = ai + ci;
        const differenceR = ar - cr;
        const differenceI = ai - ci;
        const otherSumR = br + dr;
        const otherSumI = bi + di;
        const otherDifferenceR = br - dr;
        const otherDifferenceI = bi - di;
        const o = to + q;
        outReal[o] = sumR + otherSumR;
        outImaginary[o] = sumI + otherSumI;
        const r1 = differenceR + otherDifferenceI;
        const i1 = differenceI - otherDifferenceR;
        outReal[o + stride] = r1 * c1 + i1 * s1;
        outImaginary[o + stride] = i1 * c1 - r1 * s1;
        const r2 = sumR - otherSumR;
        const i2 = sumI - otherSumI;
        outReal[o + 2 * stride] = r2 * c2 + i2 * s2;
        outImaginary[o + 2 * stride] = i2 * c2 - r2 * s2;
        const r3 = differenceR - otherDifferenceI;
        const i3 = differenceI + otherDifferenceR;
        outReal[o + 3 * stride] = r3 * c3 + i3 * s3;
        outImaginary[o + 3 * stride] = i3 * c3 - r3 * s3;
      }
    }
  }
}

/** Values of a function at each 400th of a turn. */
function turnTable(of: (angle: number) => number): Float64Array {
  const step = (2 * Math.PI) / TRANSFORM_LENGTH;
  return Float64Array.from({ length: TRANSFORM_LENGTH }, (_, index) => of(step * index));
}
