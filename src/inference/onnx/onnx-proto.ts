/**
 * Reads and writes ONNX files. Declares only the messages and fields of onnx.proto3 that inference graphs use; protobufjs
 * implements the wire format. Field numbers are those of the ONNX IR specification, version 9 (onnx/onnx.proto3).
 */

import protobuf from 'protobufjs/light.js';

/** TensorProto.DataType */
export const DataType = { FLOAT: 1, UINT8: 2, INT8: 3, INT32: 6, INT64: 7, BOOL: 9, FLOAT16: 10 } as const;

/** AttributeProto.AttributeType */
export const AttributeType = {
  FLOAT: 1,
  INT: 2,
  STRING: 3,
  TENSOR: 4,
  GRAPH: 5,
  FLOATS: 6,
  INTS: 7,
} as const;

export interface Tensor {
  name: string;
  /** Shape; int64 on the wire. */
  dims: number[];
  dataType: number;
  /** Elements, little-endian and row-major. */
  rawData?: Uint8Array;
  floatData?: number[];
  int32Data?: number[];
  int64Data?: number[];
}

export interface Attribute {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  t?: Tensor;
  /** The body of a branch or of a loop. */
  g?: Graph;
  floats?: number[];
  ints?: number[];
}

export interface Node {
  name: string;
  opType: string;
  domain?: string;
  input: string[];
  output: string[];
  attribute: Attribute[];
}

export interface Dimension {
  dimValue?: number;
  dimParam?: string;
}

export interface ValueInfo {
  name: string;
  type?: { tensorType?: { elemType: number; shape?: { dim: Dimension[] } } };
}

export interface Graph {
  name: string;
  node: Node[];
  initializer: Tensor[];
  input: ValueInfo[];
  output: ValueInfo[];
}

export interface Model {
  irVersion: number;
  producerName: string;
  opsetImport: { domain?: string; version: number }[];
  graph: Graph;
}

const root = protobuf.Root.fromJSON({
  nested: {
    Tensor: {
      fields: {
        dims: { rule: 'repeated', type: 'int64', id: 1 },
        dataType: { type: 'int32', id: 2 },
        floatData: { rule: 'repeated', type: 'float', id: 4 },
        int32Data: { rule: 'repeated', type: 'int32', id: 5 },
        int64Data: { rule: 'repeated', type: 'int64', id: 7 },
        name: { type: 'string', id: 8 },
        rawData: { type: 'bytes', id: 9 },
      },
    },
    Attribute: {
      fields: {
        name: { type: 'string', id: 1 },
        f: { type: 'float', id: 2 },
        i: { type: 'int64', id: 3 },
        s: { type: 'bytes', id: 4 },
        t: { type: 'Tensor', id: 5 },
        g: { type: 'Graph', id: 6 },
        floats: { rule: 'repeated', type: 'float', id: 7 },
        ints: { rule: 'repeated', type: 'int64', id: 8 },
        type: { type: 'int32', id: 20 },
      },
    },
    Node: {
      fields: {
        input: { rule: 'repeated', type: 'string', id: 1 },
        output: { rule: 'repeated', type: 'string', id: 2 },
        name: { type: 'string', id: 3 },
        opType: { type: 'string', id: 4 },
        attribute: { rule: 'repeated', type: 'Attribute', id: 5 },
        domain: { type: 'string', id: 7 },
      },
    },
    Dimension: {
      fields: { dimValue: { type: 'int64', id: 1 }, dimParam: { type: 'string', id: 2 } },
    },
    Shape: { fields: { dim: { rule: 'repeated', type: 'Dimension', id: 1 } } },
    TensorType: {
      fields: { elemType: { type: 'int32', id: 1 }, shape: { type: 'Shape', id: 2 } },
    },
    Type: { fields: { tensorType: { type: 'TensorType', id: 1 } } },
    ValueInfo: {
      fields: { name: { type: 'string', id: 1 }, type: { type: 'Type', id: 2 } },
    },
    Graph: {
      fields: {
        node: { rule: 'repeated', type: 'Node', id: 1 },
        name: { type: 'string', id: 2 },
        initializer: { rule: 'repeated', type: 'Tensor', id: 5 },
        input: { rule: 'repeated', type: 'ValueInfo', id: 11 },
        output: { rule: 'repeated', type: 'ValueInfo', id: 12 },
      },
    },
    OperatorSet: {
      fields: { domain: { type: 'string', id: 1 }, version: { type: 'int64', id: 2 } },
    },
    Model: {
      fields: {
        irVersion: { type: 'int64', id: 1 },
        producerName: { type: 'string', id: 2 },
        graph: { type: 'Graph', id: 7 },
        opsetImport: { rule: 'repeated', type: 'OperatorSet', id: 8 },
      },
    },
  },
});
const modelType = root.lookupType('Model');

/**
 * Parses an ONNX file. Tensor bytes are views of `bytes`, not copies. Integers are decoded as numbers: shapes and opset
 * versions are far below 2^53, and a larger int64 (such as a slice end of INT64_MAX) is rounded.
 */
export function decodeModel(bytes: Uint8Array): Model {
  const message = modelType.decode(bytes);
  return modelType.toObject(message, { longs: Number, arrays: true }) as unknown as Model;
}

/** Serialises a model. Its size must stay below protobuf's 2 GiB. */
export function encodeModel(model: Model): Uint8Array {
  return modelType.encode(modelType.create(model as unknown as Record<string, unknown>)).finish();
}
