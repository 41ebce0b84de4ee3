/** Tensors of ONNX graphs: creation, reading and dequantisation. */

import { DataType, type Tensor } from './onnx-proto.ts';

/** The bytes of a typed array in memory order. All supported platforms are little-endian. */
function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Creates a float32 tensor. `values` is not copied. */
export function floatTensor(name: string, dims: readonly number[], values: Float32Array): Tensor {
  return { name, dims: [...dims], dataType: DataType.FLOAT, rawData: bytesOf(values) };
}

/** Creates a float16 tensor. Values are rounded to the nearest. */
export function float16Tensor(name: string, dims: readonly number[], values: Float32Array): Tensor {
  return { name, dims: [...dims], dataType: DataType.FLOAT16, rawData: bytesOf(Float16Array.from(values)) };
}

/** Creates a one-dimensional int64 tensor, or a scalar if `dims` is empty. */
export function int64Tensor(name: string, values: readonly number[], dims = [values.length]): Tensor {
  return {
    name,
    dims: [...dims],
    dataType: DataType.INT64,
    rawData: bytesOf(BigInt64Array.from(values, (value) => BigInt(value))),
  };
}

/**
 * Returns the elements of a float32, int8 or uint8 tensor, from any field of the message.
 * @throws Error for another element type.
 */
export function valuesOf(tensor: Tensor): ArrayLike<number> {
  const { rawData } = tensor;
  switch (tensor.dataType) {
    case DataType.FLOAT:
      if (!rawData?.length) return tensor.floatData ?? [];
      // Copied for alignment. Not with rawData.slice(), which returns a view for a Node Buffer.
      return new Float32Array(new Uint8Array(rawData).buffer);
    case DataType.UINT8:
      return rawData?.length ? rawData : (tensor.int32Data ?? []);
    case DataType.INT8:
      if (!rawData?.length) return tensor.int32Data ?? [];
      return new Int8Array(rawData.buffer, rawData.byteOffset, rawData.byteLength);
    default:
      throw new Error(`tensor ${tensor.name}: element type ${tensor.dataType} is not float32, int8 or uint8`);
  }
}

/** Returns the elements as a new Float32Array. */
export function floatsOf(tensor: Tensor): Float32Array {
  return Float32Array.from(valuesOf(tensor));
}

/**
 * Reverts linear quantisation: `(q - zeroPoint) * scale`. Scale and zero point contain one value for the whole tensor or
 * one per index of `axis`.
 * @throws Error when the number of scales does not match the axis.
 */
export function dequantize(quantized: Tensor, scale: Tensor, zeroPoint: Tensor, axis: number): Float32Array {
  const q = valuesOf(quantized);
  const scales = valuesOf(scale);
  const zeroPoints = valuesOf(zeroPoint);
  const perIndex = scales.length > 1;
  const inner = quantized.dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  const size = quantized.dims[axis] ?? 1;
  if (perIndex && scales.length !== size) {
    throw new Error(`${scale.name}: ${scales.length} scales for axis ${axis} of ${quantized.dims.join('x')}`);
  }
  const values = new Float32Array(q.length);
  for (let i = 0; i < values.length; i++) {
    const index = perIndex ? Math.floor(i / inner) % size : 0;
    const zero = zeroPoints[zeroPoints.length > 1 ? index : 0] ?? 0;
    values[i] = ((q[i] ?? 0) - zero) * (scales[index] ?? 1);
  }
  return values;
}

/** Returns the transpose of a row-major matrix, [rows, columns] → [columns, rows]. */
export function transposed(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = matrix[row * columns + column] ?? 0;
    }
  }
  return result;
}
