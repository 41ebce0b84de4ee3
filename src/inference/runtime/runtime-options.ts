/** Execution provider of ONNX Runtime (`ORT_PROVIDER`) and number of threads per operator. */
export interface RuntimeOptions {
  readonly provider: 'cpu' | 'cuda';
  readonly threads: number;
}
